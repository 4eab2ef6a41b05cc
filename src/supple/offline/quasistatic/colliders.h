// SPDX-License-Identifier: Apache-2.0
// Springs that push skin out of colliders (collider.h), and contacts of several kinds together.
#pragma once

#include "supple/offline/quasistatic/collider.h"
#include "supple/offline/quasistatic/contact_spring.h"
#include "supple/offline/quasistatic/exrotated_body.h"
#include "supple/rig/pose.h"

namespace supple {

/// Vertices of the skin against colliders, wherever they are.
class ColliderContacts final : public ContactSource {
 public:
  /// `body` in its reference pose. `stiffness`: of springs, times what holds a vertex of the skin.
  ColliderContacts(const ExRotatedBody& body, std::vector<Collider> colliders, double stiffness = 10);

  /// Where the body is as the collider sees it: the body's positions to those that the collider is given in.
  void place(std::size_t collider, const RigidTransform& placement) { placements_[collider] = placement; }
  void find(const VecX& x, std::vector<ContactSpring>& springs) override;
  /// Colliders are where they were placed last.
  void slide_from(const VecX& x) override;

 private:
  std::vector<Collider> colliders_;
  std::vector<RigidTransform> placements_;
  VecX start_;  ///< that friction holds skin at, with …
  std::vector<RigidTransform> start_placements_;
  std::vector<Index> skin_;  ///< free vertices, in the body's numbers
  std::vector<double> stiffness_;
  double reach_;  ///< [m] before a collider where a spring waits
};

/// The springs of several sources, one after the other.
class JoinedContacts final : public ContactSource {
 public:
  explicit JoinedContacts(std::vector<ContactSource*> sources) : sources_(std::move(sources)) {}
  void find(const VecX& x, std::vector<ContactSpring>& springs) override;
  void slide_from(const VecX& x) override;
  std::vector<ContactSpring> find_buried(const VecX& x, double depth) override;
  double deepest(const VecX& x) override;

 private:
  std::vector<ContactSource*> sources_;
  std::vector<ContactSpring> found_;
};

}  // namespace supple
