// SPDX-License-Identifier: Apache-2.0
#include "supple/math/sparse/supernodal_cholesky.h"

#include "supple/base/assert.h"
#include "supple/base/parallel.h"
#include "supple/math/sparse/front_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace supple {
namespace {

using std::int64_t;

/// A pivot that has lost all but this part of its diagonal entry is made of rounding errors.
constexpr double pivot_tolerance = 32 * std::numeric_limits<double>::epsilon();

/// Rows that lie side by side both in the update matrix of a child and where they are added.
struct Segment {
  int64_t source = 0;
  int64_t length = 0;
  int64_t target = 0;
};

void add_to(double* target, const double* source, int64_t length) {
  using Packet = Eigen::internal::packet_traits<double>::type;
  using namespace Eigen::internal;
  int64_t i = 0;
  for (; i + stripe_lanes <= length; i += stripe_lanes)
    pstoreu(target + i, padd(ploadu<Packet>(target + i), ploadu<Packet>(source + i)));
  for (; i < length; ++i) target[i] += source[i];
}

/// Adds rows `from` … of one column.
void add_column(const std::vector<Segment>& segments, std::size_t first, int64_t from, const double* source,
                double* target) {
  const Segment& head = segments[first];
  const int64_t skipped = from - head.source;
  add_to(target + head.target + skipped, source + from, head.length - skipped);
  for (std::size_t i = first + 1; i < segments.size(); ++i)
    add_to(target + segments[i].target, source + segments[i].source, segments[i].length);
}

void append_row(std::vector<Segment>& segments, int64_t source, int64_t length, int64_t target) {
  if (!segments.empty()) {
    Segment& last = segments.back();
    if (last.source + last.length == source && last.target + last.length == target) {
      last.length += length;
      return;
    }
  }
  segments.push_back({source, length, target});
}

template <class Body>
void for_columns(bool parallel, int64_t begin, int64_t end, const Body& body) {
  if (parallel) {
    parallel_ranges(end - begin, 16, [&](int64_t a, int64_t b) { body(begin + a, begin + b); });
  } else if (begin < end) {
    body(begin, end);
  }
}

}  // namespace

struct SupernodalCholesky::Scratch {
  std::vector<Segment> segments;
  std::vector<double> smallest_pivots;
};

double* SupernodalCholesky::panel_of(Index s) const { return factor_.data() + panel_offsets_[to_size(s)]; }
double* SupernodalCholesky::update_of(Index s) const { return updates_.data() + update_offsets_[to_size(s)]; }
int64_t SupernodalCholesky::first_row(Index s) const {
  return int64_t{block_size_} * supernodes_.first_column[to_size(s)];
}

void SupernodalCholesky::gather_panel(Index s, const double* values, bool parallel, Scratch& scratch) const {
  const PanelShape shape = shape_of(s);
  double* panel = panel_of(s);
  std::fill(panel, panel + shape.size(), 0.0);
  for (int64_t e = entry_offsets_[to_size(s)]; e < entry_offsets_[to_size(s) + 1]; ++e)
    panel[entry_targets_[to_size(e)]] = values[entry_sources_[to_size(e)]];
  const int64_t b = block_size_;
  for (Index c = supernodes_.child_offsets[to_size(s)]; c < supernodes_.child_offsets[to_size(s) + 1]; ++c) {
    const Index child = supernodes_.children[to_size(c)];
    const Index* relative = supernodes_.relative_rows.data() + supernodes_.row_offsets[to_size(child)];
    const int64_t count = supernodes_.row_count(child);
    scratch.segments.clear();
    for (int64_t v = 0; v < count; ++v) append_row(scratch.segments, v * b, b, shape.row(relative[v] * b));
    const UpdateShape source_shape{count * b};
    const double* source = update_of(child);
    const int64_t in_panel = std::lower_bound(relative, relative + count, supernodes_.columns(s)) - relative;
    for_columns(parallel, 0, in_panel, [&](int64_t begin, int64_t end) {
      std::size_t first = 0;
      for (int64_t v = begin; v < end; ++v) {
        while (scratch.segments[first].source + scratch.segments[first].length <= v * b) ++first;
        for (int64_t i = 0; i < b; ++i)
          add_column(scratch.segments, first, v * b, source + source_shape.column(v * b + i),
                     panel + (relative[v] * b + i) * stripe);
      }
    });
  }
}

void SupernodalCholesky::gather_update(Index s, bool parallel, Scratch& scratch) const {
  const int64_t b = block_size_, columns = supernodes_.columns(s);
  const UpdateShape target_shape{shape_of(s).u};
  double* target = update_of(s);
  for (Index c = supernodes_.child_offsets[to_size(s)]; c < supernodes_.child_offsets[to_size(s) + 1]; ++c) {
    const Index child = supernodes_.children[to_size(c)];
    const Index* relative = supernodes_.relative_rows.data() + supernodes_.row_offsets[to_size(child)];
    const int64_t count = supernodes_.row_count(child);
    const int64_t in_panel = std::lower_bound(relative, relative + count, columns) - relative;
    scratch.segments.clear();
    for (int64_t v = in_panel; v < count; ++v) append_row(scratch.segments, v * b, b, (relative[v] - columns) * b);
    const UpdateShape source_shape{count * b};
    const double* source = update_of(child);
    for_columns(parallel, in_panel, count, [&](int64_t begin, int64_t end) {
      std::size_t first = 0;
      for (int64_t v = begin; v < end; ++v) {
        while (scratch.segments[first].source + scratch.segments[first].length <= v * b) ++first;
        for (int64_t i = 0; i < b; ++i)
          add_column(scratch.segments, first, v * b, source + source_shape.column(v * b + i),
                     target + target_shape.column((relative[v] - columns) * b + i));
      }
    });
  }
}

int64_t SupernodalCholesky::factor_front(Index s, const double* values, bool parallel, Scratch& scratch) const {
  const PanelShape shape = shape_of(s);
  scratch.smallest_pivots.resize(to_size(shape.k));
  for (int64_t c = 0; c < shape.k; ++c) {
    const Index source = diagonal_sources_[to_size(first_row(s) + c)];
    scratch.smallest_pivots[to_size(c)] = source < 0 ? 0.0 : pivot_tolerance * std::abs(values[source]);
  }
  gather_panel(s, values, parallel, scratch);
  const int64_t failed = factor_panel(panel_of(s), shape, scratch.smallest_pivots.data(), parallel);
  if (failed >= 0) return first_row(s) + failed;
  if (shape.u > 0) {
    form_update(panel_of(s), shape, update_of(s), parallel);
    gather_update(s, parallel, scratch);
  }
  return -1;
}

bool SupernodalCholesky::factorize(const Eigen::SparseMatrix<double>& lower) {
  SUPPLE_ASSERT(lower.rows() == rows_ && lower.cols() == rows_ && lower.nonZeros() == nonzeros_);
  SUPPLE_ASSERT(lower.isCompressed());
  const double* values = lower.valuePtr();
  std::vector<int64_t> failed(tasks_.size(), -1);
  parallel_for(static_cast<int64_t>(tasks_.size()), 1, [&](int64_t t) {
    Scratch scratch;
    for (Index s = tasks_[to_size(t)].begin; s < tasks_[to_size(t)].end && failed[to_size(t)] < 0; ++s)
      failed[to_size(t)] = factor_front(s, values, false, scratch);
  });
  // Tasks are in elimination order: the first that failed is what a single thread would have met first.
  int64_t first_failed = -1;
  for (const int64_t column : failed) first_failed = first_failed < 0 ? column : first_failed;
  Scratch scratch;
  for (std::size_t i = 0; i < top_.size() && first_failed < 0; ++i)
    first_failed = factor_front(top_[i], values, true, scratch);
  failed_column_ = first_failed < 0 ? -1 : order_[to_size(first_failed)];
  return first_failed < 0;
}

// ---- solves --------------------------------------------------------------------------------------------------------

void SupernodalCholesky::forward(double* y) const {
  double* below = y + rows_ + stripe;
  const int64_t b = block_size_;
  for (Index s = 0; s < supernodes_.size(); ++s) {
    const PanelShape shape = shape_of(s);
    std::fill(below, below + shape.below_stripes() * stripe, 0.0);
    forward_one(panel_of(s), shape, y + first_row(s), below);
    const Index* rows = supernodes_.rows.data() + supernodes_.row_offsets[to_size(s)];
    for (int64_t v = 0; v < supernodes_.row_count(s); ++v)
      for (int64_t i = 0; i < b; ++i) y[rows[v] * b + i] += below[v * b + i];
  }
}

void SupernodalCholesky::backward(double* y) const {
  double* below = y + rows_ + stripe;
  double* sums = below + most_rows_ + stripe;
  const int64_t b = block_size_;
  for (Index s = supernodes_.size() - 1; s >= 0; --s) {
    const PanelShape shape = shape_of(s);
    const Index* rows = supernodes_.rows.data() + supernodes_.row_offsets[to_size(s)];
    for (int64_t v = 0; v < supernodes_.row_count(s); ++v)
      for (int64_t i = 0; i < b; ++i) below[v * b + i] = y[rows[v] * b + i];
    std::fill(below + shape.u, below + shape.below_stripes() * stripe, 0.0);
    backward_one(panel_of(s), shape, y + first_row(s), below, sums);
  }
}

void SupernodalCholesky::solve(Eigen::Ref<const Eigen::VectorXd> b, Eigen::Ref<Eigen::VectorXd> x) const {
  SUPPLE_ASSERT(b.size() == rows_ && x.size() == rows_);
  solve_scratch_.resize(to_size(rows_ + most_rows_ + 2 * stripe + most_columns_ * stripe_lanes));
  double* y = solve_scratch_.data();
  for (int64_t i = 0; i < rows_; ++i) y[i] = b[order_[to_size(i)]];
  forward(y);
  backward(y);
  for (int64_t i = 0; i < rows_; ++i) x[order_[to_size(i)]] = y[i];
}

void SupernodalCholesky::forward_chunk(double* y, double* below) const {
  const int64_t length = int64_t{block_size_} * stripe;
  for (Index s = 0; s < supernodes_.size(); ++s) {
    const PanelShape shape = shape_of(s);
    std::fill(below, below + shape.below_stripes() * stripe * stripe, 0.0);
    forward_many(panel_of(s), shape, y + first_row(s) * stripe, below);
    const Index* rows = supernodes_.rows.data() + supernodes_.row_offsets[to_size(s)];
    for (int64_t v = 0; v < supernodes_.row_count(s); ++v) add_to(y + rows[v] * length, below + v * length, length);
  }
}

void SupernodalCholesky::backward_chunk(double* y, double* below) const {
  const int64_t length = int64_t{block_size_} * stripe;
  for (Index s = supernodes_.size() - 1; s >= 0; --s) {
    const PanelShape shape = shape_of(s);
    const Index* rows = supernodes_.rows.data() + supernodes_.row_offsets[to_size(s)];
    for (int64_t v = 0; v < supernodes_.row_count(s); ++v)
      std::copy_n(y + rows[v] * length, length, below + v * length);
    std::fill(below + shape.u * stripe, below + shape.below_stripes() * stripe * stripe, 0.0);
    backward_many(panel_of(s), shape, y + first_row(s) * stripe, below);
  }
}

Eigen::MatrixXd SupernodalCholesky::solve(const Eigen::MatrixXd& b) const {
  SUPPLE_ASSERT(b.rows() == rows_);
  Eigen::MatrixXd x(b.rows(), b.cols());
  parallel_ranges(b.cols(), stripe, [&](int64_t begin, int64_t end) {
    std::vector<double> scratch(to_size((rows_ + most_rows_ + stripe) * stripe), 0.0);
    double* y = scratch.data();
    for (int64_t c = begin; c < end; ++c)
      for (int64_t i = 0; i < rows_; ++i) y[i * stripe + c - begin] = b(order_[to_size(i)], c);
    forward_chunk(y, y + rows_ * stripe);
    backward_chunk(y, y + rows_ * stripe);
    for (int64_t c = begin; c < end; ++c)
      for (int64_t i = 0; i < rows_; ++i) x(order_[to_size(i)], c) = y[i * stripe + c - begin];
  });
  return x;
}

// ---- figures -------------------------------------------------------------------------------------------------------

int64_t SupernodalCholesky::factor_nonzeros() const {
  int64_t count = 0;
  for (Index s = 0; s < supernodes_.size(); ++s) {
    const PanelShape shape = shape_of(s);
    count += shape.k * (shape.k + 1) / 2 + shape.k * shape.u;
  }
  return count;
}

double SupernodalCholesky::factor_flops() const {
  double flops = 0;
  for (Index s = 0; s < supernodes_.size(); ++s) {
    const PanelShape shape = shape_of(s);
    for (int64_t c = 0; c < shape.k; ++c) {
      const double length = static_cast<double>(shape.k - c + shape.u);
      flops += length * length;
    }
  }
  return flops;
}

double SupernodalCholesky::log_determinant() const {
  double sum = 0;
  for (Index s = 0; s < supernodes_.size(); ++s) {
    const PanelShape shape = shape_of(s);
    const double* panel = panel_of(s);
    for (int64_t c = 0; c < shape.k; ++c) sum += std::log(panel[shape.row(c) + c * stripe]);
  }
  return 2 * sum;
}

}  // namespace supple
