// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/motion/round_corners.h"

#include "supple/rig/skeleton.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr double widest = 1.0 / 24;  // [s] to either side of a key
constexpr double wide_turn = 0.5;    // [rad] that quaternions may turn between keys and still go along a line

Quat key_rotation(const std::vector<double>& values, std::size_t key) {
  return Quat(Eigen::Map<const Eigen::Vector4d>(values.data() + 4 * key)).normalized();
}

/// Keys in between where a rotation turns far, and all on one side: q and −q are one rotation.
Channel with_short_turns(const Channel& channel) {
  Channel result{channel.joint, channel.target, channel.interpolation, channel.width, {}, {}};
  Quat last = Quat::Identity();
  const auto add = [&](double time, Quat q) {
    if (!result.times.empty() && q.dot(last) < 0) q.coeffs() = -q.coeffs();
    result.times.push_back(time);
    result.values.insert(result.values.end(), q.coeffs().data(), q.coeffs().data() + 4);
    last = q;
  };
  for (std::size_t k = 0; k < channel.times.size(); ++k) {
    const Quat here = key_rotation(channel.values, k);
    if (k > 0) {
      const Quat before = key_rotation(channel.values, k - 1);
      const int pieces = std::max(1, static_cast<int>(std::ceil(before.angularDistance(here) / wide_turn)));
      for (int i = 1; i < pieces; ++i) {
        const double s = static_cast<double>(i) / pieces;
        add((1 - s) * channel.times[k - 1] + s * channel.times[k], before.slerp(s, here));
      }
    }
    add(channel.times[k], here);
  }
  return result;
}

class Rounding {
 public:
  explicit Rounding(Channel lines) : lines_(std::move(lines)), count_(lines_.times.size()) {
    result_ = {lines_.joint, lines_.target, Interpolation::cubic, lines_.width, {}, {}};
  }

  Channel run() {
    add(lines_.times[0], value(0), slope(0), slope(0));
    for (std::size_t k = 1; k + 1 < count_; ++k) {
      const double a = std::min(reach(k - 1), reach(k));
      const VecX before = slope(k - 1), after = slope(k);
      if (a > 0) {
        add(lines_.times[k] - a, value(k) - a * before, before, before);
        add(lines_.times[k] + a, value(k) + a * after, after, after);
      } else {
        add(lines_.times[k], value(k), before, after);
      }
    }
    add(lines_.times[count_ - 1], value(count_ - 1), slope(count_ - 2), slope(count_ - 2));
    return std::move(result_);
  }

 private:
  VecX value(std::size_t key) const {
    return Eigen::Map<const VecX>(lines_.values.data() + key * to_size(lines_.width), lines_.width);
  }
  double gap(std::size_t key) const { return lines_.times[key + 1] - lines_.times[key]; }
  VecX slope(std::size_t key) const { return (value(key + 1) - value(key)) / gap(key); }
  /// How far into the line after a key its corner may be rounded.
  double reach(std::size_t key) const { return gap(key) < abrupt ? 0 : std::min(gap(key) / 2, widest); }

  /// Times must ascend: parabolas that touch share a key.
  void add(double time, const VecX& x, const VecX& before, const VecX& after) {
    if (!result_.times.empty() && time <= result_.times.back() + 1e-9) return;
    result_.times.push_back(time);
    for (const VecX* part : {&before, &x, &after})
      result_.values.insert(result_.values.end(), part->data(), part->data() + part->size());
  }

  Channel lines_;
  std::size_t count_;
  Channel result_;
};

}  // namespace

Clip round_corners(const Clip& clip) {
  Clip rounded{clip.name, clip.duration, {}};
  for (const Channel& channel : clip.channels) {
    if (channel.interpolation != Interpolation::linear || channel.times.size() < 2) {
      rounded.channels.push_back(channel);
      continue;
    }
    const bool turns = channel.target == ChannelTarget::rotation;
    rounded.channels.push_back(Rounding(turns ? with_short_turns(channel) : channel).run());
  }
  return rounded;
}

}  // namespace supple
