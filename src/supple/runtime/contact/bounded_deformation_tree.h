// SPDX-License-Identifier: Apache-2.0
// BoundedDeformationTree: a hierarchy of spheres around the triangles of a reduced deformable surface, whose spheres
// follow from the coordinates q alone (James and Pai, "BD-Tree", 2004). A node costs O(r), whatever it contains, and
// only nodes that a query visits cost anything.
//
// A node wraps its points p directly, not its children's spheres. With x_p(q) = X_p + U_p q, a centre that moves along
//   c(q) = c0 + Ū q
// and D_p = U_p − Ū, every point obeys |x_p − c| ≤ |X_p − c0| + |D_p q|. Two bounds on the last term are cheap:
//   by columns   |D_p q| ≤ Σ_a |q_a| Δ_a         Δ_a = max_p |column a of D_p|      sharp when one coordinate leads
//   by norm      |D_p q| ≤ κ |S q|               κ = max_p ‖D_p S⁻¹‖₂               sharp when all take part
// where S = diag(s_a), s_a the largest motion of any surface point along coordinate a: it makes coordinates alike.
// The radius takes the smaller:  R(q) = max_p |X_p − c0| + min(Σ_a |q_a| Δ_a, κ |S q|).
// Ū is the middle of the range of the U_p, entry by entry, which keeps the largest |D_p| small. Triangles are convex,
// so a sphere around their corners contains them.
#pragma once

#include "supple/asset/subspace_model.h"
#include "supple/math/pack.h"
#include "supple/runtime/subspace/basis_rows.h"

#include <span>
#include <vector>

namespace supple {

struct Sphere {
  Vec3 center;
  double radius;
};

/// The coordinates as the tree reads them: padded, with their magnitudes. Belongs to an instance; never reallocates.
struct ReducedShape {
  std::vector<double> q;           ///< r entries
  std::vector<double> padded;      ///< q, then zeros up to a whole SIMD vector
  std::vector<double> magnitudes;  ///< |q_a|, padded alike
  double scaled_norm = 0.0;        ///< |S q|
};

class BoundedDeformationTree {
 public:
  /// A pair of children stands side by side; a leaf has triangles of the surface instead.
  struct Node {
    Index first_child = 0;  ///< its sibling follows; 0 for a leaf
    Index first = 0;        ///< into triangle_order()
    Index count = 0;        ///< of all triangles below

    bool is_leaf() const { return first_child == 0; }
  };

  static constexpr Index triangles_per_leaf = 4;

  BoundedDeformationTree() = default;
  /// Triangles must name existing vertices, and the basis must have three rows for each of them (as the archive
  /// checks).
  explicit BoundedDeformationTree(const DisplaySurface& surface);

  int size() const { return rows_.size(); }
  bool empty() const { return nodes_.empty(); }
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Index> triangle_order() const { return order_; }
  std::span<const Triangle> triangles() const { return triangles_; }
  std::span<const Vec3> rest_positions() const { return rest_positions_; }
  const BasisRows<double>& rows() const { return rows_; }

  ReducedShape make_shape() const;
  /// Takes q (r entries) without allocating.
  void assign(std::span<const double> q, ReducedShape& shape) const;
  /// Contains every triangle below the node.
  Sphere bound(Index node, const ReducedShape& shape) const;
  Vec3 position(Index vertex, const ReducedShape& shape) const;

 private:
  using Vector = Pack<double, 4>;
  static constexpr int width = 4;

  void build_nodes(const DisplaySurface& surface);
  void split(Index node, std::span<const Vec3> centroids);
  void bound_node(Index node, const MatX& basis);
  /// The vertices of a node's triangles, each once.
  void collect_vertices(const Node& node, std::vector<Index>& vertices) const;
  double* block(Index node) { return bounds_.data() + static_cast<std::ptrdiff_t>(node) * stride_; }
  const double* block(Index node) const { return bounds_.data() + static_cast<std::ptrdiff_t>(node) * stride_; }

  std::vector<Vec3> rest_positions_;
  std::vector<Triangle> triangles_;
  BasisRows<double> rows_;
  std::vector<double> scales_;  ///< s_a
  std::vector<Node> nodes_;
  std::vector<Index> order_;
  /// For each node c0, max |X_p − c0|, κ and three unused, then for each four coordinates Ū's rows x, y, z and Δ.
  std::vector<double> bounds_;
  int padded_ = 0;
  std::ptrdiff_t stride_ = 0;
};

}  // namespace supple
