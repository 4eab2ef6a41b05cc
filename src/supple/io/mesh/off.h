// SPDX-License-Identifier: Apache-2.0
// OFF, the Object File Format: polygons; COFF and NOFF variants, optional counts line and comments. Text only.
#pragma once

#include "supple/io/mesh/loaded_mesh.h"

namespace supple {

Result<LoadedMesh> parse_off(std::string_view bytes, const std::string& name);
/// Plain OFF, or COFF where the surface has colours.
std::string encode_off(const Surface& surface);

}  // namespace supple
