// SPDX-License-Identifier: Apache-2.0
// PoseFactors: how much of the basis of each known pose is in a pose p, the w_i Υ of ū = R Σ_i Û_i (w_i Υ q) (2016
// paper, Eq. 2 and 14 to 16). A picture of the flesh needs no more than this; a step needs matrices as well
// (pose_interpolation.h).
//
//   w(p), as pose-space deformation weighs them     Υ_c = M̂_cc^(−1/2),  M̂_cc = Σ_i Σ_j w_i w_j (Û_iᵀ M Û_j)_cc
//
// Poses that share a column (prepared_model.h) add their weights up in the factor of the pose that owns it: with
// w = (0.5, 0.3, 0.2), and pose 1 having column c from pose 0,
//
//                    column b        column c
//   pose 0           0.5 Υ_b         0.8 Υ_c      factors(0)
//   pose 1           0.3 Υ_b         0            factors(1)
//   pose 2           0.2 Υ_b         0.2 Υ_c      factors(2)
#pragma once

#include "supple/runtime/posespace/prepared_model.h"

namespace supple {

template <class T>
class PoseFactors {
 public:
  PoseFactors() = default;
  /// Begins in the neutral pose.
  explicit PoseFactors(std::shared_ptr<const PreparedModel<T>> prepared);

  /// Computes everything below for the pose p. Allocates nothing.
  void update(std::span<const double> p);
  /// Becomes what another one of the same model is. Allocates nothing.
  void take(const PoseFactors& other);

  /// The poses whose weight isn't negligible, ascending.
  std::span<const std::size_t> active() const { return {active_.data(), active_count_}; }
  T weight(std::size_t pose) const { return weights_[pose]; }
  /// All weights w_i as they were found, in double precision.
  const std::vector<double>& exact_weights() const { return exact_; }
  /// w_i w_j of all pairs of poses j ≤ i, in the order of PreparedModel::mass.
  const std::vector<T>& products() const { return products_; }
  /// Υ_c of each coordinate, padded with zeros.
  const T* scale() const { return scale_.data(); }
  /// For each coordinate c, Υ_c times the sum of the weights w_j of the poses j that have column c from this pose.
  const T* factors(std::size_t pose) const { return factors_.data() + pose * stride(); }
  /// Finds such factors of all poses where columns come from other `sources` (PreparedModel::gradient_sources).
  void find(const std::vector<int>& sources, std::vector<T>& factors) const;

 private:
  std::size_t stride() const { return to_size(prepared_->stride); }
  /// Computes Υ and the factors from the weights.
  void find_scale();

  std::shared_ptr<const PreparedModel<T>> prepared_;
  std::vector<double> exact_, scratch_;
  std::vector<T> weights_, products_, scale_, factors_;
  std::vector<std::size_t> active_;
  std::size_t active_count_ = 0;
};

extern template class PoseFactors<float>;
extern template class PoseFactors<double>;

}  // namespace supple
