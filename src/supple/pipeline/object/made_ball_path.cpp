// SPDX-License-Identifier: Apache-2.0
// A ball's path made up for any object. Where the ball would touch is found by moving it towards the surface at rest,
// by the distance that is left, until none is.
#include "supple/mesh/bounds.h"
#include "supple/pipeline/object/ball_path.h"

#include <cmath>
#include <optional>

namespace supple {
namespace {

constexpr double round_seconds = 15;
constexpr double sample_seconds = 0.02;
constexpr double strike_speed = 1;    // [m/s]
constexpr double press_share = 0.03;  // of the object's length
constexpr int slide_points = 8;
constexpr double slide_share = 0.02;  // of the length, from one slide point to the next

/// From 0 to 1 and at rest at both ends, without a jerk.
double eased(double t) { return t * t * t * (10 - 15 * t + 6 * t * t); }

class PathMaker {
 public:
  PathMaker(const BoundedDeformationTree& tree, double radius)
      : query_(tree), radius_(radius), bounds_(bounds_of(tree.rest_positions())) {
    along_ = bounds_.size().x() >= bounds_.size().z() ? 0 : 2;
    press_ = press_share * bounds_.size()[along_];
  }

  BallPath make() {
    for (const double place : {0.5, 0.35, 0.62, 0.42}) {
      press_and_slide(place);
      strike(place);
    }
    return BallPath(std::move(samples_));
  }

 private:
  double coordinate(double share) const { return bounds_.min[along_] + share * bounds_.size()[along_]; }

  /// Where a ball that comes from outside along `direction` first touches; nothing where it passes by.
  std::optional<Vec3> first_touch(Vec3 center, const Vec3& direction) {
    const double way = 2 * (bounds_.diagonal() + 4 * radius_);
    double gone = 0;
    for (int k = 0; k < 1000 && gone < way; ++k) {
      const double gap = query_.nearest(center).distance - radius_;
      if (gap < 1e-4 * radius_) return center;
      center += gap * direction;
      gone += gap;
    }
    return std::nullopt;
  }

  Vec3 above(double place, double across) const {
    Vec3 point = Vec3::Zero();
    point[along_] = coordinate(place);
    point[2 - along_] = across;
    point.y() = bounds_.max.y() + 3 * radius_;
    return point;
  }

  /// The touching balls along a line, or nothing where the line has a gap.
  std::vector<Vec3> slide_line(double place, double across) {
    std::vector<Vec3> line;
    for (int k = 0; k <= slide_points; ++k) {
      const auto touch = first_touch(above(place + slide_share * k, across), -Vec3::UnitY());
      if (!touch) return {};
      line.push_back(*touch);
    }
    return line;
  }

  /// The evenest of some lines beside each other.
  std::vector<Vec3> best_line(double place) {
    std::vector<Vec3> best;
    double least = std::numeric_limits<double>::infinity();
    for (const double share : {0.5, 0.25, 0.75, 0.02, 0.98}) {
      const int axis = 2 - along_;
      std::vector<Vec3> line = slide_line(place, bounds_.min[axis] + share * bounds_.size()[axis]);
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (const Vec3& point : line) low = std::min(low, point.y()), high = std::max(high, point.y());
      if (line.empty() || high - low >= least) continue;
      least = high - low;
      best = std::move(line);
    }
    if (best.empty()) best.assign(slide_points + 1, above(place, bounds_.center()[2 - along_]));
    return best;
  }

  /// Samples from the last position on, `position` being asked for 0 < t <= 1.
  template <class Position>
  void move(double seconds, const Position& position) {
    const int steps = std::max(1, static_cast<int>(std::lround(seconds / sample_seconds)));
    for (int k = 1; k <= steps; ++k) {
      const double t = static_cast<double>(k) / steps;
      samples_.push_back({.time = clock_ + t * seconds, .ball = {.center = position(t), .radius = radius_}});
    }
    clock_ += seconds;
  }
  void go(double seconds, const Vec3& target) {
    const Vec3 from = samples_.back().ball.center;
    move(seconds, [&](double t) -> Vec3 { return from + eased(t) * (target - from); });
  }
  void wait_until(double time) {
    const Vec3 here = samples_.back().ball.center;
    if (time > clock_) move(time - clock_, [&](double) { return here; });
  }

  void press_and_slide(double place) {
    const Vec3 up = Vec3::UnitY();
    const std::vector<Vec3> line = best_line(place);
    const Vec3 over = line.front() + 2 * radius_ * up;
    if (samples_.empty()) samples_.push_back({.time = 0, .ball = {.center = over, .radius = radius_}});
    const double begin = std::floor(clock_ / round_seconds + 0.5) * round_seconds;
    go(1.0, over);
    go(2.0, line.front() - press_ * up);
    wait_until(begin + 3.5);
    move(4.0, [&](double t) -> Vec3 {
      const double at = slide_points * eased(t);
      const auto k = std::min<std::size_t>(to_size(at), slide_points - 1);
      const double share = at - static_cast<double>(k);
      return (1 - share) * line[k] + share * line[k + 1] - press_ * up;
    });
    go(0.8, line.back() + 2 * radius_ * up);
  }

  void strike(double place) {
    const int across = 2 - along_;
    const Vec3 out = Vec3::Unit(across);
    Vec3 start = Vec3::Zero();
    start[along_] = coordinate(place);
    start[across] = bounds_.max[across] + 3 * radius_;
    start.y() = bounds_.center().y();
    const Vec3 touch = first_touch(start, -out).value_or(start);
    const Vec3 ready = touch + 0.5 * out;
    Vec3 beside = samples_.back().ball.center;
    beside[across] = start[across];
    go(1.0, beside);
    go(1.0, ready);
    for (int k = 0; k < 2; ++k) {
      const double way = 0.5 + std::min(press_, 0.2);
      move(way / strike_speed, [&](double t) -> Vec3 { return ready - t * way * out; });
      go(0.4, ready);
    }
    Vec3 back = ready;
    back.y() = bounds_.max.y() + 3 * radius_;
    go(std::max(0.5, (std::floor(clock_ / round_seconds) + 1) * round_seconds - clock_), back);
  }

  SurfaceQuery query_;
  double radius_;
  Bounds bounds_;
  int along_ = 0;
  double press_ = 0;
  double clock_ = 0;
  std::vector<BallPathSample> samples_;
};

}  // namespace

double suitable_ball_radius(const BoundedDeformationTree& tree) {
  return 0.02 * bounds_of(tree.rest_positions()).diagonal();
}

BallPath make_ball_path(const BoundedDeformationTree& tree, double radius) { return PathMaker(tree, radius).make(); }

}  // namespace supple
