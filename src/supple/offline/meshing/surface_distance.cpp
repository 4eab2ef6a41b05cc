// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/surface_distance.h"

#include "supple/base/parallel.h"
#include "supple/mesh/normals.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

/// Sums of areas up to and including each triangle.
std::vector<double> area_sums(const Surface& surface) {
  std::vector<double> sums(surface.triangles.size());
  double sum = 0;
  for (std::size_t t = 0; t < sums.size(); ++t) {
    sum += area_vector(surface.triangles[t], surface.vertices).norm();
    sums[t] = sum;
  }
  return sums;
}

/// Point k of `count`: equal steps in area choose the triangle, a Weyl sequence of golden ratios the place in it.
Vec3 area_point(const Surface& surface, const std::vector<double>& sums, std::int64_t k, std::int64_t count) {
  const double at = sums.back() * (static_cast<double>(k) + 0.5) / static_cast<double>(count);
  const auto t = to_size(std::min(std::upper_bound(sums.begin(), sums.end(), at) - sums.begin(),
                                  static_cast<std::ptrdiff_t>(sums.size()) - 1));
  double u = std::fmod(0.7548776662466927 * static_cast<double>(k + 1), 1.0);
  double v = std::fmod(0.5698402909980532 * static_cast<double>(k + 1), 1.0);
  if (u + v > 1) u = 1 - u, v = 1 - v;
  const Triangle& tri = surface.triangles[t];
  const Vec3& a = surface.vertices[to_size(tri[0])];
  return a + u * (surface.vertices[to_size(tri[1])] - a) + v * (surface.vertices[to_size(tri[2])] - a);
}

}  // namespace

SampledDistance sampled_distance(const Surface& from, const TriangleTree& to, int samples) {
  SampledDistance result;
  if (from.triangles.empty() || to.empty()) return result;
  const std::vector<double> sums = area_sums(from);
  std::vector<double> distance(to_size(samples));
  parallel_for(samples, 128,
               [&](std::int64_t k) { distance[to_size(k)] = to.nearest(area_point(from, sums, k, samples)).distance; });
  for (const double d : distance) {
    result.mean += d / samples;
    result.max = std::max(result.max, d);
  }
  distance.resize(from.vertices.size());
  parallel_for(static_cast<std::int64_t>(distance.size()), 128,
               [&](std::int64_t k) { distance[to_size(k)] = to.nearest(from.vertices[to_size(k)]).distance; });
  for (const double d : distance) result.max = std::max(result.max, d);
  return result;
}

}  // namespace supple
