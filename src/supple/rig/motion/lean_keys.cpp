// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/motion/lean_keys.h"

#include "supple/rig/skeleton.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

// What single precision, of values and of times, makes of a key on a line: no more, so that smooth motion keeps all
// keys.
constexpr double same_turn = 1e-6;    // [rad]
constexpr double same_value = 4e-7;   // of the largest value
constexpr double same_time = 1.2e-7;  // of the time

class LeanChannel {
 public:
  explicit LeanChannel(const Channel& channel) : channel_(channel), tolerance_(same_value * std::max(1e-30, range())) {}

  Channel run() {
    Channel lean = channel_;
    lean.times.clear();
    lean.values.clear();
    const std::size_t count = channel_.times.size();
    std::size_t last = 0;
    keep(0, lean);
    while (last + 1 < count) {
      last = end_of_line(last);
      keep(last, lean);
    }
    return lean;
  }

 private:
  const double* value(std::size_t key) const { return channel_.values.data() + key * to_size(channel_.width); }
  bool turns() const { return channel_.target == ChannelTarget::rotation; }
  Quat turn(std::size_t key) const { return Quat(Eigen::Map<const Eigen::Vector4d>(value(key))).normalized(); }

  double range() const {
    double largest = 0;
    for (const double x : channel_.values) largest = std::max(largest, std::abs(x));
    return largest;
  }

  void keep(std::size_t key, Channel& lean) const {
    lean.times.push_back(channel_.times[key]);
    lean.values.insert(lean.values.end(), value(key), value(key) + channel_.width);
  }

  /// Does the line from one key to another pass through a third, at its time?
  bool passes(std::size_t from, std::size_t to, std::size_t key) const {
    if (channel_.interpolation == Interpolation::step) return equal(from, key);
    const double gap = channel_.times[to] - channel_.times[from],
                 s = (channel_.times[key] - channel_.times[from]) / gap;
    const double late = same_time * channel_.times[key] / gap;  // how far along the line its time may be rounded
    if (turns()) {
      const double rounded = same_turn + late * turn(from).angularDistance(turn(to));
      return turn(from).slerp(s, turn(to)).angularDistance(turn(key)) <= rounded;
    }
    for (int i = 0; i < channel_.width; ++i) {
      const double rounded = tolerance_ + late * std::abs(value(to)[i] - value(from)[i]);
      if (std::abs((1 - s) * value(from)[i] + s * value(to)[i] - value(key)[i]) > rounded) return false;
    }
    return true;
  }
  bool equal(std::size_t a, std::size_t b) const {
    if (turns()) return turn(a).angularDistance(turn(b)) <= same_turn;
    for (int i = 0; i < channel_.width; ++i)
      if (std::abs(value(a)[i] - value(b)[i]) > tolerance_) return false;
    return true;
  }

  /// Is there one line from one key to another, through all between? The shorter of the two ways between rotations is
  /// well known only where the other is longer by a good deal.
  bool is_line(std::size_t from, std::size_t to) const {
    constexpr double widest = 2.8;  // [rad]
    if (turns() && turn(from).angularDistance(turn(to)) > widest) return false;
    for (std::size_t k = from + 1; k < to; ++k)
      if (!passes(from, to, k)) return false;
    return true;
  }

  /// The end of the line that begins at a key: found in steps that double, and then by halves.
  std::size_t end_of_line(std::size_t first) const {
    const std::size_t last = channel_.times.size() - 1;
    std::size_t end = first + 1, step = 1;
    while (end < last && is_line(first, std::min(end + step, last))) {
      end = std::min(end + step, last);
      step *= 2;
    }
    for (; step > 0; step /= 2)
      if (end + step <= last && is_line(first, end + step)) end += step;
    return end;
  }

  const Channel& channel_;
  double tolerance_;
};

}  // namespace

Clip with_lean_keys(const Clip& clip) {
  Clip lean{clip.name, clip.duration, {}};
  for (const Channel& channel : clip.channels) {
    if (channel.interpolation == Interpolation::cubic || channel.times.size() < 3)
      lean.channels.push_back(channel);
    else
      lean.channels.push_back(LeanChannel(channel).run());
  }
  return lean;
}

}  // namespace supple
