// SPDX-License-Identifier: Apache-2.0
// supple convert: from any mesh format we read to any we write.
#include "command.h"
#include "supple/io/file_kind.h"
#include "supple/io/gltf/gltf_document.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/io/mesh/vtu.h"
#include "supple/mesh/topology.h"

#include <memory>

namespace supple::convert_verb {
namespace {

struct Options {
  std::string from;
  std::string to;
  bool ascii = false;
  bool binary = false;
  bool surface = false;
  std::string gmsh = "4.1";
};

bool holds_surfaces_only(FileKind kind) {
  return kind == FileKind::obj || kind == FileKind::off || kind == FileKind::stl || kind == FileKind::ply ||
         kind == FileKind::gltf;
}

bool is_vtu(const std::filesystem::path& path) { return path.extension() == ".vtu"; }

Status check_target(const std::string& to) {
  const FileKind kind = kind_of_extension(to);
  if (is_vtu(to) || (kind != FileKind::unknown && kind < FileKind::vrm)) return {};
  return usage_error(fmt::format("Can't write {}: its extension must be one of {}, .glb, .vtu", to,
                                 fmt::join(writable_extensions(), ", ")));
}

/// What a solid mesh becomes in the target's format: itself, or its skin.
void take_surface_if_needed(const Options& options, LoadedMesh& loaded, Session& session) {
  if (std::holds_alternative<Surface>(loaded.mesh)) return;
  if (!options.surface && !holds_surfaces_only(kind_of_extension(options.to))) return;
  BoundarySurface skin = std::visit(
      [](const auto& mesh) {
        if constexpr (std::is_same_v<std::decay_t<decltype(mesh)>, Surface>)
          return BoundarySurface{};
        else
          return boundary_surface(mesh);
      },
      loaded.mesh);
  loaded.mesh = std::move(skin.surface);
  session.line("{} is a solid mesh; {} gets its boundary surface.", options.from, options.to);
  session.result["boundary_only"] = true;
}

Status save(const LoadedMesh& loaded, const Options& options) {
  if (is_vtu(options.to)) return std::visit([&](const auto& mesh) { return write_vtu(options.to, mesh); }, loaded.mesh);
  SaveOptions how;
  how.encoding = options.ascii ? Encoding::ascii : Encoding::binary;
  how.gmsh_version = options.gmsh == "2.2" ? GmshVersion::v2_2 : GmshVersion::v4_1;
  return save_mesh(loaded, options.to, how);
}

template <class Mesh>
bool loses_materials(const Mesh& mesh, const std::string& to) {
  if constexpr (std::is_same_v<Mesh, Surface>)
    return false;
  else
    return !mesh.materials.empty() && kind_of_extension(to) != FileKind::veg;
}

std::string contents(const LoadedMesh& loaded) {
  if (const auto* surface = std::get_if<Surface>(&loaded.mesh))
    return fmt::format("{} vertices, {} triangles", surface->vertices.size(), surface->triangles.size());
  if (const auto* tets = std::get_if<TetMesh>(&loaded.mesh))
    return fmt::format("{} vertices, {} tetrahedra", tets->vertices.size(), tets->elements.size());
  const auto& bricks = std::get<HexMesh>(loaded.mesh);
  return fmt::format("{} vertices, {} bricks", bricks.vertices.size(), bricks.elements.size());
}

void fill_result(const LoadedMesh& loaded, Session& session) {
  std::visit(
      [&](const auto& mesh) {
        using Mesh = std::decay_t<decltype(mesh)>;
        session.result["vertices"] = mesh.vertices.size();
        if constexpr (std::is_same_v<Mesh, Surface>)
          session.result["triangles"] = mesh.triangles.size();
        else
          session.result["elements"] = mesh.elements.size();
      },
      loaded.mesh);
}

// A character keeps everything that its file has; only its container changes.
Status convert_document(const Options& options, Session& session) {
  Result<GltfDocument> document = load_gltf(options.from);
  if (!document.ok()) return about(options.from, document.error());
  session.progress.stage("writing");
  const Status saved = save_gltf(*document, options.to);
  if (!saved.ok()) return about(options.to, saved.error());
  const GltfSummary summary = summarize(*document);
  session.warnings = document->warnings();
  session.result = {{"from", options.from},
                    {"to", options.to},
                    {"format", "glTF"},
                    {"vertices", summary.vertices},
                    {"triangles", summary.triangles},
                    {"skins", summary.skins},
                    {"animations", summary.animations}};
  session.line("{}: {}, {}, {}, {}", options.to, counted(summary.meshes, "mesh", "meshes"),
               counted(summary.triangles, "triangle", "triangles"), counted(summary.skins, "skin", "skins"),
               counted(summary.animations, "clip", "clips"));
  return {};
}

Status convert(const Options& options, Session& session) {
  SUPPLE_RETURN_IF_ERROR(check_target(options.to));
  SUPPLE_RETURN_IF_ERROR(check_output(session, options.to, {options.from}));
  session.progress.stage("reading");
  if (kind_of_extension(options.from) == FileKind::gltf && kind_of_extension(options.to) == FileKind::gltf)
    return convert_document(options, session);
  Result<LoadedMesh> loaded = load_mesh(options.from);
  if (!loaded.ok()) return about(options.from, loaded.error());
  session.warnings = loaded->warnings;
  session.result["from"] = options.from;
  session.result["to"] = options.to;
  session.result["format"] = loaded->format;
  take_surface_if_needed(options, *loaded, session);
  if (std::visit([&](const auto& mesh) { return loses_materials(mesh, options.to); }, loaded->mesh))
    session.warnings.push_back(fmt::format("{} can't hold materials; only .veg files do.", options.to));
  if (session.progress.cancelled()) return failure("cancelled");
  session.progress.stage("writing");
  const Status saved = save(*loaded, options);
  if (!saved.ok()) return about(options.to, saved.error());
  fill_result(*loaded, session);
  session.line("{}: {}", options.to, contents(*loaded));
  return {};
}

RunCommand add(CLI::App& app) {
  describe(app,
           "Converts a mesh from any format we read to any we write; the extensions say which. Solid meshes\n"
           "(.veg, .msh, .mesh, .node/.ele) written to a surface format (.obj, .off, .stl, .ply) become their\n"
           "boundary surface. From .gltf or .glb to .glb everything is kept: one file with all textures, data\n"
           "decompressed; to other formats goes the surface at rest. A .vtu file opens in ParaView. A file that exists "
           "is replaced, all or nothing.\n",
           "  supple convert hero.gltf hero.glb\n"
           "  supple convert body.msh body.veg\n"
           "  supple convert body.veg skin.obj\n"
           "  supple convert body.veg body.msh --gmsh 2.2 --ascii\n");
  const auto options = std::make_shared<Options>();
  app.add_option("FROM", options->from, "The file to read")->required()->type_name("");
  app.add_option("TO", options->to, "The file to write")->required()->type_name("");
  CLI::Option* binary = app.add_flag("--binary", options->binary, "Write .msh, .stl and .ply in binary (the default)");
  app.add_flag("--ascii", options->ascii, "Write .msh, .stl and .ply as text")->excludes(binary);
  app.add_option("--gmsh", options->gmsh, "Version of .msh files: 4.1 or 2.2")
      ->check(CLI::IsMember({"4.1", "2.2"}).description(""))
      ->type_name("VERSION")
      ->capture_default_str();
  app.add_flag("--surface", options->surface, "Write the boundary surface of a solid mesh in any format");
  return [options](Session& session) { return convert(*options, session); };
}

const RegisteredCommand registered{20, "convert", "Convert a mesh to another format.", add};

}  // namespace
}  // namespace supple::convert_verb
