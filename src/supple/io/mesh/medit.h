// SPDX-License-Identifier: Apache-2.0
// MEDIT .mesh (text): tetrahedra, bricks, or a surface of triangles and quadrilaterals. Reference numbers of elements
// become sets "reference_N" when there are several.
#pragma once

#include "supple/io/mesh/loaded_mesh.h"

namespace supple {

Result<LoadedMesh> parse_medit(std::string_view bytes, const std::string& name);
/// Sets become reference numbers 1, 2, …; names and materials don't fit into this format.
std::string encode_medit(const TetMesh& mesh);
std::string encode_medit(const HexMesh& mesh);
std::string encode_medit(const Surface& surface);

}  // namespace supple
