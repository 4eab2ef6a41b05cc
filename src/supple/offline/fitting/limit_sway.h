// SPDX-License-Identifier: Apache-2.0
// How stiff flesh is by default: as soft as its frequency says (flesh_frequency.h), but nowhere so soft that the
// character's own motion makes it flap. Feet, ears, toes and tails that hang far from a bone are thin, and thin flesh
// in life is tendon and gristle.
//
// With the accelerations a of the character's clips, flesh gives way by x = K⁻¹ M a. It may give way by
//   ⟨|x|⁴⟩^¼ ≤ min(t/2, h/25)
// the mean over moments, which leans towards the vigorous ones; t is how thick the flesh is there, h the extent of the
// body. Where it would go farther, Young's modulus is multiplied by what it goes too far, there and all the way to the
// bones that hold it: how far a tip gives way depends on its root.
#pragma once

#include "supple/base/result.h"
#include "supple/fem/material.h"
#include "supple/mesh/volume_mesh.h"

#include <span>

namespace supple {

/// Scales the stiffness of all elements to the frequency [Hz], then stiffens those that sway too far. `fixed`: vertices
/// that follow the rig; `accelerations` as in KnownMotion, one moment per column, may be empty. What was painted stays,
/// as a share of what the flesh around would have been without. `extent`: h, along the character's own axes [m].
Status limit_sway(TetMesh& mesh, std::span<const Index> fixed, MaterialModel model, double frequency,
                  const MatX& accelerations, double extent);

/// Twice the radius of the largest ball inside the mesh that the vertex is in or, as the corner of a cube, beside; to
/// the size of an element [m].
std::vector<double> local_thickness(const TetMesh& mesh);

}  // namespace supple
