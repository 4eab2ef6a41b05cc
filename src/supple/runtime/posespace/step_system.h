// SPDX-License-Identifier: Apache-2.0
// StepSystem: the linear equations of an implicit step,
//   (A + K̃_e(q)) δ = b,   A = c_M M̃ + c_Λ Λ̃ + C
// with inertia and damping in A and the rest of the stiffness in K̃_e. They are solved by conjugate
// gradients, which need products with K̃_e only, preconditioned with the same equations at rest,
//   P = c_M M̃ + (c_Λ + 1) Λ̃ = L Lᵀ
// Damping with Λ̃ makes P the larger part of the matrix however the flesh is deformed: one to four iterations suffice.
// Flesh that buckles may have directions of negative stiffness; iterations end at the first that they meet, with
// what they have, which points downhill (Steihaug 1983). The caller looks whether energy really falls.
#pragma once

#include "supple/runtime/posespace/cubature_forces.h"
#include "supple/runtime/posespace/kept_cholesky.h"

namespace supple {

template <class T>
class StepSystem {
 public:
  StepSystem() = default;
  explicit StepSystem(const PreparedModel<T>& prepared);

  /// False where the equations at rest can't be solved: a pose that is no number. Does nothing as long as neither
  /// factors nor a changing pose ask for it.
  bool set(const PoseInterpolation<T>& pose, T mass_factor, T linear_factor);
  /// Other coordinates count: the next set() starts anew.
  void forget() { mass_factor_ = T(0); }

  /// `delta`, padded, ← the solution for `b`, up to a part of it in the norm of energy; the path of `forces` leads
  /// along it. Returns the iterations, −1 where numbers overflow.
  int solve(CubatureForces<T>& forces, const T* b, T* delta, T precision);
  /// xᵀ (A − C) x
  T inertia(const PoseInterpolation<T>& pose, const T* x);

 private:
  int size_ = 0, stride_ = 0;
  T mass_factor_ = T(0), linear_factor_ = T(0);  ///< of what is set; zero: nothing
  std::vector<T> A_;                             ///< lower triangle, padded columns
  std::vector<T> residual_, z_, p_, product_;
  KeptCholesky<T> preconditioner_;
};

extern template class StepSystem<float>;
extern template class StepSystem<double>;

}  // namespace supple
