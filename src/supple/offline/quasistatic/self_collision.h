// SPDX-License-Identifier: Apache-2.0
// Where a body lies inside itself (2014 paper, section 3). Every vertex of the skin that is inside a tetrahedron is
// mapped to the shape at rest, projected to the skin there, and drawn towards where that point of the skin is now.
//
// A vertex that is near that point at rest, within `neighbourhood` edges, or looks the same way as the skin there, is
// no contact but flesh that is crumpled.
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
  double stiffness = 1;        ///< of springs, times what holds a vertex of the skin
  double neighbourhood = 1.2;  ///< in edges of the skin
  double reach = 1;            ///< in edges of the skin
  double facing = 0.3;         ///< the cosine between normals of a vertex and of what it has entered is less
};

class SelfCollision final : public ContactSource {
 public:
  /// `body` in its reference pose, whose stiffness springs are measured by.
  explicit SelfCollision(const ExRotatedBody& body, const SelfCollisionSettings& settings = {});

  void find(const VecX& x, std::vector<ContactSpring>& springs) override;

 private:
  bool inside(std::size_t proxy, const VecX& x, ContactSpring& spring) const;
  bool before(std::size_t proxy, const VecX& x, const TriangleTree& now, std::span<const Index> triangles,
              ContactSpring& spring) const;
  /// Neither its own skin nor turned the same way.
  bool may_touch(std::size_t proxy, Index triangle, const Vec3& at_rest) const;
  void hang(std::size_t proxy, Index triangle, const Vec3& weights, ContactSpring& spring) const;
  void aim(const VecX& x, ContactSpring& spring) const;

  SelfCollisionSettings settings_;
  std::vector<Vec3> rest_;
  Index free_end_;
  double edge_;  ///< mean, of the skin
  TetTree tets_;
  Surface skin_;  ///< at rest; vertices are proxies
  TriangleTree skin_tree_;
  std::vector<Index> proxies_;  ///< number of each vertex of the skin
  std::vector<double> stiffness_;
  std::vector<Vec3> normals_;    ///< of the skin's vertices, as it is now
  std::vector<Index> proxy_of_;  ///< of our numbers; −1: not of the skin
};

}  // namespace supple
