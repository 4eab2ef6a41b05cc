// SPDX-License-Identifier: Apache-2.0
// Vega .veg: tetrahedra (TET) or bricks (CUBIC) with sets, isotropic materials (ENU) and regions.
//
// Vertices and elements count from 0 or 1, as their first line says. The set allElements exists without being written.
// *INCLUDE pulls in another file's lines at its place.
#pragma once

#include "supple/io/mesh/loaded_mesh.h"

#include <functional>

namespace supple {

/// Gives the text of an included file, named relative to the folder of the main file.
using IncludeResolver = std::function<Result<std::string>(const std::string& path)>;

/// Reads the bytes of a .veg file. Files that it includes are asked from the resolver; without one they are refused.
Result<LoadedMesh> parse_veg(std::string_view bytes, const std::string& name, const IncludeResolver& resolve = {});

/// Keeps sets, materials and regions. Blanks and commas in names become underscores; elements whose material no region
/// gives get one; a mesh without materials gets the default one, because Vega itself insists on it.
std::string encode_veg(const TetMesh& mesh);
std::string encode_veg(const HexMesh& mesh);

}  // namespace supple
