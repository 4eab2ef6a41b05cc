// SPDX-License-Identifier: Apache-2.0
// How stiff flesh is where nobody has given pascals: as soft as its frequency says (flesh_frequency.h), softest where
// it is thick. Bellies, humps and bums are fat and muscle; fingers, ears, toes and tails are skin, tendon and gristle.
//
// Young's modulus follows the thickness t of the flesh (local_thickness),
//   E = E₀ T/t, at most 10 E₀, and E₀ where t > T
// with T the thickness that a quarter of the flesh exceeds. (A thin layer on a bone gives way less anyway, as t².)
// What still gives way farther than it may (thick flesh by a third more than the softest tenth of the mass, thin flesh
// by less, as (t/T)², down to a fifth of that) is stiffened by what is too much, there and on the way to the bone that
// holds it. Last, E₀ is brought to where the flesh has the wanted frequency. All of this looks at
// shape only, not at clips: how violent moments of clips are limited is FleshDrive's part (runtime/flesh_drive.h), with
// the acceleration that bearable_acceleration() says.
//
// All lengths are relative to the body's own and no axis is named, so nothing changes with place, turn or size.
#pragma once

#include "supple/base/result.h"
#include "supple/fem/material.h"
#include "supple/mesh/volume_mesh.h"

#include <span>

namespace supple {

/// Sets the stiffness of all elements for unpainted flesh to have the frequency [Hz]. What was painted stays as it is
/// relative to that: an element of twice `base_young` [Pa] becomes twice as stiff as the same flesh unpainted, whatever
/// frequency results. `fixed`: vertices that follow the rig.
Status set_flesh_stiffness(TetMesh& mesh, std::span<const Index> fixed, MaterialModel model, double frequency,
                           double base_young);

/// The acceleration [m/s²] by which a tenth of the flesh would give way farther than it may: `share` times the lesser
/// of two fifths of its thickness and 8 % of the body's radius of gyration. For a standing man the latter is some
/// 2 % of his height: the viscera of a man who hops on the spot move up and down by 5 to 8 cm in all (Minetti and
/// Belli, J. Biomech. 27, 1994). 0 where nothing gives way.
Result<double> bearable_acceleration(const TetMesh& mesh, std::span<const Index> fixed, MaterialModel model,
                                     double share = 1);

/// Twice the radius of the largest ball inside the mesh that the vertex is in or, as the corner of a cube, beside; to
/// the size of an element [m].
std::vector<double> local_thickness(const TetMesh& mesh);

}  // namespace supple
