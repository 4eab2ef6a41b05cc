// SPDX-License-Identifier: Apache-2.0
#include "supple/io/mesh/mesh_file.h"

#include <fmt/format.h>

#include "supple/io/file.h"
#include "supple/io/file_kind.h"
#include "supple/io/gltf/glb.h"
#include "supple/io/gltf/rest_surface.h"
#include "supple/io/mesh/gmsh.h"
#include "supple/io/mesh/medit.h"
#include "supple/io/mesh/obj.h"
#include "supple/io/mesh/off.h"
#include "supple/io/mesh/ply.h"
#include "supple/io/mesh/stl.h"
#include "supple/io/mesh/tetgen.h"
#include "supple/io/mesh/veg.h"

#include <new>

namespace supple {
namespace {

Result<LoadedMesh> load_veg(const std::filesystem::path& path, std::string_view bytes) {
  const IncludeResolver resolve = [&](const std::string& included) { return read_file(path.parent_path() / included); };
  return parse_veg(bytes, path.string(), resolve);
}

Result<LoadedMesh> load_character_surface(const std::filesystem::path& path, std::string_view bytes) {
  const auto read = [&](const std::string& file) { return read_file(path.parent_path() / file); };
  return parse_gltf_surface(bytes, path.string(), read);
}

// Given either file of the pair, finds the other beside it.
Result<LoadedMesh> load_tetgen(const std::filesystem::path& path, const std::string& bytes) {
  const bool has_nodes = kind_of_extension(path) == FileKind::tetgen_node;
  std::filesystem::path partner = path;
  partner.replace_extension(has_nodes ? ".ele" : ".node");
  const Result<std::string> other = read_file(partner);
  if (!other.ok()) {
    return input_error(fmt::format("{} needs its partner {}, which can't be read; put both into the same folder.",
                                   path.string(), partner.filename().string()));
  }
  if (has_nodes) return parse_tetgen(bytes, path.string(), *other, partner.string());
  return parse_tetgen(*other, partner.string(), bytes, path.string());
}

Result<LoadedMesh> parse_as(FileKind kind, const std::filesystem::path& path, const std::string& bytes) {
  const std::string name = path.string();
  switch (kind) {
    case FileKind::veg:
      return load_veg(path, bytes);
    case FileKind::gmsh:
      return parse_gmsh(bytes, name);
    case FileKind::medit:
      return parse_medit(bytes, name);
    case FileKind::tetgen_node:
    case FileKind::tetgen_ele:
      return load_tetgen(path, bytes);
    case FileKind::obj:
      return parse_obj(bytes, name);
    case FileKind::off:
      return parse_off(bytes, name);
    case FileKind::stl:
      return parse_stl(bytes, name);
    case FileKind::ply:
      return parse_ply(bytes, name);
    case FileKind::gltf:
      return load_character_surface(path, bytes);
    default:
      return input_error(refusal(kind, name));
  }
}

Result<LoadedMesh> load_any(const std::filesystem::path& path) {
  const FileKind by_name = kind_of_extension(path);
  Result<std::string> bytes = read_file(path);
  SUPPLE_RETURN_IF_ERROR(bytes);
  if (bytes->empty()) return input_error(path.string() + " is empty; export the mesh again.");
  if (by_name == FileKind::vrm) return input_error(refusal(by_name, path.string()));
  const FileKind by_content = kind_of_content(*bytes);
  if (by_content == FileKind::unknown || by_content == by_name) return parse_as(by_name, path, *bytes);
  Result<LoadedMesh> loaded = parse_as(by_content, path, *bytes);
  if (loaded.ok()) {
    loaded->warnings.insert(
        loaded->warnings.begin(),
        fmt::format("Read {} as {}, which it is in spite of its extension.", path.string(), loaded->format));
  }
  return loaded;
}

// Memory is the one thing that may run out anywhere.
template <class Function>
auto guarded(const std::filesystem::path& path, Function&& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return failure(fmt::format("There isn't enough memory for {}.", path.string()));
  } catch (const std::exception& problem) {
    return failure(fmt::format("{}: {}.", path.string(), problem.what()));
  }
}

Error cannot_hold(const std::filesystem::path& path, std::string_view what, std::string_view formats) {
  return usage_error(fmt::format("Can't write {} to {}; use one of {}.", what, path.string(), formats));
}

Status save_tetgen(const TetMesh& mesh, const std::filesystem::path& path) {
  const TetgenFiles files = encode_tetgen(mesh);
  std::filesystem::path target = path;
  SUPPLE_RETURN_IF_ERROR(write_file_atomically(target.replace_extension(".node"), files.node));
  return write_file_atomically(target.replace_extension(".ele"), files.ele);
}

Status save_glb(const Surface& surface, const std::filesystem::path& path) {
  if (path.extension() == ".gltf") return usage_error("Can't write " + path.string() + "; write .glb instead.");
  GlbObject object;
  object.name = path.stem().string();
  object.surface = surface;
  object.material.double_sided = true;
  if (const VertexAttribute* colors = find_colours(surface)) {
    const auto width = to_size(colors->components);
    for (std::size_t i = 0; i < colors->values.size(); i += width)
      object.colors.emplace_back(colors->values[i], colors->values[i + 1], colors->values[i + 2]);
  }
  return write_glb(path, {{std::move(object)}, {}});
}

Status save(const Surface& surface, const std::filesystem::path& path, const SaveOptions& options) {
  const bool binary = options.encoding == Encoding::binary;
  switch (kind_of_extension(path)) {
    case FileKind::obj:
      return write_file_atomically(path, encode_obj(surface));
    case FileKind::off:
      return write_file_atomically(path, encode_off(surface));
    case FileKind::stl:
      return write_file_atomically(path, binary ? encode_stl_binary(surface) : encode_stl_ascii(surface));
    case FileKind::ply:
      return write_file_atomically(path, binary ? encode_ply_binary(surface) : encode_ply_ascii(surface));
    case FileKind::medit:
      return write_file_atomically(path, encode_medit(surface));
    case FileKind::gmsh:
      return write_file_atomically(path, encode_gmsh(surface, options.gmsh_version, options.encoding));
    case FileKind::gltf:
      return save_glb(surface, path);
    default:
      return cannot_hold(path, "a surface", ".glb, .obj, .ply, .stl, .off, .mesh, .msh");
  }
}

// What both kinds of solid can be written to.
template <class Mesh>
Status save_solid(const Mesh& mesh, const std::filesystem::path& path, const SaveOptions& options,
                  const Error& otherwise) {
  switch (kind_of_extension(path)) {
    case FileKind::veg:
      return write_file_atomically(path, encode_veg(mesh));
    case FileKind::gmsh:
      return write_file_atomically(path, encode_gmsh(mesh, options.gmsh_version, options.encoding));
    case FileKind::medit:
      return write_file_atomically(path, encode_medit(mesh));
    default:
      return otherwise;
  }
}

Status save(const TetMesh& mesh, const std::filesystem::path& path, const SaveOptions& options) {
  const FileKind kind = kind_of_extension(path);
  if (kind == FileKind::tetgen_node || kind == FileKind::tetgen_ele) return save_tetgen(mesh, path);
  return save_solid(mesh, path, options, cannot_hold(path, "a tetrahedral mesh", ".veg, .msh, .mesh, .node, .ele"));
}

Status save(const HexMesh& mesh, const std::filesystem::path& path, const SaveOptions& options) {
  return save_solid(mesh, path, options, cannot_hold(path, "a mesh of bricks", ".veg, .msh, .mesh"));
}

}  // namespace

Result<LoadedMesh> load_mesh(const std::filesystem::path& path) {
  return guarded(path, [&] { return load_any(path); });
}

Status save_mesh(const Surface& surface, const std::filesystem::path& path, const SaveOptions& options) {
  return guarded(path, [&] { return save(surface, path, options); });
}

Status save_mesh(const TetMesh& mesh, const std::filesystem::path& path, const SaveOptions& options) {
  return guarded(path, [&] { return save(mesh, path, options); });
}

Status save_mesh(const HexMesh& mesh, const std::filesystem::path& path, const SaveOptions& options) {
  return guarded(path, [&] { return save(mesh, path, options); });
}

Status save_mesh(const std::variant<Surface, TetMesh, HexMesh>& mesh, const std::filesystem::path& path,
                 const SaveOptions& options) {
  return std::visit([&](const auto& m) { return save_mesh(m, path, options); }, mesh);
}

Status save_mesh(const LoadedMesh& mesh, const std::filesystem::path& path, const SaveOptions& options) {
  return save_mesh(mesh.mesh, path, options);
}

std::vector<std::string> readable_extensions() {
  std::vector<std::string> extensions = writable_extensions();
  extensions.insert(extensions.end(), {".glb", ".gltf"});
  return extensions;
}

std::vector<std::string> writable_extensions() {
  return {".veg", ".msh", ".mesh", ".node", ".ele", ".obj", ".off", ".stl", ".ply"};
}

}  // namespace supple
