// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/surface_samples.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <utility>

namespace supple {
namespace {

class Sampler {
 public:
  Sampler(const Surface& surface, double spacing) : surface_(surface), spacing_(spacing) {
    samples_.points = surface.vertices;
    for (const Triangle& triangle : surface.triangles) add(triangle);
  }
  SurfaceSamples take() { return std::move(samples_); }

 private:
  /// Samples strictly between the ends, equally spaced from the vertex with the lower number to the other.
  struct Edge {
    Index first = 0;
    int parts = 1;
  };

  void link(Index a, Index b) { samples_.links.push_back({a, b}); }

  const Edge& edge(Index a, Index b) {
    const auto [low, high] = std::minmax(a, b);
    const std::uint64_t key = (static_cast<std::uint64_t>(low) << 32) | static_cast<std::uint32_t>(high);
    const auto [found, fresh] = edges_.try_emplace(key);
    if (!fresh) return found->second;
    const Vec3 p = surface_.vertices[to_size(low)];
    const Vec3 q = surface_.vertices[to_size(high)];
    Edge& made = found->second;
    made.parts = std::max(1, static_cast<int>(std::ceil((q - p).norm() / spacing_)));
    made.first = static_cast<Index>(samples_.points.size());
    Index last = low;
    for (int k = 1; k < made.parts; ++k) {
      const auto next = static_cast<Index>(samples_.points.size());
      samples_.points.push_back(p + (q - p) * k / made.parts);
      link(last, next);
      last = next;
    }
    link(last, high);
    return made;
  }

  /// The sample of edge ab nearest to a + u (b - a).
  Index on_edge(Index a, Index b, double u) {
    const Edge& e = edge(a, b);
    const int k = static_cast<int>(std::lround((a < b ? u : 1 - u) * e.parts));
    if (k <= 0) return std::min(a, b);
    if (k >= e.parts) return std::max(a, b);
    return e.first + k - 1;
  }

  void add(const Triangle& t) {
    double longest = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const Index a = t[k], b = t[(k + 1) % 3];
      edge(a, b);
      longest = std::max(longest, (at(a) - at(b)).norm());
    }
    if (longest <= spacing_) return;
    link_across(t);
    add_interior(t, static_cast<int>(std::ceil(longest / spacing_)));
  }

  /// Long edges that run close together hold hands, or a narrow triangle would fall apart into its edges.
  void link_across(const Triangle& t) {
    for (std::size_t k = 0; k < 3; ++k) {
      const Index apex = t[k], b = t[(k + 1) % 3], c = t[(k + 2) % 3];
      const int parts = std::max(edge(apex, b).parts, edge(apex, c).parts);
      for (int i = 1; i < parts; ++i) {
        const double u = static_cast<double>(i) / parts;
        if (u * (at(b) - at(c)).norm() > 1.5 * spacing_) break;
        const Index p = on_edge(apex, b, u), q = on_edge(apex, c, u);
        if (p != q) link(p, q);
      }
    }
  }

  /// Points with barycentric coordinates (i, j, k) / n, all at least 1, linked to each other and to the edges.
  void add_interior(const Triangle& t, int n) {
    const double twice_area = (at(t[1]) - at(t[0])).cross(at(t[2]) - at(t[0])).norm();
    if (n < 3 || twice_area < n * spacing_ * spacing_) return;  // lower than the spacing: its edges say it all
    const auto first = static_cast<Index>(samples_.points.size());
    const auto number = [&](int i, int j) {  // rows of i: row i has n - 1 - i points, j from 1 on
      return first + (i - 1) * (n - 1) - i * (i - 1) / 2 + (j - 1);
    };
    for (int i = 1; i <= n - 2; ++i) {
      for (int j = 1; i + j <= n - 1; ++j)
        samples_.points.push_back((at(t[0]) * i + at(t[1]) * j + at(t[2]) * (n - i - j)) / n);
    }
    for (int i = 1; i <= n - 2; ++i) {
      for (int j = 1; i + j <= n - 1; ++j) {
        const int k = n - i - j;
        const Index me = number(i, j);
        if (k > 1) link(me, number(i, j + 1));
        if (k > 1) link(me, number(i + 1, j));
        if (j > 1) link(me, number(i + 1, j - 1));
        if (i == 1) link(me, on_edge(t[1], t[2], static_cast<double>(k) / (j + k)));
        if (j == 1) link(me, on_edge(t[0], t[2], static_cast<double>(k) / (i + k)));
        if (k == 1) link(me, on_edge(t[0], t[1], static_cast<double>(j) / (i + j)));
      }
    }
  }

  const Vec3& at(Index v) const { return surface_.vertices[to_size(v)]; }

  const Surface& surface_;
  double spacing_;
  SurfaceSamples samples_;
  std::unordered_map<std::uint64_t, Edge> edges_;
};

}  // namespace

SurfaceSamples sample_surface(const Surface& surface, double spacing) { return Sampler(surface, spacing).take(); }

}  // namespace supple
