// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/resolve_poses.h"

#include <fmt/format.h>

#include "supple/export/posed_meshes.h"
#include "supple/io/gltf/gltf_editor.h"
#include "supple/math/dense/decompositions.h"
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

/// Shapes that the character shows in a pose by itself, before skinning: in a moment of a clip those that the clip
/// plays, in others those that follow the joints.
std::vector<Vec3> own_shapes(const CharacterSource& source, const RecipePoseState& state) {
  std::vector<double> p = pose_parameters(source.rig, state);
  if (state.morphs.empty()) {
    std::vector<NamedPose> corrected = named_poses(source);
    std::erase_if(corrected, [](const NamedPose& pose) { return !pose.corrected; });
    const Result<std::optional<PoseMorphs>> morphs = PoseMorphs::create(source.rig, corrected);
    if (morphs.ok() && *morphs) {
      std::vector<double> scratch((*morphs)->scratch_size());
      (*morphs)->apply(p, std::vector<char>((*morphs)->followers().size(), 0), scratch);
    }
  }
  std::vector<Vec3> shapes;
  for (const CharacterMesh& mesh : source.character.meshes) {
    const std::size_t first = shapes.size();
    shapes.resize(first + mesh.surface.vertices.size(), Vec3::Zero());
    for (const CharacterRig::MorphSlot& slot : source.rig.morphs()) {
      if (slot.node != mesh.node || slot.neutral.size() != mesh.targets.size()) continue;
      for (std::size_t t = 0; t < mesh.targets.size(); ++t)
        for (std::size_t v = 0; v < mesh.surface.vertices.size(); ++v)
          shapes[first + v] += (p[to_size(slot.first) + t] - slot.neutral[t]) * mesh.targets[t].displacements[v];
    }
  }
  return shapes;
}

Result<ResolvedPose> resolve(const SoftCharacter& flesh, const RecipePoseState& pose, Progress& progress) {
  const Clip clip = still_clip(pose);
  const Result<std::unique_ptr<ClipRun>> run = flesh.simulate(clip, {}, progress);
  SUPPLE_RETURN_IF_ERROR(run);
  ResolvedPose resolved;
  resolved.name = pose.name;
  resolved.target = "resolved " + pose.name;
  resolved.displacements.resize(to_size(flesh.vertex_count()));
  (*run)->in_world(0, resolved.displacements);
  const std::vector<Vec3> own = own_shapes(flesh.source(), pose);
  PosedMeshes meshes(flesh.character(), {});
  meshes.pose(clip, 0);
  for (std::size_t v = 0; v < resolved.displacements.size(); ++v) {
    Vec3& u = resolved.displacements[v];
    const Mat3 B = meshes.matrices()[v].linear();
    resolved.largest = std::max(resolved.largest, (u - B * own[v]).norm());
    // Where skinning has flattened the skin no target can bring it out again.
    const double volume = std::abs(B.determinant()), length = B.norm();
    u = volume > 1e-3 * length * length * length ? Vec3(B.inverse() * u - own[v]) : Vec3(Vec3::Zero());
  }
  const ClipRunReport report = (*run)->report();
  resolved.penetration = report.penetration;
  resolved.converged = report.recovered == 0;
  return resolved;
}

/// Gives moments of clips their reach, and shapes that add up to what each needs.
Status part_moments(const CharacterSource& source, std::span<const std::size_t> of, std::vector<ResolvedPose>& poses) {
  constexpr double share_of_way = 0.5, least_apart = 0.05;
  std::vector<std::size_t> moments;
  std::vector<std::vector<double>> p;
  const Result<PoseLayout> layout = reach_layout(source.rig, {});
  SUPPLE_RETURN_IF_ERROR(layout);
  for (std::size_t k = 0; k < poses.size(); ++k) {
    if (source.recipe.poses[of[k]].clip.empty()) continue;
    moments.push_back(k);
    p.push_back(pose_parameters(source.rig, source.poses[of[k]]));
    poses[k].reach = std::max(same, share_of_way * pose_distance(*layout, p.back(), layout->neutral));
  }
  const auto count = std::ssize(moments);
  MatX weights(count, count);
  for (Eigen::Index i = 0; i < count; ++i)
    for (Eigen::Index j = 0; j < count; ++j)
      weights(i, j) =
          reach_weight(pose_distance(*layout, p[to_size(i)], p[to_size(j)]) / poses[moments[to_size(j)]].reach);
  if (count == 0) return {};
  const std::optional<MatX> inverse = pivoted_inverse(weights, least_apart);
  if (!inverse) return input_error("two of the moments to resolve are nearly the same pose; leave one of them out");
  const std::vector<ResolvedPose> needed = poses;
  for (Eigen::Index i = 0; i < count; ++i)
    for (std::size_t v = 0; v < needed.front().displacements.size(); ++v) {
      Vec3 sum = Vec3::Zero();
      for (Eigen::Index j = 0; j < count; ++j) sum += (*inverse)(i, j) * needed[moments[to_size(j)]].displacements[v];
      poses[moments[to_size(i)]].displacements[v] = sum;
    }
  return {};
}

bool is_open(const CharacterSource& source, std::size_t pose) {
  const RecipePoseState& state = source.poses[pose];
  return !state.corrected && !turned_joints(source.character.skeleton, state.locals).empty();
}

/// One of the rig's targets for one mesh, at the vertices of the file.
NewMorphTarget new_target(const CharacterMesh& mesh, const RigTarget& pose, Index first, double scale) {
  NewMorphTarget target;
  target.name = pose.name;
  for (const std::vector<Index>& welded : mesh.welded_vertex) {
    std::vector<Vec3>& displacements = target.displacements.emplace_back();
    for (const Index v : welded) displacements.push_back(pose.displacements[to_size(first + v)] / scale);
  }
  return target;
}

/// A pose of the file by its joints, or a moment of a clip.
RecipeCorrection correction_of(const CharacterSource& source, std::size_t pose, const ResolvedPose& resolved) {
  const RecipePoseState& state = source.poses[pose];
  const RecipePose& named = source.recipe.poses[pose];
  RecipeCorrection correction;
  correction.target = resolved.target;
  correction.clip = named.clip;
  correction.time = named.time;
  correction.reach = resolved.reach * 180 / std::numbers::pi;
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

bool has_open_poses(const CharacterSource& source) {
  for (std::size_t k = 0; k < source.recipe.poses.size(); ++k)
    if (is_open(source, k)) return true;
  return false;
}

Result<std::vector<ResolvedPose>> resolve_poses(const SoftCharacter& flesh, Progress& progress) {
  const CharacterSource& source = flesh.source();
  if (!source.recipe.wires.empty() || source.recipe.dual_quaternions)
    return input_error(
        "poses are resolved by morph targets under linear skinning, but the recipe moves the skin by "
        "wires or dual quaternions; leave [rig] and [[wire]] out");
  std::vector<ResolvedPose> resolved;
  std::vector<std::size_t> of;  // the recipe's poses that were resolved
  progress.stage("resolving poses");
  for (std::size_t k = 0; k < source.recipe.poses.size(); ++k) {
    if (!is_open(source, k)) continue;
    Result<ResolvedPose> one = resolve(flesh, source.poses[k], Progress::silent());
    SUPPLE_RETURN_IF_ERROR(one);
    resolved.push_back(std::move(*one));
    of.push_back(k);
    progress.update(static_cast<double>(k + 1) / static_cast<double>(source.recipe.poses.size()));
    if (progress.cancelled()) return failure("stopped");
  }
  if (resolved.empty())
    return input_error(
        "there is no pose to resolve, but the rest pose and those that are corrected: name moments of clips (--at "
        "CLIP:SECONDS, or [[pose]])");
  SUPPLE_RETURN_IF_ERROR(part_moments(source, of, resolved));
  return resolved;
}

Result<GltfDocument> with_targets(const CharacterSource& source, std::span<const RigTarget> targets) {
  GltfDocument document = source.file.document;
  Index first = 0;
  for (const CharacterMesh& mesh : source.character.meshes) {
    const Result<Index> own = own_mesh(document, source.character.file_node[to_size(mesh.node)]);
    SUPPLE_RETURN_IF_ERROR(own);
    std::vector<NewMorphTarget> shapes;
    for (const RigTarget& target : targets) shapes.push_back(new_target(mesh, target, first, source.recipe.scale));
    const Result<Index> added = add_morph_targets(document, *own, shapes);
    SUPPLE_RETURN_IF_ERROR(added);
    first += static_cast<Index>(mesh.surface.vertices.size());
  }
  return document;
}

Recipe recipe_beside(const std::filesystem::path& folder, const std::filesystem::path& output, Recipe recipe) {
  move_paths(folder, output.parent_path(), recipe);
  recipe.input = output.filename().string();
  return recipe;
}

Result<ResolvedCharacter> with_resolved_poses(const CharacterSource& source, std::span<const ResolvedPose> poses,
                                              const std::filesystem::path& output) {
  std::vector<RigTarget> targets;
  for (const ResolvedPose& pose : poses) targets.push_back({pose.target, pose.displacements});
  Result<GltfDocument> document = with_targets(source, targets);
  SUPPLE_RETURN_IF_ERROR(document);
  ResolvedCharacter result{std::move(*document), source.recipe};
  Recipe& recipe = result.recipe;
  if (!recipe.corrections) recipe.corrections.emplace();
  std::vector<RecipePose> left;
  for (std::size_t k = 0; k < source.recipe.poses.size(); ++k) {
    const auto resolved = std::find_if(
        poses.begin(), poses.end(), [&](const ResolvedPose& pose) { return pose.name == source.recipe.poses[k].name; });
    if (resolved == poses.end())
      left.push_back(source.recipe.poses[k]);
    else
      recipe.corrections->push_back(correction_of(source, k, *resolved));
  }
  recipe.poses = std::move(left);
  recipe = recipe_beside(source.folder, output, std::move(recipe));
  return result;
}

}  // namespace supple
