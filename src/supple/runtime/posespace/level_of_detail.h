// SPDX-License-Identifier: Apache-2.0
// LevelOfDetail: fewer coordinates for a character that is far away, without a pop.
//
// Columns of a basis come in the order of their importance, so that the first r' of r are the best that r' can do; with
// local bases every patch keeps its first share, at least one. Patches are told apart by the vertices that their
// columns move. Coordinates go and come in whole vectors (KeptColumns).
//
// A group of coordinates has a level τ between 0 (not computed) and 1 (free). It moves at the speed asked for, and
// while it does, each step ends with
//   q, q̇, q̈ ← ρ (q, q̇, q̈),   ρ = s(τ_low)/s(τ_high),   s(τ) = τ² (3 − 2 τ)
// for the two levels that the step lies between. Going out this is q ∝ s, a smooth end at zero; coming in it is a brake
// that lets go slowly, so that flesh swells into what it was missing instead of springing there.
#pragma once

#include "supple/asset/pose_space_model.h"
#include "supple/runtime/posespace/kept_columns.h"

namespace supple {

/// Gives the end of each patch's coordinates; {size} where there is one patch.
std::vector<int> patch_ends(const PoseSpaceModel& model);

class LevelOfDetail {
 public:
  LevelOfDetail() = default;
  LevelOfDetail(std::span<const int> patch_ends, int width);

  /// Asks for `count` coordinates of all, in `seconds`. Allocates nothing.
  void ask(std::span<const int> patch_ends, int count, double seconds);
  /// Chooses what the next steps compute: all that is wanted or hasn't faded yet. Returns whether that has changed.
  bool begin_frame();
  const KeptColumns& kept() const { return kept_; }

  /// Fades, at the end of a step of length h, the coordinates that are going or coming. Those that have settled are
  /// left as they are.
  template <class T>
  void fade(double h, T* q, T* v, T* a) {
    if (settled_) return;
    for (std::size_t g = 0; g < level_.size(); ++g) {
      const T ratio = static_cast<T>(advance(g, h));
      if (ratio == T(1)) continue;
      const auto first = g * to_size(kept_.width());
      for (std::size_t c = first; c < first + to_size(kept_.width()); ++c) q[c] *= ratio, v[c] *= ratio, a[c] *= ratio;
    }
  }

  void exchange(StateBytes& bytes) {
    kept_.exchange(bytes);
    bytes(level_);
    bytes(wanted_);
    bytes(speed_);
    bytes(settled_);
  }

 private:
  /// Moves the level of a group by a step, and gives the factor ρ of its coordinates.
  double advance(std::size_t group, double h);

  KeptColumns kept_;
  std::vector<double> level_;
  std::vector<char> wanted_, next_;
  double speed_ = 0;  ///< of levels [1/s]
  bool settled_ = true;
};

}  // namespace supple
