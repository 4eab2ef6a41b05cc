// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/surface_fit.h"

#include "supple/mesh/topology.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace supple {
namespace {

class Fitter {
 public:
  Fitter(StuffedMesh& stuffed, const TriangleTree& surface)
      : stuffed_(stuffed), mesh_(stuffed.mesh), surface_(surface), home_(stuffed.mesh.vertices) {
    const std::size_t count = mesh_.vertices.size();
    first_.assign(count + 1, 0);
    for (const auto& tet : mesh_.elements) {
      for (const Index v : tet) ++first_[to_size(v) + 1];
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    tets_.resize(to_size(first_.back()));
    std::vector<Index> next(first_.begin(), first_.end() - 1);
    for (std::size_t e = 0; e < mesh_.elements.size(); ++e) {
      for (const Index v : mesh_.elements[e]) tets_[to_size(next[to_size(v)]++)] = static_cast<Index>(e);
    }
    find_movable();
  }

  void sweep(double limit_degrees) {
    limit_ = std::cos(limit_degrees * std::numbers::pi / 180);
    for (const Index v : movable_) {
      const auto k = to_size(v);
      switch (stuffed_.kind[k]) {
        case VertexKind::real:
          if (stuffed_.wish[k] != home_[k]) move(v, stuffed_.wish[k], false);
          move(v, middle_of_neighbors(v, false), true);
          break;
        case VertexKind::cut:
          if (!move(v, skin_point(v, mesh_.vertices[k]), false)) slide(v);
          break;
        case VertexKind::thin_cut:
          move(v, (1 - evenness) * stuffed_.wish[k] + evenness * middle_of_neighbors(v, true), false);
          break;
        default:
          move(v, stuffed_.wish[k], false);
      }
    }
  }

 private:
  /// How far the skin of thin flesh heeds its neighbours: some of its vertices reach the surface and others nearby
  /// can't, which would make pits.
  static constexpr double evenness = 0.8;

  /// Everything but the real nodes that no cut vertex touches.
  void find_movable() {
    std::vector<char> near(mesh_.vertices.size(), 0);
    for (const auto& tet : mesh_.elements) {
      const bool cut =
          std::any_of(tet.begin(), tet.end(), [&](Index v) { return stuffed_.kind[to_size(v)] != VertexKind::real; });
      if (!cut) continue;
      for (const Index v : tet) near[to_size(v)] = 1;
    }
    for (std::size_t v = 0; v < near.size(); ++v) {
      if (near[v]) movable_.push_back(static_cast<Index>(v));
    }
  }

  /// Worst cosine around a vertex if it were at x; gives up once it exceeds `bound`.
  double worst(Index v, const Vec3& x, double bound) const {
    double cosine = -1;
    for (Index k = first_[to_size(v)]; k < first_[to_size(v) + 1]; ++k) {
      const auto& tet = mesh_.elements[to_size(tets_[to_size(k)])];
      std::array<Vec3, 4> corners;
      for (std::size_t c = 0; c < 4; ++c) corners[c] = tet[c] == v ? x : mesh_.vertices[to_size(tet[c])];
      cosine = std::max(cosine, largest_dihedral_cosine(corners));
      if (cosine > bound) break;
    }
    return cosine;
  }

  /// Where a cut vertex at x should go.
  Vec3 skin_point(Index v, const Vec3& x) const {
    const auto k = to_size(v);
    if (stuffed_.normal[k].isZero()) return stuffed_.wish[k];
    const TriangleTree::Nearest near = surface_.nearest(x, 0.4 * stuffed_.cube);
    if (near.triangle < 0) return stuffed_.wish[k];
    const Vec3 facing = surface_.area_vector(to_size(near.place));
    return facing.dot(stuffed_.normal[k]) > 0.3 * facing.norm() ? near.point : stuffed_.wish[k];
  }

  /// Makes room sideways for a cut vertex that can't go where it should.
  void slide(Index v) {
    const auto k = to_size(v);
    const Vec3& n = stuffed_.normal[k];
    const Vec3 way = middle_of_neighbors(v, true) - mesh_.vertices[k];
    move(v, mesh_.vertices[k] + way - n * n.dot(way), true);
  }

  /// True if it went all the way. With `improve` only if the smallest angle grows.
  bool move(Index v, const Vec3& wish, bool improve) {
    Vec3& x = mesh_.vertices[to_size(v)];
    const Vec3 way = wish - x;
    if (!(way.squaredNorm() > 1e-16 * stuffed_.cube * stuffed_.cube)) return true;
    const double now = worst(v, x, 2);
    const double bound = improve ? now : std::max(limit_, now);
    for (double step = 1; step > 0.1; step /= 2) {
      const Vec3 there = x + step * way;
      const double then = worst(v, there, bound);
      if (then > bound || (improve && !(then < now))) continue;
      x = there;
      return step == 1;
    }
    return false;
  }

  /// Each neighbour counts as often as tetrahedra hold it; those on the skin alone, if asked.
  Vec3 middle_of_neighbors(Index v, bool skin_only) const {
    Vec3 middle = Vec3::Zero();
    double weight = 0;
    for (Index k = first_[to_size(v)]; k < first_[to_size(v) + 1]; ++k) {
      for (const Index u : mesh_.elements[to_size(tets_[to_size(k)])]) {
        if (u == v || (skin_only && stuffed_.kind[to_size(u)] < VertexKind::cut)) continue;
        middle += mesh_.vertices[to_size(u)];
        weight += 1;
      }
    }
    return weight > 0 ? Vec3(middle / weight) : mesh_.vertices[to_size(v)];
  }

  StuffedMesh& stuffed_;
  TetMesh& mesh_;
  const TriangleTree& surface_;
  double limit_ = 1;
  std::vector<Vec3> home_;
  std::vector<Index> first_, tets_, movable_;
};

/// Real nodes that have come to lie on the skin, where tetrahedra were dropped, go to the surface like cuts.
void send_bared_nodes(const TriangleTree& surface, StuffedMesh& stuffed) {
  for (const Index v : boundary_surface(stuffed.mesh).volume_vertex) {
    const auto k = to_size(v);
    if (stuffed.kind[k] != VertexKind::real) continue;
    const TriangleTree::Nearest near = surface.nearest(stuffed.mesh.vertices[k]);
    stuffed.kind[k] = VertexKind::cut;
    stuffed.wish[k] = near.point;
    stuffed.normal[k] = surface.area_vector(to_size(near.place)).normalized();
  }
}

}  // namespace

double largest_dihedral_cosine(const std::array<Vec3, 4>& x) {
  // Inward area vectors of the faces opposite to the corners; two faces enclose the angle with cosine -n·m / |n||m|.
  const Vec3 a = x[1] - x[0], b = x[2] - x[0], c = x[3] - x[0];
  std::array<Vec3, 4> n;
  n[1] = b.cross(c);
  n[2] = c.cross(a);
  n[3] = a.cross(b);
  n[0] = -(n[1] + n[2] + n[3]);
  if (!(a.dot(n[1]) > 0)) return 1;
  for (Vec3& face : n) face.normalize();
  double cosine = -1;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = i + 1; j < 4; ++j) cosine = std::max(cosine, -n[i].dot(n[j]));
  }
  return cosine;
}

void fit_to_surface(StuffedMesh& stuffed, const TriangleTree& surface, const FitOptions& options) {
  send_bared_nodes(surface, stuffed);
  Fitter fitter(stuffed, surface);
  for (int k = 0; k < options.sweeps; ++k) {
    const double share = std::min(1.0, 1.5 * k / std::max(1, options.sweeps - 1));
    fitter.sweep(options.first_dihedral + share * (options.min_dihedral - options.first_dihedral));
  }
}

}  // namespace supple
