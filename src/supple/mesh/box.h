// SPDX-License-Identifier: Apache-2.0
// Regular boxes of tetrahedra or bricks: the test bodies with closed-form answers.
#pragma once

#include "supple/mesh/volume_mesh.h"

namespace supple {

/// A box from the origin to `size`, cut into cells[0] × cells[1] × cells[2] equal bricks.
HexMesh make_hex_box(const Vec3& size, const std::array<int, 3>& cells);

/// Makes the same box with each brick cut into six tetrahedra around its main diagonal (Kuhn), which match across
/// bricks.
TetMesh make_tet_box(const Vec3& size, const std::array<int, 3>& cells);

}  // namespace supple
