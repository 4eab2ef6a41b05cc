// SPDX-License-Identifier: Apache-2.0
// How many coordinates a body needs: as many as leave little of motion that its basis hasn't learnt from.
//
// A quarter of the simulated runs is held back. With B_r the first r principal directions of the others, what is left
// of a run u(t) that was held back is
//   left(r)² = Σ_t |u − B_r B_rᵀ G u|²_G / Σ_t |u|²_G        G: what is seen (skin_weighted_metric.h)
// and the mean of its square over these runs tells r. The error of a simulation in the basis is two to three times that
// (docs/theory.md).
#pragma once

#include "supple/fem/elastic_body.h"
#include "supple/offline/dynamics/motion_runs.h"

#include <vector>

namespace supple {

/// How close to the full simulation a body shall be that says nothing of its number of coordinates.
struct SizeSettings {
  double left = 0.02;  ///< of motion that it hasn't learnt from
  int least = 120, most = 200;
  /// More than `most` are taken where these would leave more than `bearable`, but only as many as leave that.
  double bearable = 1;
  int limit = 0;  ///< of these; 0: `most`
};

/// left(r) for r = 1, 2, …; empty where there is too little motion to hold any of it back.
std::vector<double> left_of_unseen_motion(const BlockMatrix& metric, const TaughtShapes& taught);

/// The fewest coordinates with which no more is left than asked for, at most `most`; where that leaves more than is
/// bearable, the fewest with which that isn't so.
int choose_size(std::span<const double> left, const SizeSettings& settings);

}  // namespace supple
