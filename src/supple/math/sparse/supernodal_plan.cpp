// SPDX-License-Identifier: Apache-2.0
// The part of SupernodalCholesky that runs once per pattern: where everything lies, and what runs beside what.
#include "supple/base/assert.h"
#include "supple/math/sparse/elimination_tree.h"
#include "supple/math/sparse/supernodal_cholesky.h"

#include <algorithm>
#include <limits>
#include <map>
#include <new>

namespace supple {
namespace {

using std::int64_t;

/// A subtree with less than this part of the whole arithmetic is not split further: enough tasks for many threads,
/// few enough for their separate memory not to add up.
constexpr double task_share = 1.0 / 32;

/// Plans the life of blocks in one piece of memory: each goes into the first gap that holds it.
class GapPlanner {
 public:
  int64_t place(int64_t size) {
    if (size == 0) return 0;
    for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
      if (gap->second < size) continue;
      const auto [offset, length] = *gap;
      gaps_.erase(gap);
      if (length > size) gaps_.emplace(offset + size, length - size);
      return offset;
    }
    // Nothing holds it: grow, using the gap at the very end if there is one.
    int64_t offset = end_;
    if (!gaps_.empty() && std::prev(gaps_.end())->first + std::prev(gaps_.end())->second == end_) {
      offset = std::prev(gaps_.end())->first;
      gaps_.erase(std::prev(gaps_.end()));
    }
    end_ = offset + size;
    return offset;
  }

  void release(int64_t offset, int64_t size) {
    if (size == 0) return;
    auto gap = gaps_.emplace(offset, size).first;
    const auto next = std::next(gap);
    if (next != gaps_.end() && gap->first + gap->second == next->first) {
      gap->second += next->second;
      gaps_.erase(next);
    }
    if (gap == gaps_.begin()) return;
    const auto previous = std::prev(gap);
    if (previous->first + previous->second == gap->first) {
      previous->second += gap->second;
      gaps_.erase(gap);
    }
  }

  int64_t size() const { return end_; }

 private:
  std::map<int64_t, int64_t> gaps_;  // offset → length
  int64_t end_ = 0;
};

}  // namespace

void FrontBuffer::resize(int64_t size) {
  if (size == size_) return;
  data_.reset();
  constexpr std::size_t line = 64;
  const std::size_t bytes = (to_size(size) * sizeof(double) + line - 1) / line * line;
  data_.reset(static_cast<double*>(std::aligned_alloc(line, std::max(bytes, line))));
  size_ = size;
  if (!data_) throw std::bad_alloc();
}

void SupernodalCholesky::plan_panels() {
  panel_offsets_.assign(1, 0);
  most_columns_ = most_rows_ = 0;
  for (Index s = 0; s < supernodes_.size(); ++s) {
    const PanelShape shape = shape_of(s);
    SUPPLE_ASSERT(shape.size() <= std::numeric_limits<std::uint32_t>::max());  // entry_targets_ count inside a panel
    panel_offsets_.push_back(panel_offsets_.back() + shape.size());
    most_columns_ = std::max(most_columns_, shape.k);
    most_rows_ = std::max(most_rows_, shape.u);
  }
  factor_.resize(panel_offsets_.back());
}

void SupernodalCholesky::plan_tasks() {
  std::vector<double> work(to_size(supernodes_.size()), 0);
  double total = 0;
  for (Index s = 0; s < supernodes_.size(); ++s) {
    const PanelShape shape = shape_of(s);
    const double k = static_cast<double>(shape.k), u = static_cast<double>(shape.u);
    const double own = k * (k * k / 3 + k * u + u * u) + 8 * u * u + 10'000;
    total += own;
    work[to_size(s)] += own;
    if (supernodes_.parent[to_size(s)] >= 0) work[to_size(supernodes_.parent[to_size(s)])] += work[to_size(s)];
  }
  const double limit = total * task_share;
  tasks_.clear();
  top_.clear();
  double open_work = 0;
  bool open = false;
  for (Index s = 0; s < supernodes_.size(); ++s) {
    if (work[to_size(s)] > limit) {
      top_.push_back(s);
      open = false;
      continue;
    }
    if (!open) tasks_.push_back({s, s});
    if (!open) open_work = 0;
    open = true;
    tasks_.back().end = s + 1;
    const Index parent = supernodes_.parent[to_size(s)];
    const bool is_root_of_subtree = parent < 0 || work[to_size(parent)] > limit;
    if (is_root_of_subtree) open_work += work[to_size(s)];
    if (is_root_of_subtree && open_work > limit / 2) open = false;
  }
}

/// Each task, and the top, has a piece of memory of its own. A task leaves the updates of its roots where they are
/// until the next factorisation.
void SupernodalCholesky::plan_updates() {
  update_offsets_.assign(to_size(supernodes_.size()), 0);
  std::vector<Index> task_of(to_size(supernodes_.size()), -1);
  int64_t base = 0;
  const auto plan = [&](GapPlanner& gaps, Index s) {
    update_offsets_[to_size(s)] = base + gaps.place(UpdateShape{shape_of(s).u}.size());
    for (Index c = supernodes_.child_offsets[to_size(s)]; c < supernodes_.child_offsets[to_size(s) + 1]; ++c) {
      const Index child = supernodes_.children[to_size(c)];
      if (task_of[to_size(child)] == task_of[to_size(s)])
        gaps.release(update_offsets_[to_size(child)] - base, UpdateShape{shape_of(child).u}.size());
    }
  };
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    GapPlanner gaps;
    for (Index s = tasks_[t].begin; s < tasks_[t].end; ++s) {
      task_of[to_size(s)] = static_cast<Index>(t);
      plan(gaps, s);
    }
    base += gaps.size();
  }
  GapPlanner gaps;
  for (const Index s : top_) plan(gaps, s);
  updates_.resize(base + gaps.size());
}

void SupernodalCholesky::plan_entries(const Eigen::SparseMatrix<double>& lower) {
  const std::vector<Index> position = inverse_order(order_);
  std::vector<Index> supernode_of(to_size(rows_));
  for (Index s = 0; s < supernodes_.size(); ++s) std::fill_n(supernode_of.begin() + first_row(s), columns_of(s), s);
  const auto for_each = [&](const auto& visit) {
    for (Index j = 0; j < rows_; ++j) {
      for (Index e = lower.outerIndexPtr()[j]; e < lower.outerIndexPtr()[j + 1]; ++e) {
        const Index i = lower.innerIndexPtr()[e];
        if (i < j) continue;
        const auto [column, row] = std::minmax(position[to_size(i)], position[to_size(j)]);
        visit(e, row, column, supernode_of[to_size(column)]);
      }
    }
  };
  entry_offsets_.assign(to_size(supernodes_.size()) + 1, 0);
  for_each([&](Index, Index, Index, Index s) { ++entry_offsets_[to_size(s) + 1]; });
  for (std::size_t s = 1; s < entry_offsets_.size(); ++s) entry_offsets_[s] += entry_offsets_[s - 1];
  entry_sources_.resize(to_size(entry_offsets_.back()));
  entry_targets_.resize(to_size(entry_offsets_.back()));
  diagonal_sources_.assign(to_size(rows_), -1);
  std::vector<int64_t> next(entry_offsets_.begin(), entry_offsets_.end() - 1);
  for_each([&](Index e, Index row, Index column, Index s) {
    const int64_t first = first_row(s), k = columns_of(s);
    int64_t local = row - first;
    if (local >= k) {
      const Index* rows = supernodes_.rows.data() + supernodes_.row_offsets[to_size(s)];
      const Index vertex = row / block_size_;
      const int64_t place = std::lower_bound(rows, rows + supernodes_.row_count(s), vertex) - rows;
      local = k + place * block_size_ + row % block_size_;
    }
    const int64_t slot = next[to_size(s)]++;
    entry_sources_[to_size(slot)] = e;
    entry_targets_[to_size(slot)] = static_cast<std::uint32_t>(shape_of(s).row(local) + (column - first) * stripe);
    if (row == column) diagonal_sources_[to_size(row)] = e;
  });
}

void SupernodalCholesky::analyze(const Eigen::SparseMatrix<double>& lower, int block_size) {
  SUPPLE_ASSERT(lower.rows() == lower.cols() && lower.isCompressed());
  // Vertices must not straddle two stripes; other block sizes still work, entry by entry.
  const bool fits = block_size > 0 && stripe % block_size == 0 && lower.cols() % block_size == 0;
  block_size_ = fits ? block_size : 1;
  rows_ = lower.cols();
  nonzeros_ = lower.nonZeros();
  failed_column_ = -1;
  const VertexGraph graph = block_graph(lower, block_size_);
  supernodes_ = find_supernodes(graph, nested_dissection(graph), block_size_);
  order_.resize(to_size(rows_));
  for (int64_t i = 0; i < rows_; ++i)
    order_[to_size(i)] =
        supernodes_.order[to_size(i / block_size_)] * block_size_ + static_cast<Index>(i % block_size_);
  plan_panels();
  plan_tasks();
  plan_updates();
  plan_entries(lower);
}

}  // namespace supple
