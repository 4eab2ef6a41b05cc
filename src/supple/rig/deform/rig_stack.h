// SPDX-License-Identifier: Apache-2.0
// Rigs made of deformers: one after the other, side by side, or the user's own function.
#pragma once

#include "supple/rig/deform/wire_groups.h"

#include <functional>

namespace supple {

class BlendShapes;
class SkinDeformer;

using DeformerPtr = std::shared_ptr<const Deformer>;

/// Rest positions sent through deformers in order. Its parameters are those of the first, then of the second, …
class StackRig final : public Rig {
  friend class RigArchive;

 public:
  StackRig(std::vector<Vec3> rest, std::vector<DeformerPtr> stages);

  const PoseLayout& layout() const override { return layout_; }
  Index vertex_count() const override { return static_cast<Index>(rest_.size()); }
  std::unique_ptr<RigWorkspace> make_workspace(Index most_vertices) const override;
  void evaluate(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
                RigWorkspace& workspace) const override;

  const std::vector<Vec3>& rest() const { return rest_; }
  std::span<const DeformerPtr> stages() const { return stages_; }
  /// Linear skinning, after blend shapes or alone. Neither, where there is anything else.
  struct LinearParts {
    const BlendShapes* shapes = nullptr;
    const SkinDeformer* skin = nullptr;
  };
  LinearParts linear_parts() const;
  /// What a rig of shapes and one skin makes of p: the weights of the shapes, and the matrices of the bones
  /// (SkinDeformer::bone_matrices).
  struct LinearState {
    std::span<const double> weights;
    std::span<const Eigen::Matrix4d> bones;
  };
  LinearState linear_state(std::span<const double> p, RigWorkspace& workspace) const;
  /// True where the rig is made of wires and nothing else.
  bool only_wires() const { return !wires_.empty() && stages_.size() == 1; }
  /// Tells how far a rig of wires only moves the vertices from rest (WireGroups::displacements).
  std::span<const Pack4> displacements(std::span<const double> p, std::span<const Index> vertices,
                                       RigWorkspace& workspace) const;

 private:
  std::vector<Vec3> rest_;
  std::vector<DeformerPtr> stages_;
  PoseLayout layout_;
  std::vector<Index> first_;  ///< of each stage's numbers in p; its making fills layout_
  /// The wires of the first stage, if it is made of wires only. They see nothing but rest positions, so all are
  /// evaluated together.
  std::vector<WireGroups::PlacedWire> wires_;
};

/// Deformers that all see the same input; their displacements add up: x ↦ x + Σ_k (D_k(x) − x).
class SumDeformer final : public Deformer {
  friend class RigArchive;

 public:
  explicit SumDeformer(std::vector<DeformerPtr> parts);

  std::span<const DeformerPtr> parts() const { return parts_; }

  const PoseLayout& layout() const override { return layout_; }
  std::unique_ptr<RigWorkspace> make_workspace(Index most_vertices) const override;
  void deform(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
              RigWorkspace& workspace) const override;

 private:
  std::vector<DeformerPtr> parts_;
  PoseLayout layout_;
  std::vector<Index> first_;  ///< for each part, its first parameter in p
};

/// A C function as a deformer. `positions` holds x y z of each chosen vertex, before and after.
using RigCallback = void (*)(void* user, const double* p, const std::int32_t* vertices, std::size_t vertex_count,
                             double* positions);

/// A user's function as a deformer. It must not throw, and it runs on whatever thread evaluates the rig.
class CallbackDeformer final : public Deformer {
 public:
  using Function = std::function<void(std::span<const double>, std::span<const Index>, std::span<Vec3>)>;

  CallbackDeformer(PoseLayout layout, Function function);
  CallbackDeformer(PoseLayout layout, RigCallback callback, void* user);

  const PoseLayout& layout() const override { return layout_; }
  void deform(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
              RigWorkspace& workspace) const override;

 private:
  PoseLayout layout_;
  Function function_;
};

}  // namespace supple
