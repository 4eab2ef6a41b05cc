// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/triangle_tree.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace supple {
namespace {

constexpr Index leaf_size = 4;
constexpr int stack_size = 128;  // two entries per level, and median splits make at most 31 levels

double squared_distance(const Vec3& p, const Bounds& box) {
  return (box.min - p).cwiseMax(p - box.max).cwiseMax(0.0).squaredNorm();
}

/// Slabs: does the segment touch the box? Directions along an axis give infinities, which compare as they should.
bool touches(const Bounds& box, const Vec3& p, const Vec3& inverse_direction) {
  double enter = 0, leave = 1;
  for (int a = 0; a < 3; ++a) {
    double near = (box.min[a] - p[a]) * inverse_direction[a], far = (box.max[a] - p[a]) * inverse_direction[a];
    if (near > far) std::swap(near, far);
    // NaN (a flat box that the segment lies in) must not exclude anything.
    if (near > enter) enter = near;
    if (far < leave) leave = far;
  }
  return enter <= leave * (1 + 1e-12);
}

/// Möller and Trumbore: barycentric coordinates by Cramer's rule, with a slack so that no segment slips through the
/// seam between two triangles.
bool crosses(const Vec3& p, const Vec3& direction, const std::array<Vec3, 3>& x, double& t) {
  constexpr double slack = 1e-9;
  const Vec3 e1 = x[1] - x[0], e2 = x[2] - x[0];
  const Vec3 h = direction.cross(e2);
  const double det = e1.dot(h);
  if (!(std::abs(det) > 1e-14 * e1.norm() * h.norm())) return false;
  const Vec3 s = p - x[0];
  const double u = s.dot(h) / det;
  if (u < -slack || u > 1 + slack) return false;
  const Vec3 r = s.cross(e1);
  const double v = direction.dot(r) / det;
  if (v < -slack || u + v > 1 + slack) return false;
  t = e2.dot(r) / det;
  return t > 0 && t < 1;
}

}  // namespace

Vec3 nearest_point_of_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 ab = b - a, ac = c - a, ap = p - a;
  const double d1 = ab.dot(ap), d2 = ac.dot(ap);
  if (d1 <= 0 && d2 <= 0) return a;
  const Vec3 bp = p - b;
  const double d3 = ab.dot(bp), d4 = ac.dot(bp);
  if (d3 >= 0 && d4 <= d3) return b;
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0 && d1 > d3) return a + d1 / (d1 - d3) * ab;
  const Vec3 cp = p - c;
  const double d5 = ab.dot(cp), d6 = ac.dot(cp);
  if (d6 >= 0 && d5 <= d6) return c;
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0 && d2 > d6) return a + d2 / (d2 - d6) * ac;
  const double va = d3 * d6 - d5 * d4;
  const double along = d4 - d3, back = d5 - d6;
  if (va <= 0 && along >= 0 && back >= 0 && along + back > 0) return b + along / (along + back) * (c - b);
  const double sum = va + vb + vc;
  if (!(sum > 0)) return a;
  return a + vb / sum * ab + vc / sum * ac;
}

TriangleTree::TriangleTree(const Surface& surface) {
  const std::size_t count = surface.triangles.size();
  order_.resize(count);
  std::iota(order_.begin(), order_.end(), Index{0});
  if (count == 0) return;
  std::vector<Vec3> centers(count);
  for (std::size_t t = 0; t < count; ++t) {
    centers[t].setZero();
    for (const Index v : surface.triangles[t]) centers[t] += surface.vertices[to_size(v)] / 3;
  }
  nodes_.reserve(count);
  Node& root = nodes_.emplace_back();
  root.count = static_cast<Index>(count);
  split(0, centers, surface);
  corners_.resize(count);
  for (std::size_t k = 0; k < count; ++k) {
    const Triangle& triangle = surface.triangles[to_size(order_[k])];
    for (std::size_t c = 0; c < 3; ++c) corners_[k][c] = surface.vertices[to_size(triangle[c])];
  }
}

void TriangleTree::split(Index number, const std::vector<Vec3>& centers, const Surface& surface) {
  const Index first = nodes_[to_size(number)].first;
  const Index count = nodes_[to_size(number)].count;
  Bounds bounds, middle;
  for (Index k = first; k < first + count; ++k) {
    const auto t = to_size(order_[to_size(k)]);
    for (const Index v : surface.triangles[t]) bounds.add(surface.vertices[to_size(v)]);
    middle.add(centers[t]);
  }
  nodes_[to_size(number)].bounds = bounds;
  if (count <= leaf_size) return;
  int axis = 0;
  middle.size().maxCoeff(&axis);
  const auto begin = order_.begin() + first;
  std::nth_element(begin, begin + count / 2, begin + count, [&](Index a, Index b) {
    const double x = centers[to_size(a)][axis], y = centers[to_size(b)][axis];
    return x != y ? x < y : a < b;
  });
  const auto left = static_cast<Index>(nodes_.size());
  nodes_[to_size(number)].left = left;
  nodes_.push_back({.bounds = {}, .left = -1, .first = first, .count = count / 2});
  nodes_.push_back({.bounds = {}, .left = -1, .first = first + count / 2, .count = count - count / 2});
  split(left, centers, surface);
  split(left + 1, centers, surface);
}

Vec3 TriangleTree::area_vector(std::size_t place) const {
  const auto& x = corners_[place];
  return (x[1] - x[0]).cross(x[2] - x[0]);
}

template <typename Visit>
void TriangleTree::visit_near(const Vec3& point, const double& within, const Visit& visit) const {
  if (nodes_.empty()) return;
  struct Entry {
    Index node;
    double distance;
  };
  std::array<Entry, stack_size> stack;
  int top = 0;
  stack[to_size(top++)] = {0, squared_distance(point, nodes_[0].bounds)};
  while (top > 0) {
    const Entry entry = stack[to_size(--top)];
    if (entry.distance > within) continue;
    const Node& node = nodes_[to_size(entry.node)];
    if (!node.leaf()) {
      const auto left = to_size(node.left);
      Entry a = {node.left, squared_distance(point, nodes_[left].bounds)};
      Entry b = {node.left + 1, squared_distance(point, nodes_[left + 1].bounds)};
      if (a.distance < b.distance) std::swap(a, b);  // the nearer one on top
      stack[to_size(top++)] = a;
      stack[to_size(top++)] = b;
      continue;
    }
    for (auto k = to_size(node.first); k < to_size(node.first + node.count); ++k) {
      const Vec3 x = nearest_point_of_triangle(point, corners_[k][0], corners_[k][1], corners_[k][2]);
      visit(k, x, (x - point).squaredNorm());
    }
  }
}

TriangleTree::Nearest TriangleTree::nearest(const Vec3& point, double reach) const {
  Nearest found;
  double best = reach * reach;
  visit_near(point, best, [&](std::size_t k, const Vec3& x, double distance) {
    if (distance > best || (distance == best && found.triangle >= 0)) return;
    best = distance;
    found = {order_[k], static_cast<Index>(k), std::sqrt(distance), x};
  });
  return found;
}

TriangleTree::Nearest TriangleTree::first_nearest(const Vec3& point) const {
  Nearest found = nearest(point);
  if (found.triangle < 0) return found;
  constexpr double rounding = 1e-9;
  const double least = found.distance + rounding * nodes_[0].bounds.diagonal(), within = least * least;
  visit_near(point, within, [&](std::size_t k, const Vec3& x, double distance) {
    if (distance > within || order_[k] >= found.triangle) return;
    found = {order_[k], static_cast<Index>(k), std::sqrt(distance), x};
  });
  return found;
}

void TriangleTree::crossings(const Vec3& p, const Vec3& q, std::vector<double>& out) const {
  out.clear();
  if (nodes_.empty()) return;
  const Vec3 direction = q - p, inverse = direction.cwiseInverse();
  std::array<Index, stack_size> stack;
  int top = 0;
  stack[to_size(top++)] = 0;
  while (top > 0) {
    const Node& node = nodes_[to_size(stack[to_size(--top)])];
    if (!touches(node.bounds, p, inverse)) continue;
    if (!node.leaf()) {
      stack[to_size(top++)] = node.left;
      stack[to_size(top++)] = node.left + 1;
      continue;
    }
    for (auto k = to_size(node.first); k < to_size(node.first + node.count); ++k) {
      double t = 0;
      if (crosses(p, direction, corners_[k], t)) out.push_back(t);
    }
  }
  std::sort(out.begin(), out.end());
}

}  // namespace supple
