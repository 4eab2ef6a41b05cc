// SPDX-License-Identifier: Apache-2.0
#include "supple/export/unit_weights.h"

#include <algorithm>

namespace supple {
namespace {

struct Range {
  VecX low, size;
  bool has_base() const { return (low.array() < 0).any(); }
};

Range range_of(const MeshTargets& targets) {
  const auto count = static_cast<Eigen::Index>(targets.target_count());
  VecX low = VecX::Zero(count), high = VecX::Zero(count);
  for (const WeightCurve& curve : targets.curves) {
    for (std::size_t i = 0; i < curve.values.size(); ++i) {
      const auto t = static_cast<Eigen::Index>(i) % count;
      low[t] = std::min(low[t], curve.values[i]);
      high[t] = std::max(high[t], curve.values[i]);
    }
  }
  const VecX size = high - low;
  return {low, (size.array() > 0).select(size, 1.0)};
}

void rescale(Eigen::MatrixXf& columns, const Range& range) {
  const Eigen::VectorXf base = columns * range.low.cast<float>();
  columns = columns * range.size.cast<float>().asDiagonal();
  if (!range.has_base()) return;
  columns.conservativeResize(Eigen::NoChange, columns.cols() + 1);
  columns.rightCols(1) = base;
}

void rescale(WeightCurve& curve, const Range& range) {
  const auto count = to_size(range.low.size());
  std::vector<double> values;
  for (std::size_t i = 0; i < curve.values.size(); ++i) {
    const auto t = static_cast<Eigen::Index>(i % count);
    values.push_back(std::clamp((curve.values[i] - range.low[t]) / range.size[t], 0.0, 1.0));
    if (i % count + 1 == count && range.has_base()) values.push_back(1.0);
  }
  curve.values = std::move(values);
}

}  // namespace

void bring_into_unit_range(MeshTargets& targets) {
  if (targets.target_count() == 0) return;
  const Range range = range_of(targets);
  rescale(targets.displacements, range);
  rescale(targets.turns, range);
  for (WeightCurve& curve : targets.curves) rescale(curve, range);
}

}  // namespace supple
