// SPDX-License-Identifier: Apache-2.0
// How a domain may move on its parent, beyond what the parent's own deformation does.
#pragma once

#include "supple/base/types.h"

namespace supple {

/// About or along an axis through the middle of the interface: `hinge` turns by less than a right angle to either side,
/// `slider` moves, `ball` turns about any axis by less than that.
enum class JointKind { fixed, hinge, ball, slider };

struct JointPlan {
  JointKind kind = JointKind::fixed;
  Vec3 axis = Vec3::UnitZ();  ///< in the world at rest
  double stiffness = 0;       ///< of the spring in it: N m for each radian, N/m of a slider
};

}  // namespace supple
