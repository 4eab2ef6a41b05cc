// SPDX-License-Identifier: Apache-2.0
// Poses that deserve a reduced model of their own (2016 paper, 5.1): far from the others in pose space, or moving in
// other ways than the nearest of them does.
//
// How differently flesh moves in two poses is the angle between their linear modes, turned back by the local rotations:
//   cos² θ = mean of cos² θ_k,   θ_k between the lowest n modes of the one and the lowest 2n of the other
// Twice as many, because modes whose frequencies are close swap their places, and those beyond the last would count as
// missing. Bases themselves are compared in the same way (align_bases.h), as many against as many.
#pragma once

#include "supple/fem/elastic_body.h"
#include "supple/rig/rig.h"

namespace supple {

/// Rotations on the shorter arc, everything else on the line; share 0: a, 1: b.
std::vector<double> pose_between(const PoseLayout& layout, std::span<const double> a, std::span<const double> b,
                                 double share);

struct ChoosePosesInput {
  const ElasticBody& body;  ///< neutral pose
  const TetMesh& mesh;
  const Rig& rest;
  std::span<const Index> fixed;
};

struct ChoosePosesSettings {
  int most = 3;          ///< besides the neutral pose
  double apart = 0.5;    ///< poses farther than this from all others are worth a model [rad, in the layout's distance]
  double angle = 0.5;    ///< so are those that move differently by more than this [rad]; 0: angles aren't looked at
  double nearest = 0.2;  ///< [rad] but not those that are nearer than this to one that has been chosen
  int candidates = 12;   ///< modes are computed for so many at most, those farthest apart
  int modes = 8;         ///< n
};

/// Numbers of the chosen poses, the most deserving first: the one for which distance and angle to the nearest of those
/// that have a model, each as a share of the largest from the neutral pose, are largest together.
std::vector<std::size_t> choose_poses(const ChoosePosesInput& input, std::span<const std::vector<double>> candidates,
                                      const ChoosePosesSettings& settings);

}  // namespace supple
