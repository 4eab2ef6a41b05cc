// SPDX-License-Identifier: Apache-2.0
// Pose-space deformation: an artist corrects a rig in a few poses; between them the corrections are interpolated.
// (J. Lewis et al. 2000; here Eq. 1 and 2 of the 2016 paper.)
//
//   Φ(p) → Φ(p) + Σ_i w_i(p) δ_i,   w_i(p) = Σ_j ŵ_ij φ(‖p − p_j‖),   φ(r) = r (biharmonic)
//
// ŵ is the inverse of the matrix of φ between the example poses, so w_i(p_j) = δ_ij; the weights are then divided by
// their sum, so that they are one together everywhere. Distances are those of the rig's layout: scales mix units, and
// rotations compare as rotations (pose_layout.h).
#pragma once

#include "supple/base/result.h"
#include "supple/rig/deform/deformers.h"

namespace supple {

/// Interpolation weights of example poses. The same weights interpolate bases, cubature and materials.
class PoseSpaceWeights {
 public:
  /// `poses`: one p each. Poses closer than the eye could tell (1e-9 in the layout's distance) are refused.
  static Result<PoseSpaceWeights> create(PoseLayout layout, std::vector<std::vector<double>> poses);

  Index pose_count() const { return static_cast<Index>(poses_.size()); }
  const std::vector<double>& pose(Index i) const { return poses_[to_size(i)]; }
  const PoseLayout& layout() const { return layout_; }

  /// `weights` and `scratch` have one entry per pose. Allocates nothing.
  void evaluate(std::span<const double> p, std::span<double> weights, std::span<double> scratch) const;

 private:
  PoseLayout layout_;
  PoseMetric metric_;
  std::vector<std::vector<double>> poses_;
  MatX trained_;  ///< ŵ
};

/// A pose that an artist has corrected, and what is added to the rig's vertices in it.
struct PoseCorrection {
  std::vector<double> p;
  std::vector<Vec3> displacements;  ///< one per vertex of the rig
};

/// Φ(p) + δ(p) around any rig. The neutral pose counts as an example without correction unless one is given for it.
class PoseSpaceRig final : public Rig {
  friend class RigArchive;

 public:
  static Result<std::shared_ptr<const PoseSpaceRig>> create(std::shared_ptr<const Rig> base,
                                                            std::vector<PoseCorrection> corrections);

  const PoseLayout& layout() const override { return base_->layout(); }
  Index vertex_count() const override { return base_->vertex_count(); }
  std::unique_ptr<RigWorkspace> make_workspace(Index most_vertices) const override;
  void evaluate(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
                RigWorkspace& workspace) const override;
  const PoseSpaceWeights& weights() const { return weights_; }
  const std::shared_ptr<const Rig>& base() const { return base_; }
  const ShapeTable& corrections() const { return corrections_; }
  /// Makes a rig that interpolates other corrections between the same poses, one for each of weights(), on another rig
  /// with the same parameters.
  std::shared_ptr<const PoseSpaceRig> with(std::shared_ptr<const Rig> base, ShapeTable corrections) const;

 private:
  PoseSpaceRig(std::shared_ptr<const Rig> base, PoseSpaceWeights weights, ShapeTable corrections);

  std::shared_ptr<const Rig> base_;
  PoseSpaceWeights weights_;
  ShapeTable corrections_;
};

/// The correction that makes the rig reach `sculpted` (positions of all its vertices) in pose p.
PoseCorrection correction_towards(const Rig& rig, std::vector<double> p, std::span<const Vec3> sculpted);

}  // namespace supple
