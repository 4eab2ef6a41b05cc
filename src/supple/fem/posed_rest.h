// SPDX-License-Identifier: Apache-2.0
// An element whose rest shape is not the one it was meshed in, but what a rig made of it: F_Φ = ∂Φ/∂X.
//
// Strain is measured from there: gradients of shape functions turn into F_Φ⁻ᵀ ∂N/∂X, volumes grow by det F_Φ. Rigs
// flatten and invert elements where they bend sharply; an element without volume has no strain. So the stretches of F_Φ
// are kept within limits, its rotation as it is:  F_Φ = W Σ Vᵀ,  Σ → clamp(Σ).
#pragma once

#include "supple/math/dense/svd3.h"

#include <limits>

namespace supple {

template <class T>
struct PosedRest {
  Eigen::Matrix<T, 3, 3> rotation;           ///< W Vᵀ
  Eigen::Matrix<T, 3, 3> inverse_transpose;  ///< F_Φ⁻ᵀ with limited stretches
  T volume_ratio;                            ///< det F_Φ with limited stretches
};

namespace detail {

/// Does this for any F, by its singular values.
template <class T>
PosedRest<T> limited_rest(const Eigen::Matrix<T, 3, 3>& F) {
  const T least(1.0 / 3.0);
  const T most(3.0);
  const Svd3<T> svd = svd3(F);
  PosedRest<T> result;
  result.rotation = svd.U * svd.V.transpose();
  Eigen::Matrix<T, 3, 3> scaled = svd.U;
  result.volume_ratio = T(1);
  for (int k = 0; k < 3; ++k) {
    T sigma = svd.sigma[k];
    sigma = select(sigma < least, least, sigma);
    sigma = select(most < sigma, most, sigma);
    result.volume_ratio *= sigma;
    scaled.col(k) *= T(1) / sigma;
  }
  result.inverse_transpose = scaled * svd.V.transpose();
  return result;
}

/// The columns of F⁻ᵀ times det F, and det F.
template <class T>
T cofactors(const Eigen::Matrix<T, 3, 3>& F, Eigen::Matrix<T, 3, 3>& cofactor) {
  for (int j = 0; j < 3; ++j) cofactor.col(j) = F.col((j + 1) % 3).cross(F.col((j + 2) % 3));
  return F.col(0).dot(cofactor.col(0));
}

template <class T>
T squared_length(const Eigen::Matrix<T, 3, 3>& A) {
  T sum = A.data()[0] * A.data()[0];
  for (int k = 1; k < 9; ++k) sum += A.data()[k] * A.data()[k];
  return sum;
}

}  // namespace detail

/// Where no stretch is anywhere near its limits, which |F| ≤ 3 and |F⁻¹| ≤ 3 tell, the rotation comes from Newton's
/// iteration R ← (R + R⁻ᵀ)/2 (Higham 1986), at a fifth of the price of singular values.
template <class T>
PosedRest<T> posed_rest(const Eigen::Matrix<T, 3, 3>& F) {
  PosedRest<T> result;
  Eigen::Matrix<T, 3, 3> cofactor;
  result.volume_ratio = detail::cofactors(F, cofactor);
  result.inverse_transpose = cofactor * (T(1) / result.volume_ratio);
  const T longest = detail::squared_length(F), shortest = detail::squared_length(result.inverse_transpose);
  const T none(0), most(9);
  if (!all_lanes(none < result.volume_ratio, longest) || !all_lanes(longest < most, longest) ||
      !all_lanes(shortest < most, shortest))
    return detail::limited_rest(F);
  result.rotation = (F + result.inverse_transpose) * T(0.5);
  for (int iteration = 0; iteration < 8; ++iteration) {
    const Eigen::Matrix<T, 3, 3> before = result.rotation;
    const T volume = detail::cofactors(before, cofactor);
    result.rotation = (before + cofactor * (T(1) / volume)) * T(0.5);
    const T change = detail::squared_length(Eigen::Matrix<T, 3, 3>(result.rotation - before));
    // Errors square: half of this is left.
    if (all_lanes(change < T(std::numeric_limits<typename Eigen::NumTraits<T>::Literal>::epsilon()), change)) break;
  }
  return result;
}

}  // namespace supple
