// SPDX-License-Identifier: Apache-2.0
#include "supple/export/write_soft_glb.h"

#include "supple/export/baked_mark.h"
#include "supple/export/posed_meshes.h"
#include "supple/io/file.h"
#include "supple/io/gltf/gltf_editor.h"
#include "supple/io/gltf/gltf_joints.h"
#include "supple/rig/motion/sample_clip.h"

#include <fmt/format.h>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr Index targets_at_once = 16;   // they are doubles on the way into the document
constexpr int cubic_pieces = 8;         // lines that replace a cubic between two keys
constexpr double unseen_turn = 0.0175;  // [rad], a degree: targets that turn normals by less leave them as they are

// ---- targets --------------------------------------------------------------------------------------------------------

NewMorphTarget new_target(const CharacterMesh& mesh, const MeshTargets& targets, Index t,
                          const std::vector<std::vector<Vec3>>& normals) {
  NewMorphTarget target{fmt::format("soft_{:02}", t), {}, {}};
  for (std::size_t p = 0; p < mesh.welded_vertex.size(); ++p) {
    const std::vector<Index>& welded = mesh.welded_vertex[p];
    std::vector<Vec3>& displacements = target.displacements.emplace_back();
    std::vector<Vec3>& changes = target.normal_changes.emplace_back();
    for (const Index v : welded) displacements.push_back(targets.displacement(t, v));
    if (p >= normals.size() || normals[p].size() != welded.size()) continue;
    double most = 0;
    for (std::size_t i = 0; i < welded.size(); ++i) {
      changes.push_back(targets.turn(t, welded[i]).cross(normals[p][i]));
      most = std::max(most, changes.back().norm());
    }
    // Weights reach one at most.
    if (most < unseen_turn) changes.clear();
  }
  return target;
}

Status add_targets(GltfDocument& document, Index node, const CharacterMesh& mesh, const MeshTargets& targets,
                   MorphStorage storage) {
  const Result<Index> own = own_mesh(document, node);
  SUPPLE_RETURN_IF_ERROR(own);
  const Result<std::vector<std::vector<Vec3>>> normals = file_normals(document, *own);
  SUPPLE_RETURN_IF_ERROR(normals);
  for (Index first = 0; first < targets.target_count(); first += targets_at_once) {
    std::vector<NewMorphTarget> group;
    for (Index t = first; t < std::min(first + targets_at_once, targets.target_count()); ++t)
      group.push_back(new_target(mesh, targets, t, *normals));
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

std::vector<NewJoint> new_joints(const RawCharacter& character, const CharacterMesh& mesh, const MeshBones& bones) {
  const Skin& skin = character.skins[to_size(mesh.skin)];
  std::vector<NewJoint> joints;
  for (const HelperBone& bone : bones.bones) {
    NewJoint joint;
    joint.name = fmt::format("soft_{}_{:02}", character.skeleton.joints[to_size(bone.joint)].name, joints.size());
    joint.parent_node = character.file_node[to_size(bone.joint)];
    joint.translation = bone.centre;
    joint.inverse_bind = skin.inverse_bind[to_size(bone.slot)];
    joint.inverse_bind.pretranslate(-bone.centre);
    joints.push_back(std::move(joint));
  }
  return joints;
}

/// D in the parent's space, about the bone's centre: rotation R, translation R c + t.
std::vector<Channel> bone_channels(const MeshBones& bones, const SoftClip& clip, Index first_frame, Index first_node) {
  const std::vector<double> times = clip.written_times();
  std::vector<Channel> channels;
  for (std::size_t h = 0; h < bones.bones.size(); ++h) {
    const HelperBone& bone = bones.bones[h];
    const Index node = first_node + static_cast<Index>(h);
    Channel place{node, ChannelTarget::translation, Interpolation::linear, 3, times, {}};
    Channel turn{node, ChannelTarget::rotation, Interpolation::linear, 4, times, {}};
    Quat last = Quat::Identity();
    for (std::size_t f = 0; f < clip.times.size(); ++f) {
      if (!clip.is_written(f)) continue;
      const RigidTransform& motion = bone.motion[to_size(first_frame) + f];
      const Vec3 t = motion * bone.centre;
      Eigen::Vector4d q = motion.rotation.coeffs();
      if (q.dot(last.coeffs()) < 0) q = -q;  // some players take the long way round otherwise
      last.coeffs() = q;
      place.values.insert(place.values.end(), t.begin(), t.end());
      turn.values.insert(turn.values.end(), q.begin(), q.end());
    }
    channels.push_back(std::move(place));
    channels.push_back(std::move(turn));
  }
  return channels;
}

}  // namespace

Status add_soft_targets(GltfDocument& document, const SoftMotion& motion, const CompressedMotion& compressed,
                        MorphStorage storage) {
  SUPPLE_RETURN_IF_ERROR(check_motion(motion));
  const RawCharacter& character = *motion.character;
  const Index in_file = animation_count(document);
  const Result<std::vector<Index>> animations = animations_of(document, motion, in_file);
  SUPPLE_RETURN_IF_ERROR(animations);
  for (const MeshTargets& targets : compressed.meshes) {
    const CharacterMesh& mesh = character.meshes[to_size(targets.mesh)];
    const Index node = character.file_node[to_size(mesh.node)];
    if (targets.target_count() == 0) {
      SUPPLE_RETURN_IF_ERROR(add_foreign_weights(document, motion, *animations, in_file, node, mesh));
      continue;
    }
    SUPPLE_RETURN_IF_ERROR(add_targets(document, node, mesh, targets, storage));
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
    const Result<AddedJoints> added = add_skin_joints(document, mesh.skin, new_joints(character, mesh, bones));
    SUPPLE_RETURN_IF_ERROR(added);
    SkinWeights weights = bones.weights;
    const auto before = static_cast<Index>(character.skins[to_size(mesh.skin)].joints.size());
    for (Index& joint : weights.joint)
      if (joint >= before) joint += added->first_joint - before;  // other meshes may have added to the same skin
    SUPPLE_RETURN_IF_ERROR(set_skin_weights(document, *own, weights, mesh.welded_vertex));
    Index first = 0;
    for (std::size_t c = 0; c < motion.clips.size(); ++c) {
      const SoftClip& clip = motion.clips[c];
      SUPPLE_RETURN_IF_ERROR(
          add_channels(document, (*animations)[c], bone_channels(bones, clip, first, added->first_node)));
      first += static_cast<Index>(clip.times.size());
    }
  }
  return {};
}

Result<SoftGlbReport> write_soft_glb(const std::filesystem::path& path, const GltfDocument& source,
                                     const SoftMotion& motion, const SoftOutput& output, Progress& progress) {
  GltfDocument document = source;
  SoftGlbReport report;
  if (output.helper_bones) {
    const Result<FittedBones> fitted = fit_helper_bones(motion, output.bones, progress);
    SUPPLE_RETURN_IF_ERROR(fitted);
    report.bones = fitted->report;
    SUPPLE_RETURN_IF_ERROR(add_helper_bones(document, motion, *fitted));
  } else {
    const Result<CompressedMotion> compressed = compress_motion(motion, output.compression, progress);
    SUPPLE_RETURN_IF_ERROR(compressed);
    report.compression = compressed->report;
    SUPPLE_RETURN_IF_ERROR(add_soft_targets(document, motion, *compressed, output.storage));
  }
  progress.stage("writing");
  mark_as_baked(document);
  SUPPLE_RETURN_IF_ERROR(save_gltf(document, path, output.packing));
  report.bytes = written_size(path);
  return report;
}

}  // namespace supple
