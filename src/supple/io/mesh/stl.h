// SPDX-License-Identifier: Apache-2.0
// STL, text or binary: loose triangles. Corners at exactly the same place become one vertex, because the format itself
// can't say which triangles hang together; no tolerance is involved, cleaning up is somebody else's decision.
#pragma once

#include "supple/io/mesh/loaded_mesh.h"

namespace supple {

Result<LoadedMesh> parse_stl(std::string_view bytes, const std::string& name);
/// Keeps double precision and the parts (as solids).
std::string encode_stl_ascii(const Surface& surface);
/// Writes single precision, which is all that the format has.
std::string encode_stl_binary(const Surface& surface);

/// Tells whether the length fits a binary STL. The first bytes don't tell: the header of one may well begin with
/// "solid".
bool looks_like_binary_stl(std::string_view bytes);

}  // namespace supple
