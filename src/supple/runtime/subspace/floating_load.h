// SPDX-License-Identifier: Apache-2.0
// FloatingLoad: forces anywhere on a free body, reduced to the numbers that its equations of motion ask for.
//
// Forces f [N] act at material points. With φ_0 = X (rest positions) and the basis fields φ_1 … φ_r at those points,
//   F = Σ f      L_a = Σ f φ_aᵀ      L(q) = L_0 + Σ q_a L_a = Σ f yᵀ
// are all that is needed in any pose x = c + R y: the resultant is F, the torque about c is axl(R L(q)ᵀ), and the force
// on coordinate a is L_a : R. A load that keeps its direction in the world while the body turns and bends is therefore
// exact at every moment of a step, at a cost that depends on r alone. Loads of many points add up.
#pragma once

#include "supple/runtime/subspace/floating_inertia.h"

namespace supple {

/// Says in which axes the forces of a load are given: those of the world, or the body's frame, with which they turn.
enum class LoadFrame { world, body };

struct FloatingLoad {
  Vec3 force = Vec3::Zero();  ///< F
  FrameMoments moments;       ///< column a holds the entries of L_a, column by column

  static FloatingLoad zero(int size);
  void set_zero();
  void add(const FloatingLoad& other);

  /// Gives Σ f yᵀ in the deformation q.
  Mat3 first_moment(const VecX& q) const;
  /// Adds force, torque about the frame's origin and reduced force, all in the frame. `turn` takes vectors of the frame
  /// to the axes of the load: R for a load of the world, 1 for one that turns with the body.
  void add_generalised(const Mat3& turn, const VecX& q, VecX& generalised) const;
};

/// Reduces forces on the vertices of the model's simulation mesh (three entries each).
FloatingLoad reduce_load(const SubspaceModel& model, const VecX& forces);

}  // namespace supple
