// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "supple/runtime/posespace/cubature_forces.h"

#include <vector>

namespace supple {

/// Coordinates as kernels take them: in their precision, with zeros up to the stride.
template <class T>
std::vector<T> padded(const CubatureForces<T>& forces, const VecX& x) {
  std::vector<T> result(to_size(forces.stride()), T(0));
  for (Eigen::Index k = 0; k < x.size(); ++k) result[to_size(k)] = static_cast<T>(x[k]);
  return result;
}

}  // namespace supple
