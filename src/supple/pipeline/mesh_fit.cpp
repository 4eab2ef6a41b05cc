// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/mesh_fit.h"

#include "supple/base/assert.h"
#include "supple/base/parallel.h"
#include "supple/pipeline/bind_space.h"

#include <Eigen/Cholesky>

#include <algorithm>

namespace supple {
namespace {

constexpr Index vertices_at_once = 1024;

double middle(std::vector<double> values) {
  if (values.empty()) return 1.0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at > 0 ? *at : 1.0;
}

// Of vertices that are scaled to nothing in the usual pose the mesh's middle scale is taken.
Eigen::VectorXf usual_scales(std::span<const Affine> matrices) {
  std::vector<double> scales;
  for (const Affine& matrix : matrices) scales.push_back(mean_scale(matrix.linear()));
  const double usual = middle(scales);
  Eigen::VectorXf result(static_cast<Eigen::Index>(scales.size()));
  for (std::size_t v = 0; v < scales.size(); ++v)
    result[static_cast<Eigen::Index>(v)] = static_cast<float>(scales[v] > 0.01 * usual ? scales[v] : usual);
  return result;
}

std::size_t chunk_count(Index vertices) {
  return static_cast<std::size_t>((vertices + vertices_at_once - 1) / vertices_at_once);
}

}  // namespace

MeshFit::MeshFit(const CharacterMesh& mesh, std::span<const Affine> matrices, const MeshFitSettings& settings)
    : scale_(usual_scales(matrices)),
      pca_(static_cast<Index>(3 * mesh.surface.vertices.size()), settings.most_directions, settings.block,
           settings.cutoff) {
  const auto n = static_cast<Eigen::Index>(vertex_count());
  for (Eigen::VectorXf& entry : matrix_) entry.resize(n);
  sample_.resize(3 * n);
}

void MeshFit::load(std::span<const Affine> matrices, std::span<const Vec3> displacements) {
  const Index n = vertex_count();
  SUPPLE_ASSERT(static_cast<Index>(matrices.size()) == n && static_cast<Index>(displacements.size()) == n);
  std::vector<double> reachless(chunk_count(n), 0.0);
  parallel_for(n, vertices_at_once, [&](std::int64_t v) {
    const auto at = static_cast<std::size_t>(v);
    const Mat3 B = matrices[at].linear();
    const double s = scale_[v];
    const Vec3 d = into_bind_space(B, displacements[at], s);
    for (int i = 0; i < 3; ++i) {
      sample_[i * static_cast<Eigen::Index>(n) + v] = static_cast<float>(s * d[i]);
      for (int j = 0; j < 3; ++j) matrix_[static_cast<std::size_t>(3 * i + j)][v] = static_cast<float>(B(i, j) / s);
    }
    double& most = reachless[at / vertices_at_once];
    most = std::max(most, (B * d - displacements[at]).norm());
  });
  reachless_ = *std::max_element(reachless.begin(), reachless.end());
}

void MeshFit::finish_learning() {
  pca_.finish();
  profile_.assign(static_cast<std::size_t>(direction_count()) + 1, 0.0);
  largest_weight_ = Eigen::VectorXf::Zero(direction_count());
}

void MeshFit::profile_range(Index begin, Index end, const Eigen::VectorXf& weights, float* largest) const {
  const Eigen::Index n = vertex_count(), size = end - begin;
  const auto rows = [&](const auto& column, int i) { return column.segment(i * n + begin, size).array(); };
  Eigen::ArrayXf r[3];
  for (int i = 0; i < 3; ++i) r[i] = rows(sample_, i);
  Eigen::ArrayXf squared(size);
  for (Eigen::Index k = 0;; ++k) {
    squared.setZero();
    for (std::size_t i = 0; i < 3; ++i) {
      const auto b = [&](std::size_t j) { return matrix_[3 * i + j].segment(begin, size).array(); };
      squared += (b(0) * r[0] + b(1) * r[1] + b(2) * r[2]).square();
    }
    largest[k] = squared.maxCoeff();
    if (k == weights.size()) return;
    for (int i = 0; i < 3; ++i) r[i] -= weights[k] * rows(pca_.directions().col(k), i);
  }
}

void MeshFit::profile() {
  const Index n = vertex_count();
  const Eigen::VectorXf weights = pca_.directions().transpose() * sample_;
  largest_weight_ = largest_weight_.cwiseMax(weights.cwiseAbs());
  Eigen::ArrayXXf largest(weights.size() + 1, static_cast<Eigen::Index>(chunk_count(n)));
  parallel_ranges(n, vertices_at_once, [&](std::int64_t begin, std::int64_t end) {
    profile_range(static_cast<Index>(begin), static_cast<Index>(end), weights,
                  largest.col(begin / vertices_at_once).data());
  });
  for (std::size_t k = 0; k < profile_.size(); ++k) {
    const double squared = largest.row(static_cast<Eigen::Index>(k)).maxCoeff();
    profile_[k] = std::max(profile_[k], std::sqrt(squared));
  }
}

Index MeshFit::sufficient(double tolerance) const {
  Index k = 0;
  while (k < direction_count() && profiled_error(k) > tolerance) ++k;
  return k;
}

void MeshFit::take(Index k) {
  const Eigen::Index n = vertex_count();
  targets_ = pca_.directions().leftCols(k);
  for (Eigen::Index t = 0; t < k; ++t) {
    for (Eigen::Index i = 0; i < 3; ++i)
      targets_.col(t).segment(i * n, n).array() *= largest_weight_[t] / scale_.array();
  }
  // Columns of the least-squares problem get unit length: weak targets keep their digits in single precision.
  unit_ = largest_weight_.head(k).cwiseMax(1e-30f).cwiseInverse();
  posed_.resize(3 * n, k);
  goal_.resize(3 * n);
  reach_ = VecX::Zero(k);
}

void MeshFit::pose_targets(Index begin, Index end) {
  const Eigen::Index n = vertex_count(), size = end - begin;
  for (Eigen::Index t = 0; t < targets_.cols(); ++t) {
    const auto target = [&](Eigen::Index j) {
      return targets_.col(t).segment(j * n + begin, size).array() * scale_.segment(begin, size).array();
    };
    const Eigen::ArrayXf x = target(0), y = target(1), z = target(2);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto b = [&](std::size_t j) { return matrix_[3 * i + j].segment(begin, size).array(); };
      posed_.col(t).segment(static_cast<Eigen::Index>(i) * n + begin, size) = b(0) * x + b(1) * y + b(2) * z;
    }
  }
}

MeshFit::Equations MeshFit::equations(Index begin, Index end) {
  const Eigen::Index n = vertex_count(), k = targets_.cols(), size = end - begin;
  pose_targets(begin, end);
  Eigen::MatrixXf left = Eigen::MatrixXf::Zero(k, k);
  Eigen::VectorXf right = Eigen::VectorXf::Zero(k);
  Eigen::ArrayXXf squared = Eigen::ArrayXXf::Zero(size, k);
  for (std::size_t i = 0; i < 3; ++i) {
    const Eigen::Index row = static_cast<Eigen::Index>(i) * n + begin;
    auto goal = goal_.segment(row, size);
    goal.setZero();
    for (std::size_t j = 0; j < 3; ++j)
      goal.array() += matrix_[3 * i + j].segment(begin, size).array() *
                      sample_.segment(static_cast<Eigen::Index>(j) * n + begin, size).array();
    squared += posed_.block(row, 0, size, k).array().square();
    const Eigen::MatrixXf P = posed_.block(row, 0, size, k) * unit_.asDiagonal();
    left.selfadjointView<Eigen::Lower>().rankUpdate(P.transpose());
    right += P.transpose() * goal;
  }
  Equations equations{left.cast<double>(), right.cast<double>(), VecX::Zero(k)};
  if (k > 0) equations.reach = squared.colwise().maxCoeff().sqrt().transpose().cast<double>();
  return equations;
}

VecX MeshFit::solve() {
  std::vector<Equations> parts(chunk_count(vertex_count()));
  parallel_ranges(vertex_count(), vertices_at_once, [&](std::int64_t begin, std::int64_t end) {
    parts[static_cast<std::size_t>(begin / vertices_at_once)] =
        equations(static_cast<Index>(begin), static_cast<Index>(end));
  });
  if (targets_.cols() == 0) return {};
  Equations& sum = parts.front();
  for (std::size_t c = 1; c < parts.size(); ++c) {
    sum.left += parts[c].left;
    sum.right += parts[c].right;
    sum.reach = sum.reach.cwiseMax(parts[c].reach);
  }
  reach_ = reach_.cwiseMax(sum.reach);
  sum.left.diagonal().array() += 1e-7 * sum.left.trace() / static_cast<double>(targets_.cols()) + 1e-30;
  return sum.left.selfadjointView<Eigen::Lower>().ldlt().solve(sum.right).cwiseProduct(unit_.cast<double>());
}

FrameFit MeshFit::fit() {
  const Eigen::Index n = vertex_count();
  FrameFit result;
  result.largest_reachless = reachless_;
  result.weights = solve();
  const Eigen::VectorXf residual = posed_ * result.weights.cast<float>() - goal_;
  for (Eigen::Index v = 0; v < n; ++v) {
    const double x = residual[v], y = residual[n + v], z = residual[2 * n + v];
    const double squared = x * x + y * y + z * z;
    result.largest_error = std::max(result.largest_error, squared);
    result.squared_error += squared;
  }
  result.largest_error = std::sqrt(result.largest_error);
  return result;
}

std::vector<Vec3> MeshFit::bind_displacements() const {
  const Eigen::Index n = vertex_count();
  std::vector<Vec3> result(static_cast<std::size_t>(n));
  for (Eigen::Index v = 0; v < n; ++v) {
    const auto scaled = Eigen::Vector3f(sample_[v], sample_[n + v], sample_[2 * n + v]);
    result[static_cast<std::size_t>(v)] = scaled.cast<double>() / scale_[v];
  }
  return result;
}

}  // namespace supple
