// SPDX-License-Identifier: Apache-2.0
// M and K of small motion of a tree of domains about rest, from the energies of the whole assembly alone: T = ½ q̇ᵀMq̇
// and V = ½ qᵀKq. Their eigenvalues are the frequencies to compare with those of the whole mesh.
#pragma once

#include "supple/runtime/domains/domain_dynamics.h"

namespace supple {

struct SmallMotion {
  MatX mass, stiffness;
};

/// In all coordinates, or, where loops are closed that don't give, in fewer that keep them closed. Asks for as many
/// energies as the matrices have entries. The state is at rest and undeformed before and after.
SmallMotion small_motion(DomainDynamics& dynamics);

/// The lowest frequencies [Hz], ascending.
VecX small_motion_frequencies(const SmallMotion& motion);

}  // namespace supple
