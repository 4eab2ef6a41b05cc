// SPDX-License-Identifier: Apache-2.0
// Where a body lies inside itself (2014 paper, section 3). Every vertex of the skin that is inside a tetrahedron is
// mapped to the shape at rest, projected to the skin there, and drawn towards where that point of the skin is now.
//
// From there the nearest point of the skin as it is now is looked for by walking from triangle to triangle: distances
// to it are those that one sees, and they change smoothly as flesh slides. A contact that was found is walked on in the
// next search, and let go later than it would be taken up, so that searches don't disagree about it in turns.
//
// What is nearer than `neighbourhood` edges at rest, or looks the same way as the skin that it has entered, is no
// contact but flesh that is crumpled.
//
// Vertices that are outside, but before skin that faces them within `reach`, get springs that push as soon as they
// would enter. Without them, what springs have pushed out would be back after the next step, and so on without end.
#pragma once

#include "supple/mesh/tet_tree.h"
#include "supple/mesh/triangle_tree.h"
#include "supple/offline/quasistatic/contact_spring.h"
#include "supple/offline/quasistatic/exrotated_body.h"

namespace supple {

struct SelfCollisionSettings {
  double stiffness = 10;       ///< of springs, times what holds a vertex of the skin
  int smoothing = 2;           ///< of normals: how often each becomes the mean of those around it
  double neighbourhood = 1.2;  ///< in edges of the skin
  double reach = 1;            ///< in edges of the skin
  double facing = 0.3;         ///< the cosine between normals of a vertex and of what it has entered is less …
  double parting = 0.6;        ///< … and must become more than this to end a contact
};

class SelfCollision final : public ContactSource {
 public:
  /// `body` in its reference pose, whose stiffness springs are measured by.
  explicit SelfCollision(const ExRotatedBody& body, const SelfCollisionSettings& settings = {});

  void find(const VecX& x, std::vector<ContactSpring>& springs) override;

 private:
  /// A point of the skin.
  struct Place {
    Index triangle = -1;
    Vec3 weights = Vec3::Zero();
    double distance = std::numeric_limits<double>::infinity();
  };

  Vec3 now(const Place& place) const;
  void look_at(const Vec3& point, std::size_t proxy, Index triangle, Place& best) const;
  /// The nearest point of the skin as it is now, as far as one comes from a triangle without going away.
  Place walk(std::size_t proxy, Index triangle) const;
  /// The skin nearest to the flesh at rest that a vertex is inside of now; −1: it is outside.
  Index entered(std::size_t proxy, const VecX& x) const;
  Place before(std::size_t proxy, const TriangleTree& near, std::span<const Index> triangles) const;
  /// Neither its own skin, nor held as it is itself.
  bool may_touch(std::size_t proxy, Index triangle) const;
  double facing(std::size_t proxy, const Place& place) const;
  bool hang(std::size_t proxy, const Place& place, ContactSpring& spring) const;
  bool touch(std::size_t proxy, Index known, const VecX& x, ContactSpring& spring) const;
  void take_shape(const VecX& x);
  std::vector<Index> triangles_around(std::span<const char> touches) const;

  SelfCollisionSettings settings_;
  std::vector<Vec3> rest_;
  Index free_end_;
  double edge_;  ///< mean, of the skin
  TetTree tets_;
  Surface skin_;  ///< at rest; vertices are proxies
  TriangleTree skin_tree_;
  std::vector<Index> proxies_;  ///< number of each vertex of the skin
  std::vector<double> stiffness_;
  std::vector<Index> first_around_, around_;  ///< triangles at each vertex of the skin
  std::vector<Index> proxy_of_;               ///< of our numbers; −1: not of the skin
  Surface now_;                               ///< the skin as it is now …
  std::vector<Vec3> normals_;                 ///< … at its vertices
};

}  // namespace supple
