// SPDX-License-Identifier: Apache-2.0
// KeptColumns: the coordinates that a step looks at, in groups of as many as a vector holds, so that loops over columns
// and rows stay whole vectors. Coordinates that are not kept are zero, and stay zero, in all that a step computes.
#pragma once

#include "supple/base/types.h"
#include "supple/runtime/state_bytes.h"

#include <algorithm>
#include <span>
#include <vector>

namespace supple {

/// The columns from `begin` up to, not including, `end`.
struct ColumnRun {
  int begin = 0, end = 0;
};

class KeptColumns {
 public:
  KeptColumns() = default;
  /// Keeps all columns.
  KeptColumns(int size, int width) : size_(size), width_(width) {
    groups_.assign(to_size((size + width - 1) / width), 1);
    runs_.reserve(groups_.size() / 2 + 1);
    find_runs();
  }

  int size() const { return size_; }
  int width() const { return width_; }
  std::span<const char> groups() const { return groups_; }
  bool has(int column) const { return groups_[to_size(column / width_)] != 0; }
  bool all() const { return count_ == size_; }
  /// True where the kept columns are the first ones, without a gap.
  bool leading() const { return runs_.size() == 1 && runs_[0].begin == 0; }
  int count() const { return count_; }
  /// Gives the kept columns as runs of whole vectors; the last run may reach beyond size().
  std::span<const ColumnRun> runs() const { return runs_; }
  /// Gives the end of a run without the columns that pad its last vector.
  int last(const ColumnRun& run) const { return std::min(run.end, size_); }

  /// Says for each group whether it is kept. Allocates nothing.
  void keep(std::span<const char> groups) {
    std::copy(groups.begin(), groups.end(), groups_.begin());
    find_runs();
  }

  void exchange(StateBytes& bytes) {
    bytes(groups_);
    if (bytes.restores()) find_runs();
  }

  /// Copies the kept entries of x next to each other; unpack() copies them back.
  template <class T>
  void pack(const T* x, T* packed) const {
    for (const ColumnRun& run : runs_) packed = std::copy(x + run.begin, x + last(run), packed);
  }
  template <class T>
  void unpack(const T* packed, T* x) const {
    for (const ColumnRun& run : runs_) {
      std::copy(packed, packed + last(run) - run.begin, x + run.begin);
      packed += last(run) - run.begin;
    }
  }
  /// Sets the entries of x that aren't kept to zero.
  template <class T>
  void clear_others(T* x) const {
    if (all()) return;
    for (int c = 0; c < size_; ++c)
      if (!has(c)) x[c] = T(0);
  }

 private:
  void find_runs() {
    runs_.clear();
    count_ = 0;
    for (int g = 0; g < static_cast<int>(groups_.size()); ++g) {
      if (!groups_[to_size(g)]) continue;
      const int begin = g * width_, end = begin + width_;
      count_ += std::min(end, size_) - begin;
      if (!runs_.empty() && runs_.back().end == begin)
        runs_.back().end = end;
      else
        runs_.push_back({begin, end});
    }
  }

  int size_ = 0, width_ = 1, count_ = 0;
  std::vector<char> groups_;
  std::vector<ColumnRun> runs_;
};

/// Finds which columns of a block are kept, as runs of whole groups of `width` columns; `place` tells their
/// coordinates. Allocates nothing once `runs` has held all that it may have to.
inline void find_block_runs(const KeptColumns& kept, std::span<const int> place, int width,
                            std::vector<ColumnRun>& runs) {
  runs.reserve(place.size() / 2 + 1);
  runs.clear();
  const auto count = static_cast<int>(place.size());
  for (int begin = 0; begin < count; begin += width) {
    const auto group = place.subspan(to_size(begin), to_size(std::min(width, count - begin)));
    if (std::none_of(group.begin(), group.end(), [&](int column) { return kept.has(column); })) continue;
    if (!runs.empty() && runs.back().end == begin)
      runs.back().end = begin + width;
    else
      runs.push_back({begin, begin + width});
  }
}

}  // namespace supple
