// SPDX-License-Identifier: Apache-2.0
// A joint as a domain without a body: its coordinates turn or move the frame of the one domain that hangs on it, as the
// coordinates of any part do for its children, and nothing else is needed in a step. With A(q) = 1 + Σ_l A_l q_l and
//   hinge    A_1 = ñ              the polar decomposition of A turns about n by the angle φ with tan φ = q
//   ball     A_l = ẽ_l            about q, by the angle whose tangent is |q|
//   slider   â = n                along n by q
// A spring of stiffness k gives ½ k q², which is ½ k φ² near rest and has no end at a right angle.
#pragma once

#include "supple/offline/domains/build_domains.h"

namespace supple {

/// The part of a joint: no mesh, no mass, and its spring.
SubspaceModel joint_part(const JointPlan& joint);
/// The part of a place that a closed loop holds: no mesh, no mass, no coordinates.
SubspaceModel site_part();
/// How the domain on it follows; `axis` in the coordinates of the joint's frame.
DomainInterface joint_interface(JointKind kind, const Vec3& axis);

}  // namespace supple
