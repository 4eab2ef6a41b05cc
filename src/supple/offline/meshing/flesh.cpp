// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/flesh.h"

#include <Eigen/Geometry>

#include <cmath>
#include <numbers>
#include <vector>

namespace supple {
namespace {
constexpr double end_slack = 1e-5;  // crossings this near to an end, in shares of the segment, belong to the end

/// Calls piece(begin, end) for the pieces of a segment between crossings, as long as it answers true; false if one
/// didn't. Without crossings there is no piece.
template <class Piece>
bool all_pieces(const TriangleTree& tree, const Vec3& p, const Vec3& q, const Piece& piece) {
  thread_local std::vector<double> t;
  tree.crossings(p, q, t);
  std::erase_if(t, [](double x) { return x < end_slack || x > 1 - end_slack; });
  if (t.empty()) return true;
  double begin = 0;
  t.push_back(1);
  for (const double end : t) {
    if (end - begin > end_slack && !piece(begin, end)) return false;
    begin = end;
  }
  return true;
}

constexpr double same_place = 1e-8;  // of the surface's diagonal: what rounding makes of one point

/// Calls visit(corners) for all triangles within a distance of a point.
template <class Visit>
void for_triangles_at(const TriangleTree& tree, const Vec3& p, double distance, const Visit& visit) {
  thread_local std::vector<Index> stack;
  stack.assign(1, 0);
  while (!stack.empty()) {
    const TriangleTree::Node& node = tree.nodes()[to_size(stack.back())];
    stack.pop_back();
    if (((node.bounds.min - p).array() > distance).any() || ((p - node.bounds.max).array() > distance).any()) continue;
    if (!node.leaf()) {
      stack.push_back(node.left + 1);
      stack.push_back(node.left);
      continue;
    }
    for (auto k = to_size(node.first); k < to_size(node.first + node.count); ++k) {
      const std::array<Vec3, 3>& x = tree.corners()[k];
      if ((nearest_point_of_triangle(p, x[0], x[1], x[2]) - p).norm() <= distance) visit(x);
    }
  }
}

/// The angle that a triangle takes around a point of it: all the way inside, half of it on an edge, its own in a
/// corner.
double angle_at(const Vec3& p, const std::array<Vec3, 3>& x, double same) {
  for (std::size_t c = 0; c < 3; ++c) {
    if ((x[c] - p).norm() > same) continue;
    const Vec3 a = x[(c + 1) % 3] - x[c], b = x[(c + 2) % 3] - x[c];
    return std::atan2(a.cross(b).norm(), a.dot(b));
  }
  for (std::size_t c = 0; c < 3; ++c) {
    const Vec3 edge = x[(c + 1) % 3] - x[c];
    if (edge.cross(p - x[c]).norm() <= same * edge.norm()) return std::numbers::pi;
  }
  return 2 * std::numbers::pi;
}

}  // namespace

bool Flesh::joins(const Vec3& p, const Vec3& q, bool trusted) const {
  bool crossed = false;
  const bool all = all_pieces(tree_, p, q, [&](double begin, double end) {
    crossed = true;
    return (trusted && end == 1) || inside(p + 0.5 * (begin + end) * (q - p));
  });
  // On the surface itself the winding number is one half: a way along it isn't one through flesh.
  constexpr double surely_inside = 0.6;
  return all && (crossed || trusted || winding(0.5 * (p + q)) >= surely_inside);
}

bool Flesh::joins_over_dents(const Vec3& p, const Vec3& q) const {
  constexpr double least_cosine = 0.5;
  return all_pieces(tree_, p, q, [&](double begin, double end) {
    if (begin == 0 || end == 1 || inside(p + 0.5 * (begin + end) * (q - p))) return true;
    return facing(p + begin * (q - p), p + end * (q - p), -1) > least_cosine;
  });
}

bool Flesh::joins_along(const Vec3& p, const Vec3& q, double least_cosine) const {
  bool crossed = false;
  const auto joined = [&](double begin, double end) {
    crossed = true;
    return inside(p + 0.5 * (begin + end) * (q - p)) ||
           facing(p + begin * (q - p), p + end * (q - p), -1) > least_cosine;
  };
  return all_pieces(tree_, p, q, joined) && (crossed || joined(0, 1));
}

bool Flesh::parted(const Vec3& p, const Vec3& q) const {
  bool crossed = false;
  // The winding number is asked last, being the dearest.
  const bool all = all_pieces(tree_, p, q, [&](double begin, double end) {
    crossed = true;
    if (begin > 0) return end == 1 || inside(p + 0.5 * (begin + end) * (q - p));
    return end < 1 && facing(p, p + end * (q - p), 1) < -0.2 && !inside(p + 0.5 * end * (q - p));
  });
  return all && crossed;
}

double Flesh::facing(const Vec3& p, const Vec3& q, double none) const {
  const double reach = 1e-3 * (q - p).norm();
  const Vec3 n = normal_near(p, reach), m = normal_near(q, reach);
  return n.isZero() || m.isZero() ? none : n.dot(m);
}

Vec3 Flesh::normal_near(const Vec3& p, double reach) const {
  const TriangleTree::Nearest near = tree_.nearest(p, reach);
  if (near.triangle < 0) return Vec3::Zero();
  const double same = same_place * tree_.nodes().front().bounds.diagonal();
  Vec3 sum = Vec3::Zero();
  for_triangles_at(tree_, near.point, same, [&](const std::array<Vec3, 3>& x) {
    sum += angle_at(near.point, x, same) * (x[1] - x[0]).cross(x[2] - x[0]).normalized();
  });
  constexpr double opposed = 1e-6;  // both sides of a sheet have no normal together
  return sum.norm() > opposed ? Vec3(sum.normalized()) : Vec3::Zero();
}

double Flesh::first_exit(const Vec3& p, const Vec3& q) const {
  thread_local std::vector<double> t;
  tree_.crossings(p, q, t);
  t.push_back(1);
  double begin = 0;
  for (const double end : t) {
    const double middle = 0.5 * (begin + end);
    if (begin > 0 && end - begin > end_slack && !inside(p + middle * (q - p))) return begin;
    begin = end;
  }
  if (inside(q)) return 1;
  // It fades out without crossing anything, through a hole.
  double low = 0, high = 1;
  for (int k = 0; k < 10; ++k) {
    const double middle = 0.5 * (low + high);
    (inside(p + middle * (q - p)) ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace supple
