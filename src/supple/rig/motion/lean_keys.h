// SPDX-License-Identifier: Apache-2.0
// Keys that say nothing new. Exporters sample lines at every frame, tools insert keys on them, and the motion is the
// same; what is made of keys (corners, jumps, cuts) must not depend on it. A key goes if the straight line, or the turn
// at constant speed, between the keys that stay passes through it at its time.
#pragma once

#include "supple/rig/clip.h"

namespace supple {

/// The same motion by fewer keys. First and last keys stay; cubic channels stay as they are.
Clip with_lean_keys(const Clip& clip);

}  // namespace supple
