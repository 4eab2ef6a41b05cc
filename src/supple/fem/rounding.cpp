// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/rounding.h"

#include <cmath>
#include <limits>

namespace supple {

double force_rounding(const ElasticBody& body, const FreeVertices& free, const BlockMatrix& K, const VecX& u) {
  const double edge = std::cbrt(body.volume() / free.total());
  double sum = 0;
  for (const Index v : free.vertices()) {
    const Eigen::Map<const Mat3> diagonal(K.block(K.pattern().find(v, v)));
    const double length = edge + u.segment<3>(3 * v).norm();
    sum += diagonal.squaredNorm() * length * length;
  }
  return std::numeric_limits<double>::epsilon() * std::sqrt(sum);
}

}  // namespace supple
