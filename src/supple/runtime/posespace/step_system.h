// SPDX-License-Identifier: Apache-2.0
// StepSystem: the linear equations of an implicit step,
//   (A + K̃_e(q)) δ = b,   A = c_M M̃ + c_Λ Λ̃ + C
// with inertia and damping in A and the rest of the stiffness in K̃_e. They are solved by conjugate
// gradients, which need products with K̃_e only, preconditioned with the same equations at rest,
//   P = c_M M̃ + (c_Λ + 1) Λ̃ = L Lᵀ
// Damping with Λ̃ makes P the larger part of the matrix however the flesh is deformed: one to four iterations suffice.
// P of a pose nearby does as well (as many iterations up to twice that far), so that it is factorised anew only once
// the weights of poses have changed by 0.2 in sum. Flesh that buckles may have directions of negative stiffness;
// iterations end at the first that they meet, with what they have, which points downhill (Steihaug 1983). The caller
// looks whether energy really falls.
#pragma once

#include "supple/runtime/posespace/cubature_forces.h"
#include "supple/runtime/posespace/kept_cholesky.h"

namespace supple {

template <class T>
class StepSystem {
 public:
  StepSystem() = default;
  explicit StepSystem(const PreparedModel<T>& prepared);

  /// Sets A, and factorises P where it has changed enough. Returns false where P can't be factorised: a pose that is no
  /// number. Does nothing where neither the factors nor the pose have changed.
  bool set(const PoseInterpolation<T>& pose, T mass_factor, T linear_factor);
  /// Makes the next set() start anew, because other coordinates count or because what comes must not depend on what
  /// was.
  void forget() { mass_factor_ = T(0); }

  /// `delta`, padded, ← the solution for `b`, up to a part of it in the norm of energy; the path of `forces` leads
  /// along it. Returns the iterations, −1 where numbers overflow.
  int solve(CubatureForces<T>& forces, const T* b, T* delta, T precision);
  /// Gives δᵀ (A − C) δ of the last solution δ.
  T inertia(CubatureForces<T>& forces, const T* delta) const;

  /// What the next set() may keep.
  void exchange(StateBytes& bytes) {
    bytes(mass_factor_);
    bytes(linear_factor_);
    bytes(A_);
    bytes(factored_weights_);
    preconditioner_.exchange(bytes);
  }

 private:
  /// Tells whether P of this pose is close enough to the one that is factorised.
  bool near_factored(const PoseInterpolation<T>& pose) const;

  int size_ = 0, stride_ = 0;
  T mass_factor_ = T(0), linear_factor_ = T(0);  ///< of what is set; zero: nothing
  std::vector<T> A_;                             ///< lower triangle, padded columns
  std::vector<T> residual_, z_, p_, product_, A_p_;
  std::vector<T> A_delta_;  ///< A δ of the last solution
  KeptCholesky<T> preconditioner_;
  std::vector<T> factored_weights_;  ///< of the poses, where that was
};

extern template class StepSystem<float>;
extern template class StepSystem<double>;

}  // namespace supple
