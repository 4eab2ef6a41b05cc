// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/lattice_field.h"

#include "supple/base/parallel.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr int block_size = 4;  // cubes along each side of a block that is judged as a whole where possible

/// Fills the sites of one block. Far from the surface the winding number hardly varies, so one value serves all.
void fill_block(const Flesh& flesh, const BccLattice& lattice, const std::array<int, 3>& begin, LatticeField& field) {
  std::array<int, 3> end{};
  for (std::size_t a = 0; a < 3; ++a) end[a] = std::min(begin[a] + block_size, lattice.cells()[a]);
  const Vec3 low = lattice.position({2 * begin[0], 2 * begin[1], 2 * begin[2]});
  const Vec3 high = lattice.position({2 * end[0] - 1, 2 * end[1] - 1, 2 * end[2] - 1});
  const Vec3 center = 0.5 * (low + high);
  const double radius = 0.5 * (high - low).norm();
  const bool far = flesh.tree().nearest(center, radius + lattice.cube()).triangle < 0;
  const double winding = far ? flesh.winding(center) : 0.5;
  const bool uniform = far && std::abs(winding - 0.5) > 0.42;
  for (int k = begin[2]; k < end[2]; ++k) {
    for (int j = begin[1]; j < end[1]; ++j) {
      for (int i = begin[0]; i < end[0]; ++i) {
        for (int odd = 0; odd < 2; ++odd) {
          const BccLattice::Coordinates x = {2 * i + odd, 2 * j + odd, 2 * k + odd};
          const auto site = to_size(lattice.site(x));
          const Vec3 p = lattice.position(x);
          field.inside[site] = (uniform ? winding > 0.5 : flesh.inside(p)) ? 1 : 0;
          field.near[site] = !far && flesh.tree().nearest(p, lattice.cube()).triangle >= 0 ? 1 : 0;
        }
      }
    }
  }
}

}  // namespace

LatticeField sample_lattice(const Flesh& flesh, const BccLattice& lattice) {
  LatticeField field;
  field.inside.assign(to_size(lattice.site_count()), 0);
  field.near.assign(to_size(lattice.site_count()), 0);
  std::array<int, 3> blocks{};
  for (std::size_t a = 0; a < 3; ++a) blocks[a] = (lattice.cells()[a] + block_size - 1) / block_size;
  parallel_for(std::int64_t{blocks[0]} * blocks[1] * blocks[2], 8, [&](std::int64_t block) {
    const std::int64_t row = block / blocks[0];
    fill_block(flesh, lattice,
               {block_size * static_cast<int>(block % blocks[0]), block_size * static_cast<int>(row % blocks[1]),
                block_size * static_cast<int>(row / blocks[1])},
               field);
  });
  return field;
}

}  // namespace supple
