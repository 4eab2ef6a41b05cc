// SPDX-License-Identifier: Apache-2.0
#include "samples/shapes.h"

#include "supple/mesh/normals.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

Index add_vertex(Surface& to, const Vec3& p) {
  to.vertices.push_back(p);
  return static_cast<Index>(to.vertices.size() - 1);
}

void add_quad(Surface& to, Index a, Index b, Index c, Index d) {
  to.triangles.push_back({a, b, c});
  to.triangles.push_back({a, c, d});
}

/// Columns: along, across, up; right-handed.
Mat3 frame_along(const Vec3& direction, const Vec3& up) {
  const Vec3 along = direction.normalized();
  Vec3 across = up.cross(along);
  if (across.norm() < 1e-9) across = along.unitOrthogonal();
  across.normalize();
  Mat3 frame;
  frame << along, across, along.cross(across);
  return frame;
}

}  // namespace

void append(Surface& to, const Surface& part) {
  const auto first = static_cast<Index>(to.vertices.size());
  to.vertices.insert(to.vertices.end(), part.vertices.begin(), part.vertices.end());
  for (const auto& [a, b, c] : part.triangles) to.triangles.push_back({a + first, b + first, c + first});
}

void add_box(Surface& to, const Vec3& center, const Mat3& half_axes) {
  std::array<Index, 8> v{};
  for (int c = 0; c < 8; ++c) {
    const Vec3 corner(c & 1 ? 1 : -1, c & 2 ? 1 : -1, c & 4 ? 1 : -1);
    v[to_size(c)] = add_vertex(to, center + half_axes * corner);
  }
  add_quad(to, v[0], v[4], v[6], v[2]);
  add_quad(to, v[1], v[3], v[7], v[5]);
  add_quad(to, v[0], v[1], v[5], v[4]);
  add_quad(to, v[2], v[6], v[7], v[3]);
  add_quad(to, v[0], v[2], v[3], v[1]);
  add_quad(to, v[4], v[5], v[7], v[6]);
}

void add_beam(Surface& to, const Vec3& from, const Vec3& end, double width, double height, const Vec3& up) {
  const Mat3 frame = frame_along(end - from, up);
  add_box(to, 0.5 * (from + end), frame * Vec3((end - from).norm(), width, height).asDiagonal() * 0.5);
}

void add_i_beam(Surface& to, const Vec3& from, const Vec3& end, double width, double height, const Vec3& up) {
  const Vec3 lift = frame_along(end - from, up).col(2) * 0.42 * height;
  add_beam(to, from + lift, end + lift, width, 0.16 * height, up);
  add_beam(to, from - lift, end - lift, width, 0.16 * height, up);
  add_beam(to, from, end, 0.25 * width, 0.68 * height, up);
}

void add_loft(Surface& to, const std::vector<std::vector<Vec3>>& rings, const Vec3& first_pole, const Vec3& last_pole) {
  const auto n = static_cast<Index>(rings[0].size());
  const Index pole = add_vertex(to, first_pole);
  const auto first = static_cast<Index>(to.vertices.size());
  for (const auto& ring : rings) to.vertices.insert(to.vertices.end(), ring.begin(), ring.end());
  const Index end_pole = add_vertex(to, last_pole);
  const auto at = [&](std::size_t ring, Index i) { return first + static_cast<Index>(ring) * n + i % n; };
  for (Index i = 0; i < n; ++i) to.triangles.push_back({pole, at(0, i + 1), at(0, i)});
  for (std::size_t r = 0; r + 1 < rings.size(); ++r) {
    for (Index i = 0; i < n; ++i) add_quad(to, at(r, i), at(r, i + 1), at(r + 1, i + 1), at(r + 1, i));
  }
  for (Index i = 0; i < n; ++i)
    to.triangles.push_back({end_pole, at(rings.size() - 1, i), at(rings.size() - 1, i + 1)});
}

void add_swept_beam(Surface& to, const std::vector<Vec3>& path, double width, double height, const Vec3& up) {
  std::vector<std::vector<Vec3>> rings;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Vec3 tangent = path[std::min(i + 1, path.size() - 1)] - path[i == 0 ? 0 : i - 1];
    const Mat3 frame = frame_along(tangent, up);
    const Vec3 y = 0.5 * width * frame.col(1), z = 0.5 * height * frame.col(2);
    rings.push_back({path[i] + y + z, path[i] - y + z, path[i] - y - z, path[i] + y - z});
  }
  add_loft(to, rings, path.front(), path.back());
}

void add_truss(Surface& to, int columns, int rows, double bar_width, double thickness,
               const std::function<Vec3(double s, double t)>& place) {
  // Each cell is four triangles around its middle; each of them is cut out but for a rim, on both sides of the sheet.
  Surface sheet;
  const auto corner = [&](int i, int j) { return j * (columns + 1) + i; };
  for (int j = 0; j <= rows; ++j) {
    for (int i = 0; i <= columns; ++i)
      sheet.vertices.push_back(place(static_cast<double>(i) / columns, static_cast<double>(j) / rows));
  }
  for (int j = 0; j < rows; ++j) {
    for (int i = 0; i < columns; ++i) {
      const Index m = add_vertex(sheet, place((i + 0.5) / columns, (j + 0.5) / rows));
      const std::array<Index, 4> c = {corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)};
      for (std::size_t k = 0; k < 4; ++k) sheet.triangles.push_back({m, c[k], c[(k + 1) % 4]});
    }
  }
  const std::vector<Vec3> normals = vertex_normals(sheet.triangles, sheet.vertices);
  const auto first = static_cast<Index>(to.vertices.size());
  const auto both_sides = [&](const Vec3& p, const Vec3& n) {
    add_vertex(to, p + 0.5 * thickness * n);
    return add_vertex(to, p - 0.5 * thickness * n) - 1;
  };
  for (std::size_t v = 0; v < sheet.vertices.size(); ++v) both_sides(sheet.vertices[v], normals[v]);
  for (const Triangle& triangle : sheet.triangles) {
    std::array<Vec3, 3> p;
    for (std::size_t c = 0; c < 3; ++c) p[c] = sheet.vertices[to_size(triangle[c])];
    const Vec3 normal = (p[1] - p[0]).cross(p[2] - p[0]);
    const double a = (p[1] - p[2]).norm(), b = (p[2] - p[0]).norm(), c = (p[0] - p[1]).norm();
    const Vec3 center = (a * p[0] + b * p[1] + c * p[2]) / (a + b + c);
    const double inradius = normal.norm() / (a + b + c);
    const double hole = std::clamp(1 - 0.5 * bar_width / inradius, 0.15, 0.95);
    std::array<Index, 3> outer{}, inner{};
    for (std::size_t k = 0; k < 3; ++k) {
      outer[k] = first + 2 * triangle[k];
      inner[k] = both_sides(center + hole * (p[k] - center), normal.normalized());
    }
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t l = (k + 1) % 3;
      add_quad(to, outer[k], outer[l], inner[l], inner[k]);
      add_quad(to, outer[l] + 1, outer[k] + 1, inner[k] + 1, inner[l] + 1);
      add_quad(to, inner[k], inner[l], inner[l] + 1, inner[k] + 1);
    }
  }
}

void drop_unused_vertices(Surface& surface) {
  std::vector<Index> number(surface.vertices.size(), -1);
  std::vector<Vec3> kept;
  for (Triangle& triangle : surface.triangles) {
    for (Index& v : triangle) {
      Index& n = number[to_size(v)];
      if (n < 0) {
        n = static_cast<Index>(kept.size());
        kept.push_back(surface.vertices[to_size(v)]);
      }
      v = n;
    }
  }
  surface.vertices = std::move(kept);
}

}  // namespace supple
