// SPDX-License-Identifier: Apache-2.0
// How to write, where a format leaves a choice.
#pragma once

namespace supple {

enum class GmshVersion { v2_2, v4_1 };
enum class Encoding { ascii, binary };

struct SaveOptions {
  GmshVersion gmsh_version = GmshVersion::v4_1;
  Encoding encoding = Encoding::binary;  ///< for .msh, .stl and .ply; the other formats are always text
};

}  // namespace supple
