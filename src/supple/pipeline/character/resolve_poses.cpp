// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/resolve_poses.h"

#include <fmt/format.h>

#include "supple/export/posed_meshes.h"
#include "supple/io/gltf/gltf_editor.h"
#include "supple/pipeline/character/corrections.h"

#include <algorithm>
#include <numbers>

namespace supple {
namespace {

constexpr double same = std::numbers::pi / 180;

/// A clip of one key that holds all joints in a pose.
Clip still_clip(const RecipePoseState& pose) {
  Clip clip;
  clip.name = pose.name;
  for (std::size_t j = 0; j < pose.locals.size(); ++j) {
    const Transform& local = pose.locals[j];
    const auto add = [&](ChannelTarget target, const auto& values) {
      const auto width = static_cast<int>(values.size());
      clip.channels.push_back(
          {static_cast<Index>(j), target, Interpolation::linear, width, {0.0}, {values.begin(), values.end()}});
    };
    add(ChannelTarget::translation, local.translation);
    add(ChannelTarget::rotation, local.rotation.coeffs());
    add(ChannelTarget::scale, local.scale);
  }
  return clip;
}

std::vector<Index> turned_joints(const Skeleton& skeleton, const Pose& locals) {
  std::vector<Index> joints;
  for (std::size_t j = 0; j < locals.size(); ++j)
    if (locals[j].rotation.angularDistance(skeleton.joints[j].rest.rotation) > same)
      joints.push_back(static_cast<Index>(j));
  return joints;
}

Result<ResolvedPose> resolve(const SoftCharacter& flesh, const RecipePoseState& pose, Progress& progress) {
  const Clip clip = still_clip(pose);
  const Result<std::unique_ptr<ClipRun>> run = flesh.simulate(clip, {}, progress);
  SUPPLE_RETURN_IF_ERROR(run);
  ResolvedPose resolved{pose.name, "resolved " + pose.name, {}, 0, 0, false};
  resolved.displacements.resize(to_size(flesh.vertex_count()));
  (*run)->in_world(0, resolved.displacements);
  PosedMeshes meshes(flesh.character(), {});
  meshes.pose(clip, 0);
  for (std::size_t v = 0; v < resolved.displacements.size(); ++v) {
    Vec3& u = resolved.displacements[v];
    resolved.largest = std::max(resolved.largest, u.norm());
    const Mat3 B = meshes.matrices()[v].linear();
    // Where skinning has flattened the skin no target can bring it out again.
    const double volume = std::abs(B.determinant()), length = B.norm();
    u = volume > 1e-3 * length * length * length ? Vec3(B.inverse() * u) : Vec3(Vec3::Zero());
  }
  const ClipRunReport report = (*run)->report();
  resolved.penetration = report.penetration;
  resolved.converged = report.recovered == 0;
  return resolved;
}

/// One of the rig's targets for one mesh, at the vertices of the file.
NewMorphTarget new_target(const CharacterMesh& mesh, const ResolvedPose& pose, Index first, double scale) {
  NewMorphTarget target;
  target.name = pose.target;
  for (const std::vector<Index>& welded : mesh.welded_vertex) {
    std::vector<Vec3>& displacements = target.displacements.emplace_back();
    for (const Index v : welded) displacements.push_back(pose.displacements[to_size(first + v)] / scale);
  }
  return target;
}

/// A pose of the file by its joints, or a moment of a clip.
RecipeCorrection correction_of(const CharacterSource& source, std::size_t pose, const std::string& target) {
  const RecipePoseState& state = source.poses[pose];
  const RecipePose& named = source.recipe.poses[pose];
  RecipeCorrection correction;
  correction.target = target;
  correction.clip = named.clip;
  correction.time = named.time;
  if (!named.clip.empty()) return correction;
  const Skeleton& skeleton = source.character.skeleton;
  for (const Index j : turned_joints(skeleton, state.locals)) {
    const Joint& joint = skeleton.joints[to_size(j)];
    correction.joints.push_back(joint.name);
    correction.rotations.push_back(euler_degrees(joint.rest.rotation.conjugate() * state.locals[to_size(j)].rotation));
  }
  return correction;
}

/// The recipe's files as seen from the folder of another recipe.
void move_paths(const std::filesystem::path& from, const std::filesystem::path& to, Recipe& recipe) {
  const auto move = [&](std::string& path) {
    if (!path.empty() && std::filesystem::path(path).is_relative())
      path = std::filesystem::proximate(std::filesystem::absolute(from / path), std::filesystem::absolute(to)).string();
  };
  move(recipe.body_mesh);
  for (RecipeMotion& motion : recipe.motions) {
    move(motion.file);
    move(motion.joint_map);
  }
  for (RecipePaint& paint : recipe.paints) {
    move(paint.file);
    move(paint.tets);
  }
  for (Collider& collider : recipe.colliders) move(collider.mesh);
}

}  // namespace

Result<std::vector<ResolvedPose>> resolve_poses(const SoftCharacter& flesh, Progress& progress) {
  const CharacterSource& source = flesh.source();
  if (!source.recipe.wires.empty() || source.recipe.dual_quaternions)
    return input_error(
        "poses are resolved by morph targets under linear skinning, but the recipe moves the skin by "
        "wires or dual quaternions; leave [rig] and [[wire]] out");
  std::vector<ResolvedPose> resolved;
  progress.stage("resolving poses");
  for (std::size_t k = 0; k < source.recipe.poses.size(); ++k) {
    const RecipePoseState& pose = source.poses[k];
    if (pose.corrected || turned_joints(source.character.skeleton, pose.locals).empty()) continue;
    Result<ResolvedPose> one = resolve(flesh, pose, Progress::silent());
    SUPPLE_RETURN_IF_ERROR(one);
    resolved.push_back(std::move(*one));
    progress.update(static_cast<double>(k + 1) / static_cast<double>(source.recipe.poses.size()));
    if (progress.cancelled()) return failure("stopped");
  }
  if (resolved.empty())
    return input_error(
        "there is no pose to resolve, but the rest pose and those that are corrected: name moments of clips (--at "
        "CLIP:SECONDS, or [[pose]])");
  return resolved;
}

Result<ResolvedCharacter> with_resolved_poses(const CharacterSource& source, std::span<const ResolvedPose> poses,
                                              const std::filesystem::path& output) {
  ResolvedCharacter result{source.file.document, source.recipe};
  Index first = 0;
  for (const CharacterMesh& mesh : source.character.meshes) {
    const Result<Index> own = own_mesh(result.document, source.character.file_node[to_size(mesh.node)]);
    SUPPLE_RETURN_IF_ERROR(own);
    std::vector<NewMorphTarget> targets;
    for (const ResolvedPose& pose : poses) targets.push_back(new_target(mesh, pose, first, source.recipe.scale));
    const Result<Index> added = add_morph_targets(result.document, *own, targets);
    SUPPLE_RETURN_IF_ERROR(added);
    first += static_cast<Index>(mesh.surface.vertices.size());
  }
  Recipe& recipe = result.recipe;
  if (!recipe.corrections) recipe.corrections.emplace();
  std::vector<RecipePose> left;
  for (std::size_t k = 0; k < source.recipe.poses.size(); ++k) {
    const auto resolved = std::find_if(
        poses.begin(), poses.end(), [&](const ResolvedPose& pose) { return pose.name == source.recipe.poses[k].name; });
    if (resolved == poses.end())
      left.push_back(source.recipe.poses[k]);
    else
      recipe.corrections->push_back(correction_of(source, k, resolved->target));
  }
  recipe.poses = std::move(left);
  move_paths(source.folder, output.parent_path(), recipe);
  recipe.input = output.filename().string();
  return result;
}

}  // namespace supple
