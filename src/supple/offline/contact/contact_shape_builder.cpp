// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/contact/contact_shape_builder.h"

#include "supple/mesh/bounds.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <limits>

namespace supple {
namespace {

struct Corners {
  Vec3 a, b, c;
};

Corners triangle_corners(const DisplaySurface& surface, std::size_t triangle) {
  const Triangle& t = surface.triangles[triangle];
  const auto at = [&](int k) { return surface.rest_positions[to_size(t[to_size(k)])]; };
  return {at(0), at(1), at(2)};
}

Vec3 nearest_on_segment(const Vec3& p, const Vec3& a, const Vec3& b) {
  const double length2 = (b - a).squaredNorm();
  const double t = length2 > 0 ? std::clamp((p - a).dot(b - a) / length2, 0.0, 1.0) : 0.0;
  return a + t * (b - a);
}

/// Inside the triangle's prism its foot point, else the best of the three edges.
double grid_distance_to(const Vec3& p, const Corners& t) {
  const Vec3 normal = (t.b - t.a).cross(t.c - t.a);
  const double area2 = normal.squaredNorm();
  if (area2 > 0) {
    const double u = (t.b - p).cross(t.c - p).dot(normal), v = (t.c - p).cross(t.a - p).dot(normal),
                 w = (t.a - p).cross(t.b - p).dot(normal);
    if (u >= 0 && v >= 0 && w >= 0) return std::abs((p - t.a).dot(normal)) / std::sqrt(area2);
  }
  const double ab = (p - nearest_on_segment(p, t.a, t.b)).squaredNorm();
  const double bc = (p - nearest_on_segment(p, t.b, t.c)).squaredNorm();
  const double ca = (p - nearest_on_segment(p, t.c, t.a)).squaredNorm();
  return std::sqrt(std::min({ab, bc, ca}));
}

class ShapeBuilder {
 public:
  ShapeBuilder(const DisplaySurface& surface, const ContactShapeOptions& options)
      : surface_(surface), options_(options) {}

  ContactShape build() {
    lay_out_grid();
    splat_triangles();
    hand_on_triangles();
    apply_signs();
    find_nearest_vertices();
    choose_points();
    choose_neighbours();
    return std::move(shape_);
  }

 private:
  void lay_out_grid() {
    const Bounds bounds = bounds_of(surface_.rest_positions);
    const Vec3 size = bounds.size();
    shape_.cell_size = size.maxCoeff() / options_.resolution;
    shape_.origin = bounds.min - 2.5 * Vec3::Constant(shape_.cell_size);
    for (std::size_t a = 0; a < 3; ++a)
      shape_.nodes[a] = 6 + static_cast<int>(std::ceil(size[static_cast<int>(a)] / shape_.cell_size));
    const std::size_t count = shape_.node(0, 0, shape_.nodes[2]);
    distance_.assign(count, std::numeric_limits<double>::max());
    triangle_.assign(count, -1);
    shape_.center = bounds.center();
    for (const Vec3& x : surface_.rest_positions) shape_.radius = std::max(shape_.radius, (x - shape_.center).norm());
  }
  Vec3 place(int i, int j, int k) const { return shape_.origin + shape_.cell_size * Vec3(i, j, k); }

  void offer(int i, int j, int k, Index triangle) {
    const std::size_t n = shape_.node(i, j, k);
    if (triangle < 0 || triangle == triangle_[n]) return;
    const double d = grid_distance_to(place(i, j, k), triangle_corners(surface_, to_size(triangle)));
    if (d < distance_[n]) distance_[n] = d, triangle_[n] = triangle, changed_ = true;
  }

  template <class Visit>
  void visit_box(const Vec3& low, const Vec3& high, const Visit& visit) const {
    std::array<int, 3> first{}, last{};
    for (std::size_t a = 0; a < 3; ++a) {
      const auto axis = static_cast<int>(a);
      first[a] = std::max(0, static_cast<int>(std::floor((low[axis] - shape_.origin[axis]) / shape_.cell_size)));
      last[a] = std::min(shape_.nodes[a] - 1,
                         static_cast<int>(std::ceil((high[axis] - shape_.origin[axis]) / shape_.cell_size)));
    }
    for (int k = first[2]; k <= last[2]; ++k)
      for (int j = first[1]; j <= last[1]; ++j)
        for (int i = first[0]; i <= last[0]; ++i) visit(i, j, k);
  }

  void splat_triangles() {
    for (std::size_t t = 0; t < surface_.triangles.size(); ++t) {
      const Corners c = triangle_corners(surface_, t);
      visit_box(c.a.cwiseMin(c.b).cwiseMin(c.c), c.a.cwiseMax(c.b).cwiseMax(c.c),
                [&](int i, int j, int k) { offer(i, j, k, static_cast<Index>(t)); });
    }
  }

  void hand_on_triangles() {
    const auto take_from_neighbours = [&](int i, int j, int k) {
      for (int dk = -1; dk <= 1; ++dk) {
        for (int dj = -1; dj <= 1; ++dj) {
          for (int di = -1; di <= 1; ++di) {
            const int x = i + di, y = j + dj, z = k + dk;
            if (x < 0 || y < 0 || z < 0 || x >= shape_.nodes[0] || y >= shape_.nodes[1] || z >= shape_.nodes[2])
              continue;
            offer(i, j, k, triangle_[shape_.node(x, y, z)]);
          }
        }
      }
    };
    for (int sweep = 0; sweep < 8; ++sweep) {
      changed_ = false;
      for (int n = 0; n < shape_.nodes[0] * shape_.nodes[1] * shape_.nodes[2]; ++n) {
        const int m = sweep % 2 == 0 ? n : shape_.nodes[0] * shape_.nodes[1] * shape_.nodes[2] - 1 - n;
        take_from_neighbours(m % shape_.nodes[0], m / shape_.nodes[0] % shape_.nodes[1],
                             m / (shape_.nodes[0] * shape_.nodes[1]));
      }
      if (!changed_) break;
    }
  }

  /// Adds one vote to each node with an odd number of triangles ahead of it along an axis.
  void vote_along(int axis, std::vector<int>& votes) const {
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    const auto count = [&](int a) { return shape_.nodes[to_size(a)]; };
    std::vector<std::vector<double>> crossings(to_size(count(u) * count(v)));
    // Rays a little beside the nodes' lines never meet an edge of a regular mesh.
    const double beside_u = 1.234e-6 * shape_.cell_size, beside_v = 2.718e-6 * shape_.cell_size;
    for (std::size_t t = 0; t < surface_.triangles.size(); ++t) {
      const Corners c = triangle_corners(surface_, t);
      const Vec3 n = (c.b - c.a).cross(c.c - c.a);
      if (n[axis] == 0) continue;
      Vec3 low = c.a.cwiseMin(c.b).cwiseMin(c.c), high = c.a.cwiseMax(c.b).cwiseMax(c.c);
      low[axis] = high[axis] = shape_.origin[axis];
      visit_box(low, high, [&](int i, int j, int k) {
        const std::array<int, 3> at = {i, j, k};
        if (at[to_size(axis)] != 0) return;
        Vec3 p = place(i, j, k);
        p[u] += beside_u, p[v] += beside_v;
        const auto side = [&](const Vec3& a, const Vec3& b) {
          return (b[u] - a[u]) * (p[v] - a[v]) - (b[v] - a[v]) * (p[u] - a[u]) > 0;
        };
        const bool s = side(c.a, c.b);
        if (side(c.b, c.c) != s || side(c.c, c.a) != s) return;
        const double height = c.a[axis] - (n[u] * (p[u] - c.a[u]) + n[v] * (p[v] - c.a[v])) / n[axis];
        crossings[to_size(at[to_size(u)] + count(u) * at[to_size(v)])].push_back(height);
      });
    }
    for_each_node([&](int i, int j, int k) {
      const std::array<int, 3> at = {i, j, k};
      const auto& line = crossings[to_size(at[to_size(u)] + count(u) * at[to_size(v)])];
      const double here = place(i, j, k)[axis];
      const auto ahead = std::count_if(line.begin(), line.end(), [&](double height) { return height > here; });
      votes[shape_.node(i, j, k)] += static_cast<int>(ahead % 2);
    });
  }

  template <class Visit>
  void for_each_node(const Visit& visit) const {
    for (int k = 0; k < shape_.nodes[2]; ++k)
      for (int j = 0; j < shape_.nodes[1]; ++j)
        for (int i = 0; i < shape_.nodes[0]; ++i) visit(i, j, k);
  }

  void apply_signs() {
    std::vector<int> votes(distance_.size(), 0);
    for (int axis = 0; axis < 3; ++axis) vote_along(axis, votes);
    shape_.distances.resize(distance_.size());
    for (std::size_t n = 0; n < votes.size(); ++n)
      shape_.distances[n] = static_cast<float>(votes[n] >= 2 ? -distance_[n] : distance_[n]);
  }

  void find_nearest_vertices() {
    shape_.nearest.resize(triangle_.size());
    for_each_node([&](int i, int j, int k) {
      const std::size_t n = shape_.node(i, j, k);
      const Triangle& t = surface_.triangles[to_size(triangle_[n])];
      shape_.nearest[n] = *std::min_element(t.begin(), t.end(), [&](Index a, Index b) {
        return squared_distance(place(i, j, k), a) < squared_distance(place(i, j, k), b);
      });
    });
  }
  double squared_distance(const Vec3& p, Index vertex) const {
    return (p - surface_.rest_positions[to_size(vertex)]).squaredNorm();
  }

  /// Farthest first, from the vertex farthest from the centre: extremities feel.
  void choose_points() {
    const std::size_t count = surface_.rest_positions.size();
    std::vector<bool> used(count, false);
    for (const Triangle& t : surface_.triangles)
      for (const Index v : t) used[to_size(v)] = true;
    std::vector<double> gap(count);
    Index next = -1;
    for (std::size_t v = 0; v < count; ++v) {
      gap[v] = used[v] ? squared_distance(shape_.center, static_cast<Index>(v)) : -1;
      if (next < 0 || gap[v] > gap[to_size(next)]) next = static_cast<Index>(v);
    }
    for (double& g : gap) g = g < 0 ? -1 : std::numeric_limits<double>::max();
    while (static_cast<int>(shape_.points.size()) < options_.max_points && gap[to_size(next)] > 0) {
      shape_.points.push_back(next);
      const Vec3 taken = surface_.rest_positions[to_size(next)];
      for (std::size_t v = 0; v < count; ++v) gap[v] = std::min(gap[v], squared_distance(taken, static_cast<Index>(v)));
      next = static_cast<Index>(std::max_element(gap.begin(), gap.end()) - gap.begin());
    }
  }

  /// Of the triangles around a vertex the largest.
  void choose_neighbours() {
    shape_.neighbours.assign(surface_.rest_positions.size(), {0, 0});
    std::vector<double> largest(surface_.rest_positions.size(), -1.0);
    for (std::size_t t = 0; t < surface_.triangles.size(); ++t) {
      const Corners c = triangle_corners(surface_, t);
      const double area = (c.b - c.a).cross(c.c - c.a).norm();
      const Triangle& corners = surface_.triangles[t];
      for (std::size_t k = 0; k < 3; ++k) {
        const auto v = to_size(corners[k]);
        if (area > largest[v]) largest[v] = area, shape_.neighbours[v] = {corners[(k + 1) % 3], corners[(k + 2) % 3]};
      }
    }
  }

  const DisplaySurface& surface_;
  ContactShapeOptions options_;
  ContactShape shape_;
  std::vector<double> distance_;
  std::vector<Index> triangle_;
  bool changed_ = false;
};

}  // namespace

Result<ContactShape> build_contact_shape(const DisplaySurface& surface, const ContactShapeOptions& options) {
  if (surface.rest_positions.empty() || surface.triangles.empty())
    return input_error("the surface has no triangles that could be touched");
  if (options.resolution < 4 || options.resolution > 256 || options.max_points < 1)
    return input_error("a contact shape needs a resolution from 4 to 256 and at least one point");
  return ShapeBuilder(surface, options).build();
}

}  // namespace supple
