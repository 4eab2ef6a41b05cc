// SPDX-License-Identifier: Apache-2.0
#include "supple/export/mesh_fit.h"

#include "supple/base/assert.h"
#include "supple/base/parallel.h"
#include "supple/math/dense/decompositions.h"
#include "supple/rig/deform/bind_space.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr Index vertices_at_once = 1024, rows_at_once = 2048;

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

std::size_t chunk_count(Index size, Index grain) { return to_size((size + grain - 1) / grain); }

/// At least the square of the largest singular value, and no more than that for a rotation.
double squared_norm_bound(const Mat3& B) {
  const double xy = std::abs(B.col(0).dot(B.col(1))), yz = std::abs(B.col(1).dot(B.col(2))),
               zx = std::abs(B.col(2).dot(B.col(0)));
  return std::max(
      {B.col(0).squaredNorm() + xy + zx, B.col(1).squaredNorm() + xy + yz, B.col(2).squaredNorm() + yz + zx});
}

Eigen::Vector3f at(std::span<const float> sample, std::size_t v) {
  const std::size_t n = sample.size() / 3;
  return {sample[v], sample[n + v], sample[2 * n + v]};
}

}  // namespace

MeshFit::MeshFit(std::span<const Affine> matrices, const MeshFitSettings& settings)
    : settings_(settings),
      scale_(usual_scales(matrices)),
      importance_(Eigen::VectorXf::Ones(3 * scale_.size())),
      growth_(Eigen::VectorXf::Zero(scale_.size())) {
  directions_.resize(3 * scale_.size(), 0);
}

double MeshFit::usual_scale() const { return middle(std::vector<double>(scale_.begin(), scale_.end())); }

void MeshFit::make_sample(std::span<const Affine> matrices, std::span<const Vec3> displacements,
                          std::span<float> sample) {
  const auto n = to_size(vertex_count());
  SUPPLE_ASSERT(matrices.size() == n && displacements.size() == n && sample.size() == 3 * n);
  std::vector<double> unreachable_error(chunk_count(vertex_count(), vertices_at_once), 0.0);
  parallel_for(vertex_count(), vertices_at_once, [&](std::int64_t i) {
    const auto v = to_size(i);
    const Mat3 B = matrices[v].linear();
    const double s = scale_[i];
    const Vec3 d = into_bind_space(B, displacements[v], s);
    for (std::size_t k = 0; k < 3; ++k) sample[k * n + v] = static_cast<float>(s * d[static_cast<Eigen::Index>(k)]);
    growth_[i] = std::max(growth_[i], static_cast<float>(squared_norm_bound(B) / (s * s)));
    double& most = unreachable_error[v / vertices_at_once];
    most = std::max(most, (B * d - displacements[v]).squaredNorm());
  });
  for (const double squared : unreachable_error) unreachable_error_ = std::max(unreachable_error_, std::sqrt(squared));
}

void MeshFit::learn(const Samples& samples) {
  const auto known = direction_count(), count = static_cast<Index>(samples.cols());
  const Index most = std::min(settings_.most_directions, known + count);
  StreamingPca pca(static_cast<Index>(samples.rows()), most, std::max<Index>(1, known + count - most),
                   settings_.cutoff);
  std::vector<float> column(to_size(samples.rows()));
  const auto add = [&](const Eigen::VectorXf& values) {
    std::copy(values.begin(), values.end(), column.begin());
    pca.add(column);
  };
  for (Index k = 0; k < known; ++k) add(static_cast<float>(singular_values_[to_size(k)]) * directions_.col(k));
  for (Index k = 0; k < count; ++k) add(samples.col(k));
  pca.finish();
  directions_ = pca.directions();
  singular_values_ = pca.singular_values();
}

Index MeshFit::sufficient_range(std::span<const float> sample, std::span<const Affine> matrices,
                                const Eigen::VectorXf& weights, Index begin, Index end, double tolerance) const {
  const Eigen::Index n = vertex_count(), size = end - begin;
  const Eigen::Map<const Eigen::VectorXf> whole(sample.data(), 3 * n);
  Eigen::ArrayXf r[3], B[9], squared(size);
  for (int i = 0; i < 3; ++i) r[i] = whole.segment(i * n + begin, size).array();
  for (Eigen::ArrayXf& entry : B) entry.resize(size);
  for (Eigen::Index v = 0; v < size; ++v)
    for (int e = 0; e < 9; ++e)
      B[e][v] = static_cast<float>(matrices[to_size(begin + v)].linear()(e / 3, e % 3) / scale_[begin + v]);
  const auto limit = static_cast<float>(tolerance * tolerance);
  for (Eigen::Index k = 0; k < weights.size(); ++k) {
    squared.setZero();
    for (int i = 0; i < 3; ++i) squared += (B[3 * i] * r[0] + B[3 * i + 1] * r[1] + B[3 * i + 2] * r[2]).square();
    if (squared.maxCoeff() <= limit) return static_cast<Index>(k);
    for (int i = 0; i < 3; ++i) r[i] -= weights[k] * directions_.col(k).segment(i * n + begin, size).array();
  }
  return static_cast<Index>(weights.size());
}

Index MeshFit::sufficient(std::span<const float> sample, std::span<const Affine> matrices, double tolerance) const {
  const Eigen::Map<const Eigen::MatrixXf> column(sample.data(), static_cast<Eigen::Index>(sample.size()), 1);
  const Eigen::VectorXf all = weights(column, direction_count());
  std::vector<Index> needed(chunk_count(vertex_count(), vertices_at_once), 0);
  parallel_ranges(vertex_count(), vertices_at_once, [&](std::int64_t begin, std::int64_t end) {
    needed[to_size(begin / vertices_at_once)] =
        sufficient_range(sample, matrices, all, static_cast<Index>(begin), static_cast<Index>(end), tolerance);
  });
  return needed.empty() ? 0 : *std::max_element(needed.begin(), needed.end());
}

void MeshFit::find_worst(std::span<const float> sample, std::span<const Affine> matrices, Index k,
                         Eigen::VectorXf& worst) const {
  const Eigen::Map<const Eigen::MatrixXf> column(sample.data(), static_cast<Eigen::Index>(sample.size()), 1);
  const Eigen::MatrixXf left = residuals(column, weights(column, k));
  const std::span<const float> residual(left.data(), sample.size());
  parallel_for(vertex_count(), vertices_at_once, [&](std::int64_t i) {
    const auto v = to_size(i);
    const Eigen::Vector3f r = at(residual, v) / scale_[i];
    worst[i] = std::max(worst[i], (matrices[v].linear().cast<float>() * r).squaredNorm());
  });
}

void MeshFit::reweight(const Eigen::VectorXf& factors) {
  importance_.array() *= factors.replicate<3, 1>().array();
  const auto rows = static_cast<Index>(directions_.rows());
  const VecX sigma = Eigen::Map<const VecX>(singular_values_.data(), std::ssize(singular_values_));
  std::vector<MatX> parts(chunk_count(rows, rows_at_once));
  parallel_ranges(rows, rows_at_once, [&](std::int64_t begin, std::int64_t end) {
    const Eigen::MatrixXf weighted =
        importance_.segment(begin, end - begin).cwiseSqrt().asDiagonal() * directions_.middleRows(begin, end - begin);
    parts[to_size(begin / rows_at_once)] = (weighted.transpose() * weighted).cast<double>();
  });
  MatX gram = MatX::Zero(sigma.size(), sigma.size());
  for (const MatX& part : parts) gram += part;
  const SymmetricEigen scaled = symmetric_eigen(sigma.asDiagonal() * gram * sigma.asDiagonal());
  const VecX roots = scaled.values.cwiseMax(1e-30).cwiseSqrt().reverse();
  const MatX mix = sigma.asDiagonal() * scaled.vectors.rowwise().reverse() * roots.cwiseInverse().asDiagonal();
  const Eigen::MatrixXf mixing = mix.cast<float>();
  parallel_ranges(rows, rows_at_once, [&](std::int64_t begin, std::int64_t end) {
    directions_.middleRows(begin, end - begin) = (directions_.middleRows(begin, end - begin) * mixing).eval();
  });
  singular_values_.assign(roots.begin(), roots.end());
}

Eigen::MatrixXf MeshFit::weights(const Samples& samples, Index k) const {
  const auto rows = static_cast<Index>(samples.rows());
  std::vector<Eigen::MatrixXf> parts(chunk_count(rows, rows_at_once));
  parallel_ranges(rows, rows_at_once, [&](std::int64_t begin, std::int64_t end) {
    parts[to_size(begin / rows_at_once)].noalias() = directions_.block(begin, 0, end - begin, k).transpose() *
                                                     importance_.segment(begin, end - begin).asDiagonal() *
                                                     samples.middleRows(begin, end - begin);
  });
  MatX sum = MatX::Zero(k, samples.cols());
  for (const Eigen::MatrixXf& part : parts) sum += part.cast<double>();
  return sum.cast<float>();
}

Eigen::MatrixXf MeshFit::residuals(const Samples& samples, const Eigen::MatrixXf& weights) const {
  Eigen::MatrixXf left(samples.rows(), samples.cols());
  parallel_ranges(static_cast<std::int64_t>(samples.rows()), rows_at_once, [&](std::int64_t begin, std::int64_t end) {
    auto part = left.middleRows(begin, end - begin);
    part = samples.middleRows(begin, end - begin);
    part.noalias() -= directions_.block(begin, 0, end - begin, weights.rows()) * weights;
  });
  return left;
}

FrameError MeshFit::error(std::span<const float> residual, std::span<const Affine> matrices) const {
  std::vector<FrameError> parts(chunk_count(vertex_count(), vertices_at_once));
  parallel_for(vertex_count(), vertices_at_once, [&](std::int64_t i) {
    const auto v = to_size(i);
    const Vec3 r = at(residual, v).cast<double>() / scale_[i];
    const double squared = (matrices[v].linear() * r).squaredNorm();
    FrameError& part = parts[v / vertices_at_once];
    part.largest = std::max(part.largest, squared);
    part.squares += squared;
  });
  FrameError sum;
  for (const FrameError& part : parts) {
    sum.largest = std::max(sum.largest, part.largest);
    sum.squares += part.squares;
  }
  sum.largest = std::sqrt(sum.largest);
  return sum;
}

VecX MeshFit::reach(Index k) const {
  const Eigen::Index n = vertex_count();
  VecX reach = VecX::Zero(k);
  for (Eigen::Index t = 0; t < (n > 0 ? k : 0); ++t) {
    const auto part = [&](Eigen::Index i) { return directions_.col(t).segment(i * n, n).array(); };
    const float squared = ((part(0).square() + part(1).square() + part(2).square()) * growth_.array()).maxCoeff();
    reach[t] = std::sqrt(squared);
  }
  return reach;
}

Eigen::MatrixXf MeshFit::targets(Index k) const {
  return directions_.leftCols(k).array().colwise() / scale_.replicate<3, 1>().array();
}

std::vector<Vec3> MeshFit::bind_displacements(std::span<const float> sample) const {
  std::vector<Vec3> result;
  for (std::size_t v = 0; v < sample.size() / 3; ++v)
    result.push_back(at(sample, v).cast<double>() / scale_[static_cast<Eigen::Index>(v)]);
  return result;
}

}  // namespace supple
