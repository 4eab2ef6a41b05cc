// SPDX-License-Identifier: Apache-2.0
// Vertices chosen by a few words: what to hold, push or watch, on the command line and in scene files.
//
//   min-x  max-x  min-y …           the vertices within 0.1 % of the mesh's extent from its end
//   x<0.1  y>=2                     a half-space
//   box:x0,y0,z0,x1,y1,z1           inside a box, its faces included
//   sphere:x,y,z,r                  inside a ball, its surface included
//   vertices:0,5,7                  by index, counted from 0
//   all
//   fixed.bou  file:NAME            a file of numbers counted from 1 (io/mesh/vertex_list.h)
#pragma once

#include "supple/base/result.h"
#include "supple/base/types.h"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace supple {

/// Ascending indices. Files are looked for in `folder` unless their path is absolute. A selection that isn't
/// understood, or that selects nothing, is an error that quotes it.
Result<std::vector<Index>> select_vertices(std::string_view selection, std::span<const Vec3> vertices,
                                           const std::filesystem::path& folder = {});

/// Vertices in any of several selections: ascending, each once.
Result<std::vector<Index>> select_vertices(std::span<const std::string> selections, std::span<const Vec3> vertices,
                                           const std::filesystem::path& folder = {});

}  // namespace supple
