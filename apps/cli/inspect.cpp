// SPDX-License-Identifier: Apache-2.0
// supple inspect: what is in the file of a mesh or a character, and how good it is.
#include "asset_report.h"
#include "character_report.h"
#include "command.h"
#include "mesh_report.h"
#include "supple/asset/archive.h"
#include "supple/io/file_kind.h"
#include "supple/io/mesh/mesh_file.h"

#include <memory>

namespace supple::inspect_verb {
namespace {

struct Options {
  std::vector<std::string> files;
};

/// Squares of areas of what is larger are beyond all numbers.
constexpr double farthest = 1e50;

double farthest_coordinate(const LoadedMesh& loaded) {
  double largest = 0;
  std::visit(
      [&](const auto& mesh) {
        for (const Vec3& x : mesh.vertices) largest = std::max(largest, x.cwiseAbs().maxCoeff());
      },
      loaded.mesh);
  return largest;
}

Result<MeshReport> describe_file(const std::string& file) {
  if (is_archive(file)) return describe_asset(file);
  if (kind_of_extension(file) == FileKind::gltf) return describe_character_file(file);
  const Result<LoadedMesh> loaded = load_mesh(file);
  SUPPLE_RETURN_IF_ERROR(loaded);
  if (const double far = farthest_coordinate(*loaded); far > farthest)
    return input_error(fmt::format("a coordinate is {:.3g} m, which is no size of anything; check the unit", far));
  return describe_mesh(*loaded);
}

Status inspect(const Options& options, Session& session) {
  Json reports = Json::array();
  std::optional<Error> last_error;
  std::size_t good = 0;
  for (const std::string& file : options.files) {
    if (session.progress.cancelled()) return failure("cancelled");
    const Result<MeshReport> described = describe_file(file);
    if (described.ok()) {
      if (++good > 1) session.text += "\n";
      session.line("{}", file);
      session.text += described->text;
      Json entry{{"file", file}};
      entry.update(described->json);
      reports.push_back(std::move(entry));
      continue;
    }
    last_error = about(file, described.error());
    if (options.files.size() == 1) break;
    session.exit_code = report(*last_error);
    reports.push_back({{"file", file}, {"error", last_error->message}});
  }
  // Every file's fault has been told already; an error without a word would be told twice.
  if (good == 0 && options.files.size() == 1) return *last_error;
  session.result["files"] = std::move(reports);
  return {};
}

RunCommand add(CLI::App& app) {
  describe(
      app,
      "Shows what is in mesh files: format, counts, sets, materials, size, volume, mass, the quality of\n"
      "the elements (volumes, dihedral angles) and of the surface (watertight, holes, non-manifold edges).\n"
      "For characters (.glb, .gltf): meshes, skins, joints, clips, morph targets, extensions as well.\n"
      "Reads .glb, .gltf, .veg, .msh, .mesh, .node/.ele, .obj, .off, .stl and .ply. Lengths are taken as metres.\n"
      "Assets (.supple) of characters and objects are checked byte by byte; their sizes, materials and frequencies\n"
      "are shown.\n",
      "  supple inspect hero.glb\n"
      "  supple inspect body.veg\n"
      "  supple inspect *.obj --json report.json\n"
      "  supple inspect hero.supple spoon.supple\n");
  const auto options = std::make_shared<Options>();
  app.add_option("FILE", options->files, "Mesh or model files")->required()->type_name("");
  return [options](Session& session) { return inspect(*options, session); };
}

const RegisteredCommand registered{10, "inspect", "Show what is in a mesh or model file and how good it is.", add};

}  // namespace
}  // namespace supple::inspect_verb
