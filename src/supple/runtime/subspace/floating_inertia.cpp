// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/subspace/floating_inertia.h"

#include <cmath>

namespace supple {

FloatingInertia::FloatingInertia(const MassMoments& moments) {
  const Index r = moments.size();
  mass_ = moments.volume;
  rest_first_ = moments.first.col(0);
  shape_moments_ = moments.first.rightCols(r);
  mass_matrix_ = moments.reduced_mass();
  rest_moments_.resize(9, r + 1);
  slopes_.resize(9 * (r + 1), r);
  for (Index a = 0; a <= r; ++a) {
    for (Index b = 0; b <= r; ++b) {
      const Mat3 block = moments.second.block<3, 3>(3 * a, 3 * b);
      if (b == 0) {
        rest_moments_.col(a) = block.reshaped();
      } else {
        slopes_.block<9, 1>(9 * a, b - 1) = block.reshaped();
      }
    }
  }
  const Mat3 rest = rest_moments_.col(0).reshaped(3, 3);
  gyration_radius_ = std::sqrt(std::max(0.0, rest.trace() / mass_ - (rest_first_ / mass_).squaredNorm()));
}

FrameMoments FloatingInertia::moments_at(const VecX& q) const {
  FrameMoments result = rest_moments_;
  advance_moments(rest_moments_, q, result);
  return result;
}

void FloatingInertia::advance_moments(const FrameMoments& start, const VecX& delta_q, FrameMoments& end) const {
  end = start;
  Eigen::Map<VecX>(end.data(), end.size()).noalias() += slopes_ * delta_q;
}

Mat3 FloatingInertia::second_moment(const VecX& q_left, const FrameMoments& moments) const {
  Eigen::Matrix<double, 9, 1> sum = moments.col(0);
  sum.noalias() += moments.rightCols(size()) * q_left;
  return sum.reshaped(3, 3);
}

void FloatingInertia::mass_matrix(const VecX& q, const FrameMoments& moments, MatX& A) const {
  const int r = size();
  const Mat3 s = cross_matrix(first_moment(q));
  const Mat3 C = second_moment(q, moments);
  A.block<3, 3>(0, 0) = mass_ * Mat3::Identity();
  A.block<3, 3>(0, 3) = -s;
  A.block<3, 3>(3, 0) = s;
  A.block<3, 3>(3, 3) = C.trace() * Mat3::Identity() - C;
  A.block(0, 6, 3, r) = shape_moments_;
  for (int a = 0; a < r; ++a) A.block<3, 1>(3, 6 + a) = -axial(moments.col(a + 1).reshaped(3, 3));
  A.block(6, 0, r, 6) = A.block(0, 6, 6, r).transpose();
  A.block(6, 6, r, r) = mass_matrix_;
}

}  // namespace supple
