// SPDX-License-Identifier: Apache-2.0
// What the door for objects gives, as vectors to compare.
#pragma once

#include "supple/runtime/object.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace supple {

using Floats = std::vector<float>;

inline Floats positions(ObjectState& state) {
  Floats x(3 * to_size(state.object().vertex_count()));
  state.positions(x);
  return x;
}

inline float largest_difference(const Floats& a, const Floats& b) {
  float most = 0;
  for (std::size_t k = 0; k < a.size(); ++k) most = std::max(most, std::abs(a[k] - b[k]));
  return most;
}

}  // namespace supple
