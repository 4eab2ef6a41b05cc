// SPDX-License-Identifier: Apache-2.0
// KeptCholesky: L Lᵀ of the rows and columns of a matrix that are kept, moved together so that the factor is as small
// as they are few.
#pragma once

#include "supple/math/dense/dense_cholesky.h"
#include "supple/runtime/posespace/kept_columns.h"

namespace supple {

template <class T>
class KeptCholesky {
 public:
  KeptCholesky() = default;
  explicit KeptCholesky(int size) : packed_(to_size(size), T(0)) { factor_.resize(size); }

  /// Lower triangle in padded columns, all of them; fill what is kept before factorize().
  T* matrix() { return factor_.column(0); }

  bool factorize(const KeptColumns& kept) {
    factor_.lead(kept.count());
    if (!kept.leading()) move_together(kept);
    return factor_.factorize();
  }

  /// x ← A⁻¹ x of what is kept; the rest of x is left alone.
  void solve(const KeptColumns& kept, T* x) {
    if (kept.leading()) return factor_.solve(x);
    kept.pack(x, packed_.data());
    factor_.solve(packed_.data());
    kept.unpack(packed_.data(), x);
  }

 private:
  /// Nothing moves down or to the right, so ascending order overwrites nothing that is still needed.
  void move_together(const KeptColumns& kept) {
    int target = 0;
    for (const ColumnRun& run : kept.runs())
      for (int c = run.begin; c < kept.last(run); ++c) kept.pack(factor_.column(c), factor_.column(target++));
  }

  DenseCholesky<T> factor_;
  std::vector<T> packed_;
};

}  // namespace supple
