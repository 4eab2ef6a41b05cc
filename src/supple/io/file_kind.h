// SPDX-License-Identifier: Apache-2.0
// FileKind: which format a file has, by its name and by its first bytes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace supple {

enum class FileKind {
  unknown,
  veg,
  gmsh,
  medit,
  tetgen_node,
  tetgen_ele,
  obj,
  off,
  stl,
  ply,
  gltf,
  vrm,  ///< from here on: recognised in order to say what to do instead
  fbx,
  blend,
  usd,
  medit_binary,
  other_scene,
};

FileKind kind_of_extension(const std::filesystem::path& path);

/// Tells the format from a file's first bytes where that is certain. Plain columns of numbers, as TetGen writes them,
/// stay unknown.
FileKind kind_of_content(std::string_view bytes);

/// Gives the sentence that refuses a file of a kind that isn't read, and says what to do instead.
std::string refusal(FileKind kind, const std::string& name);

}  // namespace supple
