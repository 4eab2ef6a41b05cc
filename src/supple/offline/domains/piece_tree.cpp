// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/domains/piece_tree.h"

#include "supple/mesh/triangle_tree.h"

#include <algorithm>
#include <memory>

namespace supple {
namespace {

constexpr double on_the_ground = 0.03;     // of the height
constexpr double beside_a_smaller = 0.04;  // of the height: what hanging on a smaller piece counts as a gap

double distance_between(const Bounds& a, const Bounds& b) {
  return (a.min - b.max).cwiseMax(b.min - a.max).cwiseMax(Vec3::Zero()).norm();
}

class PieceGrowth {
 public:
  PieceGrowth(std::span<const SurfacePiece> pieces, const PlantGround& ground, double height)
      : pieces_(pieces), ground_(ground), height_(height), trees_(pieces.size()), best_(pieces.size()) {
    tree_.hold.resize(pieces.size());
  }

  PieceTree run() {
    plant();
    while (tree_.order.size() < pieces_.size()) {
      Index next = -1;
      for (Index p = 0; p < std::ssize(pieces_); ++p)
        if (!best_[to_size(p)].placed && (next < 0 || best_[to_size(p)].cost < best_[to_size(next)].cost)) next = p;
      place(next, best_[to_size(next)].parent, best_[to_size(next)].gap);
    }
    return std::move(tree_);
  }

 private:
  struct Best {
    bool placed = false;
    Index parent = -1;
    double gap = std::numeric_limits<double>::infinity(), cost = std::numeric_limits<double>::infinity();
  };

  void plant() {
    for (Index p = 0; p < std::ssize(pieces_); ++p) {
      double above = std::numeric_limits<double>::infinity();
      for (const Vec3& v : pieces_[to_size(p)].shape.vertices) above = std::min(above, ground_.away(v));
      if (above <= on_the_ground * height_) place(p, -1, above);
    }
  }

  void place(Index p, Index parent, double gap) {
    best_[to_size(p)].placed = true;
    tree_.order.push_back(p);
    tree_.hold[to_size(p)] = {parent, contact(p, parent, gap), gap};
    for (Index other = 0; other < std::ssize(pieces_); ++other)
      if (!best_[to_size(other)].placed) offer(p, other);
  }

  void offer(Index parent, Index child) {
    Best& best = best_[to_size(child)];
    const SurfacePiece &above = pieces_[to_size(parent)], &below = pieces_[to_size(child)];
    const double extra = above.size() < 1.2 * below.size() ? beside_a_smaller * height_ : 0.0;
    if (distance_between(above.bounds, below.bounds) + extra >= best.cost) return;
    const double gap = gap_between(parent, child, best.cost - extra);
    if (gap + extra < best.cost) best = {false, parent, gap, gap + extra};
  }

  /// From the vertices of the smaller piece to the surface of the larger.
  double gap_between(Index a, Index b, double reach) {
    if (pieces_[to_size(a)].shape.triangles.size() < pieces_[to_size(b)].shape.triangles.size()) std::swap(a, b);
    double nearest = reach;
    for (const Vec3& v : pieces_[to_size(b)].shape.vertices)
      nearest = std::min(nearest, tree(a).nearest(v, nearest).distance);
    return nearest;
  }

  Vec3 contact(Index p, Index parent, double gap) {
    const SurfacePiece& piece = pieces_[to_size(p)];
    const double wide = gap + 0.02 * piece.size();
    Vec3 sum = Vec3::Zero(), nearest = piece.shape.vertices.front();
    double count = 0, least = std::numeric_limits<double>::infinity();
    for (const Vec3& v : piece.shape.vertices) {
      const double away = parent < 0 ? ground_.away(v) : tree(parent).nearest(v).distance;
      if (away < least) {
        least = away;
        nearest = v;
      }
      if (away > wide) continue;
      sum += v;
      ++count;
    }
    return count > 0 ? Vec3(sum / count) : nearest;
  }

  const TriangleTree& tree(Index p) {
    auto& own = trees_[to_size(p)];
    if (!own) own = std::make_unique<TriangleTree>(pieces_[to_size(p)].shape);
    return *own;
  }

  std::span<const SurfacePiece> pieces_;
  const PlantGround& ground_;
  double height_;
  std::vector<std::unique_ptr<TriangleTree>> trees_;
  std::vector<Best> best_;
  PieceTree tree_;
};

}  // namespace

PieceTree hang_pieces(std::span<const SurfacePiece> pieces, const PlantGround& ground, double height) {
  return PieceGrowth(pieces, ground, height).run();
}

}  // namespace supple
