// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/weight_curve.h"

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

/// The farthest frame to which a line from `a` may run.
std::size_t farthest(std::span<const double> times, std::span<const VecX> frames, const VecX& reach,
                     std::span<const double> slack, std::size_t a) {
  std::size_t best = a + 1;
  for (std::size_t b = a + 2; b < std::min(frames.size(), a + longest_line); ++b) {
    for (std::size_t f = a + 1; f < b; ++f)
      if (!(moved(times, frames, reach, a, b, f) <= slack[f])) return best;
    best = b;
  }
  return best;
}

}  // namespace

void WeightCurve::sample(double time, std::span<double> out) const {
  SUPPLE_ASSERT(out.size() == width());
  const auto after = static_cast<std::size_t>(std::upper_bound(times.begin(), times.end(), time) - times.begin());
  const std::size_t b = std::min(after, times.size() - 1), a = after == 0 ? 0 : after - 1;
  const double s = a == b ? 0.0 : (time - times[a]) / (times[b] - times[a]);
  for (std::size_t k = 0; k < out.size(); ++k)
    out[k] = (1 - s) * values[a * out.size() + k] + s * values[b * out.size() + k];
}

WeightCurve thin_keys(std::span<const double> times, std::span<const VecX> frames, const VecX& reach,
                      std::span<const double> slack, std::span<double> spent) {
  SUPPLE_ASSERT(times.size() == frames.size() && times.size() == slack.size() && times.size() == spent.size());
  WeightCurve curve;
  const auto keep = [&](std::size_t f) {
    curve.times.push_back(times[f]);
    curve.values.insert(curve.values.end(), frames[f].begin(), frames[f].end());
  };
  std::fill(spent.begin(), spent.end(), 0.0);
  if (!times.empty()) keep(0);
  for (std::size_t a = 0; a + 1 < times.size();) {
    const std::size_t b = farthest(times, frames, reach, slack, a);
    for (std::size_t f = a + 1; f < b; ++f) spent[f] = moved(times, frames, reach, a, b, f);
    keep(b);
    a = b;
  }
  return curve;
}

}  // namespace supple
