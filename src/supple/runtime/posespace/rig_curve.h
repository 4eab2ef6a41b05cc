// SPDX-License-Identifier: Apache-2.0
// RigCurve: how something that is known once per frame moves within the frame, so that sub-steps feel a smooth motion.
//
// A frame of length H goes from x₀ to x₁ on a cubic with the velocities v₀ at its start and v₁ at its end. Straight
// lines would put all of a frame's acceleration into its first sub-step. The future is unknown, so v₁ is that of the
// parabola through the last three frames, and v₀ is what the frame before has ended with: the path has no corners. With
// mean velocities w of this and w° of the last frame, H° long,
//   v₁ = w + (w − w°) H/(H + H°)
#pragma once

#include <Eigen/Core>

#include <algorithm>

namespace supple {

template <int N>
struct RigCurve {
  using Vector = Eigen::Matrix<double, N, 1>;

  Vector start = Vector::Zero(), end = Vector::Zero();
  Vector start_velocity = Vector::Zero(), end_velocity = Vector::Zero();

  /// Starts a motion of which nothing else is known, on a straight line.
  void go_straight(const Vector& from, const Vector& to, double length) {
    start = from, end = to;
    start_velocity = end_velocity = (to - from) / length;
    mean_ = end_velocity;
    span_ = 0;
  }
  /// Goes on after a frame that had a curve; `pull` is added to the velocity with which it ended.
  void go_on(const Vector& from, const Vector& to, const Vector& pull, double length, double last_length) {
    start_velocity = end_velocity + pull;
    turn_to(from, to, mean_, length, last_length);
  }
  /// Starts a curve after a frame of one step, which came from `before` and had no curve. It is taken to have ended
  /// with the velocity of the parabola through the three places.
  void start_after(const Vector& before, const Vector& from, const Vector& to, double length, double last_length) {
    const Vector last = (from - before) / last_length;
    span_ = 0;
    start_velocity = last + ((to - from) / length - last) * (last_length / (length + last_length));
    turn_to(from, to, last, length, last_length);
  }

  /// Gives the place at the share s of the frame, 0 to 1.
  Vector at(double s, double length) const {
    const double r = 1 - s;
    return (r * r * (1 + 2 * s)) * start + (s * s * (3 - 2 * s)) * end +
           (r * s * length) * (r * start_velocity - s * end_velocity);
  }

 private:
  void turn_to(const Vector& from, const Vector& to, const Vector& last_mean, double length, double last_length) {
    start = from, end = to;
    const Vector mean = (to - from) / length;
    const Vector bend = (mean - last_mean) / (length + last_length);
    end_velocity = mean + length * bend;
    if (span_ > 0 && (bend - bend_).squaredNorm() < 0.25 * std::min(bend.squaredNorm(), bend_.squaredNorm()))
      end_velocity += (bend - bend_) * (length * (length + last_length) / (length + span_));
    mean_ = mean;
    bend_ = bend;
    span_ = length + last_length;
  }
  Vector mean_ = Vector::Zero(), bend_ = Vector::Zero();
  double span_ = 0;  ///< of what bend_ was found over; zero: unknown
};

}  // namespace supple
