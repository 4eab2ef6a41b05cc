// SPDX-License-Identifier: Apache-2.0
// How far a point is outside of a closed mesh (2014 paper, section 3: external bodies as level sets): the distance to
// the nearest triangle, with the sign of the winding number, exact and without a grid.
#pragma once

#include "supple/base/result.h"
#include "supple/mesh/winding_number.h"

#include <memory>

namespace supple {

class MeshDistance {
 public:
  /// Fails where the surface, its coincident vertices joined, is empty, open, or has triangles that don't all look out.
  static Result<std::shared_ptr<const MeshDistance>> create(const Surface& surface);

  /// [m], negative inside; `out` becomes the unit vector that leads away from the mesh. What is outside by more than
  /// `reach` may be as far as infinity.
  double distance(const Vec3& x, double reach, Vec3& out) const;
  const Surface& surface() const { return surface_; }

 private:
  explicit MeshDistance(Surface surface);

  Surface surface_;
  TriangleTree tree_;
  WindingNumber winding_;
  Bounds bounds_;
};

}  // namespace supple
