// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/step_system.h"

#include "supple/math/simd/lanes.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr int most_iterations = 24;
template <class T>
void add_scaled(std::vector<T>& target, T factor, const std::vector<T>& other) {
  for (std::size_t c = 0; c < target.size(); ++c) target[c] += factor * other[c];
}

}  // namespace

template <class T>
StepSystem<T>::StepSystem(const PreparedModel<T>& prepared)
    : size_(prepared.size), stride_(prepared.stride), A_(prepared.triangle(), T(0)) {
  for (auto* values : {&residual_, &z_, &p_, &product_, &A_p_, &A_delta_}) values->assign(to_size(stride_), T(0));
  factored_weights_.assign(prepared.linear.matrices, T(0));
  preconditioner_ = KeptCholesky<T>(size_);
}

template <class T>
bool StepSystem<T>::set(const PoseInterpolation<T>& pose, T mass_factor, T linear_factor) {
  const bool same = mass_factor == mass_factor_ && linear_factor == linear_factor_;
  if (same && pose.nothing_changes()) return true;
  if (same && near_factored(pose)) {
    pose.combine(mass_factor, linear_factor, A_.data());
    return true;
  }
  mass_factor_ = mass_factor, linear_factor_ = linear_factor;
  std::copy(pose.stiffness_shares().begin(), pose.stiffness_shares().end(), factored_weights_.begin());
  pose.combine(mass_factor, linear_factor, A_.data(), preconditioner_.matrix());
  if (preconditioner_.factorize(pose.kept())) return true;
  mass_factor_ = T(0);
  return false;
}

template <class T>
bool StepSystem<T>::near_factored(const PoseInterpolation<T>& pose) const {
  T change = T(0);
  for (std::size_t i = 0; i < factored_weights_.size(); ++i)
    change += std::abs(pose.stiffness_shares()[i] - factored_weights_[i]);
  return change <= T(0.2);
}

template <class T>
int StepSystem<T>::solve(CubatureForces<T>& forces, const T* b, T* delta, T precision) {
  std::copy(b, b + stride_, residual_.begin());
  std::fill(delta, delta + stride_, T(0));
  std::fill(A_delta_.begin(), A_delta_.end(), T(0));
  forces.start_path();
  z_ = residual_;
  preconditioner_.solve(forces.pose().kept(), z_.data());
  p_ = z_;
  T remaining = dot(residual_.data(), z_.data(), stride_);
  if (!std::isfinite(remaining)) return -1;
  const T enough = std::max(precision * precision * remaining, forces.force_noise());
  int iteration = 0;
  while (iteration < most_iterations && remaining > enough) {
    ++iteration;
    std::fill(A_p_.begin(), A_p_.end(), T(0));
    forces.pose().multiply(A_.data(), p_.data(), A_p_.data());
    product_ = A_p_;
    forces.multiply_changing(p_.data(), product_.data());
    const T curvature = dot(p_.data(), product_.data(), stride_);
    if (!(curvature > T(0))) {
      if (iteration > 1) break;
      std::copy(p_.begin(), p_.end(), delta);
      A_delta_ = A_p_;
      forces.go_on(T(1));
      break;
    }
    const T length = remaining / curvature;
    for (int c = 0; c < size_; ++c) delta[c] += length * p_[to_size(c)];
    forces.go_on(length);
    add_scaled(A_delta_, length, A_p_);
    add_scaled(residual_, -length, product_);
    z_ = residual_;
    preconditioner_.solve(forces.pose().kept(), z_.data());
    const T next = dot(residual_.data(), z_.data(), stride_);
    const T turn = next / remaining;
    for (std::size_t c = 0; c < p_.size(); ++c) p_[c] = z_[c] + turn * p_[c];
    remaining = next;
  }
  return iteration;
}

template <class T>
T StepSystem<T>::inertia(CubatureForces<T>& forces, const T* delta) const {
  return dot(A_delta_.data(), delta, stride_) - forces.correct_path(delta) + forces.damping_along_path();
}

template class StepSystem<float>;
template class StepSystem<double>;

}  // namespace supple
