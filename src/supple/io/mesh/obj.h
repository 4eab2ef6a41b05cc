// SPDX-License-Identifier: Apache-2.0
// Wavefront OBJ: polygons with parts and vertex colours. What else it holds (curves, lines, normals) is passed over.
#pragma once

#include "supple/io/mesh/loaded_mesh.h"

namespace supple {

Result<LoadedMesh> parse_obj(std::string_view bytes, const std::string& name);
std::string encode_obj(const Surface& surface);

}  // namespace supple
