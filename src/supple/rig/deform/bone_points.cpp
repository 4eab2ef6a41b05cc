// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/deform/bone_points.h"

#include "supple/rig/deform/pose_space.h"
#include "supple/rig/deform/rig_stack.h"

namespace supple {
namespace {

/// Morph targets that move nothing, with the parameters of those that do.
DeformerPtr still_shapes(const BlendShapes& shapes, Index points) {
  std::vector<MorphTarget> targets;
  for (const ParameterGroup& group : shapes.layout().groups) targets.push_back({group.name, {}});
  return std::make_shared<BlendShapes>(targets, points, shapes.layout().neutral);
}

double reach_of(std::span<const Vec3> points) {
  if (points.empty()) return 1;
  Vec3 low = points[0], high = points[0];
  for (const Vec3& x : points) low = low.cwiseMin(x), high = high.cwiseMax(x);
  const double size = (high - low).maxCoeff();
  return size > 0 ? 0.1 * size : 1;
}

}  // namespace

std::optional<BonePoints> bone_points(const Rig& rig) {
  const Rig* found = &rig;
  while (const auto* corrected = dynamic_cast<const PoseSpaceRig*>(found)) found = corrected->base().get();
  const auto* stack = dynamic_cast<const StackRig*>(found);
  if (stack == nullptr || stack->stages().empty()) return std::nullopt;
  const auto skin = std::dynamic_pointer_cast<const SkinDeformer>(stack->stages().back());
  if (skin == nullptr) return std::nullopt;
  const Index bones = skin->bone_count();
  std::vector<DeformerPtr> stages;
  for (const DeformerPtr& stage : stack->stages().first(stack->stages().size() - 1)) {
    const auto* shapes = dynamic_cast<const BlendShapes*>(stage.get());
    if (shapes == nullptr) return std::nullopt;
    stages.push_back(still_shapes(*shapes, 4 * bones));
  }
  // Where the points are doesn't matter, but nearness does to rounding: around the vertex that hangs most on the bone.
  std::vector<double> most(to_size(bones), 0);
  std::vector<Vec3> centre(to_size(bones), Vec3::Zero());
  for (Index v = 0; v < stack->vertex_count(); ++v) {
    for (const SkinDeformer::Influence& influence : skin->influences(v)) {
      if (!(influence.weight > most[to_size(influence.bone)])) continue;
      most[to_size(influence.bone)] = influence.weight;
      centre[to_size(influence.bone)] = stack->rest()[to_size(v)];
    }
  }
  const double reach = reach_of(stack->rest());
  std::vector<Vec3> rest;
  std::vector<Index> hangs_on;
  for (Index b = 0; b < bones; ++b) {
    for (int k = 0; k < 4; ++k) {
      rest.push_back(centre[to_size(b)] + (k == 0 ? Vec3(Vec3::Zero()) : Vec3(reach * Vec3::Unit(k - 1))));
      hangs_on.push_back(b);
    }
  }
  stages.push_back(skin->with_vertices_on(hangs_on));
  return BonePoints{std::make_shared<StackRig>(std::move(rest), std::move(stages)), skin};
}

}  // namespace supple
