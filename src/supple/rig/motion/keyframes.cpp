// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/motion/keyframes.h"

#include "supple/base/nearest_name.h"
#include "supple/rig/motion/sample_clip.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace supple {
namespace {

using Keys = std::map<double, Eigen::Vector4d>;
using Tracks = std::map<std::pair<Index, ChannelTarget>, Keys>;

Error unknown_joint(const Skeleton& skeleton, const std::string& clip, const std::string& name) {
  std::vector<std::string_view> names;
  for (const Joint& joint : skeleton.joints) names.emplace_back(joint.name);
  const std::string near(nearest_name(name, names));
  return input_error("Clip '" + clip + "': there is no joint '" + name + "'; " +
                     (near.empty() ? "use a name of the skeleton." : "did you mean '" + near + "'?"));
}

Status add_key(Tracks& tracks, Index joint, ChannelTarget target, double time, const Eigen::Vector4d& value,
               const std::string& where) {
  if (!std::isfinite(time) || !value.allFinite())
    return input_error(where + ": a key holds a value that isn't a number; correct it.");
  if (!tracks[{joint, target}].emplace(time, value).second)
    return input_error(where + ": two keys have the time " + std::to_string(time) + " s; leave one out.");
  return {};
}

Status add_keyframe(Tracks& tracks, const Skeleton& skeleton, const std::string& clip, const Keyframe& key) {
  const Index j = find_joint(skeleton, key.joint);
  if (j < 0) return unknown_joint(skeleton, clip, key.joint);
  const Transform& rest = skeleton.joints[to_size(j)].rest;
  const std::string where = "Clip '" + clip + "', joint '" + key.joint + "'";
  const auto wide = [](const Vec3& v) { return Eigen::Vector4d(v[0], v[1], v[2], 0); };
  if (key.rotation_degrees) {
    const Quat q = rest.rotation * euler_rotation(*key.rotation_degrees);
    SUPPLE_RETURN_IF_ERROR(add_key(tracks, j, ChannelTarget::rotation, key.time, q.coeffs(), where));
  }
  if (key.translation)
    SUPPLE_RETURN_IF_ERROR(
        add_key(tracks, j, ChannelTarget::translation, key.time, wide(rest.translation + *key.translation), where));
  if (key.scale)
    SUPPLE_RETURN_IF_ERROR(
        add_key(tracks, j, ChannelTarget::scale, key.time, wide(rest.scale.cwiseProduct(*key.scale)), where));
  return {};
}

/// Tangents of a cubic through the keys: the slope between the neighbours, zero at the ends.
Channel to_channel(Index joint, ChannelTarget target, Interpolation interpolation, const Keys& keys) {
  Channel channel{joint, target, interpolation, target == ChannelTarget::rotation ? 4 : 3, {}, {}};
  std::vector<Eigen::Vector4d> values;
  for (const auto& [time, value] : keys) {
    channel.times.push_back(time);
    const bool flip = target == ChannelTarget::rotation && !values.empty() && values.back().dot(value) < 0;
    values.push_back(flip ? Eigen::Vector4d(-value) : value);
  }
  const auto append = [&](const Eigen::Vector4d& v) {
    channel.values.insert(channel.values.end(), v.data(), v.data() + channel.width);
  };
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (interpolation != Interpolation::cubic) {
      append(values[k]);
      continue;
    }
    Eigen::Vector4d slope = Eigen::Vector4d::Zero();
    if (k > 0 && k + 1 < values.size())
      slope = (values[k + 1] - values[k - 1]) / (channel.times[k + 1] - channel.times[k - 1]);
    append(slope);
    append(values[k]);
    append(slope);
  }
  return channel;
}

}  // namespace

Quat euler_rotation(const Vec3& degrees) {
  const Vec3 radians = degrees * (std::numbers::pi / 180);
  return Quat(Eigen::AngleAxisd(radians[2], Vec3::UnitZ()) * Eigen::AngleAxisd(radians[1], Vec3::UnitY()) *
              Eigen::AngleAxisd(radians[0], Vec3::UnitX()));
}

Result<Clip> make_clip(const Skeleton& skeleton, std::string name, std::span<const Keyframe> keys,
                       Interpolation interpolation) {
  Tracks tracks;
  for (const Keyframe& key : keys) SUPPLE_RETURN_IF_ERROR(add_keyframe(tracks, skeleton, name, key));
  Clip clip{std::move(name), 0.0, {}};
  for (const auto& [what, track] : tracks)
    clip.channels.push_back(to_channel(what.first, what.second, interpolation, track));
  clip.duration = last_key(clip);
  return clip;
}

}  // namespace supple
