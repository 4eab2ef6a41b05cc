// SPDX-License-Identifier: Apache-2.0
// From a surface to a ContactShape: points spread by farthest-first sampling, signed distances on a grid.
//
// Each triangle writes its distance to the nodes around it, then neighbours hand on their triangles until no node finds
// a nearer one: exact near the surface, and all but exact away from it. A node is inside when an odd number of
// triangles lies ahead of it along at least two of the three axes: small holes and single flipped triangles do no harm.
#pragma once

#include "supple/asset/contact_shape.h"
#include "supple/asset/subspace_model.h"
#include "supple/base/result.h"

namespace supple {

struct ContactShapeOptions {
  int resolution = 32;   ///< cells along the longest side, 4 to 256
  int max_points = 300;  ///< that feel contact; all vertices if there are no more
};

/// Fails on an empty surface and on options out of range.
Result<ContactShape> build_contact_shape(const DisplaySurface& surface, const ContactShapeOptions& options = {});

}  // namespace supple
