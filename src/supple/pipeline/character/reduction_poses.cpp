// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/reduction_poses.h"

#include <algorithm>
#include <numbers>

namespace supple {
namespace {

constexpr double same = std::numbers::pi / 180;

double distance_to_all(const PoseLayout& layout, std::span<const double> p, const std::vector<ReducePose>& others) {
  double nearest = pose_distance(layout, p, layout.neutral);
  for (const ReducePose& other : others) nearest = std::min(nearest, pose_distance(layout, p, other.p));
  return nearest;
}

/// Materials of all elements as they are painted in a pose; empty where nothing is painted in any.
std::vector<ElasticMaterial> materials_in_pose(const RecipeBody& body, std::size_t pose) {
  if (body.pose_paints.empty()) return {};
  std::vector<PaintedQuantity> painted;
  for (const auto& [quantity, paint] : body.pose_paints) {
    const VecX column = paint.values.col(static_cast<Eigen::Index>(pose));
    painted.push_back({quantity, {column.begin(), column.end()}});
  }
  TetMesh mesh = body.body.mesh;
  paint_materials(mesh, body.base, painted);
  std::vector<ElasticMaterial> materials;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) materials.push_back(mesh.material_of(e));
  return materials;
}

}  // namespace

std::vector<double> pose_parameters(const CharacterRig& rig, const RecipePoseState& state) {
  CharacterPose pose = rig.neutral();
  rig.set_joints(state.locals, pose);
  if (state.corrected) {
    for (const ParameterGroup& group : rig.rig()->layout().groups)
      if (group.kind == ParameterKind::scalar && group.name == state.name) pose.p[to_size(group.first)] = 1;
  }
  return pose.p;
}

std::vector<ReducePose> recipe_poses(const RecipeCharacter& prepared, const CharacterRig& rig, const RecipeBody& body,
                                     int most) {
  std::vector<ReducePose> result;
  for (std::size_t i = 0; i < prepared.poses.size() && static_cast<int>(result.size()) < most; ++i) {
    std::vector<double> p = pose_parameters(rig, prepared.poses[i]);
    if (distance_to_all(rig.rig()->layout(), p, result) < same) continue;
    result.push_back({std::move(p), materials_in_pose(body, i), prepared.poses[i].name});
  }
  return result;
}

}  // namespace supple
