// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/bases/choose_size.h"

#include "supple/math/dense/decompositions.h"
#include "supple/offline/modes/mass_pca.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr int held_back = 4;  ///< one run of so many

std::vector<Eigen::Index> columns_of_run(const TaughtShapes& taught, int run) {
  std::vector<Eigen::Index> columns;
  for (Eigen::Index c = 0; c < taught.count(); ++c)
    if (taught.runs[to_size(c)] == run) columns.push_back(c);
  return columns;
}

/// All runs that are learnt from, each brought to the fourth root of its size, as bases have it.
MatX learnt_shapes(const BlockMatrix& metric, const TaughtShapes& taught, int runs) {
  MatX shapes(taught.displacements.rows(), taught.count());
  Eigen::Index count = 0;
  for (int run = 0; run < runs; ++run) {
    if (run % held_back == held_back - 1) continue;
    const std::vector<Eigen::Index> columns = columns_of_run(taught, run);
    if (columns.empty()) continue;
    const MatX own = taught.displacements(Eigen::all, columns);
    const double size = std::sqrt((own.transpose() * multiply_columns(metric, own)).trace());
    if (!(size > 0)) continue;
    shapes.middleCols(count, own.cols()) = own * std::pow(size, -0.75);
    count += own.cols();
  }
  return shapes.leftCols(count);
}

}  // namespace

std::vector<double> left_of_unseen_motion(const BlockMatrix& metric, const TaughtShapes& taught) {
  const int runs = taught.runs.empty() ? 0 : *std::max_element(taught.runs.begin(), taught.runs.end()) + 1;
  const MatX learnt = learnt_shapes(metric, taught, runs);
  if (learnt.cols() == 0) return {};
  const MatX weighted = multiply_columns(metric, learnt);
  const SymmetricEigen eigen = symmetric_eigen(MatX(learnt.transpose() * weighted));
  Eigen::Index count = 0;
  while (count < eigen.values.size() && eigen.values[eigen.values.size() - 1 - count] > 1e-12 * eigen.values.maxCoeff())
    ++count;
  MatX directions = eigen.vectors.rightCols(count).rowwise().reverse();
  for (Eigen::Index c = 0; c < count; ++c) directions.col(c) /= std::sqrt(eigen.values[eigen.values.size() - 1 - c]);
  VecX left = VecX::Zero(count);
  int judged = 0;
  for (int run = held_back - 1; run < runs; run += held_back) {
    const std::vector<Eigen::Index> columns = columns_of_run(taught, run);
    if (columns.empty()) continue;
    const MatX own = taught.displacements(Eigen::all, columns);
    const double total = (own.transpose() * multiply_columns(metric, own)).trace();
    if (!(total > 0)) continue;
    const VecX parts = (directions.transpose() * (weighted.transpose() * own)).rowwise().squaredNorm() / total;
    double rest = 1;
    for (Eigen::Index c = 0; c < count; ++c) left[c] += std::max(0.0, rest -= parts[c]);
    ++judged;
  }
  if (judged == 0) return {};
  left = (left / judged).cwiseSqrt();
  return {left.begin(), left.end()};
}

int choose_size(std::span<const double> left, const SizeSettings& settings) {
  if (left.empty()) return settings.least;
  const auto fewest = [&](double wanted) {
    constexpr int step = 5;  // a number that looks chosen
    const auto enough = std::find_if(left.begin(), left.end(), [&](double value) { return value <= wanted; });
    return (static_cast<int>(enough - left.begin()) + step) / step * step;
  };
  const int size = std::clamp(fewest(settings.left), settings.least, settings.most);
  return std::max(size, std::min(fewest(settings.bearable), settings.limit));
}

}  // namespace supple
