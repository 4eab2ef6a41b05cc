// SPDX-License-Identifier: Apache-2.0
#include "supple/export/weight_curve.h"

#include "supple/base/assert.h"

#include <algorithm>

namespace supple {
namespace {

constexpr std::size_t longest_line = 512;  // frames; the search takes time quadratic in it

/// How far the frame is moved when it lies on the line from `a` to `b`.
double moved(std::span<const double> times, std::span<const VecX> frames, const VecX& reach, std::size_t a,
             std::size_t b, std::size_t f) {
  const double s = (times[f] - times[a]) / (times[b] - times[a]);
  return ((1 - s) * frames[a] + s * frames[b] - frames[f]).cwiseAbs().dot(reach);
}

/// The farthest candidate to which a line from candidate `from` may run.
std::size_t farthest(std::span<const double> times, std::span<const VecX> frames,
                     std::span<const std::size_t> candidates, const VecX& reach, std::span<const double> slack,
                     std::size_t from) {
  std::size_t best = from + 1;
  const std::size_t a = candidates[from];
  for (std::size_t to = from + 2; to < candidates.size() && candidates[to] < a + longest_line; ++to) {
    for (std::size_t f = a + 1; f < candidates[to]; ++f)
      if (!(moved(times, frames, reach, a, candidates[to], f) <= slack[f])) return best;
    best = to;
  }
  return best;
}

}  // namespace

void WeightCurve::sample(double time, std::span<double> out) const {
  SUPPLE_ASSERT(out.size() == width());
  const auto after = to_size(std::upper_bound(times.begin(), times.end(), time) - times.begin());
  const std::size_t b = std::min(after, times.size() - 1), a = after == 0 ? 0 : after - 1;
  const double s = a == b ? 0.0 : (time - times[a]) / (times[b] - times[a]);
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = (1 - s) * values[a * out.size() + k] + s * values[b * out.size() + k];
}

WeightCurve thin_keys(std::span<const double> times, std::span<const VecX> frames,
                      std::span<const std::size_t> candidates, const VecX& reach, std::span<const double> slack) {
  SUPPLE_ASSERT(times.size() == frames.size() && times.size() == slack.size());
  WeightCurve curve;
  for (std::size_t at = 0; at < candidates.size();) {
    const VecX& key = frames[candidates[at]];
    curve.times.push_back(times[candidates[at]]);
    curve.values.insert(curve.values.end(), key.begin(), key.end());
    at = farthest(times, frames, candidates, reach, slack, at);
  }
  return curve;
}

}  // namespace supple
