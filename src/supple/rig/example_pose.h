// SPDX-License-Identifier: Apache-2.0
// ExamplePose: one of the few poses of a character for which something was made by hand or ahead of time: a corrective
// shape, a basis, a material (sections 3 and 5 of the 2016 paper).
#pragma once

#include "supple/rig/skeleton.h"

namespace supple {

struct JointRotation {
  Index joint = 0;
  Quat rotation = Quat::Identity();  ///< local
};

struct ExamplePose {
  std::string name;
  std::vector<JointRotation> rotations;  ///< of joints that aren't at rest
  bool corrected = false;                ///< a morph target of the same name belongs to it
};

}  // namespace supple
