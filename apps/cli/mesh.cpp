// SPDX-License-Identifier: Apache-2.0
// supple mesh: a body of tetrahedra from any surface.
#include "command.h"
#include "supple/io/file_kind.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/io/mesh/vtu.h"
#include "supple/offline/meshing/tetrahedralize.h"

#include <cmath>
#include <filesystem>
#include <memory>

namespace supple::mesh_verb {
namespace {

struct Options {
  std::string from;
  std::string to;
  bool fuse = false;
  TetMeshingOptions meshing;
};

bool is_vtu(const std::filesystem::path& path) { return path.extension() == ".vtu"; }

Status check_target(const std::string& to) {
  const FileKind kind = kind_of_extension(to);
  const bool solid = kind == FileKind::veg || kind == FileKind::gmsh || kind == FileKind::medit ||
                     kind == FileKind::tetgen_node || kind == FileKind::tetgen_ele;
  if (solid || is_vtu(to)) return {};
  return usage_error(
      fmt::format("Can't write tetrahedra to {}: its extension must be .veg, .msh, .mesh, .node or .vtu", to));
}

Result<Surface> load_surface(const std::string& path, Session& session) {
  Result<LoadedMesh> loaded = load_mesh(path);
  if (!loaded.ok()) return about(path, loaded.error());
  session.warnings = loaded->warnings;
  auto* surface = std::get_if<Surface>(&loaded->mesh);
  if (surface == nullptr)
    return usage_error(fmt::format(
        "{} is a solid mesh already; to mesh it anew, take its skin first: supple convert {} skin.obj", path, path));
  return std::move(*surface);
}

Json distance_json(const SampledDistance& distance) { return {{"mean", distance.mean}, {"max", distance.max}}; }

void fill_result(const TetMeshingResult& made, Session& session) {
  const TetMeshingReport& report = made.report;
  session.result["vertices"] = made.mesh.vertices.size();
  session.result["elements"] = made.mesh.elements.size();
  session.result["volume"] = report.volume;
  session.result["min_dihedral"] = report.min_dihedral;
  session.result["max_dihedral"] = report.max_dihedral;
  session.result["spacing"] = report.cube;
  session.result["diagonal"] = report.diagonal;
  session.result["skin_to_input"] = distance_json(report.skin_to_input);
  session.result["input_to_skin"] = distance_json(report.input_to_skin);
  session.result["relative_distance"] = report.relative_distance();
  session.result["input_pieces"] = report.input_pieces;
  session.result["pieces"] = report.pieces;
  session.result["specks"] = report.specks;
  session.result["thin_vertices"] = report.thin_nodes;
  session.result["dropped_triangles"] = report.dropped_triangles;
  session.result["turned_triangles"] = report.turned_triangles;
}

void describe_result(const Options& options, const TetMeshingResult& made, Session& session) {
  const TetMeshingReport& report = made.report;
  const double percent = 100 / report.diagonal;
  session.line("{}", options.to);
  session.line("mesh          {} vertices, {} tetrahedra, {}", made.mesh.vertices.size(), made.mesh.elements.size(),
               counted(to_size(report.pieces), "piece", "pieces"));
  session.line("angles        dihedral {:.1f} to {:.1f} degrees", report.min_dihedral, report.max_dihedral);
  session.line("volume        {:.5g}", report.volume);
  session.line("spacing       {:.4g}, which is {:.2f} % of the input's diagonal", report.cube, percent * report.cube);
  session.line("distance      skin to input   mean {:.3f} %, max {:.3f} % of the diagonal",
               percent * report.skin_to_input.mean, percent * report.skin_to_input.max);
  session.line("              input to skin   mean {:.3f} %, max {:.3f} %", percent * report.input_to_skin.mean,
               percent * report.input_to_skin.max);
  if (report.thin_nodes > 0)
    session.line("thin parts    {} stand for flesh thinner than a cell, and are fatter than it",
                 counted(to_size(report.thin_nodes), "vertex", "vertices"));
  if (report.dropped_triangles + report.turned_triangles > 0)
    session.line("repaired      {} flat or repeated triangles left out, {} turned", report.dropped_triangles,
                 report.turned_triangles);
}

void warn(const Options& options, const TetMeshingResult& made, Session& session) {
  const auto tets = static_cast<double>(made.mesh.elements.size());
  if (std::abs(tets / options.meshing.tets - 1) > 0.15)
    session.warnings.push_back(
        fmt::format("{} tetrahedra came out, not the {} asked for: the shape has {} and each needs some.",
                    made.mesh.elements.size(), options.meshing.tets,
                    counted(to_size(made.report.input_pieces), "piece", "pieces")));
  if (made.report.specks > 0)
    session.warnings.push_back(
        fmt::format("{} of the input {} smaller than a cell and came out fatter; ask for more tetrahedra, or leave {} "
                    "out of the file.",
                    counted(to_size(made.report.specks), "piece", "pieces"), made.report.specks == 1 ? "is" : "are",
                    made.report.specks == 1 ? "it" : "them"));
}

Status mesh(Options options, Session& session) {
  SUPPLE_RETURN_IF_ERROR(check_target(options.to));
  SUPPLE_RETURN_IF_ERROR(check_output(session, options.to, {options.from}));
  session.progress.stage("reading");
  const Result<Surface> surface = load_surface(options.from, session);
  SUPPLE_RETURN_IF_ERROR(surface);
  options.meshing.keep_separate = !options.fuse;
  const Result<TetMeshingResult> made = tetrahedralize(*surface, options.meshing, session.progress);
  if (!made.ok()) return about(options.from, made.error());
  session.progress.stage("writing");
  const Status saved = is_vtu(options.to) ? write_vtu(options.to, made->mesh) : save_mesh(made->mesh, options.to);
  if (!saved.ok()) return about(options.to, saved.error());
  session.result["from"] = options.from;
  session.result["to"] = options.to;
  fill_result(*made, session);
  describe_result(options, *made, session);
  warn(options, *made, session);
  return {};
}

RunCommand add(CLI::App& app) {
  describe(app,
           "Fills any surface with tetrahedra: open, overlapping, flipped and broken ones too. What comes out is\n"
           "watertight, has no inverted elements and no dihedral angle below 10 degrees. Parts thinner than a cell\n"
           "are kept, a little fatter; parts that only come near each other stay apart; holes are closed and open\n"
           "sheets become shells. How far the skin is from the input, either way, is measured and told.\n",
           "  supple mesh hero.obj -o hero.veg\n"
           "  supple mesh hero.ply -o hero.msh --tets 100000 --graded\n"
           "  supple mesh hero.stl -o hero.vtu --tets 2000 --json report.json\n");
  const auto options = std::make_shared<Options>();
  app.add_option("IN", options->from, "A surface: .obj, .off, .stl, .ply, .glb or .gltf (at rest)")
      ->required()
      ->type_name("");
  app.add_option("-o,--output", options->to, "The solid mesh: .veg, .msh, .mesh, .node or .vtu")
      ->required()
      ->type_name("OUT");
  app.add_option("--tets", options->meshing.tets, "About how many tetrahedra")
      ->check(between(1, TetMeshingOptions::max_tets))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--graded", options->meshing.graded,
               "Let cells grow towards the inside: a finer skin from as many tetrahedra");
  app.add_flag("--fuse", options->fuse, "Let parts that share a cell grow together");
  return [options](Session& session) { return mesh(*options, session); };
}

const RegisteredCommand registered{25, "mesh", "Fill any surface with tetrahedra.", add};

}  // namespace
}  // namespace supple::mesh_verb
