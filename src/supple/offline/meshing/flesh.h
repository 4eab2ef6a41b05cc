// SPDX-License-Identifier: Apache-2.0
// Flesh: what a soup encloses, asked point by point and along segments.
//
// A point is in the flesh where the winding number is at least one half. A segment is in the flesh when all of it is:
// between each two crossings with triangles one point decides for the piece between them, so that even the thinnest gap
// separates, and inner walls, overlaps and helper pieces inside a body don't.
#pragma once

#include "supple/mesh/winding_number.h"

namespace supple {

class Flesh {
 public:
  explicit Flesh(const Surface& soup) : tree_(soup), winding_(tree_) {}
  Flesh(const Flesh&) = delete;
  Flesh& operator=(const Flesh&) = delete;

  bool inside(const Vec3& p) const { return winding_(p) >= 0.5; }
  double winding(const Vec3& p) const { return winding_(p); }
  const TriangleTree& tree() const { return tree_; }

  /// Is the whole segment in the flesh? Its ends may lie on the surface. With `trusted`, q is known to be in the flesh,
  /// and so is the segment from its last crossing on.
  bool joins(const Vec3& p, const Vec3& q, bool trusted) const;

  /// The same for a segment between two points inside, which may cut across dents: where it comes out and where it goes
  /// in again, the surface faces nearly the same way. Across a gap it faces the other way.
  bool joins_over_dents(const Vec3& p, const Vec3& q) const;

  /// Tells the same of two points on the surface; here the way may also run outside, along a surface that bends.
  bool joins_along(const Vec3& p, const Vec3& q, double least_cosine = 0.5) const;

  /// Does a gap part p, on the surface, from q, inside: does the way to q leave the flesh at p and enter it where the
  /// surface faces the other way?
  bool parted(const Vec3& p, const Vec3& q) const;

  /// The share of the segment from p, inside, at which it first leaves the flesh; 1 if it never does.
  double first_exit(const Vec3& p, const Vec3& q) const;

 private:
  /// Cosine between the normals of the surface at two of its points; `none` if one of them isn't on it, or is where it
  /// has no normal.
  double facing(const Vec3& p, const Vec3& q, double none) const;

  /// The unit normal of the surface at the point nearest to p; zero if none is within reach. At edges and vertices it
  /// is the mean of the triangles' there, each by the angle that it takes (Baerentzen and Aanaes 2005): samples lie on
  /// vertices, where no triangle is nearer than another.
  Vec3 normal_near(const Vec3& p, double reach) const;

  TriangleTree tree_;
  WindingNumber winding_;
};

}  // namespace supple
