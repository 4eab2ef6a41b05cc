// SPDX-License-Identifier: Apache-2.0
// Which lattice sites are in the flesh, and which are near its surface.
#pragma once

#include "supple/offline/meshing/bcc_lattice.h"
#include "supple/offline/meshing/flesh.h"

namespace supple {

struct LatticeField {
  std::vector<std::uint8_t> inside;  ///< per site
  std::vector<std::uint8_t> near;    ///< per site: the surface is closer than a cube's edge
};

LatticeField sample_lattice(const Flesh& flesh, const BccLattice& lattice);

}  // namespace supple
