// SPDX-License-Identifier: Apache-2.0
// Gmsh .msh, versions 2.2 and 4.1, text and binary (either byte order): tetrahedra, bricks, or a surface of triangles
// and quadrilaterals. Physical groups of the elements we keep become sets, or parts of a surface.
#pragma once

#include "supple/io/mesh/loaded_mesh.h"

namespace supple {

Result<LoadedMesh> parse_gmsh(std::string_view bytes, const std::string& name);

/// Sets become physical groups, also where they overlap. Materials don't fit into this format.
std::string encode_gmsh(const TetMesh& mesh, GmshVersion version, Encoding encoding);
std::string encode_gmsh(const HexMesh& mesh, GmshVersion version, Encoding encoding);
std::string encode_gmsh(const Surface& surface, GmshVersion version, Encoding encoding);

}  // namespace supple
