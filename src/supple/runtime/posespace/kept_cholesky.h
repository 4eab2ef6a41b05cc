// SPDX-License-Identifier: Apache-2.0
// KeptCholesky: L Lᵀ of the rows and columns of a matrix that are kept, moved together so that the factor is as small
// as they are few.
#pragma once

#include "supple/math/dense/dense_cholesky.h"
#include "supple/runtime/posespace/kept_columns.h"
#include "supple/runtime/state_bytes.h"

namespace supple {

template <class T>
class KeptCholesky {
 public:
  KeptCholesky() = default;
  explicit KeptCholesky(int size) : packed_(to_size(size), T(0)) { factor_.resize(size); }

  /// Gives the matrix to fill before factorize(): all padded columns of its lower triangle, of which only kept ones are
  /// read.
  T* matrix() { return factor_.column(0); }

  bool factorize(const KeptColumns& kept) {
    factor_.lead(kept.count());
    if (!kept.leading()) move_together(kept);
    return factor_.factorize();
  }

  /// Solves A y = x for the kept entries and writes y over x. The other entries of x are left alone.
  void solve(const KeptColumns& kept, T* x) {
    if (kept.leading()) return factor_.solve(x);
    kept.pack(x, packed_.data());
    factor_.solve(packed_.data());
    kept.unpack(packed_.data(), x);
  }

  void exchange(StateBytes& bytes) { factor_.exchange(bytes); }

 private:
  /// Moves kept rows and columns to the upper left. None moves down or to the right, so that going in ascending order
  /// overwrites nothing that is still needed.
  void move_together(const KeptColumns& kept) {
    int target = 0;
    for (const ColumnRun& run : kept.runs())
      for (int c = run.begin; c < kept.last(run); ++c) kept.pack(factor_.column(c), factor_.column(target++));
  }

  DenseCholesky<T> factor_;
  std::vector<T> packed_;
};

}  // namespace supple
