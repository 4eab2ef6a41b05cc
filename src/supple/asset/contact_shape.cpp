// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/contact_shape.h"

#include <algorithm>
#include <cmath>

namespace supple {

bool ContactShape::holds(const Vec3& rest_point) const {
  for (int a = 0; a < 3; ++a) {
    const double at = (rest_point[a] - origin[a]) / cell_size;
    if (!(at >= 0 && at <= nodes[to_size(a)] - 1)) return false;
  }
  return true;
}

ContactShape::Sample ContactShape::sample(const Vec3& rest_point) const {
  std::array<int, 3> low{};
  Vec3 t;
  for (std::size_t a = 0; a < 3; ++a) {
    const double last = nodes[a] - 1;
    const double at =
        std::clamp((rest_point[static_cast<int>(a)] - origin[static_cast<int>(a)]) / cell_size, 0.0, last);
    low[a] = std::min(static_cast<int>(at), nodes[a] - 2);
    t[static_cast<int>(a)] = at - low[a];
  }
  Sample result{0.0, Vec3::Zero()};
  for (int corner = 0; corner < 8; ++corner) {
    const std::array<int, 3> bit = {corner & 1, corner >> 1 & 1, corner >> 2};
    const double value = distances[node(low[0] + bit[0], low[1] + bit[1], low[2] + bit[2])];
    Vec3 weight;
    for (int a = 0; a < 3; ++a) weight[a] = bit[to_size(a)] ? t[a] : 1 - t[a];
    result.distance += value * weight.prod();
    for (int a = 0; a < 3; ++a) {
      const double slope = bit[to_size(a)] ? 1 : -1;
      result.gradient[a] += value * slope * weight[(a + 1) % 3] * weight[(a + 2) % 3] / cell_size;
    }
  }
  return result;
}

Index ContactShape::nearest_vertex(const Vec3& rest_point) const {
  std::array<int, 3> at{};
  for (std::size_t a = 0; a < 3; ++a) {
    const double place = (rest_point[static_cast<int>(a)] - origin[static_cast<int>(a)]) / cell_size;
    at[a] = static_cast<int>(std::lround(std::clamp(place, 0.0, static_cast<double>(nodes[a] - 1))));
  }
  return nearest[node(at[0], at[1], at[2])];
}

}  // namespace supple
