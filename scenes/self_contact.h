// SPDX-License-Identifier: Apache-2.0
// Where a posed skin lies inside itself, and how to push it apart: what an artist does to the creases of a bent limb.
//
// A vertex is buried where the skin still winds around a point just outside it. Its depth is the distance to the
// nearest skin that faces it: the other side of the contact.
#pragma once

#include "supple/mesh/surface.h"

namespace supple {

/// For each vertex of a closed, posed skin: how deep it lies inside other parts of it, 0 where it doesn't. What is
/// shallower than `slack` counts as touching.
std::vector<double> buried_depths(const Surface& posed, double slack);

/// Displacements that push the skin apart until nothing is buried deeper than `slack`, both sides giving way, smooth
/// along the skin. Where the rounds don't suffice, some depth remains.
std::vector<Vec3> pushed_apart(const Surface& posed, double slack);

}  // namespace supple
