// SPDX-License-Identifier: Apache-2.0
// BlendedPose: a pose that a model doesn't know, as a running step would blend it from those that it does know
// (runtime/posespace/pose_interpolation.h). A step does this for its few cubature elements; training does it here for
// any element of the mesh, so that it can judge cubature between the known poses:
//   w(p)     Υ: Σ_i w_i Û_i has columns of unit mass     D_e = Σ_i w_i D_e,i Υ     X̃ = Υ Σ_i w⁺_i X_i Υ / Σ_i w⁺_i
#pragma once

#include "supple/fem/elastic_body.h"
#include "supple/offline/posespace/bases/pose_basis.h"
#include "supple/rig/deform/pose_space.h"

namespace supple {

/// The poses that a model has bases for, and the body that these belong to.
struct KnownPoses {
  const ElasticBody& body;  ///< in the neutral pose
  const TetMesh& mesh;
  const Rig& rest;
  std::span<const PoseBasis> poses;
  BasisDirections directions = BasisDirections::rotating;
};

class BlendedPose {
 public:
  BlendedPose(const KnownPoses& known, const PoseSpaceWeights& weights, std::vector<double> p);

  /// The shape and materials of this pose, and its basis Σ_i w_i Û_i Υ, turned back. `PoseBasis::turns` is empty:
  /// gradient() has to be asked instead.
  const PoseBasis& pose() const { return pose_; }
  /// D_e: how the deformation gradient of an element changes with each coordinate.
  MatX gradient(std::size_t element) const;
  /// w_i: how much each known pose counts here.
  const VecX& weights() const { return weights_; }
  /// X̃: matrices X_i that are known at some poses, blended with their weights w_i.
  MatX blended(std::span<const MatX> matrices, std::span<const double> weights) const;
  /// Υ⁻¹ X Υ⁻¹: a matrix of this pose in the scale that matrices of known poses are stored in.
  MatX unscaled(const MatX& matrix) const;

 private:
  void blend_materials();

  KnownPoses known_;
  PoseBasis pose_;
  VecX weights_, scale_;
};

/// Of the candidates the `count` that are farthest from the known poses and from each other, the farthest first; fewer
/// where candidates are poses that are known.
std::vector<std::vector<double>> far_poses(const PoseLayout& layout, std::span<const PoseBasis> known,
                                           std::span<const std::vector<double>> candidates, std::size_t count);

}  // namespace supple
