// SPDX-License-Identifier: Apache-2.0
// FleshSwing: implicit time steps of flesh with inertia, as what is added to its equilibrium. The second backward
// difference,
//   ẋ = (3 x − 4 x₋₁ + x₋₂) / 2h   for positions and for velocities, and friction with the rig's motion, α M (ẋ −
//   ẋ_rig),
// make a step a minimum of the elastic energy plus ½ s Σ m |x − x̂|², where s and x̂ follow from the past alone: K gets
// s M (ExRotatedBody::set_inertia) and the load s M x̂ (QuasistaticSolver::draw_to). It is stable for any step, and
// swinging loses (ωh)⁴/4 of itself in each.
#pragma once

#include "supple/base/types.h"

namespace supple {

class FleshSwing {
 public:
  /// `step`: h [s], `damping`: α [1/s].
  FleshSwing(double step, double damping) : step_(step), damping_(damping) {}

  double step() const { return step_; }
  /// s [1/s²]
  double rate() const { return 9 / (4 * step_ * step_) + damping_ * 1.5 / step_; }
  /// Flesh is at x and has moved with velocity v so far; the rig would have it at `carried`. All in the world.
  void begin(const VecX& x, const VecX& v, const VecX& carried);
  /// x̂ of the next step, at whose end the rig would have the flesh at `carried`.
  VecX drawn_to(const VecX& carried);
  /// That step has ended at x.
  void advance(const VecX& x);

 private:
  double step_, damping_;
  VecX x_, x_before_, v_, v_before_, carried_, next_carried_;
};

}  // namespace supple
