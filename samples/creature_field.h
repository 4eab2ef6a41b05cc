// SPDX-License-Identifier: Apache-2.0
// The pieces of a creature's field, shared by the files that make its surface, its weights and its colours.
#pragma once

#include "samples/creature.h"

namespace supple {

/// Roughly the signed distance to a part, exact on its surface.
double part_value(const Part& part, const Vec3& x);
double part_thickness(const Part& part);

}  // namespace supple
