// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/motion/round_corners.h"

#include "supple/rig/skeleton.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr double widest = 1.0 / 24;  // [s] to either side of a key
constexpr double wide_arc = 0.25;    // [rad] of quaternions that one cubic follows: half of the rotation

/// What joins two keys: a straight line, or the arc of a great circle at constant speed.
class Line {
 public:
  Line(double from, double to, VecX a, VecX b, bool turns)
      : from_(from), gap_(to - from), a_(std::move(a)), b_(std::move(b)) {
    if (turns) angle_ = std::acos(std::clamp(a_.dot(b_), -1.0, 1.0));
    if (angle_ < least_arc) angle_ = 0;
  }

  double gap() const { return gap_; }
  double end() const { return from_ + gap_; }
  double arc() const { return angle_; }  ///< [rad]; 0 for straight lines
  VecX at(double time) const {
    const double s = (time - from_) / gap_;
    if (angle_ == 0) return (1 - s) * a_ + s * b_;
    return (std::sin((1 - s) * angle_) * a_ + std::sin(s * angle_) * b_) / std::sin(angle_);
  }
  VecX slope(double time) const {
    const double s = (time - from_) / gap_;
    if (angle_ == 0) return (b_ - a_) / gap_;
    return angle_ / (gap_ * std::sin(angle_)) * (std::cos(s * angle_) * b_ - std::cos((1 - s) * angle_) * a_);
  }

 private:
  static constexpr double least_arc = 1e-4;  // shorter ones are straight to 1e-13

  double from_, gap_;
  VecX a_, b_;
  double angle_ = 0;
};

/// All lines of a channel; rotations on one side: q and −q are the same.
std::vector<Line> lines_of(const Channel& channel) {
  const bool turns = channel.target == ChannelTarget::rotation;
  const auto value = [&](std::size_t key) -> VecX {
    VecX x = Eigen::Map<const VecX>(channel.values.data() + key * to_size(channel.width), channel.width);
    return turns ? x.normalized() : x;
  };
  std::vector<Line> lines;
  VecX last = value(0);
  for (std::size_t k = 1; k < channel.times.size(); ++k) {
    VecX next = value(k);
    if (turns && next.dot(last) < 0) next = -next;
    lines.emplace_back(channel.times[k - 1], channel.times[k], last, next, turns);
    last = std::move(next);
  }
  return lines;
}

class Rounding {
 public:
  explicit Rounding(const Channel& channel) : start_(channel.times.front()), lines_(lines_of(channel)) {
    result_ = {channel.joint, channel.target, Interpolation::cubic, channel.width, {}, {}};
  }

  Channel run() {
    const std::size_t last = lines_.size() - 1;
    add_on(lines_[0], start_);
    double begin = start_;
    for (std::size_t k = 0; k <= last; ++k) {
      const double key = lines_[k].end(), a = k < last ? std::min(reach(k), reach(k + 1)) : 0;
      follow(lines_[k], begin, key - a);
      if (k == last) {
        add_on(lines_[k], key);
      } else if (a > 0) {
        add_on(lines_[k], key - a);
        add_on(lines_[k + 1], key + a);
      } else {
        add(key, lines_[k].at(key), lines_[k].slope(key), lines_[k + 1].slope(key));
      }
      begin = key + a;
    }
    return std::move(result_);
  }

 private:
  /// How far into a line the corners at its ends may be rounded.
  double reach(std::size_t line) const {
    const double gap = lines_[line].gap();
    return gap < abrupt ? 0 : std::min(gap / 2, widest);
  }

  /// Keys along an arc between two moments, as many as cubics need to follow it.
  void follow(const Line& line, double begin, double end) {
    const int pieces = static_cast<int>(std::ceil(line.arc() * (end - begin) / line.gap() / wide_arc));
    for (int i = 1; i < pieces; ++i) add_on(line, begin + (end - begin) * i / pieces);
  }

  void add_on(const Line& line, double time) { add(time, line.at(time), line.slope(time), line.slope(time)); }

  /// Times must ascend: parabolas that touch share a key.
  void add(double time, const VecX& x, const VecX& before, const VecX& after) {
    if (!result_.times.empty() && time <= result_.times.back() + 1e-9) return;
    result_.times.push_back(time);
    for (const VecX* part : {&before, &x, &after})
      result_.values.insert(result_.values.end(), part->data(), part->data() + part->size());
  }

  double start_;
  std::vector<Line> lines_;
  Channel result_;
};

}  // namespace

Clip round_corners(const Clip& clip) {
  Clip rounded{clip.name, clip.duration, {}};
  for (const Channel& channel : clip.channels) {
    if (channel.interpolation != Interpolation::linear || channel.times.size() < 2)
      rounded.channels.push_back(channel);
    else
      rounded.channels.push_back(Rounding(channel).run());
  }
  return rounded;
}

}  // namespace supple
