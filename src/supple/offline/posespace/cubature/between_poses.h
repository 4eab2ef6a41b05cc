// SPDX-License-Identifier: Apache-2.0
// BetweenPose: what a step makes of the poses that a model knows where it is in none of them
// (runtime/posespace/pose_interpolation.h), for all elements of the mesh, so that training can judge cubature there:
//   w(p)     Υ: Σ_i w_i Û_i has columns of unit mass     D_e = Σ_i w_i D_e,i Υ     X̃ = Υ Σ_i w⁺_i X_i Υ / Σ_i w⁺_i
#pragma once

#include "supple/fem/elastic_body.h"
#include "supple/offline/posespace/bases/pose_basis.h"
#include "supple/rig/deform/pose_space.h"

namespace supple {

struct KnownPoses {
  const ElasticBody& body;  ///< neutral pose
  const TetMesh& mesh;
  const Rig& rest;
  std::span<const PoseBasis> poses;
  BasisDirections directions = BasisDirections::rotating;
};

class BetweenPose {
 public:
  BetweenPose(const KnownPoses& known, const PoseSpaceWeights& weights, std::vector<double> p);

  /// Shape and materials of the pose, and its basis, turned back. It has no turns: gradients are those below.
  const PoseBasis& pose() const { return pose_; }
  /// D_e
  MatX gradient(std::size_t element) const;
  /// w_i
  const VecX& weights() const { return weights_; }
  /// X̃ of matrices and their weights w.
  MatX blended(std::span<const MatX> matrices, std::span<const double> weights) const;
  /// A matrix of this pose as one of a known pose is: without Υ.
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
