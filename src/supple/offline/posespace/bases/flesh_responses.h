// SPDX-License-Identifier: Apache-2.0
// How flesh answers to what moves it: the shapes that a reduced basis has to know.
//
//   rig          K⁻¹ M ∂Φ/∂p_j: the rig moves flesh through its parameters, so M ∂Φ/∂p_j are the loads that there can
//                be, whatever the clip (load-dependent Ritz vectors: Wilson, Yuan and Dickens 1982)
//   known motion M ü + D u̇ + K u = −M a(t): linear dynamics in the neutral pose over stretches of the clips, in
//                directions that turn with the flesh; it tells which modes ring, and how they lag
#pragma once

#include "supple/fem/elastic_body.h"
#include "supple/rig/rig.h"

#include <span>
#include <vector>

namespace supple {

/// ∂Φ/∂p in pose p, one column for each way in which one parameter can change (by a radian, or a twentieth of the
/// height), evenly thinned out where there are more than `most`, and for each way in which the whole character can be
/// moved and turned.
MatX rig_accelerations(const Rig& rest, std::span<const double> p, double height, int most = 240);

/// A stretch of known motion: accelerations of all vertices, turned back, one column per moment.
struct MotionRun {
  static constexpr double step = 1.0 / 60;  ///< [s] between columns
  static constexpr int length = 36;
  MatX accelerations;
  std::vector<double> pose;  ///< in the middle
  int clip = 0;
};

/// Displacements over each run, every third moment, one after the other. Flesh starts in balance with the first
/// acceleration. All runs have MotionRun::length columns. Empty when the body isn't held.
MatX sway_over(const ElasticBody& body, std::span<const Index> fixed, std::span<const MotionRun> runs);

}  // namespace supple
