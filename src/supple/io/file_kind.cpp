// SPDX-License-Identifier: Apache-2.0
#include "supple/io/file_kind.h"

#include "supple/io/mesh/stl.h"
#include "supple/io/text_scanner.h"

#include <array>
#include <utility>

namespace supple {
namespace {

constexpr std::array<std::pair<std::string_view, FileKind>, 27> extensions = {
    {{".veg", FileKind::veg},         {".msh", FileKind::gmsh},
     {".mesh", FileKind::medit},      {".node", FileKind::tetgen_node},
     {".ele", FileKind::tetgen_ele},  {".obj", FileKind::obj},
     {".off", FileKind::off},         {".coff", FileKind::off},
     {".stl", FileKind::stl},         {".ply", FileKind::ply},
     {".gltf", FileKind::gltf},       {".glb", FileKind::gltf},
     {".vrm", FileKind::vrm},         {".fbx", FileKind::fbx},
     {".blend", FileKind::blend},     {".usd", FileKind::usd},
     {".usda", FileKind::usd},        {".usdc", FileKind::usd},
     {".usdz", FileKind::usd},        {".meshb", FileKind::medit_binary},
     {".abc", FileKind::other_scene}, {".dae", FileKind::other_scene},
     {".3ds", FileKind::other_scene}, {".3mf", FileKind::other_scene},
     {".max", FileKind::other_scene}, {".ma", FileKind::other_scene},
     {".mb", FileKind::other_scene}}};

constexpr std::array<std::pair<std::string_view, FileKind>, 8> signatures = {{{"glTF", FileKind::gltf},
                                                                              {"Kaydara FBX", FileKind::fbx},
                                                                              {"; FBX", FileKind::fbx},
                                                                              {"BLENDER", FileKind::blend},
                                                                              {"PXR-USDC", FileKind::usd},
                                                                              {"#usda", FileKind::usd},
                                                                              {"ply\n", FileKind::ply},
                                                                              {"ply\r", FileKind::ply}}};

constexpr std::size_t looked_at = 65536;

// By the first word that isn't in a comment.
FileKind kind_of_first_word(std::string_view word, std::string_view bytes) {
  if (word == "$MeshFormat") return FileKind::gmsh;
  if (word == "MeshVersionFormatted") return FileKind::medit;
  if (equals_ignoring_case(word, "*VERTICES") || equals_ignoring_case(word, "*INCLUDE")) return FileKind::veg;
  if (equals_ignoring_case(word, "solid") && bytes.find("facet") != std::string_view::npos) return FileKind::stl;
  for (const std::string_view off : {"OFF", "COFF", "NOFF", "CNOFF", "STOFF"}) {
    if (word == off) return FileKind::off;
  }
  for (const std::string_view obj : {"v", "vn", "vt", "mtllib", "usemtl", "o", "g"}) {
    if (word == obj) return FileKind::obj;
  }
  return FileKind::unknown;
}

}  // namespace

FileKind kind_of_extension(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  for (const auto& [text, kind] : extensions) {
    if (equals_ignoring_case(text, extension)) return kind;
  }
  return FileKind::unknown;
}

FileKind kind_of_content(std::string_view bytes) {
  for (const auto& [text, kind] : signatures) {
    if (bytes.starts_with(text)) return kind;
  }
  if (looks_like_binary_stl(bytes)) return FileKind::stl;
  const std::string_view start = bytes.substr(0, looked_at);
  return kind_of_first_word(TextScanner(start, "", {.comment = '#'}).token(), start);
}

std::string refusal(FileKind kind, const std::string& name) {
  switch (kind) {
    case FileKind::vrm:
      return name + " is a VRM avatar, which is glTF inside; rename it to .glb.";
    case FileKind::fbx:
      return name + " is an FBX file, which isn't supported; export glTF 2.0 (.glb) from the program that made it.";
    case FileKind::blend:
      return name + " is a Blender file, which isn't supported; export glTF 2.0 (.glb) from Blender.";
    case FileKind::usd:
      return name + " is a USD file, which isn't supported; export glTF 2.0 (.glb) from the program that made it.";
    case FileKind::medit_binary:
      return name + " is a binary MEDIT file, which isn't supported; save it as .mesh text.";
    case FileKind::other_scene:
      return name + " is a scene file, which isn't supported; export glTF 2.0 (.glb), or the mesh as OBJ or PLY.";
    default:
      return name +
             " isn't a mesh we recognise; use .glb, .gltf, .veg, .msh, .mesh, .node, .ele, .obj, .off, .stl or .ply.";
  }
}

}  // namespace supple
