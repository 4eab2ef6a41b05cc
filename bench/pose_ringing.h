// SPDX-License-Identifier: Apache-2.0
// Figure 11 of the 2016 paper: the bear's cheeks are pulled and let go. Bases of patches move the head; of a basis for
// the whole body columns ring that belong to the arms. The truth is every vertex of the same mesh under the same pull,
// in the neutral pose.
#pragma once

#include "supple/pipeline/character/build_posespace.h"
#include "supple/runtime/soft_step.h"

namespace supple::bench {

/// How far the skin of the cheeks and of the left arm is from its rest, at most, over time [m].
struct Ringing {
  std::vector<double> time, cheeks, arm;

  /// The arm's largest motion as a share of the cheeks'.
  double share() const;
};

class CheekPull {
 public:
  /// `built` must outlive it.
  CheekPull(const BuiltCharacter& built, const SoftStepSettings& settings);

  Result<Ringing> full() const;
  Result<Ringing> reduced(const ReducedBody& reduced) const;
  /// What flesh does otherwise than in the truth: √(Σ |ū − ū_full|² / Σ |ū_full|²) over steps, of the largest motions.
  static double error(const std::vector<double>& motion, const std::vector<double>& truth);

 private:
  double pull_at(double time) const;
  void look(const VecX& skin, double time, Ringing& ringing) const;

  const BuiltCharacter& built_;
  SoftStepSettings settings_;
  std::vector<SurfaceForce> pulled_;  ///< vertices of both cheeks, with unit forces
  std::vector<Index> cheeks_, arm_;   ///< vertices of the skin
};

}  // namespace supple::bench
