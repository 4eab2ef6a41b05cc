// SPDX-License-Identifier: Apache-2.0
// What every way of filling a surface asks first: are there triangles, do their corners exist, where are they?
#pragma once

#include "supple/base/result.h"
#include "supple/mesh/bounds.h"
#include "supple/mesh/surface.h"

namespace supple {

/// The box around the triangles; vertices that no triangle uses don't count. Fails when there are none, and on corners
/// that don't exist or aren't numbers.
Result<Bounds> triangle_bounds(const Surface& surface);

}  // namespace supple
