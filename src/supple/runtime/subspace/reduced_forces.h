// SPDX-License-Identifier: Apache-2.0
// ReducedForces: force, stiffness and energy of a SubspaceModel at q, exact, in one pass over the coefficients.
//
// One evaluation reads each coefficient once: y1 = linear · q and y2 = quadratic · (q q) give the entries of K1 and K2;
// the force follows from them by Euler's identity (asset/subspace_model.h). For r coordinates there are about r⁴/8
// numbers to read, which is the whole cost.
#pragma once

#include "supple/asset/subspace_model.h"
#include "supple/math/dense/packed_symmetric.h"

#include <span>

namespace supple {

template <class T>
class ReducedForces {
 public:
  ReducedForces() = default;
  explicit ReducedForces(const SubspaceModel& model);

  int size() const { return r_; }
  /// Bytes of coefficients that one evaluation reads.
  std::size_t bytes_read() const;

  /// Evaluates at q (r entries); the results stay valid until the next call. Allocates nothing.
  void evaluate(const T* q);
  std::span<const T> force() const { return {force_.data(), to_size(r_)}; }
  /// Entry (a, b) of K̃ is stiffness()[pair_index(a, b)].
  std::span<const T> stiffness() const { return {stiffness_.data(), to_size(pairs_)}; }
  T energy() const { return energy_; }

 private:
  void multiply_pairs(const T* q);
  void sum_parts(const T* q);

  int r_ = 0;
  int pairs_ = 0;
  int padded_ = 0;  ///< pairs_, rounded up for SIMD
  std::vector<T> constant_;
  std::vector<T> linear_;  ///< columns of padded_ entries
  PackedSymmetric<T> quadratic_;
  std::vector<T> products_;  ///< m q_i q_j
  std::vector<T> first_;     ///< K1
  std::vector<T> second_;    ///< K2
  std::vector<T> stiffness_;
  std::vector<T> mixed_;  ///< K0 + K1/2 + K2/3
  std::vector<T> force_;
  T energy_ = T(0);
};

extern template class ReducedForces<float>;
extern template class ReducedForces<double>;

}  // namespace supple
