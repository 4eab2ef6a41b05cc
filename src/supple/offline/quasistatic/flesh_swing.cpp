// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/quasistatic/flesh_swing.h"

namespace supple {

void FleshSwing::begin(const VecX& x, const VecX& v, const VecX& carried) {
  x_ = x;
  x_before_ = x - step_ * v;
  v_ = v_before_ = v;
  carried_ = next_carried_ = carried;
}

VecX FleshSwing::drawn_to(const VecX& carried) {
  // With X = (4 x₋₁ − x₋₂) / 3 and V likewise: ẋ = 3/2h (x − X), ẍ = 9/4h² (x − X − 2h/3 V).
  const VecX X = (4 * x_ - x_before_) / 3, V = (4 * v_ - v_before_) / 3;
  const VecX rig = (carried - carried_) / step_;
  next_carried_ = carried;
  const double mass = 9 / (4 * step_ * step_), drag = damping_ * 1.5 / step_, ahead = 2 * step_ / 3;
  return X + ahead * (mass * V + drag * rig) / (mass + drag);
}

void FleshSwing::advance(const VecX& x) {
  const VecX v = (x - (4 * x_ - x_before_) / 3) * (1.5 / step_);
  x_before_ = x_;
  x_ = x;
  v_before_ = v_;
  v_ = v;
  carried_ = next_carried_;
}

}  // namespace supple
