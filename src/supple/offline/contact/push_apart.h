// SPDX-License-Identifier: Apache-2.0
// Where a posed skin lies inside itself, and how to push it apart: what an artist does to the creases of a bent limb.
//
// A vertex is buried where the skin still winds around a point just outside it. Its depth is the distance to the
// nearest skin that faces it: the other side of the contact. The pushes of a pose are stored as its correction, so that
// the rig no longer enters itself there (2016 paper, section 6).
#pragma once

#include "supple/mesh/surface.h"
#include "supple/rig/deform/pose_space.h"

namespace supple {

/// For each vertex of a closed, posed skin: how deep it lies inside other parts of it, 0 where it doesn't. What is
/// shallower than `slack` counts as touching.
std::vector<double> buried_depths(const Surface& posed, double slack);

/// Displacements that push the skin apart until nothing is buried deeper than `slack`, both sides giving way, smooth
/// along the skin. Where the rounds don't suffice, some depth remains. Vertices with `ignored` (empty: none) may lie
/// where they are: they only move with their neighbours.
std::vector<Vec3> pushed_apart(const Surface& posed, double slack, std::span<const char> ignored = {});

/// The correction that keeps a rig from entering itself in pose p. `neutral`: the rig's vertices in its neutral pose
/// with their triangles; vertices at the same place there (seams) move together, and what is buried already there
/// (eyes, a body under clothes) is left alone. `slack`: as a share of the size of the character.
PoseCorrection contact_correction(const Rig& rig, const Surface& neutral, std::vector<double> p, double slack = 0.002);

}  // namespace supple
