// SPDX-License-Identifier: Apache-2.0
// Where a body lies inside itself (2014 paper, section 3). Every vertex of the skin that is inside a tetrahedron is
// mapped to the shape at rest, projected to the skin there, and drawn towards where that point of the skin is now.
//
// From there the nearest point of the skin as it is now is looked for by walking from triangle to triangle: distances
// to it are those that one sees, and they change smoothly as flesh slides. The way out is the gradient of that
// distance, so that one search pushes the same way as the next whether a vertex is inside or outside by then. A contact
// that was found is walked on in the next search, and let go later than it would be taken up; a vertex in a crease has
// one for each side.
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
  int smoothing = 2;           ///< of normals: how often each becomes the mean of those around it, for a wrinkle of two
                               ///< edges looks as its surroundings do
  double neighbourhood = 1.2;  ///< in edges of the skin: beyond the triangles around a vertex, whose edges differ
  double reach = 1;            ///< in edges of the skin: what flesh may move by between two searches
  /// The cosine between normals of a vertex and of what it has entered is less: skin that folds onto itself looks the
  /// other way, −1, and a bump beside it the same way, 1 …
  double facing = 0.3;
  double parting = 0.6;  ///< … and must become more than this to end a contact: another 20°, so that it doesn't flicker
  double friction = 0;  ///< Coulomb's coefficient
  double apart = 0.5;   ///< the cosine below which two normals belong to different contacts of a vertex
};

class SelfCollision final : public ContactSource {
 public:
  /// `body` in its reference pose, whose stiffness springs are measured by.
  explicit SelfCollision(const ExRotatedBody& body, const SelfCollisionSettings& settings = {});

  void find(const VecX& x, std::vector<ContactSpring>& springs) override;
  void slide_from(const VecX& x) override { start_ = x; }
  /// From what is in any tetrahedron but those around it to the nearest skin that looks another way: searches pass
  /// over some of that, as crumpled or at a rim.
  double deepest(const VecX& x) override;
  /// Only of what is no deeper than an edge: pushed farther it would crumple more.
  std::vector<ContactSpring> find_buried(const VecX& x, double depth) override;

 private:
  /// A point of the skin.
  struct Place {
    Index triangle = -1;
    Vec3 weights = Vec3::Zero();
    double distance = std::numeric_limits<double>::infinity();
  };

  /// What one vertex touches: a vertex in a crease touches both of its sides.
  static constexpr std::size_t most_contacts = 3;
  struct Contacts {
    std::array<ContactSpring, most_contacts> springs;
    std::size_t count = 0;
    void add(const ContactSpring& spring, std::int64_t key, double apart);
    /// Gives those that are new a key.
    void name(std::int64_t proxy);
  };
  /// Above those of what stands outside.
  static std::int64_t key_of(std::int64_t proxy, std::int64_t contact) {
    return (std::int64_t{1} << 40) + 4 * proxy + contact;
  }

  Vec3 now(const Place& place) const;
  void look_at(const Vec3& point, std::size_t proxy, Index triangle, Place& best) const;
  /// The nearest point of the skin as it is now, as far as one comes from a triangle without going away.
  Place walk(std::size_t proxy, Index triangle) const;
  /// The skin nearest to the flesh at rest that a vertex is inside of now; −1: it is outside.
  Index entered(std::size_t proxy, const VecX& x) const;
  /// The nearest place of some of the skin's triangles that may be touched and that accept(place, point) takes.
  template <typename Accept>
  Place nearest_of(std::size_t proxy, const TriangleTree& near, std::span<const Index> triangles, double within,
                   const Accept& accept) const;
  Place before(std::size_t proxy, const TriangleTree& near, std::span<const Index> triangles,
               std::span<const ContactSpring> others) const;
  /// The nearest skin that looks at a vertex which is deep inside.
  Place through(std::size_t proxy, const TriangleTree& near, std::span<const Index> triangles) const;
  /// Neither its own skin, nor held as it is itself.
  bool may_touch(std::size_t proxy, Index triangle) const;
  double facing(std::size_t proxy, const Place& place) const;
  Vec3 normal_at(const Place& place) const;
  /// Along the shortest way to the skin, or along its normal where that is near; zero: at a rim.
  Vec3 way_out(std::size_t proxy, const Place& place) const;
  bool hang(std::size_t proxy, const Place& place, ContactSpring& spring) const;
  void touch(std::size_t proxy, std::span<const ContactSpring> known, const VecX& x, Contacts& found) const;
  /// For each vertex of the skin the nearest place by which it gets out of flesh from elsewhere that it is in, if any.
  std::vector<Place> ways_out(const VecX& x);
  /// Tells whether it is in flesh that isn't next to it at rest.
  bool inside(std::size_t proxy, const VecX& x) const;
  void take_shape(const VecX& x);
  std::vector<Index> triangles_around(std::span<const Contacts> found) const;

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
  VecX start_;                                ///< that friction holds the skin at; empty: it slides
  Surface now_;                               ///< the skin as it is now …
  std::vector<Vec3> corner_normals_;          ///< … at its vertices …
  std::vector<Vec3> normals_;                 ///< … smoothed: which way it looks there
};

}  // namespace supple
