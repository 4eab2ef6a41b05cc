// SPDX-License-Identifier: Apache-2.0
// TetGen: vertices in .node, tetrahedra in .ele beside it. Region numbers become sets "region_N" when there are
// several.
#pragma once

#include "supple/io/mesh/loaded_mesh.h"

namespace supple {

struct TetgenFiles {
  std::string node;
  std::string ele;
};

Result<LoadedMesh> parse_tetgen(std::string_view node_bytes, const std::string& node_name, std::string_view ele_bytes,
                                const std::string& ele_name);
/// Counts from 1. Sets become region numbers 1, 2, …; names and materials don't fit into this format.
TetgenFiles encode_tetgen(const TetMesh& mesh);

}  // namespace supple
