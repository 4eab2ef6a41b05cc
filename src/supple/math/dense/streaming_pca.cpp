// SPDX-License-Identifier: Apache-2.0
#include "supple/math/dense/streaming_pca.h"

#include "supple/base/assert.h"
#include "supple/base/parallel.h"
#include "supple/math/dense/decompositions.h"

namespace supple {
namespace {

constexpr Index rows_at_once = 1024;  // of all columns: what is turned into doubles and multiplied in one go
constexpr Index partial_sums = 8;

}  // namespace

StreamingPca::StreamingPca(Index dimension, Index most, Index block, double cutoff)
    : most_(std::max<Index>(most, 1)), block_(std::max<Index>(block, 1)), cutoff_(cutoff) {
  columns_.resize(dimension, most_ + block_);
}

void StreamingPca::add(std::span<const float> vector) {
  SUPPLE_ASSERT(static_cast<Eigen::Index>(vector.size()) == columns_.rows());
  std::copy(vector.begin(), vector.end(), columns_.col(used_).data());
  if (++used_ == columns_.cols()) join_block();
}

MatX StreamingPca::gram(Index count) const {
  const auto rows = static_cast<std::int64_t>(columns_.rows());
  const std::int64_t share = (rows + partial_sums - 1) / partial_sums;
  std::vector<MatX> partial(partial_sums, MatX::Zero(count, count));
  parallel_ranges(rows, std::max<std::int64_t>(share, 1), [&](std::int64_t begin, std::int64_t end) {
    MatX& sum = partial[to_size(begin / share)];
    for (std::int64_t r = begin; r < end; r += rows_at_once) {
      const std::int64_t size = std::min<std::int64_t>(rows_at_once, end - r);
      const MatX part = columns_.block(r, 0, size, count).cast<double>();
      sum.selfadjointView<Eigen::Lower>().rankUpdate(part.transpose());
    }
  });
  for (Index k = 1; k < partial_sums; ++k) partial[0] += partial[to_size(k)];
  return partial[0];
}

void StreamingPca::combine(const MatX& mix) {
  parallel_ranges(static_cast<std::int64_t>(columns_.rows()), rows_at_once, [&](std::int64_t begin, std::int64_t end) {
    const MatX part = columns_.block(begin, 0, end - begin, mix.rows()).cast<double>() * mix;
    columns_.block(begin, 0, end - begin, mix.cols()) = part.cast<float>();
  });
}

void StreamingPca::join_block() {
  const SymmetricEigen gram_eigen = symmetric_eigen(gram(used_));  // reads the lower triangle
  singular_values_.clear();
  for (Index k = 0; k < std::min(used_, most_); ++k) {
    const double value = std::sqrt(std::max(0.0, gram_eigen.values[used_ - 1 - k]));
    if (!(value > cutoff_)) break;
    singular_values_.push_back(value);
  }
  kept_ = static_cast<Index>(singular_values_.size());
  if (kept_ > 0) combine(gram_eigen.vectors.rightCols(kept_).rowwise().reverse());
  used_ = kept_;
}

void StreamingPca::finish() {
  if (used_ > 0) join_block();
  columns_.conservativeResize(Eigen::NoChange, kept_);
  for (Index k = 0; k < kept_; ++k) columns_.col(k) /= static_cast<float>(singular_values_[to_size(k)]);
}

}  // namespace supple
