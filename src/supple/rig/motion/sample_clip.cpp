// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/motion/sample_clip.h"

#include "supple/base/assert.h"
#include "supple/rig/pose_layout.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace supple {
namespace {

/// Values of key k (of its in-tangent, value, out-tangent: part 0, 1, 2).
const double* key_values(const Channel& channel, std::size_t key, std::size_t part) {
  const auto width = to_size(channel.width);
  if (channel.interpolation != Interpolation::cubic) return channel.values.data() + key * width;
  return channel.values.data() + (3 * key + part) * width;
}

void interpolate_linear(const Channel& channel, const double* a, const double* b, double s, std::span<double> out) {
  if (channel.target == ChannelTarget::rotation) {
    const Quat q = unit_quaternion(a).slerp(s, unit_quaternion(b));  // the shorter arc
    std::copy_n(q.coeffs().data(), 4, out.begin());
    return;
  }
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = (1 - s) * a[k] + s * b[k];
}

void interpolate_cubic(const Channel& channel, std::size_t key, double dt, double s, std::span<double> out) {
  const double* a = key_values(channel, key, 1);
  const double* b = key_values(channel, key + 1, 1);
  const double* leaving = key_values(channel, key, 2);
  const double* arriving = key_values(channel, key + 1, 0);
  const double s2 = s * s;
  const double s3 = s2 * s;
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k] = (2 * s3 - 3 * s2 + 1) * a[k] + dt * (s3 - 2 * s2 + s) * leaving[k] + (3 * s2 - 2 * s3) * b[k] +
             dt * (s3 - s2) * arriving[k];
  }
}

void normalize_rotation(const Channel& channel, std::span<double> out) {
  if (channel.target != ChannelTarget::rotation) return;
  const Quat q = unit_quaternion(out.data());
  std::copy_n(q.coeffs().data(), 4, out.begin());
}

}  // namespace

void sample_channel(const Channel& channel, double time, std::span<double> out) {
  const std::vector<double>& times = channel.times;
  SUPPLE_ASSERT(out.size() == to_size(channel.width) && !times.empty());
  const auto after = to_size(std::upper_bound(times.begin(), times.end(), time) - times.begin());
  if (after == 0 || after == times.size() || channel.interpolation == Interpolation::step) {
    std::copy_n(key_values(channel, after == 0 ? 0 : after - 1, 1), out.size(), out.begin());
  } else {
    const double dt = times[after] - times[after - 1];
    const double s = (time - times[after - 1]) / dt;
    if (channel.interpolation == Interpolation::linear)
      return interpolate_linear(channel, key_values(channel, after - 1, 1), key_values(channel, after, 1), s, out);
    interpolate_cubic(channel, after - 1, dt, s, out);
  }
  normalize_rotation(channel, out);
}

double wrapped_time(const Clip& clip, double time, ClipWrap wrap) {
  if (wrap == ClipWrap::hold || !(clip.duration > 0) || !std::isfinite(time)) return time;
  const double rest = std::fmod(time, clip.duration);
  return rest < 0 ? rest + clip.duration : rest;
}

void sample_clip(const Clip& clip, double time, ClipWrap wrap, std::span<Transform> pose) {
  const double inside = wrapped_time(clip, time, wrap);
  std::array<double, 4> values{};
  for (const Channel& channel : clip.channels) {
    if (channel.target == ChannelTarget::weights || channel.times.empty()) continue;
    Transform& local = pose[to_size(channel.joint)];
    sample_channel(channel, inside, std::span(values).first(to_size(channel.width)));
    if (channel.target == ChannelTarget::rotation) local.rotation = Quat(values.data());
    if (channel.target == ChannelTarget::translation) local.translation = Vec3(values[0], values[1], values[2]);
    if (channel.target == ChannelTarget::scale) local.scale = Vec3(values[0], values[1], values[2]);
  }
}

void sample_weights(const Clip& clip, double time, ClipWrap wrap, Index node, std::span<double> weights) {
  const double inside = wrapped_time(clip, time, wrap);
  for (const Channel& channel : clip.channels) {
    if (channel.target != ChannelTarget::weights || channel.joint != node || channel.times.empty()) continue;
    if (channel.width == static_cast<int>(weights.size())) sample_channel(channel, inside, weights);
  }
}

double last_key(const Clip& clip) {
  double last = 0;
  for (const Channel& channel : clip.channels) {
    if (!channel.times.empty()) last = std::max(last, channel.times.back());
  }
  return last;
}

}  // namespace supple
