// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/deform/skin_deformer.h"

#include "supple/base/assert.h"

#include <Eigen/LU>

#include <cmath>

namespace supple {

/// The rigid part of a bone's matrix as a unit dual quaternion, and the stretch before it.
struct DualBone {
  Eigen::Vector4d real;
  Eigen::Vector4d dual;
  Mat3 stretch;
  Vec3 shift;  ///< stretched x = stretch · x + shift
};

namespace {

/// The rotation nearest to A: Newton's iteration R ← (R + R⁻ᵀ) / 2 on the polar decomposition (N. Higham, 1986).
Mat3 nearest_rotation(const Affine& matrix) {
  Mat3 r = matrix.linear();
  const double det = r.determinant();
  const double size = r.norm();
  if (!(std::abs(det) > 1e-9 * size * size * size)) return rotation_of(matrix).toRotationMatrix();
  if (det < 0) r = -r;
  r /= std::cbrt(std::abs(det));
  for (int round = 0; round < 12; ++round) {
    const Mat3 next = 0.5 * (r + r.inverse().transpose());
    const bool done = (next - r).squaredNorm() < 1e-24;
    r = next;
    if (done) break;
  }
  return r;
}

DualBone dual_bone(const Affine& matrix, const Vec3& centre, bool& rigid) {
  const Mat3 a = matrix.linear();
  DualBone bone;
  Mat3 rotation = a;
  Vec3 translation = matrix.translation();
  if ((a.transpose() * a - Mat3::Identity()).cwiseAbs().maxCoeff() > 1e-9 || a.determinant() < 0) {
    rigid = false;
    rotation = nearest_rotation(matrix);
    bone.stretch = rotation.transpose() * a;
    bone.shift = centre - bone.stretch * centre;
    translation -= rotation * bone.shift;
  } else {
    bone.stretch.setIdentity();
    bone.shift.setZero();
  }
  const Quat q(rotation);
  const Quat dual = Quat(0, translation.x(), translation.y(), translation.z()) * q;
  bone.real = q.coeffs();
  bone.dual = 0.5 * dual.coeffs();
  return bone;
}

}  // namespace

struct SkinDeformer::Workspace final : RigWorkspace {
  Pose locals;                ///< of slots
  std::vector<Affine> world;  ///< of slots
  std::vector<Eigen::Matrix4d> bones;
  std::vector<DualBone> dual_bones;
  bool rigid = true;
};

SkinDeformer::SkinDeformer(const Skeleton& skeleton, std::span<const Bone> bones, const SkinWeights& weights,
                           const SkinDeformerSettings& settings)
    : method_(settings.method), first_influence_(weights.first) {
  std::vector<Index> slot_of(skeleton.joints.size(), -1);
  for (const Bone& bone : bones) {
    for (Index j = bone.joint; j >= 0 && slot_of[to_size(j)] < 0;) {
      slot_of[to_size(j)] = 0;
      j = skeleton.joints[to_size(j)].parent;
    }
  }
  for (std::size_t j = 0; j < slot_of.size(); ++j) {
    if (slot_of[j] < 0) continue;
    const Joint& joint = skeleton.joints[j];
    slot_of[j] = static_cast<Index>(slots_.size());
    const Index parent = joint.parent < 0 ? -1 : slot_of[to_size(joint.parent)];
    slots_.push_back({parent, joint.rest, local_matrix(joint, joint.rest)});
  }
  for (const Bone& bone : bones) {
    const Vec3 centre = bone.inverse_bind.inverse().translation();
    bones_.push_back(
        {slot_of[to_size(bone.joint)], bone.inverse_bind, centre.allFinite() ? centre : Vec3(Vec3::Zero())});
  }
  for (std::size_t e = 0; e < weights.weight.size(); ++e) influences_.push_back({weights.weight[e], weights.joint[e]});
  for (const JointParameter& parameter : settings.parameters) {
    const Joint& joint = skeleton.joints[to_size(parameter.joint)];
    const Index slot = slot_of[to_size(parameter.joint)];
    if (slot < 0 || joint.matrix) continue;  // moves nothing of ours, or nothing moves it
    slots_[to_size(slot)].moves = true;
    Index first = 0;
    if (parameter.target == ChannelTarget::rotation) {
      first = layout_.add_rotation(joint.name + ".rotation", joint.rest.rotation, parameter.scale);
    } else {
      const bool moved = parameter.target == ChannelTarget::translation;
      first = layout_.add(
          joint.name + (moved ? ".translation" : ".scale"), moved ? ParameterKind::translation : ParameterKind::scale,
          {(moved ? joint.rest.translation : joint.rest.scale).data(), 3}, moved ? "m" : "", parameter.scale);
    }
    parameters_.push_back({slot, parameter.target, first});
  }
  if (method_ == SkinningMethod::dual_quaternion) take_out_common_scale();
}

void SkinDeformer::take_out_common_scale() {
  std::vector<Affine> world(slots_.size());
  double log_sum = 0;
  int count = 0;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const Index parent = slots_[s].parent;
    world[s] = parent < 0 ? slots_[s].local : world[to_size(parent)] * slots_[s].local;
  }
  for (const SlotBone& bone : bones_) {
    const double det = std::abs((world[to_size(bone.slot)] * bone.inverse_bind).linear().determinant());
    if (!(det > 0) || !std::isfinite(det)) continue;
    log_sum += std::log(det) / 3;
    ++count;
  }
  if (count == 0) return;
  common_scale_ = std::exp(log_sum / count);
  if (std::abs(common_scale_ - 1) < 1e-6) common_scale_ = 1;  // files store floats
  for (SlotBone& bone : bones_) {
    bone.inverse_bind.linear() /= common_scale_;
    bone.centre *= common_scale_;
  }
}

std::shared_ptr<const SkinDeformer> SkinDeformer::with_vertices_on(std::span<const Index> bones) const {
  auto result = std::shared_ptr<SkinDeformer>(new SkinDeformer(*this));
  result->method_ = SkinningMethod::linear;
  result->first_influence_.assign(1, 0);
  result->influences_.clear();
  for (const Index bone : bones) {
    result->influences_.push_back({1.0, bone});
    result->first_influence_.push_back(static_cast<Index>(result->influences_.size()));
  }
  return result;
}

std::unique_ptr<RigWorkspace> SkinDeformer::make_workspace(Index /*most_vertices*/) const {
  auto workspace = std::make_unique<Workspace>();
  for (const Slot& slot : slots_) workspace->locals.push_back(slot.rest);
  workspace->world.resize(slots_.size());
  workspace->bones.resize(bones_.size(), Eigen::Matrix4d::Zero());
  if (method_ == SkinningMethod::dual_quaternion) workspace->dual_bones.resize(bones_.size());
  return workspace;
}

void SkinDeformer::pose_bones(std::span<const double> p, Workspace& scratch) const {
  for (const Parameter& parameter : parameters_) {
    Transform& local = scratch.locals[to_size(parameter.slot)];
    const double* values = p.data() + parameter.first;
    if (parameter.target == ChannelTarget::rotation) local.rotation = unit_quaternion(values);
    if (parameter.target == ChannelTarget::translation) local.translation = Eigen::Map<const Vec3>(values);
    if (parameter.target == ChannelTarget::scale) local.scale = Eigen::Map<const Vec3>(values);
  }
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const Slot& slot = slots_[s];
    const Affine local = slot.moves ? scratch.locals[s].matrix() : slot.local;
    scratch.world[s] = slot.parent < 0 ? local : scratch.world[to_size(slot.parent)] * local;
  }
  for (std::size_t b = 0; b < bones_.size(); ++b) {
    scratch.bones[b].topRows<3>() = (scratch.world[to_size(bones_[b].slot)] * bones_[b].inverse_bind).matrix();
  }
}

std::span<const Eigen::Matrix4d> SkinDeformer::bone_matrices(std::span<const double> p, RigWorkspace& workspace) const {
  auto& scratch = static_cast<Workspace&>(workspace);
  pose_bones(p, scratch);
  return scratch.bones;
}

void SkinDeformer::deform(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
                          RigWorkspace& workspace) const {
  auto& scratch = static_cast<Workspace&>(workspace);
  pose_bones(p, scratch);
  if (method_ == SkinningMethod::linear) {
    blend_linear(vertices, positions, scratch);
  } else {
    prepare_dual(scratch);
    blend_dual(vertices, positions, scratch);
  }
}

void SkinDeformer::blend_linear(std::span<const Index> vertices, std::span<Vec3> positions,
                                const Workspace& scratch) const {
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    const Vec3 x = positions[k];
    Eigen::Vector4d sum = Eigen::Vector4d::Zero();
    for (const Influence& influence : influences(vertices[k])) {
      const Eigen::Matrix4d& a = scratch.bones[to_size(influence.bone)];
      sum += influence.weight * (a.col(0) * x[0] + a.col(1) * x[1] + a.col(2) * x[2] + a.col(3));
    }
    positions[k] = sum.head<3>();
  }
}

void SkinDeformer::prepare_dual(Workspace& scratch) const {
  scratch.rigid = true;
  for (std::size_t b = 0; b < bones_.size(); ++b) {
    Affine matrix;
    matrix.matrix() = scratch.bones[b].topRows<3>();
    scratch.dual_bones[b] = dual_bone(matrix, bones_[b].centre, scratch.rigid);
  }
}

void SkinDeformer::blend_dual(std::span<const Index> vertices, std::span<Vec3> positions, Workspace& scratch) const {
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    const auto v = to_size(vertices[k]);
    const Vec3 x0 = common_scale_ * positions[k];
    Vec3 x = Vec3::Zero();
    Eigen::Vector4d real = Eigen::Vector4d::Zero();
    Eigen::Vector4d dual = Eigen::Vector4d::Zero();
    const Index first = first_influence_[v], last = first_influence_[v + 1];
    if (first == last) continue;
    const Eigen::Vector4d& pivot = scratch.dual_bones[to_size(influences_[to_size(first)].bone)].real;
    for (Index e = first; e < last; ++e) {
      const Influence& influence = influences_[to_size(e)];
      const DualBone& bone = scratch.dual_bones[to_size(influence.bone)];
      const double weight = e > first && bone.real.dot(pivot) < 0 ? -influence.weight : influence.weight;
      real += weight * bone.real;
      dual += weight * bone.dual;
      if (!scratch.rigid) x += influence.weight * (bone.stretch * x0 + bone.shift);
    }
    if (scratch.rigid) x = x0;
    const double length2 = real.squaredNorm();
    if (!(length2 > 0)) continue;  // rotations that cancel
    // Both halves over the length, and twice their product: one division for all.
    const double twice = 2 / length2;
    const Vec3 r = real.head<3>();
    const Vec3 d = dual.head<3>();
    positions[k] = x + twice * (r.cross(r.cross(x) + real[3] * x + d) + real[3] * d - dual[3] * r);
  }
}

}  // namespace supple
