// SPDX-License-Identifier: Apache-2.0
// SurfaceQuery: which triangles of a deformed surface are near a point, nearest first.
//
// Best-first descent of a BoundedDeformationTree: a heap holds nodes under the least distance that their bounds allow,
// and triangles under their own distance. The smallest comes out; a node makes room for its children, a triangle is the
// next answer. So the first k answers are the k nearest triangles, and a search that must stop (because a step has an
// end) has found what matters most. Vertices are moved to U q when they are first asked for, and then remembered.
//
// State of one instance; allocates when created, never afterwards.
#pragma once

#include "supple/runtime/contact/bounded_deformation_tree.h"

#include <array>
#include <cstdint>
#include <limits>

namespace supple {

struct SurfaceQueryLimits {
  int max_triangles = 512;  ///< answers of one query
  int max_visits = 8192;    ///< nodes that one query may open
};

struct NearTriangle {
  Index triangle = -1;  ///< −1: none
  double distance = std::numeric_limits<double>::infinity();
};

class SurfaceQuery {
 public:
  /// Keeps a reference to the tree, which must outlive the query.
  explicit SurfaceQuery(const BoundedDeformationTree& tree, const SurfaceQueryLimits& limits = {});

  /// The surface takes the shape of q (r entries).
  void set_shape(std::span<const double> q);

  /// Triangles nearer than `distance`, nearest first; valid until the next query. All of them if complete().
  std::span<const NearTriangle> triangles_within(const Vec3& point, double distance);
  /// Gives the triangle that is nearest to the point.
  NearTriangle nearest(const Vec3& point);

  /// The limits did not cut the last query short.
  bool complete() const { return complete_; }
  /// Tells how many nodes of the tree the last query looked into.
  int visits() const { return visits_; }

  const BoundedDeformationTree& tree() const { return *tree_; }
  const ReducedShape& shape() const { return shape_; }
  std::array<Vec3, 3> corners(Index triangle);
  double distance_to(Index triangle, const Vec3& point);

 private:
  struct Candidate {
    double distance;
    Index index;                                    ///< a node; or ~triangle
    bool operator<(const Candidate& other) const {  // turned round: std::push_heap keeps the largest on top
      return distance != other.distance ? distance > other.distance : index > other.index;
    }
  };

  void search(const Vec3& point, double distance, std::size_t max_answers);
  void push_node(Index node, const Vec3& point, double distance);
  void push_triangle(Index triangle, const Vec3& point, double distance);
  void push(const Candidate& candidate, double distance);
  const Vec3& vertex(Index v);

  const BoundedDeformationTree* tree_;
  SurfaceQueryLimits limits_;
  ReducedShape shape_;
  std::vector<Vec3> positions_;
  std::vector<std::uint32_t> moved_in_;  ///< the shape for which a position holds
  std::uint32_t shape_number_ = 1;
  std::vector<Candidate> heap_;
  std::vector<NearTriangle> found_;
  int visits_ = 0;
  bool complete_ = true;
};

}  // namespace supple
