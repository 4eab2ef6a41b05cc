// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/step_system.h"

#include "supple/runtime/posespace/lanes.h"

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
  for (auto* values : {&residual_, &z_, &p_, &product_}) values->assign(static_cast<std::size_t>(stride_), T(0));
  preconditioner_ = KeptCholesky<T>(size_);
}

template <class T>
bool StepSystem<T>::set(const PoseInterpolation<T>& pose, T mass_factor, T linear_factor) {
  const bool same = mass_factor == mass_factor_ && linear_factor == linear_factor_;
  if (!(same && pose.nothing_changes())) pose.combine(mass_factor, linear_factor, T(1), A_.data());
  if (same && pose.constant()) return true;
  mass_factor_ = mass_factor, linear_factor_ = linear_factor;
  pose.combine(mass_factor, linear_factor + T(1), T(0), preconditioner_.matrix());
  if (preconditioner_.factorize(pose.kept())) return true;
  mass_factor_ = T(0);
  return false;
}

template <class T>
int StepSystem<T>::solve(CubatureForces<T>& forces, const T* b, T* delta, T precision) {
  std::copy(b, b + stride_, residual_.begin());
  std::fill(delta, delta + stride_, T(0));
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
    std::fill(product_.begin(), product_.end(), T(0));
    forces.pose().multiply(A_.data(), p_.data(), product_.data());
    forces.multiply_changing(p_.data(), product_.data());
    const T curvature = dot(p_.data(), product_.data(), stride_);
    if (!(curvature > T(0))) {
      if (iteration > 1) break;
      std::copy(p_.begin(), p_.end(), delta);
      forces.go_on(T(1));
      break;
    }
    const T length = remaining / curvature;
    for (int c = 0; c < size_; ++c) delta[c] += length * p_[static_cast<std::size_t>(c)];
    forces.go_on(length);
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
T StepSystem<T>::inertia(const PoseInterpolation<T>& pose, const T* x) {
  std::fill(product_.begin(), product_.end(), T(0));
  pose.multiply(pose.correction(), x, product_.data());
  const T corrected = dot(product_.data(), x, stride_);
  std::fill(product_.begin(), product_.end(), T(0));
  pose.multiply(A_.data(), x, product_.data());
  return dot(product_.data(), x, stride_) - corrected;
}

template class StepSystem<float>;
template class StepSystem<double>;

}  // namespace supple
