// SPDX-License-Identifier: Apache-2.0
#include "samples/motion.h"

#include "supple/rig/motion/inverse_kinematics.h"
#include "supple/rig/motion/keyframes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple {
namespace {

using std::numbers::pi;

Channel channel_of(Index joint, ChannelTarget target, const std::vector<double>& times,
                   const std::vector<Transform>& keys) {
  Channel channel;
  channel.joint = joint;
  channel.target = target;
  channel.width = target == ChannelTarget::rotation ? 4 : 3;
  channel.times = times;
  Eigen::Vector4d last = Eigen::Vector4d::Zero();
  for (const Transform& key : keys) {
    if (target == ChannelTarget::rotation) {
      Eigen::Vector4d q = key.rotation.normalized().coeffs();
      if (q.dot(last) < 0) q = -q;
      last = q;
      channel.values.insert(channel.values.end(), q.begin(), q.end());
    } else {
      channel.values.insert(channel.values.end(), key.translation.begin(), key.translation.end());
    }
  }
  return channel;
}

}  // namespace

Quat turn_degrees(double x, double y, double z) { return euler_rotation(Vec3(x, y, z)); }

void PoseEditor::turn(Index joint, double x, double y, double z) {
  Transform& local = pose[to_size(joint)];
  local.rotation = local.rotation * turn_degrees(x, y, z);
}

void PoseEditor::shift(Index joint, const Vec3& offset) { pose[to_size(joint)].translation += offset; }

Affine PoseEditor::world(Index joint) const { return world_matrix(*skeleton_, pose, joint); }

void PoseEditor::face(Index joint, const Quat& world_rotation) {
  const Index parent = skeleton_->joints[to_size(joint)].parent;
  const Quat above = parent < 0 ? Quat::Identity() : rotation_of(world(parent));
  pose[to_size(joint)].rotation = (above.conjugate() * world_rotation).normalized();
}

void PoseEditor::reach(Index upper, Index lower, Index end, const Vec3& target, const Vec3& hint) {
  const Vec3 pole = world(upper).translation() + hint;
  solve_two_bones(*skeleton_, pose, upper, lower, end, target, pole);
}

Clip make_cycle(const Skeleton& skeleton, std::string name, double duration, int keys,
                const std::function<void(double phase, PoseEditor& editor)>& motion) {
  Clip clip;
  clip.name = std::move(name);
  clip.duration = duration;
  std::vector<double> times;
  std::vector<std::vector<Transform>> of_joint(skeleton.joints.size());
  for (int k = 0; k <= keys; ++k) {
    const double phase = static_cast<double>(k) / keys;
    times.push_back(phase * duration);
    PoseEditor editor(skeleton);
    motion(phase, editor);
    for (std::size_t j = 0; j < of_joint.size(); ++j) of_joint[j].push_back(editor.pose[j]);
  }
  for (std::size_t j = 0; j < of_joint.size(); ++j) {
    const Transform& rest = skeleton.joints[j].rest;
    const auto any = [&](auto&& differs) { return std::any_of(of_joint[j].begin(), of_joint[j].end(), differs); };
    if (any([&](const Transform& t) { return (t.translation - rest.translation).norm() > 1e-9; }))
      clip.channels.push_back(channel_of(static_cast<Index>(j), ChannelTarget::translation, times, of_joint[j]));
    if (any([&](const Transform& t) { return t.rotation.angularDistance(rest.rotation) > 1e-9; }))
      clip.channels.push_back(channel_of(static_cast<Index>(j), ChannelTarget::rotation, times, of_joint[j]));
  }
  return clip;
}

double wave(double phase) { return 0.5 - 0.5 * std::cos(2 * pi * phase); }

Vec3 step_path(double phase, double duty, double stride, double lift) {
  const double p = phase - std::floor(phase);
  if (p < duty) return {0, 0, stride * (0.5 - p / duty)};
  // A Hermite curve that leaves the ground, and meets it, at the ground's speed.
  const double s = (p - duty) / (1 - duty), slope = -stride * (1 - duty) / duty;
  const double forward = stride * (s * s * (3 - 2 * s) - 0.5) + slope * s * (2 * s * s - 3 * s + 1);
  const double rise = std::sin(pi * s);
  return {0, lift * rise * rise * (1 + 0.35 * std::cos(pi * s)), forward};
}

double swing_pitch(double phase, double duty, double degrees) {
  const double p = phase - std::floor(phase);
  return p < duty ? 0.0 : degrees * std::sin(pi * (p - duty) / (1 - duty));
}

}  // namespace supple
