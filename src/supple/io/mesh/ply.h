// SPDX-License-Identifier: Apache-2.0
// PLY, text or binary of either byte order: polygons, vertex colours, and other scalars of vertices as attributes of
// their names (paint: "softness", "quality"), as they stand. Other elements, lists and normals are passed over.
#pragma once

#include "supple/io/mesh/loaded_mesh.h"

namespace supple {

Result<LoadedMesh> parse_ply(std::string_view bytes, const std::string& name);
/// Positions in double precision; colours as 8-bit numbers, as most programs expect them.
std::string encode_ply_ascii(const Surface& surface);
std::string encode_ply_binary(const Surface& surface);

}  // namespace supple
