// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/character_source.h"

#include <fmt/format.h>

#include "supple/base/nearest_name.h"
#include "supple/export/baked_mark.h"
#include "supple/export/posed_meshes.h"
#include "supple/io/gltf/read_character.h"
#include "supple/io/gltf/read_poses.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/io/motion/bvh.h"
#include "supple/io/motion/joint_map.h"
#include "supple/io/text_scanner.h"
#include "supple/mesh/topology.h"
#include "supple/offline/quasistatic/mesh_distance.h"
#include "supple/pipeline/character/character_body.h"
#include "supple/pipeline/character/corrections.h"
#include "supple/pipeline/character/handle_character.h"
#include "supple/pipeline/character/own_place.h"
#include "supple/rig/motion/clip_motion.h"
#include "supple/rig/motion/inverse_kinematics.h"
#include "supple/rig/motion/joint_roles.h"
#include "supple/rig/motion/retarget_floor.h"

#include <algorithm>
#include <numbers>

namespace supple {
namespace {

template <class Things>
auto find_named(Things& things, std::string_view name) {
  return std::find_if(things.begin(), things.end(), [&](const auto& thing) { return thing.name == name; });
}

// ---- what takes part ------------------------------------------------------------------------------------------------

Status leave_out(const Recipe& recipe, RawCharacter& character) {
  for (const std::string& name : recipe.exclude) {
    if (find_named(character.meshes, name) == character.meshes.end())
      return no_such_thing(recipe, "mesh", name, character.meshes);
  }
  std::erase_if(character.meshes, [&](const CharacterMesh& mesh) {
    return std::find(recipe.exclude.begin(), recipe.exclude.end(), mesh.name) != recipe.exclude.end();
  });
  if (character.meshes.empty())
    return input_error(fmt::format("{}: all meshes are excluded; nothing is left to simulate", recipe.input));
  if (!recipe.clips) return {};
  for (const std::string& name : *recipe.clips) {
    if (find_named(character.clips, name) == character.clips.end())
      return no_such_thing(recipe, "clip", name, character.clips);
  }
  std::erase_if(character.clips, [&](const Clip& clip) {
    return std::find(recipe.clips->begin(), recipe.clips->end(), clip.name) == recipe.clips->end();
  });
  return {};
}

Status check_joints(const Recipe& recipe, const Skeleton& skeleton) {
  const auto check = [&](const std::string& name) -> Status {
    if (find_joint(skeleton, name) < 0) return no_such_thing(recipe, "joint", name, skeleton.joints);
    return {};
  };
  const std::vector<std::string> rigid = recipe.rigid.value_or(std::vector<std::string>{});
  for (const std::vector<std::string>* names : {&recipe.soft, &rigid})
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

/// The angle between the rotations of all joints in two frames, in the mean of squares [rad]; frame -1 is no rotation.
double turn_between(const Clip& clip, int a, int b) {
  double squares = 0, count = 0;
  for (const Channel& channel : clip.channels) {
    if (channel.target != ChannelTarget::rotation) continue;
    const auto at = [&](int frame) {
      if (frame < 0) return Quat::Identity();
      const double* q = channel.values.data() + 4 * std::min(to_size(frame), channel.times.size() - 1);
      return Quat(q[3], q[0], q[1], q[2]);
    };
    squares += std::pow(at(a).angularDistance(at(b)), 2);
    count += 1;
  }
  return count > 0 ? std::sqrt(squares / count) : 0;
}

/// How many frames at the start show only the pose in which the actor was calibrated: the skeleton's own, from which
/// the motion jumps away.
int calibration_frames(const BvhMotion& bvh) {
  constexpr int most = 3;
  constexpr double still = 0.05, jump = 0.15, beyond = 8;  // [rad], [rad], times the usual from frame to frame
  if (bvh.frame_count < 3 * most) return 0;
  std::vector<double> steps;
  for (int k = most; k + 1 < bvh.frame_count; ++k) steps.push_back(turn_between(bvh.clip, k, k + 1));
  std::nth_element(steps.begin(), steps.begin() + std::ssize(steps) / 2, steps.end());
  const double usual = steps[steps.size() / 2];
  int frames = 0;
  for (int k = 0; k < most && turn_between(bvh.clip, -1, k) < still; ++k) {
    const double step = turn_between(bvh.clip, k, k + 1);
    if (step > jump && step > beyond * usual) frames = k + 1;
  }
  return frames;
}

Result<Clip> read_bvh(const RecipeMotion& motion, const std::filesystem::path& folder, RawCharacter& character) {
  const Skeleton& skeleton = character.skeleton;
  Result<BvhMotion> bvh = load_bvh(folder / motion.file);
  SUPPLE_RETURN_IF_ERROR(bvh);
  if (motion.frames) {
    const auto [first, last] = *motion.frames;
    if (last >= bvh->frame_count)
      return input_error(fmt::format("{}: frames {} to {} are asked for, but it has {}, counted from 0", motion.file,
                                     first, last, bvh->frame_count));
    cut(bvh->clip, first * bvh->frame_time, last * bvh->frame_time);
  } else if (const int frames = calibration_frames(*bvh); frames > 0) {
    cut(bvh->clip, frames * bvh->frame_time, (bvh->frame_count - 1) * bvh->frame_time);
    character.warnings.push_back(fmt::format(
        "{}: its first {} only the pose that the actor was measured in, and left out; \"frames\" of [[motion]] keeps "
        "what you want",
        motion.file, frames == 1 ? "frame is" : fmt::format("{} frames are", frames)));
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
    if (found == character.clips.end()) return no_such_thing(recipe, "clip", reach.clip, character.clips);
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

Result<RecipePoseState> pose_state(const Recipe& recipe, const RecipePose& pose, const RawCharacter& character,
                                   std::span<const ExamplePose> in_file) {
  RecipePoseState state{pose.name, rest_pose(character.skeleton), false};
  if (pose.clip.empty()) {
    const auto found = find_named(in_file, pose.name);
    if (found == in_file.end()) return no_such_thing(recipe, "pose", pose.name, in_file);
    state.corrected = found->corrected;
    for (const JointRotation& r : found->rotations) state.locals[to_size(r.joint)].rotation = r.rotation;
    return state;
  }
  const auto clip = find_named(character.clips, pose.clip);
  if (clip == character.clips.end()) return no_such_thing(recipe, "clip", pose.clip, character.clips);
  if (pose.time > clip->duration + 1e-9)
    return input_error(fmt::format("{}: the pose \"{}\" is at {:g} s of the clip \"{}\", which ends at {:g} s",
                                   recipe.source.place("pose", pose.name, "the recipe"), pose.name, pose.time,
                                   pose.clip, clip->duration));
  sample_clip(*clip, pose.time, ClipWrap::hold, state.locals);
  for (const CharacterMesh& mesh : character.meshes) {
    if (mesh.targets.empty()) continue;
    std::vector<double> weights = mesh.default_target_weights;
    weights.resize(mesh.targets.size(), 0.0);
    sample_weights(*clip, pose.time, ClipWrap::hold, mesh.node, weights);
    state.morphs[mesh.node] = std::move(weights);
  }
  return state;
}

/// Keys that put a joint farther away, or make it larger or smaller, than any scene needs would end in a motion of
/// their own size, and with few digits left of it.
Status check_keys(const Recipe& recipe, const RawCharacter& character, const Clip& clip) {
  constexpr double farthest = 1e9, most_scale = 1e4;  // [m], a factor
  for (const Channel& channel : clip.channels) {
    const bool moves = channel.target == ChannelTarget::translation, scales = channel.target == ChannelTarget::scale;
    if (!moves && !scales) continue;
    const double limit = moves ? farthest : most_scale;
    const auto is_tangent = [&](std::size_t k) {
      return channel.interpolation == Interpolation::cubic && k / to_size(channel.width) % 3 != 1;
    };
    std::size_t wild = 0;
    while (wild < channel.values.size() && (is_tangent(wild) || std::abs(channel.values[wild]) <= limit)) ++wild;
    if (wild == channel.values.size()) continue;
    const std::string& joint = character.skeleton.joints[to_size(channel.joint)].name;
    return input_error(fmt::format(
        "{}: the clip \"{}\" {} the joint \"{}\" by {:g}{}, and at most {:g} can be followed; "
        "check its keys, or leave it out with \"clips\" in a recipe",
        recipe.input, clip.name, moves ? "moves" : "scales", joint, channel.values[wild], moves ? " m" : "", limit));
  }
  return {};
}

/// Numbers that no character has come from a slip of units, and would end in a lack of memory or of digits.
Status check_extents(const Recipe& recipe, const RawCharacter& character) {
  // Flesh that sways as often is stiffer by the square of its size: of 100 km it is as much so as materials may be.
  constexpr double longest = 20000, smallest = 1e-6, largest = 1e5;  // [s], [m], [m]
  for (const Clip& clip : character.clips) {
    if (!(clip.duration <= longest))
      return input_error(
          fmt::format("{}: the clip \"{}\" lasts {:g} s, and at most {:g} s can be simulated; check the "
                      "times of its keys, or leave it out with \"clips\" in a recipe",
                      recipe.input, clip.name, clip.duration, longest));
    SUPPLE_RETURN_IF_ERROR(check_keys(recipe, character, clip));
  }
  PosedMeshes meshes(character, {});
  const double height = character_height(meshes);
  if (!(height >= smallest && height <= largest))
    return input_error(
        fmt::format("{}: the character is {:g} m tall; say with \"scale\" in a recipe how many metres a "
                    "unit of the file has",
                    recipe.input, height));
  return {};
}

// ---- the rig --------------------------------------------------------------------------------------------------------

CharacterRigSettings rig_settings(const Recipe& recipe, const Skeleton& skeleton) {
  CharacterRigSettings settings;
  settings.method = recipe.dual_quaternions ? SkinningMethod::dual_quaternion : SkinningMethod::linear;
  for (const RecipeWire& wire : recipe.wires) {
    WireCurve curve{wire.name, {}};
    for (const std::string& handle : wire.handles) curve.joints.push_back(find_joint(skeleton, handle));
    settings.wires.push_back(std::move(curve));
  }
  return settings;
}

/// Where the file's own skin and morph target put the vertices in a corrected pose.
std::vector<Vec3> sculpted_shape(const CharacterRig& skin, const RecipePoseState& state) {
  CharacterPose pose = skin.neutral();
  skin.set_joints(state.locals, pose);
  for (const Index place : morph_places(skin, state.name)) pose.p[to_size(place)] = 1;
  return evaluate_all(*skin.rig(), pose.p);
}

Status correct_wires(const RawCharacter& character, std::span<const RecipePoseState> poses, CharacterRig& rig) {
  Result<CharacterRig> skin = CharacterRig::create(character);
  SUPPLE_RETURN_IF_ERROR(skin);
  std::vector<PoseCorrection> corrections;
  for (const RecipePoseState& state : poses) {
    if (!state.corrected) continue;
    CharacterPose pose = rig.neutral();
    rig.set_joints(state.locals, pose);
    corrections.push_back(correction_towards(*rig.rig(), pose.p, sculpted_shape(*skin, state)));
  }
  if (corrections.empty()) return {};
  return rig.correct(std::move(corrections));
}

}  // namespace

Error no_such(const Recipe& recipe, std::string_view kind, std::string_view name,
              std::span<const std::string_view> names) {
  const std::string_view near = nearest_name(name, names);
  const std::string others =
      names.empty() ? "there is none at all" : fmt::format("there are {}", fmt::join(names, ", "));
  return input_error(fmt::format("{}: there is no {} \"{}\" in {}; {}", recipe.source.place(kind, name, "the recipe"),
                                 kind, name, recipe.input,
                                 near.empty() ? others : fmt::format("did you mean \"{}\"?", near)));
}

Result<CharacterRig> recipe_rig(const Recipe& recipe, const RawCharacter& character,
                                std::span<const RecipePoseState> poses) {
  Result<CharacterRig> rig = CharacterRig::create(character, rig_settings(recipe, character.skeleton));
  if (rig.ok() && !recipe.wires.empty()) SUPPLE_RETURN_IF_ERROR(correct_wires(character, poses, *rig));
  return rig;
}

double height_of(const CharacterSource& source) {
  PosedMeshes meshes(source.character, {});
  return character_height(meshes);
}

std::vector<double> pose_parameters(const CharacterRig& rig, const RecipePoseState& state) {
  CharacterPose pose = rig.neutral();
  rig.set_joints(state.locals, pose);
  for (const CharacterRig::MorphSlot& slot : rig.morphs()) {
    const auto found = state.morphs.find(slot.node);
    if (found != state.morphs.end() && found->second.size() == slot.neutral.size())
      std::copy(found->second.begin(), found->second.end(), pose.p.begin() + slot.first);
  }
  if (state.corrected)
    for (const Index place : morph_places(rig, state.name)) pose.p[to_size(place)] = 1;
  return pose.p;
}

std::vector<NamedPose> named_poses(const CharacterSource& source) {
  std::vector<NamedPose> poses;
  for (std::size_t k = 0; k < source.poses.size(); ++k) {
    const RecipePoseState& state = source.poses[k];
    if (k >= source.recipe.poses.size() || source.recipe.poses[k].clip.empty())
      poses.push_back({state.name, state.locals, state.corrected, state.joints, state.reach});
  }
  return poses;
}

std::vector<DistinctPose> distinct_poses(const CharacterSource& source, int most) {
  constexpr double same = std::numbers::pi / 180;
  const PoseLayout& layout = source.rig.rig()->layout();
  std::vector<DistinctPose> result;
  for (std::size_t i = 0; i < source.poses.size() && static_cast<int>(result.size()) < most; ++i) {
    if (source.poses[i].reach > 0) continue;  // added to whatever the character shows there: no pose of its own
    std::vector<double> p = pose_parameters(source.rig, source.poses[i]);
    double nearest = pose_distance(layout, p, layout.neutral);
    for (const DistinctPose& other : result) nearest = std::min(nearest, pose_distance(layout, p, other.p));
    if (nearest >= same) result.push_back({i, std::move(p)});
  }
  return result;
}

Result<CharacterFile> read_character_file(const std::filesystem::path& path) {
  Result<GltfDocument> document = load_gltf(path);
  SUPPLE_RETURN_IF_ERROR(document);
  return read_character_file(std::move(*document));
}

Result<CharacterFile> read_character_file(GltfDocument document) {
  Result<RawCharacter> character = read_character(document);
  SUPPLE_RETURN_IF_ERROR(character);
  Result<std::vector<ExamplePose>> poses = read_poses(document, *character);
  SUPPLE_RETURN_IF_ERROR(poses);
  return CharacterFile{std::move(document), std::move(*character), std::move(*poses)};
}

std::vector<std::string> skinned_joints(const RawCharacter& character) {
  std::vector<std::string> names;
  for (const Skin& skin : character.skins) {
    for (const Index j : skin.joints) {
      const std::string& name = character.skeleton.joints[to_size(j)].name;
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::vector<std::string> rigid_joints(const RawCharacter& character) {
  const Index head = find_role(joint_roles(character.skeleton), {BodyPart::head, Side::centre, 0});
  if (head < 0) return {};
  const std::string& name = character.skeleton.joints[to_size(head)].name;
  const std::vector<std::string> joints = skinned_joints(character);
  if (std::find(joints.begin(), joints.end(), name) == joints.end()) return {};
  return {name};
}

Recipe first_recipe(const CharacterFile& file, const std::string& input, int tets) {
  Recipe recipe;
  recipe.input = input;
  recipe.tets = tets;
  if (!file.character.clips.empty()) {
    recipe.clips.emplace();
    for (const Clip& clip : file.character.clips) recipe.clips->push_back(clip.name);
  }
  for (const ExamplePose& pose : file.poses) recipe.poses.push_back({pose.name, "", 0});
  recipe.rigid = rigid_joints(file.character);
  return recipe;
}

namespace {

/// A solid mesh by its skin.
Surface surface_of(const LoadedMesh& mesh) {
  if (const auto* surface = std::get_if<Surface>(&mesh.mesh)) return *surface;
  if (const auto* tets = std::get_if<TetMesh>(&mesh.mesh)) return boundary_surface(*tets).surface;
  return boundary_surface(std::get<HexMesh>(mesh.mesh)).surface;
}

/// The colliders of a recipe, with the meshes that some of them are.
Result<std::vector<Collider>> read_colliders(const Recipe& recipe, const std::filesystem::path& folder,
                                             const Skeleton& skeleton) {
  std::vector<Collider> colliders = recipe.colliders;
  for (Collider& collider : colliders) {
    if (!collider.joint.empty() && find_joint(skeleton, collider.joint) < 0)
      return no_such_thing(recipe, "joint", collider.joint, skeleton.joints);
    if (collider.shape != Collider::Shape::mesh) continue;
    const Result<LoadedMesh> mesh = load_mesh(folder / collider.mesh);
    SUPPLE_RETURN_IF_ERROR(mesh);
    Surface scaled = surface_of(*mesh);
    for (Vec3& x : scaled.vertices) x *= collider.scale;
    Result<std::shared_ptr<const MeshDistance>> level = MeshDistance::create(scaled);
    if (!level.ok())
      return input_error(fmt::format("{}: {}: {}", recipe.source.place("collider", collider.mesh, "the recipe"),
                                     collider.mesh, level.error().message));
    collider.level = std::move(*level);
  }
  return colliders;
}

}  // namespace

Result<CharacterSource> follow_recipe(CharacterFile file, const Recipe& recipe, const std::filesystem::path& folder) {
  if (is_baked(file.document))
    return input_error(
        fmt::format("{} has soft motion already, which Supple baked into it; take the file that it was made from",
                    file.document.name()));
  RawCharacter character = file.character;
  SUPPLE_RETURN_IF_ERROR(leave_out(recipe, character));
  SUPPLE_RETURN_IF_ERROR(check_joints(recipe, character.skeleton));
  SUPPLE_RETURN_IF_ERROR(check_paints(recipe, folder, character));
  scale_lengths(recipe.scale, character);
  Result<std::vector<Collider>> colliders = read_colliders(recipe, folder, character.skeleton);
  SUPPLE_RETURN_IF_ERROR(colliders);
  const std::size_t own_clips = character.clips.size();
  SUPPLE_RETURN_IF_ERROR(add_clips(recipe, folder, character));
  SUPPLE_RETURN_IF_ERROR(check_extents(recipe, character));
  const Vec3 place = far_place(character);
  bring_home(place, character);
  std::vector<RecipePoseState> poses;
  for (const RecipePose& pose : recipe.poses) {
    Result<RecipePoseState> state = pose_state(recipe, pose, character, file.poses);
    SUPPLE_RETURN_IF_ERROR(state);
    poses.push_back(std::move(*state));
  }
  Recipe followed = recipe;
  // A recipe that says nothing gives the body that the file alone would.
  if (!followed.rigid) followed.rigid = rigid_joints(character);
  SUPPLE_RETURN_IF_ERROR(add_corrections(file.poses, followed, character, poses));
  Result<CharacterRig> rig = recipe_rig(recipe, character, poses);
  SUPPLE_RETURN_IF_ERROR(rig);
  CharacterSource source{std::move(file),  followed,        folder, std::move(character),
                         std::move(poses), std::move(*rig), place,  std::move(*colliders)};
  SUPPLE_RETURN_IF_ERROR(play_corrections(source, own_clips));
  return source;
}

Result<CharacterSource> load_source(const Recipe& recipe, const std::filesystem::path& folder) {
  Result<CharacterFile> file = read_input(recipe, folder);
  SUPPLE_RETURN_IF_ERROR(file);
  return follow_recipe(std::move(*file), recipe, folder);
}

Result<CharacterSource> load_source(const std::filesystem::path& path, std::span<const std::string> motions) {
  const auto add_motions = [&](Recipe& recipe) {
    for (const std::string& motion : motions)
      recipe.motions.emplace_back().file = std::filesystem::absolute(motion).string();
  };
  if (equals_ignoring_case(path.extension().string(), ".toml")) {
    Result<Recipe> recipe = load_recipe(path);
    SUPPLE_RETURN_IF_ERROR(recipe);
    add_motions(*recipe);
    return load_source(*recipe, path.parent_path());
  }
  Result<CharacterFile> file = read_character_file(path);
  SUPPLE_RETURN_IF_ERROR(file);
  Recipe recipe = first_recipe(*file, path.filename().string());
  add_motions(recipe);
  return follow_recipe(std::move(*file), recipe, path.parent_path());
}

}  // namespace supple
