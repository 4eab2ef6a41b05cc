// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/recipe_character.h"

#include <fmt/format.h>

#include "supple/base/nearest_name.h"
#include "supple/io/gltf/read_character.h"
#include "supple/io/gltf/read_poses.h"
#include "supple/io/motion/bvh.h"
#include "supple/io/motion/joint_map.h"
#include "supple/io/text_scanner.h"
#include "supple/mesh/bounds.h"
#include "supple/offline/painting/paint_sources.h"
#include "supple/rig/motion/clip_motion.h"
#include "supple/rig/motion/inverse_kinematics.h"
#include "supple/rig/motion/retarget_floor.h"

#include <algorithm>

namespace supple {
namespace {

/// "hero.toml, line 3: there is no clip "wlak" in hero.glb; did you mean "walk"?"
template <class Things>
Error no_such(const Recipe& recipe, std::string_view kind, std::string_view name, const Things& things) {
  std::vector<std::string_view> names;
  for (const auto& thing : things) names.push_back(thing.name);
  const std::string_view near = nearest_name(name, names);
  const std::string others =
      names.empty() ? "there is none at all" : fmt::format("there are {}", fmt::join(names, ", "));
  return input_error(fmt::format("{}: there is no {} \"{}\" in {}; {}", recipe.source.place(kind, name, "the recipe"),
                                 kind, name, recipe.input,
                                 near.empty() ? others : fmt::format("did you mean \"{}\"?", near)));
}

template <class Things>
auto find_named(Things& things, std::string_view name) {
  return std::find_if(things.begin(), things.end(), [&](const auto& thing) { return thing.name == name; });
}

// ---- what takes part ------------------------------------------------------------------------------------------------

Status leave_out(const Recipe& recipe, RawCharacter& character) {
  for (const std::string& name : recipe.exclude) {
    if (find_named(character.meshes, name) == character.meshes.end())
      return no_such(recipe, "mesh", name, character.meshes);
  }
  std::erase_if(character.meshes, [&](const CharacterMesh& mesh) {
    return std::find(recipe.exclude.begin(), recipe.exclude.end(), mesh.name) != recipe.exclude.end();
  });
  if (character.meshes.empty())
    return input_error(fmt::format("{}: all meshes are excluded; nothing is left to simulate", recipe.input));
  if (!recipe.clips) return {};
  for (const std::string& name : *recipe.clips) {
    if (find_named(character.clips, name) == character.clips.end())
      return no_such(recipe, "clip", name, character.clips);
  }
  std::erase_if(character.clips, [&](const Clip& clip) {
    return std::find(recipe.clips->begin(), recipe.clips->end(), clip.name) == recipe.clips->end();
  });
  return {};
}

Status check_joints(const Recipe& recipe, const Skeleton& skeleton) {
  const auto check = [&](const std::string& name) -> Status {
    if (find_joint(skeleton, name) < 0) return no_such(recipe, "joint", name, skeleton.joints);
    return {};
  };
  for (const std::vector<std::string>* names : {&recipe.soft, &recipe.rigid})
    for (const std::string& name : *names) SUPPLE_RETURN_IF_ERROR(check(name));
  for (const RecipeWire& wire : recipe.wires)
    for (const std::string& name : wire.handles) SUPPLE_RETURN_IF_ERROR(check(name));
  for (const RecipeLocal& local : recipe.locals)
    for (const std::string& name : local.joints) SUPPLE_RETURN_IF_ERROR(check(name));
  for (const RecipeKeyframes& clip : recipe.keyframes)
    for (const Keyframe& key : clip.keys) SUPPLE_RETURN_IF_ERROR(check(key.joint));
  for (const RecipeReach& reach : recipe.reaches)
    for (const std::string& name : {reach.root, reach.tip}) SUPPLE_RETURN_IF_ERROR(check(name));
  return {};
}

/// All lengths times s. Transforms keep their linear parts: (s·)M(s·)⁻¹ only scales the translation.
void scale_clip(double s, Clip& clip) {
  for (Channel& channel : clip.channels) {
    if (channel.target != ChannelTarget::translation) continue;
    for (double& value : channel.values) value *= s;
  }
}

void scale_lengths(double s, RawCharacter& character) {
  for (CharacterMesh& mesh : character.meshes) {
    for (Vec3& x : mesh.surface.vertices) x *= s;
    for (MorphTarget& target : mesh.targets)
      for (Vec3& d : target.displacements) d *= s;
  }
  for (Joint& joint : character.skeleton.joints) {
    joint.rest.translation *= s;
    if (joint.matrix) joint.matrix->translation() *= s;
  }
  for (Skin& skin : character.skins)
    for (Affine& bind : skin.inverse_bind) bind.translation() *= s;
  for (Clip& clip : character.clips) scale_clip(s, clip);
}

// ---- motion ---------------------------------------------------------------------------------------------------------

/// Keys from time `from` to `to`, which then starts at zero. BVH has a key per frame, so nothing needs interpolation.
void cut(Clip& clip, double from, double to) {
  const double slack = 1e-6;
  for (Channel& channel : clip.channels) {
    Channel kept = channel;
    kept.times.clear();
    kept.values.clear();
    const auto width = static_cast<std::ptrdiff_t>(channel.width);
    for (std::size_t k = 0; k < channel.times.size(); ++k) {
      if (channel.times[k] < from - slack || channel.times[k] > to + slack) continue;
      kept.times.push_back(std::max(0.0, channel.times[k] - from));
      const auto first = channel.values.begin() + static_cast<std::ptrdiff_t>(k) * width;
      kept.values.insert(kept.values.end(), first, first + width);
    }
    channel = std::move(kept);
  }
  clip.duration = to - from;
}

Result<Clip> read_bvh(const RecipeMotion& motion, const std::filesystem::path& folder, const RawCharacter& character) {
  const Skeleton& skeleton = character.skeleton;
  Result<BvhMotion> bvh = load_bvh(folder / motion.file);
  SUPPLE_RETURN_IF_ERROR(bvh);
  if (motion.frames) {
    const auto [first, last] = *motion.frames;
    if (last >= bvh->frame_count)
      return input_error(fmt::format("{}: frames {} to {} are asked for, but it has {}, counted from 0", motion.file,
                                     first, last, bvh->frame_count));
    cut(bvh->clip, first * bvh->frame_time, last * bvh->frame_time);
  }
  std::vector<JointPair> pairs;
  if (motion.joint_map.empty()) {
    pairs = match_joints(bvh->skeleton, skeleton);
  } else {
    Result<std::vector<JointPair>> mapped = load_joint_map(folder / motion.joint_map, bvh->skeleton, skeleton);
    SUPPLE_RETURN_IF_ERROR(mapped);
    pairs = std::move(*mapped);
  }
  RetargetSettings settings;
  settings.target_soles = soles_of(character);
  settings.floor.level = motion.level_floor;
  Result<Clip> clip = retarget(bvh->skeleton, bvh->clip, skeleton, pairs, settings);
  if (!clip.ok()) return input_error(fmt::format("{}: {}", motion.file, clip.error().message));
  clip->name = motion.name.empty() ? std::filesystem::path(motion.file).stem().string() : motion.name;
  return clip;
}

Status add_motion(const Recipe& recipe, const RecipeMotion& motion, const std::filesystem::path& folder,
                  RawCharacter& character) {
  if (equals_ignoring_case(std::filesystem::path(motion.file).extension().string(), ".bvh")) {
    Result<Clip> clip = read_bvh(motion, folder, character);
    SUPPLE_RETURN_IF_ERROR(clip);
    character.clips.push_back(std::move(*clip));
    return {};
  }
  const Result<GltfDocument> document = load_gltf(folder / motion.file);
  SUPPLE_RETURN_IF_ERROR(document);
  Result<std::vector<Clip>> clips = read_clips(*document, character, character.warnings);
  SUPPLE_RETURN_IF_ERROR(clips);
  for (Clip& clip : *clips) {
    scale_clip(recipe.scale, clip);
    character.clips.push_back(std::move(clip));
  }
  return {};
}

/// What only the skeleton tells about a reach.
Status check_chain(const Recipe& recipe, const RecipeReach& reach, std::span<const Index> chain) {
  const auto refuse = [&](std::string_view key, const std::string& fault) {
    return input_error(fmt::format("{}: {}", recipe.source.place(key, reach.name, "the recipe"), fault));
  };
  if (chain.size() < 2)
    return refuse("tip", fmt::format("the joint \"{}\" doesn't hang below \"{}\"; name joints of one limb", reach.tip,
                                     reach.root));
  if (reach.pole && chain.size() != 3)
    return refuse("pole", fmt::format("\"pole\" is for two bones, but from \"{}\" to \"{}\" there {} {}", reach.root,
                                      reach.tip, chain.size() == 2 ? "is" : "are", chain.size() - 1));
  if (reach.stiffness.size() > chain.size() - 1)
    return refuse("stiffness", fmt::format("\"stiffness\" has {} numbers, but only {} joints turn between \"{}\" and "
                                           "\"{}\"",
                                           reach.stiffness.size(), chain.size() - 1, reach.root, reach.tip));
  return {};
}

/// The target rests where the base clip is longer than its keys.
IkGoal goal_of(const RecipeReach& reach, std::span<const Index> chain, const Clip* base) {
  IkGoal goal{chain.front(), chain.back(), {}, {}, reach.pole, reach.stiffness};
  const auto add = [&](double time, const Vec3& target) {
    goal.times.push_back(time);
    goal.targets.push_back(target);
  };
  if (base && first_key(*base) < reach.keys.front().time) add(first_key(*base), reach.keys.front().target);
  for (const RecipeReachKey& key : reach.keys) add(key.time, key.target);
  if (base && base->duration > goal.times.back()) add(base->duration, reach.keys.back().target);
  return goal;
}

/// All that the base clip moves and the chain doesn't turn.
void move_on(const Clip& base, std::span<const Index> chain, Clip& clip) {
  const std::span<const Index> turned = chain.first(chain.size() - 1);
  for (const Channel& channel : base.channels) {
    if (channel.target == ChannelTarget::rotation &&
        std::find(turned.begin(), turned.end(), channel.joint) != turned.end())
      continue;
    clip.channels.push_back(channel);
  }
  clip.duration = last_key(clip);
}

/// A target out of reach is no error: the chain points at it. But it may be a slip of units or axes.
void warn_of_misses(const RecipeReach& reach, std::span<const Index> chain, const Clip& clip, RawCharacter& character) {
  const Skeleton& skeleton = character.skeleton;
  for (const RecipeReachKey& key : reach.keys) {
    Pose pose = rest_pose(skeleton);
    sample_clip(clip, key.time, ClipWrap::hold, pose);
    const Vec3 tip = world_matrix(skeleton, pose, chain.back()).translation();
    const Vec3 root = world_matrix(skeleton, pose, chain.front()).translation();
    if ((key.target - tip).norm() <= 0.005 * (key.target - root).norm()) continue;
    character.warnings.push_back(fmt::format("the clip \"{}\" leaves \"{}\" {:.3g} m from its target at {:g} s",
                                             reach.name, reach.tip, (key.target - tip).norm(), key.time));
  }
}

Status add_reach(const Recipe& recipe, const RecipeReach& reach, RawCharacter& character) {
  const Skeleton& skeleton = character.skeleton;
  const std::vector<Index> chain =
      joint_chain(skeleton, find_joint(skeleton, reach.root), find_joint(skeleton, reach.tip));
  SUPPLE_RETURN_IF_ERROR(check_chain(recipe, reach, chain));
  const Clip* base = nullptr;
  if (!reach.clip.empty()) {
    const auto found = find_named(character.clips, reach.clip);
    if (found == character.clips.end()) return no_such(recipe, "clip", reach.clip, character.clips);
    base = &*found;
  }
  Result<Clip> clip = make_ik_clip(skeleton, base, goal_of(reach, chain, base), reach.rate, reach.name);
  SUPPLE_RETURN_IF_ERROR(clip);
  if (base) move_on(*base, chain, *clip);
  warn_of_misses(reach, chain, *clip, character);
  character.clips.push_back(std::move(*clip));
  return {};
}

Status add_clips(const Recipe& recipe, const std::filesystem::path& folder, RawCharacter& character) {
  for (const RecipeMotion& motion : recipe.motions)
    SUPPLE_RETURN_IF_ERROR(add_motion(recipe, motion, folder, character));
  for (const RecipeKeyframes& keyframes : recipe.keyframes) {
    Result<Clip> clip = make_clip(character.skeleton, keyframes.name, keyframes.keys, keyframes.interpolation);
    SUPPLE_RETURN_IF_ERROR(clip);
    character.clips.push_back(std::move(*clip));
  }
  for (const RecipeReach& reach : recipe.reaches) SUPPLE_RETURN_IF_ERROR(add_reach(recipe, reach, character));
  return {};
}

Result<RecipePoseState> pose_state(const Recipe& recipe, const RecipePose& pose, const LoadedCharacter& loaded) {
  RecipePoseState state{pose.name, rest_pose(loaded.character.skeleton), false};
  if (pose.clip.empty()) {
    const auto found = find_named(loaded.poses, pose.name);
    if (found == loaded.poses.end()) return no_such(recipe, "pose", pose.name, loaded.poses);
    state.corrected = found->corrected;
    for (const JointRotation& r : found->rotations) state.locals[to_size(r.joint)].rotation = r.rotation;
    return state;
  }
  const auto clip = find_named(loaded.character.clips, pose.clip);
  if (clip == loaded.character.clips.end()) return no_such(recipe, "clip", pose.clip, loaded.character.clips);
  if (pose.time > clip->duration + 1e-9)
    return input_error(fmt::format("{}: the pose \"{}\" is at {:g} s of the clip \"{}\", which ends at {:g} s",
                                   recipe.source.place("pose", pose.name, "the recipe"), pose.name, pose.time,
                                   pose.clip, clip->duration));
  sample_clip(*clip, pose.time, ClipWrap::hold, state.locals);
  return state;
}

// ---- paint ----------------------------------------------------------------------------------------------------------

/// The same error, with the line of the recipe that asks for the paint.
Error at_paint(const Recipe& recipe, const RecipePaint& paint, Error error) {
  error.message = fmt::format("{}: {}", recipe.source.place("paint", paint_name(paint), "the recipe"), error.message);
  return error;
}

Result<std::vector<double>> skin_paint(const RecipePaint& paint, const std::filesystem::path& folder,
                                       const RawCharacter& character) {
  return paint.file.empty() ? paint_from_attribute(character, paint.attribute, paint.channel)
                            : load_paint(character, folder / paint.file);
}

/// Finds what is wrong with paint on the skin before a body is made.
Status check_paints(const Recipe& recipe, const std::filesystem::path& folder, const RawCharacter& character) {
  for (const RecipePaint& paint : recipe.paints) {
    if (!paint.tets.empty()) continue;
    const Result<std::vector<double>> skin = skin_paint(paint, folder, character);
    if (!skin.ok()) return at_paint(recipe, paint, skin.error());
  }
  return {};
}

Result<std::vector<double>> carried_paint(const RecipePaint& paint, const std::filesystem::path& folder,
                                          const RawCharacter& character, const EmbeddedBody& body) {
  if (!paint.tets.empty()) return load_tet_paint(folder / paint.tets, body.mesh.elements.size());
  const Result<std::vector<double>> skin = skin_paint(paint, folder, character);
  SUPPLE_RETURN_IF_ERROR(skin);
  return carry_paint(body.mesh, body.skin, body.embedding, *skin, {paint.smoothness});
}

Result<std::vector<double>> painted_values(const RecipePaint& paint, const std::filesystem::path& folder,
                                           const RawCharacter& character, const EmbeddedBody& body) {
  const Result<std::vector<double>> carried = carried_paint(paint, folder, character, body);
  SUPPLE_RETURN_IF_ERROR(carried);
  return to_quantity(paint.quantity, *carried, paint.range);
}

double value_in(const ElasticMaterial& material, PaintQuantity quantity) {
  switch (quantity) {
    case PaintQuantity::young:
      return material.young;
    case PaintQuantity::poisson:
      return material.poisson;
    case PaintQuantity::density:
      return material.density;
    default:
      return 1;
  }
}

void hold_more(std::span<const Index> more, std::vector<Index>& fixed) {
  std::vector<Index> all;
  std::set_union(fixed.begin(), fixed.end(), more.begin(), more.end(), std::back_inserter(all));
  fixed = std::move(all);
}

using NamedPaint = std::pair<std::string, std::vector<double>>;

Status add_pose_paint(const Recipe& recipe, PaintQuantity quantity, std::span<const PaintedQuantity> everywhere,
                      const std::vector<NamedPaint>& painted, RecipeBody& result) {
  if (painted.empty()) return {};
  std::vector<double> neutral(result.body.mesh.elements.size(), value_in(result.base, quantity));
  for (const PaintedQuantity& paint : everywhere)
    if (paint.quantity == quantity) neutral = paint.values;
  std::vector<std::string> names;
  for (const RecipePose& pose : recipe.poses) names.push_back(pose.name);
  Result<PosePaint> made = make_pose_paint(names, neutral, painted);
  SUPPLE_RETURN_IF_ERROR(made);
  result.pose_paints.emplace_back(quantity, std::move(*made));
  return {};
}

/// The share of every vertex of the rig that hangs on the given joints.
Result<std::vector<double>> share_of_joints(const Recipe& recipe, const std::vector<std::string>& names,
                                            const RawCharacter& character) {
  std::vector<char> chosen(character.skeleton.joints.size(), 0);
  for (const std::string& name : names) {
    const Index joint = find_joint(character.skeleton, name);
    if (joint < 0) return no_such(recipe, "joint", name, character.skeleton.joints);
    chosen[to_size(joint)] = 1;
  }
  std::vector<double> share;
  for (const CharacterMesh& mesh : character.meshes) {
    for (std::size_t v = 0; v < mesh.surface.vertices.size(); ++v) {
      double sum = mesh.skin < 0 ? chosen[to_size(mesh.node)] : 0;
      if (mesh.skin >= 0) {
        const Skin& skin = character.skins[to_size(mesh.skin)];
        for (Index k = mesh.weights.first[v]; k < mesh.weights.first[v + 1]; ++k) {
          const auto entry = to_size(k);
          const Index joint = skin.joints[to_size(mesh.weights.joint[entry])];
          if (chosen[to_size(joint)]) sum += mesh.weights.weight[entry];
        }
      }
      share.push_back(sum);
    }
  }
  return share;
}

/// Softness of regions, multiplied into what was painted; between regions it runs geometrically, as skin weights do.
Status apply_regions(const Recipe& recipe, const RawCharacter& character, const EmbeddedBody& body,
                     std::vector<PaintedQuantity>& everywhere) {
  if (recipe.regions.empty()) return {};
  PaintedQuantity softness{PaintQuantity::softness, std::vector<double>(body.mesh.elements.size(), 1.0)};
  for (const PaintedQuantity& painted : everywhere)
    if (painted.quantity == PaintQuantity::softness) softness = painted;
  for (const RecipeRegion& region : recipe.regions) {
    const Result<std::vector<double>> share = share_of_joints(recipe, region.joints, character);
    SUPPLE_RETURN_IF_ERROR(share);
    const Result<std::vector<double>> carried = carry_paint(body.mesh, body.skin, body.embedding, *share);
    SUPPLE_RETURN_IF_ERROR(carried);
    for (std::size_t e = 0; e < softness.values.size(); ++e)
      softness.values[e] *= std::pow(region.softness, (*carried)[e]);
  }
  std::erase_if(everywhere, [](const PaintedQuantity& paint) { return paint.quantity == PaintQuantity::softness; });
  everywhere.push_back(std::move(softness));
  return {};
}

Status apply_paints(const Recipe& recipe, const std::filesystem::path& folder, const RawCharacter& character,
                    RecipeBody& result) {
  std::vector<PaintedQuantity> everywhere;
  std::map<PaintQuantity, std::vector<NamedPaint>> in_poses;
  for (const RecipePaint& paint : recipe.paints) {
    Result<std::vector<double>> values = painted_values(paint, folder, character, result.body);
    if (!values.ok()) return at_paint(recipe, paint, values.error());
    if (!paint.pose.empty())
      in_poses[paint.quantity].emplace_back(paint.pose, std::move(*values));
    else if (paint.quantity == PaintQuantity::fixity)
      hold_more(vertices_fixed_by(result.body.mesh, *values), result.body.fixed_vertices);
    else
      everywhere.push_back({paint.quantity, std::move(*values)});
  }
  SUPPLE_RETURN_IF_ERROR(apply_regions(recipe, character, result.body, everywhere));
  paint_materials(result.body.mesh, result.base, everywhere);
  for (const auto& [quantity, painted] : in_poses)
    SUPPLE_RETURN_IF_ERROR(add_pose_paint(recipe, quantity, everywhere, painted, result));
  return {};
}

}  // namespace

Result<LoadedCharacter> load_character(const std::filesystem::path& path) {
  const Result<GltfDocument> document = load_gltf(path);
  SUPPLE_RETURN_IF_ERROR(document);
  Result<RawCharacter> character = read_character(*document);
  SUPPLE_RETURN_IF_ERROR(character);
  Result<std::vector<ExamplePose>> poses = read_poses(*document, *character);
  SUPPLE_RETURN_IF_ERROR(poses);
  return LoadedCharacter{std::move(*character), std::move(*poses)};
}

Result<RecipeCharacter> prepare_character(const Recipe& recipe, const std::filesystem::path& folder) {
  Result<LoadedCharacter> loaded = load_character(folder / recipe.input);
  SUPPLE_RETURN_IF_ERROR(loaded);
  SUPPLE_RETURN_IF_ERROR(leave_out(recipe, loaded->character));
  SUPPLE_RETURN_IF_ERROR(check_joints(recipe, loaded->character.skeleton));
  SUPPLE_RETURN_IF_ERROR(check_paints(recipe, folder, loaded->character));
  scale_lengths(recipe.scale, loaded->character);
  SUPPLE_RETURN_IF_ERROR(add_clips(recipe, folder, loaded->character));
  RecipeCharacter result;
  for (const RecipePose& pose : recipe.poses) {
    Result<RecipePoseState> state = pose_state(recipe, pose, *loaded);
    SUPPLE_RETURN_IF_ERROR(state);
    result.poses.push_back(std::move(*state));
  }
  result.character = std::move(loaded->character);
  return result;
}

Result<RecipeBody> embed_recipe(const Recipe& recipe, const std::filesystem::path& folder,
                                const RecipeCharacter& prepared, const CharacterRig& rig, Progress& progress,
                                StageStore& store) {
  EmbedSettings settings;
  settings.meshing = recipe.meshing();
  settings.bones = recipe.bones();
  settings.store = &store;
  Result<EmbeddedBody> body = embed_character(prepared.character, rig, settings, progress);
  SUPPLE_RETURN_IF_ERROR(body);
  RecipeBody result{std::move(*body), {}, {}};
  result.base = recipe.base_material(bounds_of(result.body.skin.vertices).size().maxCoeff());
  SUPPLE_RETURN_IF_ERROR(apply_paints(recipe, folder, prepared.character, result));
  return result;
}

}  // namespace supple
