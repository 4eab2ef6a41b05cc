// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/character_rig.h"

#include "supple/rig/deform/deformers.h"
#include "supple/rig/deform/rig_stack.h"

#include <algorithm>
#include <numeric>

namespace supple {
namespace {

/// Meshes of a character joined into one: rest positions, bones, influences, morph targets.
struct JoinedMeshes {
  std::vector<Vec3> rest;
  std::vector<Bone> bones;
  SkinWeights weights;
  std::vector<MorphTarget> targets;
  std::vector<double> target_neutral;
  std::vector<Index> used_joints;  ///< of bones that carry weight, ascending
};

void append_mesh(const RawCharacter& character, const CharacterMesh& mesh, JoinedMeshes& joined) {
  const auto first_bone = static_cast<Index>(joined.bones.size());
  const std::size_t vertex_count = mesh.surface.vertices.size();
  if (mesh.skin < 0) {
    joined.bones.push_back({mesh.node, Affine::Identity()});
    for (std::size_t v = 0; v < vertex_count; ++v) {
      joined.weights.joint.push_back(first_bone);
      joined.weights.weight.push_back(1.0);
      joined.weights.first.push_back(static_cast<Index>(joined.weights.joint.size()));
    }
  } else {
    const Skin& skin = character.skins[to_size(mesh.skin)];
    for (std::size_t k = 0; k < skin.joints.size(); ++k) joined.bones.push_back({skin.joints[k], skin.inverse_bind[k]});
    for (std::size_t v = 0; v < vertex_count; ++v) {
      for (Index e = mesh.weights.first[v]; e < mesh.weights.first[v + 1]; ++e) {
        joined.weights.joint.push_back(first_bone + mesh.weights.joint[to_size(e)]);
        joined.weights.weight.push_back(mesh.weights.weight[to_size(e)]);
      }
      joined.weights.first.push_back(static_cast<Index>(joined.weights.joint.size()));
    }
  }
  for (std::size_t k = 0; k < mesh.targets.size(); ++k) {
    MorphTarget target{mesh.name + "." + mesh.targets[k].name, std::vector<Vec3>(joined.rest.size(), Vec3::Zero())};
    target.displacements.insert(target.displacements.end(), mesh.targets[k].displacements.begin(),
                                mesh.targets[k].displacements.end());
    joined.targets.push_back(std::move(target));
    joined.target_neutral.push_back(k < mesh.default_target_weights.size() ? mesh.default_target_weights[k] : 0.0);
  }
  joined.rest.insert(joined.rest.end(), mesh.surface.vertices.begin(), mesh.surface.vertices.end());
}

void find_used_joints(JoinedMeshes& joined) {
  for (const Index bone : joined.weights.joint) joined.used_joints.push_back(joined.bones[to_size(bone)].joint);
  std::sort(joined.used_joints.begin(), joined.used_joints.end());
  joined.used_joints.erase(std::unique(joined.used_joints.begin(), joined.used_joints.end()), joined.used_joints.end());
}

bool clips_move(const RawCharacter& character, Index joint, ChannelTarget target) {
  for (const Clip& clip : character.clips) {
    for (const Channel& channel : clip.channels) {
      if (channel.joint != joint || channel.target != target) continue;
      const Transform& rest = character.skeleton.joints[to_size(joint)].rest;
      const Vec3& still = target == ChannelTarget::scale ? rest.scale : rest.translation;
      std::array<double, 3> value{};
      for (const double time : channel.times) {
        sample_channel(channel, time, value);
        if ((Vec3(value[0], value[1], value[2]) - still).norm() > 1e-5 * (1e-3 + still.norm())) return true;
      }
    }
  }
  return false;
}

/// Every joint that carries skin, itself or through its children, except the root and what is above it.
std::vector<JointParameter> free_parameters(const RawCharacter& character, const CharacterRigSettings& settings,
                                            Index root, std::span<const Index> used, double translation_scale) {
  const Skeleton& skeleton = character.skeleton;
  std::vector<bool> carries(skeleton.joints.size(), false);
  for (const Index joint : used) {
    for (Index j = joint; j >= 0 && !carries[to_size(j)];) {
      carries[to_size(j)] = true;
      j = skeleton.joints[to_size(j)].parent;
    }
  }
  std::vector<JointParameter> parameters;
  for (Index j = 0; j < skeleton.size(); ++j) {
    const Joint& joint = skeleton.joints[to_size(j)];
    if (!carries[to_size(j)] || joint.matrix) continue;
    const bool above = is_ancestor(skeleton, j, root);
    if (!above) {
      const bool beside = root >= 0 && !is_ancestor(skeleton, root, j) &&
                          (joint.parent < 0 || is_ancestor(skeleton, joint.parent, root));
      parameters.push_back({j, ChannelTarget::rotation, 1.0});
      if (settings.all_translations || beside || clips_move(character, j, ChannelTarget::translation))
        parameters.push_back({j, ChannelTarget::translation, translation_scale});
    }
    if ((!above || j == root) && clips_move(character, j, ChannelTarget::scale))
      parameters.push_back({j, ChannelTarget::scale, 1.0});
  }
  return parameters;
}

double largest_extent(std::span<const Vec3> points) {
  if (points.empty()) return 1.0;
  Vec3 low = points[0];
  Vec3 high = points[0];
  for (const Vec3& x : points) low = low.cwiseMin(x), high = high.cwiseMax(x);
  const double extent = (high - low).maxCoeff();
  return extent > 0 ? extent : 1.0;
}

Status check_settings(const RawCharacter& character, const CharacterRigSettings& settings) {
  for (const Index mesh : settings.meshes) {
    if (mesh < 0 || mesh >= static_cast<Index>(character.meshes.size()))
      return input_error(character.name + ": there is no mesh " + std::to_string(mesh + 1) + "; the character has " +
                         std::to_string(character.meshes.size()) + ".");
  }
  if (settings.root && (*settings.root < -1 || *settings.root >= character.skeleton.size()))
    return input_error(character.name + ": there is no joint " + std::to_string(*settings.root) +
                       " to be the root; choose one of the skeleton's.");
  return {};
}

}  // namespace

Result<CharacterRig> CharacterRig::create(const RawCharacter& character, const CharacterRigSettings& settings) {
  SUPPLE_RETURN_IF_ERROR(check_settings(character, settings));
  std::vector<Index> meshes = settings.meshes;
  if (meshes.empty()) {
    meshes.resize(character.meshes.size());
    std::iota(meshes.begin(), meshes.end(), 0);
  }
  JoinedMeshes joined;
  joined.weights.first.push_back(0);
  std::vector<Index> first_vertex;
  std::vector<MorphSlot> morphs;
  for (const Index m : meshes) {
    const CharacterMesh& mesh = character.meshes[to_size(m)];
    first_vertex.push_back(static_cast<Index>(joined.rest.size()));
    const std::size_t before = joined.targets.size();
    append_mesh(character, mesh, joined);
    if (joined.targets.size() > before) {
      const auto at = joined.target_neutral.begin() + static_cast<std::ptrdiff_t>(before);
      morphs.push_back({mesh.node, static_cast<Index>(before), std::vector<double>(at, joined.target_neutral.end())});
    }
  }
  first_vertex.push_back(static_cast<Index>(joined.rest.size()));
  find_used_joints(joined);

  const Index root = settings.root.value_or(common_ancestor(character.skeleton, joined.used_joints));
  CharacterRig result(character.skeleton, root);
  result.first_vertex_ = std::move(first_vertex);
  result.morphs_ = std::move(morphs);
  // Morph targets move the mesh as it is stored, in whatever units; joints then move it through the world's metres.
  const double morph_scale = settings.radians_per_height / largest_extent(joined.rest);
  const auto build = [&](double translation_scale) {
    const auto parameters = free_parameters(character, settings, root, joined.used_joints, translation_scale);
    auto shapes = std::make_shared<BlendShapes>(joined.targets, static_cast<Index>(joined.rest.size()),
                                                joined.target_neutral, morph_scale);
    auto skin = std::make_shared<SkinDeformer>(character.skeleton, joined.bones, joined.weights,
                                               SkinDeformerSettings{settings.method, parameters});
    result.joints_.clear();
    Index first = shapes->layout().size();
    for (const JointParameter& parameter : parameters) {
      result.joints_.push_back({parameter.joint, parameter.target, first});
      first += parameter.target == ChannelTarget::rotation ? 4 : 3;
    }
    std::vector<DeformerPtr> stages{skin};
    if (!joined.targets.empty()) stages.insert(stages.begin(), shapes);
    result.rig_ = std::make_shared<StackRig>(joined.rest, std::move(stages));
  };
  build(1.0);  // the character's height is known only once its meshes stand where the rig puts them
  const std::vector<Vec3> rest = evaluate_all(*result.rig_, result.rig_->layout().neutral);
  const double translation_scale = settings.radians_per_height / largest_extent(rest);
  if (settings.wires.empty())
    build(translation_scale);
  else
    SUPPLE_RETURN_IF_ERROR(result.use_wires(settings.wires, rest, joined.bones, joined.weights, translation_scale));
  return result;
}

Status CharacterRig::use_wires(const std::vector<WireCurve>& curves, const std::vector<Vec3>& rest,
                               std::span<const Bone> bones, const SkinWeights& weights, double translation_scale) {
  const std::vector<Affine> world = world_matrices(skeleton_, rest_pose(skeleton_));
  Result<WireHandles> wires = WireHandles::create(skeleton_, world, curves);
  SUPPLE_RETURN_IF_ERROR(wires);
  const DeformerPtr stage = wires->make_deformer(skeleton_, rest, bones, weights, translation_scale);
  rig_ = std::make_shared<StackRig>(rest, std::vector<DeformerPtr>{stage});
  wires_ = std::move(*wires);
  joints_.clear();
  morphs_.clear();
  return {};
}

Status CharacterRig::correct(std::vector<PoseCorrection> corrections) {
  Result<std::shared_ptr<const PoseSpaceRig>> corrected = PoseSpaceRig::create(rig_, std::move(corrections));
  SUPPLE_RETURN_IF_ERROR(corrected);
  rig_ = *corrected;
  return {};
}

CharacterPose CharacterRig::neutral() const { return {{}, rig_->layout().neutral, rest_pose(skeleton_)}; }

void CharacterRig::read_joints(CharacterPose& pose) const {
  pose.placement = splitter_.split(pose.locals);
  if (wires_) wires_->read(skeleton_, pose.locals, pose.p);
  for (const JointSlot& slot : joints_) {
    const Transform& local = pose.locals[to_size(slot.joint)];
    double* values = pose.p.data() + slot.first;
    if (slot.target == ChannelTarget::rotation) {
      std::copy_n(local.rotation.coeffs().data(), 4, values);
    } else {
      std::copy_n((slot.target == ChannelTarget::scale ? local.scale : local.translation).data(), 3, values);
    }
  }
}

void CharacterRig::sample(const Clip& clip, double time, ClipWrap wrap, CharacterPose& pose) const {
  for (std::size_t j = 0; j < pose.locals.size(); ++j) pose.locals[j] = skeleton_.joints[j].rest;
  sample_clip(clip, time, wrap, pose.locals);
  for (const MorphSlot& slot : morphs_) {
    const std::span<double> weights(pose.p.data() + slot.first, slot.neutral.size());
    std::copy(slot.neutral.begin(), slot.neutral.end(), weights.begin());
    sample_weights(clip, time, wrap, slot.node, weights);
  }
  read_joints(pose);
}

void CharacterRig::set_joints(std::span<const Transform> locals, CharacterPose& pose) const {
  std::copy(locals.begin(), locals.end(), pose.locals.begin());
  read_joints(pose);
}

}  // namespace supple
