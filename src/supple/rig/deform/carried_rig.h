// SPDX-License-Identifier: Apache-2.0
// A rig moves a surface; this carries its motion to other points, the vertices of the mesh inside (2016 paper, 4.1):
//
//   x_i(p) = X_i + Σ_k w_ik (Φ̄_k(p) − X̄_k)   over four surface vertices (offline/fitting/surface_carry.h chooses them)
//
// The result is a rig again, so that corrections in some poses (the fitted rest shapes of Eq. 3) go on top of it by
// pose-space deformation like an artist's (pose_space.h).
//
// Sums are taken once where they can be. Under linear skinning, blend shapes d_s before it, Φ̄_k = Σ_j a_kj A_j (X̄_k +
// Σ_s b_s d_ks), so
//   x_i(p) = o_i + Σ_j A_j(p) (c_ij + Σ_s b_s(p) e_ijs),   o_i = X_i − Σ_k w_ik X̄_k
//   c_ij = Σ_k w_ik a_kj (X̄_k, 1),   e_ijs = Σ_k w_ik a_kj (d_ks, 0)       (bone_groups.h)
// and no surface vertex is looked at in a step; an artist's corrections of the surface become corrections of the
// points.
#pragma once

#include "supple/rig/deform/bone_groups.h"

#include <array>

namespace supple {

class StackRig;

struct SurfaceCarry {
  static constexpr int neighbours = 4;

  std::vector<std::array<Index, neighbours>> vertex;   ///< of the surface, for each carried point
  std::vector<std::array<double, neighbours>> weight;  ///< sum one; beyond the skin some may be negative

  std::size_t size() const { return vertex.size(); }
};

class CarriedRig final : public Rig {
  friend class RigArchive;

 public:
  /// `rest`: the carried points when the surface is in the rig's neutral pose.
  CarriedRig(std::shared_ptr<const Rig> surface, SurfaceCarry carry, std::vector<Vec3> rest);

  const PoseLayout& layout() const override { return surface_->layout(); }
  Index vertex_count() const override { return static_cast<Index>(rest_.size()); }
  std::unique_ptr<RigWorkspace> make_workspace(Index most_vertices) const override;
  void evaluate(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
                RigWorkspace& workspace) const override;

 private:
  void find_terms();
  void find_shifts();

  std::shared_ptr<const Rig> surface_;
  SurfaceCarry carry_;
  std::vector<Vec3> rest_;
  const StackRig* skinned_ = nullptr;  ///< the surface, if it is skinned linearly
  const StackRig* wired_ = nullptr;    ///< the surface, if wires move it
  BoneTerms terms_;                    ///< then; its offsets always
};

/// Makes a rig with the motion of a CarriedRig, in whichever form is fastest to evaluate.
std::shared_ptr<const Rig> carry_rig(std::shared_ptr<const Rig> surface, const SurfaceCarry& carry,
                                     std::vector<Vec3> rest);

}  // namespace supple
