// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/own_order.h"

#include <algorithm>
#include <numeric>

namespace supple {

OrderedSurface in_own_order(const Surface& surface, const Eigen::Quaterniond& axes) {
  // Roots of primes over the whole numbers: no plane of a lattice is level to them.
  const Vec3 up = axes * Vec3(std::sqrt(2.0), std::sqrt(3.0), std::sqrt(5.0));
  std::vector<double> height;
  for (const Vec3& x : surface.vertices) height.push_back(up.dot(x));
  OrderedSurface result;
  result.source.resize(surface.vertices.size());
  std::iota(result.source.begin(), result.source.end(), 0);
  std::stable_sort(result.source.begin(), result.source.end(),
                   [&](Index a, Index b) { return height[to_size(a)] < height[to_size(b)]; });
  std::vector<Index> number(result.source.size());
  for (std::size_t k = 0; k < number.size(); ++k) {
    number[to_size(result.source[k])] = static_cast<Index>(k);
    result.surface.vertices.push_back(surface.vertices[to_size(result.source[k])]);
  }
  for (const Triangle& t : surface.triangles) {
    Triangle& own = result.surface.triangles.emplace_back();
    for (std::size_t c = 0; c < 3; ++c) own[c] = number[to_size(t[c])];
    std::rotate(own.begin(), std::min_element(own.begin(), own.end()), own.end());
  }
  std::sort(result.surface.triangles.begin(), result.surface.triangles.end());
  return result;
}

}  // namespace supple
