// SPDX-License-Identifier: Apache-2.0
#include "supple/math/dense/procrustes.h"

#include <Eigen/SVD>

namespace supple {

Procrustes align_subspaces(const MatX& overlap) {
  const Eigen::BDCSVD<MatX> svd(overlap, Eigen::ComputeFullU | Eigen::ComputeFullV);
  return {svd.matrixU() * svd.matrixV().transpose(), svd.singularValues().cwiseMin(1.0)};
}

}  // namespace supple
