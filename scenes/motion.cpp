// SPDX-License-Identifier: Apache-2.0
#include "scenes/motion.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple {
namespace {

constexpr double pi = std::numbers::pi;

Mat3 frame(const Vec3& along, const Vec3& normal) {
  Mat3 f;
  f.col(0) = along.normalized();
  f.col(2) = (normal - normal.dot(f.col(0)) * f.col(0)).normalized();
  f.col(1) = f.col(2).cross(f.col(0));
  return f;
}

Quat between_frames(const Vec3& from, const Vec3& from_normal, const Vec3& to, const Vec3& to_normal) {
  return Quat(Mat3(frame(to, to_normal) * frame(from, from_normal).transpose()));
}

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

Quat turn_degrees(double x, double y, double z) {
  constexpr double d = pi / 180;
  return Eigen::AngleAxisd(z * d, Vec3::UnitZ()) * Eigen::AngleAxisd(y * d, Vec3::UnitY()) *
         Eigen::AngleAxisd(x * d, Vec3::UnitX());
}

void PoseEditor::turn(Index joint, double x, double y, double z) {
  Transform& local = pose[static_cast<std::size_t>(joint)];
  local.rotation = local.rotation * turn_degrees(x, y, z);
}

void PoseEditor::shift(Index joint, const Vec3& offset) { pose[static_cast<std::size_t>(joint)].translation += offset; }

Affine PoseEditor::world(Index joint) const {
  Affine result = Affine::Identity();
  for (Index j = joint; j >= 0; j = skeleton_->joints[static_cast<std::size_t>(j)].parent)
    result = Affine(pose[static_cast<std::size_t>(j)].matrix() * result);
  return result;
}

void PoseEditor::face(Index joint, const Quat& world_rotation) {
  const Index parent = skeleton_->joints[static_cast<std::size_t>(joint)].parent;
  const Quat above = parent < 0 ? Quat::Identity() : rotation_of(world(parent));
  pose[static_cast<std::size_t>(joint)].rotation = (above.conjugate() * world_rotation).normalized();
}

void PoseEditor::reach(Index upper, Index lower, Index end, const Vec3& target, const Vec3& hint) {
  const Vec3 first = pose[static_cast<std::size_t>(lower)].translation;
  const Vec3 second = pose[static_cast<std::size_t>(end)].translation;
  const double l1 = first.norm(), l2 = second.norm();
  const Vec3 start = world(upper).translation();
  const Vec3 toward = (target - start).normalized();
  const double distance = std::clamp((target - start).norm(), std::abs(l1 - l2) + 1e-6, 0.9999 * (l1 + l2));
  const double cosine = std::clamp((l1 * l1 + distance * distance - l2 * l2) / (2 * l1 * distance), -1.0, 1.0);
  const Vec3 aside = (hint - hint.dot(toward) * toward).normalized();
  const Vec3 middle = start + l1 * (cosine * toward + std::sqrt(1 - cosine * cosine) * aside);
  const Vec3 reached = start + distance * toward;
  // The plane of the bend turns with the bones; at rest it is the one through both of them.
  Vec3 rest_normal = first.cross(second);
  if (rest_normal.norm() < 1e-6 * l1 * l2) rest_normal = first.cross(second + hint);
  const Vec3 normal = toward.cross(aside) * -1.0;
  const Vec3 bend_normal = normal.dot(Vec3(middle - start).cross(reached - middle)) < 0 ? Vec3(-normal) : normal;
  face(upper, between_frames(first, rest_normal, middle - start, bend_normal));
  face(lower, between_frames(second, rest_normal, reached - middle, bend_normal));
}

Clip make_clip(const Skeleton& skeleton, std::string name, double duration, int keys,
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
