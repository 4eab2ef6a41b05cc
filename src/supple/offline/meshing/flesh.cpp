// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/flesh.h"

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
  const TriangleTree::Nearest from = tree_.nearest(p, reach), to = tree_.nearest(q, reach);
  if (from.triangle < 0 || to.triangle < 0) return none;
  const Vec3 n = tree_.area_vector(to_size(from.place));
  const Vec3 m = tree_.area_vector(to_size(to.place));
  return n.dot(m) / (n.norm() * m.norm());
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
