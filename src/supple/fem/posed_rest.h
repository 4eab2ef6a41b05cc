// SPDX-License-Identifier: Apache-2.0
// An element whose rest shape is not the one it was meshed in, but what a rig made of it: F_Φ = ∂Φ/∂X.
//
// Strain is measured from there: gradients of shape functions turn into F_Φ⁻ᵀ ∂N/∂X, volumes grow by det F_Φ. Rigs
// flatten and invert elements where they bend sharply; an element without volume has no strain. So the stretches of F_Φ
// are kept within limits, its rotation as it is:  F_Φ = W Σ Vᵀ,  Σ → clamp(Σ).
#pragma once

#include "supple/math/svd3.h"

namespace supple {

template <class T>
struct PosedRest {
  Eigen::Matrix<T, 3, 3> rotation;           ///< W Vᵀ
  Eigen::Matrix<T, 3, 3> inverse_transpose;  ///< F_Φ⁻ᵀ with limited stretches
  T volume_ratio;                            ///< det F_Φ with limited stretches
};

template <class T>
PosedRest<T> posed_rest(const Eigen::Matrix<T, 3, 3>& F) {
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

}  // namespace supple
