// SPDX-License-Identifier: Apache-2.0
#include "supple/export/target_numbers.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

// Shares of the tolerance. Errors of many targets add up like those of chance; their mean over time goes into the
// target that is always on (below), so that only changes of weights show them.
constexpr double whole_step = 0.25, speck_share = 0.06;
constexpr double unseen_change = 0.008;  // [rad], half a degree of a normal at a target's full weight
constexpr double turn_per_share =
    0.07;  // [rad] that changes of normals are rounded to where steps are the whole tolerance
constexpr double rounded_weight = 0x1p-11;

struct WholeRange {
  std::size_t bytes;
  bool normalized;
  double largest;  ///< that can be written
  double step;
};
constexpr WholeRange ranges[] = {
    {1, true, 1, 1 / 127.0}, {1, false, 127, 1}, {2, true, 1, 1 / 32767.0}, {2, false, 32767, 1}};

void multiply(MeshTargets& targets, Index t, double factor) {
  targets.displacements.col(t) *= static_cast<float>(factor);
  targets.turns.col(t) *= static_cast<float>(factor);
  const auto count = to_size(targets.target_count());
  for (WeightCurve& curve : targets.curves)
    for (std::size_t i = to_size(t); i < curve.values.size(); i += count) curve.values[i] /= factor;
}

/// The number of the target whose weight is one at every key (unit_weights.h), or −1.
Index constant_target(const MeshTargets& targets) {
  const auto count = to_size(targets.target_count());
  for (const WeightCurve& curve : targets.curves)
    for (std::size_t i = count; i <= curve.values.size(); i += count)
      if (curve.values[i - 1] != 1) return -1;
  return targets.target_count() - 1;
}

double mean_weight(const MeshTargets& targets, Index t) {
  double sum = 0, count = 0;
  for (const WeightCurve& curve : targets.curves)
    for (std::size_t i = to_size(t); i < curve.values.size(); i += curve.width()) sum += curve.values[i], ++count;
  return count > 0 ? sum / count : 0;
}

/// Rounds a target to multiples of a step; lengths below `speck` become none. Gives what it was more before.
Eigen::VectorXf round_target(MeshTargets& targets, Index t, double step, double speck) {
  const Eigen::VectorXf exact = targets.displacements.col(t);
  auto column = targets.displacements.col(t);
  for (Index v = 0; v < targets.vertex_count(); ++v)
    if (targets.displacement(t, v).norm() < speck)
      for (Eigen::Index i = 0; i < 3; ++i) column[i * targets.vertex_count() + v] = 0;
  column = (column.array() / static_cast<float>(step)).round() * static_cast<float>(step);
  return exact - column;
}

/// The fewest bits whose steps are fine enough, and what the target is multiplied with to fit.
struct ChosenRange {
  WholeRange range{4, true, 0, 0};
  double factor = 1;
};

ChosenRange choose_range(const MeshTargets& targets, Index t, double step, bool has_normals) {
  const double longest = targets.displacements.col(t).cwiseAbs().maxCoeff();
  double turn = 0;
  for (Index v = 0; has_normals && v < targets.vertex_count(); ++v) turn = std::max(turn, targets.turn(t, v).norm());
  if (turn * targets.largest_weight(t) < unseen_turn) turn = 0;
  if (!(longest > 0)) return {};
  for (const WholeRange& range : ranges) {
    const double factor = std::min(range.largest / longest, turn > 0 ? 0.999 / turn : 1e9);
    if (factor >= 1 && range.step / factor <= step) return {range, factor};
  }
  return {};
}

TargetNumbers prepare_whole(MeshTargets& targets, Index t, double allowed, bool has_normals, Eigen::VectorXf& rest) {
  TargetNumbers numbers{unseen_change, 0, 4, true};
  const ChosenRange chosen = choose_range(targets, t, whole_step * allowed, has_normals);
  if (chosen.range.bytes == 4) return numbers;
  rest = round_target(targets, t, chosen.range.step / chosen.factor, speck_share * allowed);
  multiply(targets, t, chosen.factor);
  numbers.least_turn *= chosen.factor;
  numbers.bytes = chosen.range.bytes;
  numbers.normalized = chosen.range.normalized;
  return numbers;
}

/// Whole multiples of a power of two; the weights make up for the difference between that and the step.
TargetNumbers prepare_floats(MeshTargets& targets, Index t, double allowed, double share, Eigen::VectorXf& rest) {
  const double step = share * allowed, power = std::exp2(std::ceil(std::log2(step)));
  rest = round_target(targets, t, step, 0);
  multiply(targets, t, power / step);
  auto column = targets.displacements.col(t);
  column = (column.array() / static_cast<float>(power)).round() * static_cast<float>(power);
  for (WeightCurve& curve : targets.curves)
    for (std::size_t i = to_size(t); i < curve.values.size(); i += curve.width())
      curve.values[i] = std::round(curve.values[i] / rounded_weight) * rounded_weight;
  const double normal_power = std::exp2(std::floor(std::log2(turn_per_share * share * power / step)));
  return {unseen_change * power / step, normal_power, 4, true};
}

}  // namespace

std::vector<TargetNumbers> prepare_targets(MeshTargets& targets, MorphStorage storage, double tolerance,
                                           bool has_normals, double step) {
  std::vector<TargetNumbers> numbers(to_size(targets.target_count()), TargetNumbers{});
  if (storage == MorphStorage::plain || !(tolerance > 0)) return numbers;
  const double allowed = tolerance / targets.unit;
  const Index constant = constant_target(targets);
  for (Index t = 0; t < targets.target_count(); ++t) {
    const double mean = mean_weight(targets, t);
    Eigen::VectorXf rest = Eigen::VectorXf::Zero(targets.displacements.rows());
    numbers[to_size(t)] = storage == MorphStorage::rounded ? prepare_floats(targets, t, allowed, step, rest)
                                                           : prepare_whole(targets, t, allowed, has_normals, rest);
    // The constant target comes last: it takes what the others lack in the mean.
    if (constant >= 0 && t != constant) targets.displacements.col(constant) += static_cast<float>(mean) * rest;
  }
  return numbers;
}

}  // namespace supple
