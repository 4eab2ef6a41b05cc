// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/surrounding_weights.h"

#include <Eigen/LU>

#include <cmath>
#include <vector>

namespace supple {
namespace {

struct Column {
  Eigen::Vector4d a;
  double cost;
};

/// Points on one sphere, as those of a symmetric skin are, would make several solutions as good: odd costs tell them
/// apart, by more than rounding does. Of squares, because numbers of even meshes are even: differences would cancel.
double odd_share(Index number) {
  constexpr double golden = 0.61803398874989485, most = 1e-5;
  const double turns = golden * static_cast<double>(number) * static_cast<double>(number);
  return most * (turns - std::floor(turns));
}

/// Columns (1, (X_k − X)/scale), the four far points first.
std::vector<Column> make_columns(const Vec3& x, std::span<const Vec3> points, std::span<const Index> numbers) {
  double scale = 0;
  for (const Vec3& p : points) scale = std::max(scale, (p - x).norm());
  if (!(scale > 0)) scale = 1;
  std::vector<Column> columns;
  for (const Vec3& corner : {Vec3(1, 1, 1), Vec3(1, -1, -1), Vec3(-1, 1, -1), Vec3(-1, -1, 1)})
    columns.push_back({Eigen::Vector4d(1, 10 * corner[0], 10 * corner[1], 10 * corner[2]), 1e6});
  for (std::size_t k = 0; k < points.size(); ++k) {
    const Vec3 d = (points[k] - x) / scale;
    columns.push_back({Eigen::Vector4d(1, d[0], d[1], d[2]), d.squaredNorm() * (1 + odd_share(numbers[k]))});
  }
  return columns;
}

}  // namespace

std::optional<SurroundingWeights> surrounding_weights(const Vec3& x, std::span<const Vec3> points,
                                                      std::span<const Index> numbers) {
  const std::vector<Column> columns = make_columns(x, points, numbers);
  std::array<std::size_t, 4> basis{0, 1, 2, 3};
  Eigen::Vector4d weights;
  for (int pivot = 0; pivot < 100; ++pivot) {
    Eigen::Matrix4d B;
    Eigen::Vector4d cost;
    for (std::size_t k = 0; k < 4; ++k) {
      B.col(static_cast<int>(k)) = columns[basis[k]].a;
      cost[static_cast<int>(k)] = columns[basis[k]].cost;
    }
    const Eigen::Matrix4d inverse = B.inverse();
    weights = inverse.col(0);
    const Eigen::Vector4d dual = inverse.transpose() * cost;
    std::size_t entering = columns.size();
    double best = -1e-12;
    for (std::size_t k = 4; k < columns.size(); ++k) {
      const double reduced = columns[k].cost - dual.dot(columns[k].a);
      if (reduced < best) best = reduced, entering = k;
    }
    if (entering == columns.size()) break;
    const Eigen::Vector4d direction = inverse * columns[entering].a;
    std::size_t leaving = 4;
    double ratio = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const double d = direction[static_cast<int>(k)];
      if (d < 1e-9) continue;
      const double candidate = std::max(0.0, weights[static_cast<int>(k)]) / d;
      if (leaving == 4 || candidate < ratio) leaving = k, ratio = candidate;
    }
    if (leaving == 4) break;
    basis[leaving] = entering;
  }
  SurroundingWeights result;
  for (std::size_t k = 0; k < 4; ++k) {
    if (basis[k] < 4) {
      if (weights[static_cast<int>(k)] > 1e-9) return std::nullopt;
      result.point[k] = 0;
      result.weight[k] = 0;
      continue;
    }
    result.point[k] = static_cast<Index>(basis[k] - 4);
    result.weight[k] = weights[static_cast<int>(k)];
  }
  Eigen::Map<Eigen::Vector4d> w(result.weight.data());
  if (!w.allFinite() || w.minCoeff() < -1e-9) return std::nullopt;
  w = w.cwiseMax(0);
  w /= w.sum();
  return result;
}

}  // namespace supple
