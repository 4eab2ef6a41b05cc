// SPDX-License-Identifier: Apache-2.0
// Skinning: vertices hang on several bones, each with a weight. A bone is a joint of the skeleton with the inverse of
// the matrix it was bound in; its matrix is A = world(joint) · inverse_bind.
//
//   linear            x = Σ_k w_k A_k x0. Joints bent or twisted far lose volume.
//   dual quaternion   the rigid parts of A_k are blended as unit dual quaternions (L. Kavan et al., Geometric Skinning
//                     with Approximate Dual Quaternion Blending, 2008), so a twist keeps its volume.
//
// Stretch under dual quaternions takes two phases: A = R S about the place c where the joint was bound, x1 =
// Σ_k w_k (S_k (x0 − c_k) + c_k), then the rigid motions move x1. A scale that all bones share at rest (a mesh in
// centimetres under a node scaled by 0.01) is taken out first.
#pragma once

#include "supple/rig/clip.h"
#include "supple/rig/pose.h"
#include "supple/rig/rig.h"
#include "supple/rig/skin.h"

namespace supple {

enum class SkinningMethod { linear, dual_quaternion };

struct Bone {
  Index joint = 0;
  Affine inverse_bind = Affine::Identity();
};

/// A joint's translation, rotation or scale that is free in the pose; everything else stays at rest.
struct JointParameter {
  Index joint = 0;
  ChannelTarget target = ChannelTarget::rotation;
  double scale = 1.0;  ///< in the pose distance
};

struct SkinDeformerSettings {
  SkinningMethod method = SkinningMethod::linear;
  std::vector<JointParameter> parameters;
};

class SkinDeformer final : public Deformer {
  friend class RigArchive;
  SkinDeformer() = default;

 public:
  struct Influence {
    double weight;
    Index bone;
  };

  /// Binds vertices to bones; `weights.joint` holds places in `bones`.
  SkinDeformer(const Skeleton& skeleton, std::span<const Bone> bones, const SkinWeights& weights,
               const SkinDeformerSettings& settings);

  const PoseLayout& layout() const override { return layout_; }
  std::unique_ptr<RigWorkspace> make_workspace(Index most_vertices) const override;
  void deform(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
              RigWorkspace& workspace) const override;

  SkinningMethod method() const { return method_; }
  Index bone_count() const { return static_cast<Index>(bones_.size()); }
  /// Makes a deformer of the same bones and parameters on which other vertices hang, linearly, each on one bone.
  std::shared_ptr<const SkinDeformer> with_vertices_on(std::span<const Index> bones) const;
  std::span<const Influence> influences(Index vertex) const {
    const auto v = to_size(vertex);
    return {influences_.data() + first_influence_[v], influences_.data() + first_influence_[v + 1]};
  }
  /// A_k of all bones; the last row is zero, so that whole columns load in one go.
  std::span<const Eigen::Matrix4d> bone_matrices(std::span<const double> p, RigWorkspace& workspace) const;

 private:
  struct Workspace;
  struct Parameter {
    Index slot;  ///< in `slots_`
    ChannelTarget target;
    Index first;
  };
  /// A joint that bones need, itself or an ancestor. Slots are in the skeleton's order.
  struct Slot {
    Index parent;  ///< slot, or -1
    Transform rest;
    Affine local;  ///< at rest
    bool moves = false;
  };
  struct SlotBone {
    Index slot;
    Affine inverse_bind;  ///< of a mesh already scaled by common_scale_
    Vec3 centre;
  };
  void pose_bones(std::span<const double> p, Workspace& scratch) const;
  void blend_linear(std::span<const Index> vertices, std::span<Vec3> positions, const Workspace& scratch) const;
  void blend_dual(std::span<const Index> vertices, std::span<Vec3> positions, Workspace& scratch) const;
  void prepare_dual(Workspace& scratch) const;
  void take_out_common_scale();

  SkinningMethod method_ = SkinningMethod::linear;
  std::vector<Slot> slots_;
  std::vector<SlotBone> bones_;
  std::vector<Parameter> parameters_;
  std::vector<Index> first_influence_;
  std::vector<Influence> influences_;
  double common_scale_ = 1.0;
  PoseLayout layout_;
};

}  // namespace supple
