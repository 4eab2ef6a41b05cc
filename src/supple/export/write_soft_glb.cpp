// SPDX-License-Identifier: Apache-2.0
#include "supple/export/write_soft_glb.h"

#include "supple/export/baked_mark.h"
#include "supple/export/posed_meshes.h"
#include "supple/export/target_numbers.h"
#include "supple/io/file.h"
#include "supple/io/gltf/gltf_editor.h"
#include "supple/io/gltf/gltf_joints.h"
#include "supple/io/gltf/gltf_rounding.h"
#include "supple/io/gltf/read_character.h"
#include "supple/rig/motion/sample_clip.h"

#include <fmt/format.h>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr Index targets_at_once = 32;  // they are doubles on the way into the document
constexpr int cubic_pieces = 8;        // lines that replace a cubic between two keys

// ---- targets --------------------------------------------------------------------------------------------------------

void simplify_changes(std::vector<Vec3>& changes, const TargetNumbers& numbers) {
  for (Vec3& change : changes) {
    if (change.norm() < numbers.least_turn) change.setZero();
    if (numbers.normal_step > 0) change = (change / numbers.normal_step).array().round() * numbers.normal_step;
  }
}

NewMorphTarget new_target(const CharacterMesh& mesh, const MeshTargets& targets, Index t,
                          const std::vector<std::vector<Vec3>>& normals, const TargetNumbers& numbers) {
  NewMorphTarget target{fmt::format("soft_{:02}", t), {}, {}, numbers.bytes, numbers.normalized};
  for (std::size_t p = 0; p < mesh.welded_vertex.size(); ++p) {
    const std::vector<Index>& welded = mesh.welded_vertex[p];
    std::vector<Vec3>& displacements = target.displacements.emplace_back();
    std::vector<Vec3>& changes = target.normal_changes.emplace_back();
    for (const Index v : welded) displacements.push_back(targets.displacement(t, v));
    if (p >= normals.size() || normals[p].size() != welded.size()) continue;
    double most = 0;
    const double largest_weight = targets.largest_weight(t);
    for (std::size_t i = 0; i < welded.size(); ++i) {
      changes.push_back(targets.turn(t, welded[i]).cross(normals[p][i]));
      most = std::max(most, changes.back().norm());
    }
    if (most * largest_weight < unseen_turn) changes.clear();
    simplify_changes(changes, numbers);
  }
  return target;
}

/// Adds the targets to the node's own mesh; they, and their weights, become what the storage has of them.
Status add_targets(GltfDocument& document, Index node, const CharacterMesh& mesh, MorphStorage storage,
                   double tolerance, double step, MeshTargets& targets) {
  const Result<Index> own = own_mesh(document, node);
  SUPPLE_RETURN_IF_ERROR(own);
  const Result<std::vector<std::vector<Vec3>>> normals = file_normals(document, *own);
  SUPPLE_RETURN_IF_ERROR(normals);
  const bool has_normals =
      std::any_of(normals->begin(), normals->end(), [](const std::vector<Vec3>& list) { return !list.empty(); });
  const std::vector<TargetNumbers> numbers = prepare_targets(targets, storage, tolerance, has_normals, step);
  for (Index first = 0; first < targets.target_count(); first += targets_at_once) {
    std::vector<NewMorphTarget> group;
    for (Index t = first; t < std::min(first + targets_at_once, targets.target_count()); ++t)
      group.push_back(new_target(mesh, targets, t, *normals, numbers[to_size(t)]));
    const Result<Index> added = add_morph_targets(document, *own, group, storage);
    SUPPLE_RETURN_IF_ERROR(added);
  }
  return {};
}

// ---- curves ---------------------------------------------------------------------------------------------------------

const Channel* existing_weights(const Clip& clip, const CharacterMesh& mesh) {
  for (const Channel& channel : clip.channels)
    if (channel.target == ChannelTarget::weights && channel.joint == mesh.node && !channel.times.empty() &&
        channel.width == static_cast<int>(mesh.targets.size()))
      return &channel;
  return nullptr;
}

/// Times at which lines reproduce an existing curve: its keys, those of a step doubled, more within a cubic.
void add_times(const Channel& channel, std::vector<float>& times) {
  for (std::size_t k = 0; k < channel.times.size(); ++k) {
    const auto time = static_cast<float>(channel.times[k]);
    times.push_back(time);
    if (k == 0) continue;
    if (channel.interpolation == Interpolation::step) times.push_back(std::nextafter(time, 0.0f));
    if (channel.interpolation != Interpolation::cubic) continue;
    for (int piece = 1; piece < cubic_pieces; ++piece) {
      const double s = static_cast<double>(piece) / cubic_pieces;
      times.push_back(static_cast<float>((1 - s) * channel.times[k - 1] + s * channel.times[k]));
    }
  }
}

/// The old weights and the new over one set of keys.
WeightCurve joined(const WeightCurve& soft, const CharacterMesh& mesh, const Clip& clip) {
  const Channel* old = existing_weights(clip, mesh);
  std::vector<float> times(soft.times.begin(), soft.times.end());
  if (old != nullptr) add_times(*old, times);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  WeightCurve curve;
  std::vector<double> before = mesh.default_target_weights, after(soft.width());
  before.resize(mesh.targets.size(), 0.0);
  for (const float time : times) {
    if (old != nullptr) sample_channel(*old, time, before);
    soft.sample(time, after);
    curve.times.push_back(time);
    curve.values.insert(curve.values.end(), before.begin(), before.end());
    curve.values.insert(curve.values.end(), after.begin(), after.end());
  }
  return curve;
}

/// The animation of each clip of the motion; clips of other files get one here.
Result<std::vector<Index>> animations_of(GltfDocument& document, const SoftMotion& motion, Index in_file) {
  const RawCharacter& character = *motion.character;
  std::vector<Index> animations;
  for (const SoftClip& clip : motion.clips) {
    animations.push_back(clip.clip);
    if (clip.clip < in_file) continue;
    const Result<Index> added =
        add_clip(document, character.clips[to_size(clip.clip)], character.skeleton, character.file_node);
    SUPPLE_RETURN_IF_ERROR(added);
    animations.back() = *added;
  }
  return animations;
}

Status add_curves(GltfDocument& document, const SoftMotion& motion, const std::vector<Index>& animations, Index node,
                  const CharacterMesh& mesh, const MeshTargets& targets) {
  for (const WeightCurve& curve : targets.curves) {
    const auto c = to_size(curve.clip);
    const Clip& clip = motion.character->clips[to_size(motion.clips[c].clip)];
    const WeightCurve whole = joined(curve, mesh, clip);
    SUPPLE_RETURN_IF_ERROR(set_weight_channel(document, animations[c], node, whole.times, whole.values));
  }
  return {};
}

/// Meshes without soft targets keep the weights that a clip of another file brings, or that a clip of this file has got
/// from corrections that follow its joints.
Status add_foreign_weights(GltfDocument& document, const SoftMotion& motion, const std::vector<Index>& animations,
                           Index in_file, Index node, const CharacterMesh& mesh) {
  for (std::size_t c = 0; c < motion.clips.size(); ++c) {
    const Channel* old = existing_weights(motion.character->clips[to_size(motion.clips[c].clip)], mesh);
    if (old == nullptr) continue;
    if (motion.clips[c].clip < in_file) {
      const Result<Index> keys = weight_key_count(document, animations[c], node);
      SUPPLE_RETURN_IF_ERROR(keys);
      if (*keys == static_cast<Index>(old->times.size())) continue;
    }
    SUPPLE_RETURN_IF_ERROR(
        set_weight_channel(document, animations[c], node, old->times, old->values, old->interpolation));
  }
  return {};
}

// ---- helper bones ---------------------------------------------------------------------------------------------------

/// Two nodes for each helper: one inside the other turns it before the outer one stretches it (stretched_motion.h).
struct HelperNodes {
  std::vector<Index> outer;
  AddedJoints inner;  ///< the joints
};

Result<HelperNodes> add_helper_nodes(GltfDocument& document, const RawCharacter& character, const CharacterMesh& mesh,
                                     const MeshBones& bones) {
  const Skin& skin = character.skins[to_size(mesh.skin)];
  HelperNodes nodes;
  std::vector<NewJoint> joints;
  for (const HelperBone& bone : bones.bones) {
    NewJoint joint;
    joint.name = fmt::format("soft_{}_{:02}", character.skeleton.joints[to_size(bone.joint)].name, joints.size());
    const Result<Index> outer =
        add_node(document, joint.name + "_stretch", character.file_node[to_size(bone.joint)], bone.centre);
    SUPPLE_RETURN_IF_ERROR(outer);
    nodes.outer.push_back(*outer);
    joint.parent_node = *outer;
    joint.inverse_bind = skin.inverse_bind[to_size(bone.slot)];
    joint.inverse_bind.pretranslate(-bone.centre);
    joints.push_back(std::move(joint));
  }
  const Result<AddedJoints> inner = add_skin_joints(document, mesh.skin, joints);
  SUPPLE_RETURN_IF_ERROR(inner);
  nodes.inner = *inner;
  return nodes;
}

/// Appends a rotation; some players take the long way round where it has the other sign.
void append_turn(Quat turn, Quat& last, std::vector<double>& values) {
  if (turn.coeffs().dot(last.coeffs()) < 0) turn.coeffs() = -turn.coeffs();
  last = turn;
  values.insert(values.end(), turn.coeffs().begin(), turn.coeffs().end());
}

std::vector<Channel> bone_channels(const MeshBones& bones, const SoftClip& clip, Index first_frame,
                                   const HelperNodes& nodes) {
  const std::vector<double> times = clip.written_times();
  std::vector<Channel> channels;
  for (std::size_t h = 0; h < bones.bones.size(); ++h) {
    const HelperBone& bone = bones.bones[h];
    const Index outer = nodes.outer[h], inner = nodes.inner.first_node + static_cast<Index>(h);
    Channel place{outer, ChannelTarget::translation, Interpolation::linear, 3, times, {}};
    Channel turn{outer, ChannelTarget::rotation, Interpolation::linear, 4, times, {}};
    Channel size{outer, ChannelTarget::scale, Interpolation::linear, 3, times, {}};
    Channel before{inner, ChannelTarget::rotation, Interpolation::linear, 4, times, {}};
    Quat last = Quat::Identity(), last_before = Quat::Identity();
    for (std::size_t f = 0; f < clip.times.size(); ++f) {
      if (!clip.is_written(f)) continue;
      const std::size_t at = to_size(first_frame) + f;
      const Transform& motion = bone.motion[at];
      place.values.insert(place.values.end(), motion.translation.begin(), motion.translation.end());
      size.values.insert(size.values.end(), motion.scale.begin(), motion.scale.end());
      append_turn(motion.rotation, last, turn.values);
      append_turn(bone.turn[at], last_before, before.values);
    }
    for (Channel* channel : {&place, &turn, &size, &before}) channels.push_back(std::move(*channel));
  }
  return channels;
}

/// Clips of the file keep their numbers, those of other files follow in the order of the motion.
std::vector<Index> written_clips(const SoftMotion& motion, Index in_file) {
  std::vector<Index> clips;
  Index next = in_file;
  for (const SoftClip& clip : motion.clips) clips.push_back(clip.clip < in_file ? clip.clip : next++);
  return clips;
}

}  // namespace

Status add_soft_targets(GltfDocument& document, const SoftMotion& motion, const CompressedMotion& compressed,
                        MorphStorage storage, double step) {
  SUPPLE_RETURN_IF_ERROR(check_motion(motion));
  const RawCharacter& character = *motion.character;
  const Index in_file = animation_count(document);
  const Result<std::vector<Index>> animations = animations_of(document, motion, in_file);
  SUPPLE_RETURN_IF_ERROR(animations);
  for (MeshTargets targets : compressed.meshes) {
    const CharacterMesh& mesh = character.meshes[to_size(targets.mesh)];
    const Index node = character.file_node[to_size(mesh.node)];
    if (targets.target_count() == 0) {
      SUPPLE_RETURN_IF_ERROR(add_foreign_weights(document, motion, *animations, in_file, node, mesh));
      continue;
    }
    SUPPLE_RETURN_IF_ERROR(add_targets(document, node, mesh, storage, compressed.report.tolerance, step, targets));
    SUPPLE_RETURN_IF_ERROR(add_curves(document, motion, *animations, node, mesh, targets));
  }
  return {};
}

Status add_helper_bones(GltfDocument& document, const SoftMotion& motion, const FittedBones& fitted) {
  SUPPLE_RETURN_IF_ERROR(check_motion(motion));
  const RawCharacter& character = *motion.character;
  const Index in_file = animation_count(document);
  const Result<std::vector<Index>> animations = animations_of(document, motion, in_file);
  SUPPLE_RETURN_IF_ERROR(animations);
  for (const MeshBones& bones : fitted.meshes) {
    const CharacterMesh& mesh = character.meshes[to_size(bones.mesh)];
    const Index node = character.file_node[to_size(mesh.node)];
    SUPPLE_RETURN_IF_ERROR(add_foreign_weights(document, motion, *animations, in_file, node, mesh));
    if (bones.bones.empty()) continue;
    const Result<Index> own = own_mesh(document, node);
    SUPPLE_RETURN_IF_ERROR(own);
    const Result<HelperNodes> added = add_helper_nodes(document, character, mesh, bones);
    SUPPLE_RETURN_IF_ERROR(added);
    SkinWeights weights = bones.weights;
    const auto before = static_cast<Index>(character.skins[to_size(mesh.skin)].joints.size());
    for (Index& joint : weights.joint)
      if (joint >= before) joint += added->inner.first_joint - before;  // other meshes may have added to the same skin
    SUPPLE_RETURN_IF_ERROR(set_skin_weights(document, *own, weights, mesh.welded_vertex));
    Index first = 0;
    for (std::size_t c = 0; c < motion.clips.size(); ++c) {
      const SoftClip& clip = motion.clips[c];
      SUPPLE_RETURN_IF_ERROR(add_channels(document, (*animations)[c], bone_channels(bones, clip, first, *added)));
      first += static_cast<Index>(clip.times.size());
    }
  }
  return {};
}

namespace {

/// A motion, and after it frames without any.
class ThenStill final : public SoftFrames {
 public:
  ThenStill(SoftFrames& moving, Index still) : moving_(moving), still_(still) {}
  Index frame_count() const override { return moving_.frame_count() + still_; }
  void frame(Index f, std::span<Vec3> displacement) override {
    if (f < moving_.frame_count())
      moving_.frame(f, displacement);
    else
      std::fill(displacement.begin(), displacement.end(), Vec3(Vec3::Zero()));
  }

 private:
  SoftFrames& moving_;
  Index still_;
};

/// The clips of the file that weren't baked: helpers that have taken the place of joints must do their work there, too.
std::vector<SoftClip> other_clips(const SoftMotion& motion, Index in_file) {
  constexpr double rate = 30;
  std::vector<SoftClip> others;
  for (Index c = 0; c < in_file; ++c) {
    if (std::any_of(motion.clips.begin(), motion.clips.end(), [&](const SoftClip& clip) { return clip.clip == c; }))
      continue;
    SoftClip& clip = others.emplace_back(SoftClip{c, {}});
    const double duration = motion.character->clips[to_size(c)].duration;
    const auto count = static_cast<Index>(std::ceil(duration * rate - 1e-6));
    for (Index k = 0; k < count; ++k) clip.times.push_back(k / rate);
    clip.times.push_back(duration);
  }
  return others;
}

Result<HelperBoneReport> add_fitted_bones(GltfDocument& document, const SoftMotion& motion,
                                          const HelperBoneSettings& settings, Progress& progress) {
  SoftMotion whole = motion;
  Index still = 0;
  for (SoftClip& clip : other_clips(motion, animation_count(document))) {
    still += static_cast<Index>(clip.times.size());
    whole.clips.push_back(std::move(clip));
  }
  SUPPLE_RETURN_IF_ERROR(check_motion(motion));
  ThenStill frames(*motion.frames, still);
  whole.frames = &frames;
  const Result<FittedBones> fitted = fit_helper_bones(whole, settings, progress);
  SUPPLE_RETURN_IF_ERROR(fitted);
  SUPPLE_RETURN_IF_ERROR(add_helper_bones(document, whole, *fitted));
  return fitted->report;
}

constexpr double share_of_targets = 0.85;  // of the tolerance; the rest is for the rounding of their numbers

CompressionSettings leaving_room(CompressionSettings settings, bool rounded) {
  if (!rounded) return settings;
  settings.tolerance *= share_of_targets;
  settings.share_of_height *= share_of_targets;
  return settings;
}

Result<GltfDocument> packed_with(const GltfDocument& source, const SoftMotion& motion,
                                 const CompressedMotion& compressed, double step) {
  GltfDocument document = source;
  SUPPLE_RETURN_IF_ERROR(add_soft_targets(document, motion, compressed, MorphStorage::rounded, step));
  SUPPLE_RETURN_IF_ERROR(round_numbers(document));
  return document;
}

/// With targets in steps as fine as they can be in a file that isn't much larger than the source; with fewer targets
/// where the coarsest steps don't make it small enough. `compressed` becomes what was written.
Result<GltfDocument> packed_document(const GltfDocument& source, const SoftMotion& motion, CompressionSettings settings,
                                     CompressedMotion& compressed, Progress& progress) {
  constexpr double steps[] = {0.1, 0.17, 0.25, 0.32, 0.45};  // of the tolerance
  constexpr double enough = 1.45, fewer = 0.7;
  constexpr Index least_targets = 4;
  const double most = enough * static_cast<double>(encode_glb(source).size());
  for (;;) {
    const double tolerance = compressed.report.tolerance;
    compressed.report.tolerance /= share_of_targets;
    Result<GltfDocument> document = failure("nothing was packed");
    for (const double step : steps) {
      document = packed_with(source, motion, compressed, step);
      SUPPLE_RETURN_IF_ERROR(document);
      if (static_cast<double>(encode_glb(*document, GltfPacking::meshopt).size()) <= most) return document;
    }
    Index targets = 0;
    for (const MeshTargets& mesh : compressed.meshes) targets = std::max(targets, mesh.target_count());
    if (targets <= least_targets) return document;
    settings.tolerance = tolerance;
    settings.most_targets = std::max(least_targets, static_cast<Index>(fewer * targets));
    Result<CompressedMotion> smaller = compress_motion(motion, settings, progress);
    SUPPLE_RETURN_IF_ERROR(smaller);
    compressed = std::move(*smaller);
  }
}

}  // namespace

Result<SoftGlbReport> write_soft_glb(const std::filesystem::path& path, const GltfDocument& source,
                                     const SoftMotion& motion, const SoftOutput& output, Progress& progress) {
  const bool packed = output.packing != GltfPacking::none;
  GltfDocument document = source;
  SoftGlbReport report;
  embed_images(document);
  if (output.helper_bones) {
    const Result<HelperBoneReport> fitted = add_fitted_bones(document, motion, output.bones, progress);
    SUPPLE_RETURN_IF_ERROR(fitted);
    report.bones = *fitted;
    if (packed) SUPPLE_RETURN_IF_ERROR(round_numbers(document));
  } else {
    const bool rounded = packed || output.storage == MorphStorage::small;
    const CompressionSettings settings = leaving_room(output.compression, rounded);
    Result<CompressedMotion> compressed = compress_motion(motion, settings, progress);
    SUPPLE_RETURN_IF_ERROR(compressed);
    if (packed) {
      Result<GltfDocument> made = packed_document(document, motion, settings, *compressed, progress);
      SUPPLE_RETURN_IF_ERROR(made);
      document = std::move(*made);
    } else {
      if (rounded) compressed->report.tolerance /= share_of_targets;
      SUPPLE_RETURN_IF_ERROR(add_soft_targets(document, motion, *compressed, output.storage));
    }
    report.compression = compressed->report;
  }
  progress.stage("writing");
  mark_as_baked(document);
  Result<RawCharacter> written = read_character(document, {.require_skin = false});
  SUPPLE_RETURN_IF_ERROR(written);
  report.written = std::make_shared<const RawCharacter>(std::move(*written));
  report.written_clips = written_clips(motion, animation_count(source));
  SUPPLE_RETURN_IF_ERROR(save_gltf(document, path, output.packing));
  report.bytes = written_size(path);
  return report;
}

}  // namespace supple
