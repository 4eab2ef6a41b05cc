// SPDX-License-Identifier: Apache-2.0
// Weights of morph targets over the frames of a clip, and the leaving out of keys that a line between their neighbours
// replaces.
#pragma once

#include "supple/base/types.h"

#include <span>
#include <vector>

namespace supple {

/// Linear between its keys, constant before the first and after the last.
struct WeightCurve {
  Index clip = 0;              ///< of SoftMotion::clips
  std::vector<double> times;   ///< [s]
  std::vector<double> values;  ///< those of the first key, of the second …

  std::size_t width() const { return times.empty() ? 0 : values.size() / times.size(); }
  void sample(double time, std::span<double> out) const;
};

/// A curve through some of the frames: the first and the last of `candidates` (ascending), and of the others those that
/// are needed. The line between two keys may move the frames between them, candidates or not, so far that
/// Σ_k reach_k |error of weight k| ≤ slack: `reach` says how far a unit of each weight moves anything, `slack` how far
/// each frame may be moved [m]. Between neighbouring candidates the line is as it is.
WeightCurve thin_keys(std::span<const double> times, std::span<const VecX> frames,
                      std::span<const std::size_t> candidates, const VecX& reach, std::span<const double> slack);

}  // namespace supple
