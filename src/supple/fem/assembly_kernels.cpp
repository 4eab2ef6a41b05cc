// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/assembly_kernels.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

namespace supple::detail {

void project_to_psd(Matrix9<Lanes>& J) {
  for (int lane = 0; lane < Lanes::width; ++lane) {
    Matrix9<double> single;
    for (int k = 0; k < 81; ++k) single.data()[k] = J.data()[k][lane];
    if (!single.allFinite() || single.llt().info() == Eigen::Success) continue;
    const Eigen::SelfAdjointEigenSolver<Matrix9<double>> eigen(single);
    single = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).asDiagonal() * eigen.eigenvectors().transpose();
    for (int k = 0; k < 81; ++k) J.data()[k].set(lane, single.data()[k]);
  }
}

}  // namespace supple::detail
