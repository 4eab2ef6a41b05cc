// SPDX-License-Identifier: Apache-2.0
// supple modes: the vibration modes of a solid mesh.
#include "supple/fem/modes.h"
#include "command.h"
#include "mesh_options.h"
#include "supple/io/mesh/vertex_selection.h"
#include "supple/io/mesh/vtu.h"
#include "supple/mesh/bounds.h"
#include "supple/pipeline/object/scene_body.h"

#include <memory>

namespace supple::modes_verb {
namespace {

using Solid = std::variant<TetMesh, HexMesh>;

struct Options {
  std::string mesh;
  int count = 20;
  std::vector<std::string> fixed;
  SceneMaterial material;
  std::string vtu;
};

/// In the file, the largest displacement of each mode is this share of the mesh's diagonal.
constexpr double visible_amplitude = 0.1;

Result<std::vector<Index>> fixed_vertices(const Options& options, const Solid& mesh, Session& session) {
  std::vector<Index> fixed;
  Json selections = Json::array();
  for (const std::string& selection : options.fixed) {
    const Result<std::vector<Index>> chosen = select_vertices(selection, vertices_of(mesh));
    if (!chosen.ok()) return about(options.mesh, chosen.error());
    session.line("fixed         {} by {}", counted(chosen->size(), "vertex", "vertices"), selection);
    selections.push_back({{"select", selection}, {"vertices", chosen->size()}});
    fixed.insert(fixed.end(), chosen->begin(), chosen->end());
  }
  std::sort(fixed.begin(), fixed.end());
  fixed.erase(std::unique(fixed.begin(), fixed.end()), fixed.end());
  if (options.fixed.empty()) session.line("fixed         nothing");
  session.result["fixed_selections"] = std::move(selections);
  session.result["fixed_vertices"] = fixed.size();
  return fixed;
}

void describe_material(const Solid& mesh, Session& session) {
  std::visit(
      [&](const auto& m) {
        const ElasticMaterial& first = m.material_of(0);
        if (m.materials.size() > 1)
          session.line("materials     {} (supple inspect lists them)", m.materials.size());
        else
          session.line("material      E {:g} Pa, ν {:g}, ρ {:g} kg/m³{}", first.young, first.poisson, first.density,
                       m.materials.empty() ? " (assumed: the file names none)" : "");
      },
      mesh);
}

Status write_shapes(const Options& options, const Solid& mesh, const Modes& modes) {
  const double size = visible_amplitude * bounds_of(vertices_of(mesh)).diagonal();
  VtuFields fields;
  for (Eigen::Index k = 0; k < modes.shapes.cols(); ++k) {
    const VecX shape = modes.shapes.col(k);
    const double largest =
        Eigen::Map<const Eigen::Matrix3Xd>(shape.data(), 3, shape.size() / 3).colwise().norm().maxCoeff();
    fields.points.push_back(
        vtu_vectors(fmt::format("mode {:03} {:.6g} Hz", k + 1, modes.frequencies[k]), shape * (size / largest)));
  }
  return std::visit([&](const auto& m) { return write_vtu(options.vtu, m, fields); }, mesh);
}

void fill_result(const Modes& modes, Session& session) {
  const auto rigid = modes.rigid.cols();
  if (rigid > 0)
    session.line("rigid modes   {} at 0 Hz, separated (the body can move or turn as a whole)", rigid);
  else
    session.line("rigid modes   none");
  session.line("");
  session.line("  mode   frequency [Hz]   residual");
  Json table = Json::array();
  for (Eigen::Index k = 0; k < modes.frequencies.size(); ++k) {
    session.line("  {:4}   {:14.6g}   {:8.1e}", k + 1, modes.frequencies[k], modes.residuals[k]);
    table.push_back({{"mode", k + 1},
                     {"frequency_hz", modes.frequencies[k]},
                     {"eigenvalue", modes.eigenvalues[k]},
                     {"residual", modes.residuals[k]}});
  }
  session.result["rigid_modes"] = rigid;
  session.result["modes"] = std::move(table);
}

Status modes(const Options& options, Session& session) {
  if (!options.vtu.empty()) SUPPLE_RETURN_IF_ERROR(check_output(session, options.vtu, {options.mesh}));
  session.progress.stage("reading");
  std::vector<std::string> warnings;
  Result<Solid> mesh = load_solid(options.mesh, warnings);
  if (!mesh.ok()) return about(options.mesh, mesh.error());
  session.warnings = std::move(warnings);
  override_materials(*mesh, options.material);
  // All our materials have the same stiffness at rest.
  const Result<ElasticBody> body =
      std::visit([](const auto& m) { return ElasticBody::create(m, MaterialModel::linear); }, *mesh);
  if (!body.ok()) return about(options.mesh, body.error());
  const double mass = body->lumped_mass().sum() / 3;
  session.line("{}", options.mesh);
  session.line("mesh          {} vertices, {} elements, {:.5g} kg", body->vertex_count(), body->element_count(), mass);
  describe_material(*mesh, session);
  session.result["file"] = options.mesh;
  session.result["vertices"] = body->vertex_count();
  session.result["elements"] = body->element_count();
  session.result["mass"] = mass;
  const Result<std::vector<Index>> fixed = fixed_vertices(options, *mesh, session);
  SUPPLE_RETURN_IF_ERROR(fixed);
  const Result<Modes> found = compute_modes(*body, *fixed, {.count = options.count}, session.progress);
  if (!found.ok()) return about(options.mesh, found.error());
  fill_result(*found, session);
  if (options.vtu.empty()) return {};
  const Status written = write_shapes(options, *mesh, *found);
  if (!written.ok()) return about(options.vtu, written.error());
  session.line("\n{} has the shapes as point vectors, at most {:.0f} % of the mesh's diagonal long.", options.vtu,
               100 * visible_amplitude);
  session.result["vtu"] = options.vtu;
  return {};
}

RunCommand add(CLI::App& app) {
  describe(app,
           "Computes the lowest vibration modes of a solid mesh: the smallest f of K x = (2 pi f)^2 M x. Without\n"
           "--fix the body floats; its rigid motions (frequency zero) are separated and don't count as modes.\n"
           "Units are SI: the mesh in metres, frequencies in hertz. The residual |K x - w M x| / (w |M x|), with\n"
           "w = (2 pi f)^2, tells how well each mode solves the equation. --young, --poisson and --density replace\n"
           "the values of all materials in the file.\n",
           "  supple modes beam.veg --fix min-x --modes 10\n"
           "  supple modes beam.veg --fix beam.bou --young 2e11 --poisson 0.3 --density 7850\n"
           "  supple modes body.msh --modes 30 --json modes.json --vtu modes.vtu\n");
  const auto options = std::make_shared<Options>();
  app.add_option("MESH", options->mesh, "A solid mesh: .veg, .msh, .mesh or .node")->required()->type_name("");
  app.add_option("-n,--modes", options->count, "How many modes")
      ->check(positive())
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--fix", options->fixed, std::string("Vertices that can't move; may be repeated:\n") + selection_help)
      ->type_name("SELECT")
      ->allow_extra_args(false);
  add_material_options(app, options->material);
  app.add_option("--vtu", options->vtu, "Write the shapes for ParaView")->type_name("FILE");
  return [options](Session& session) { return modes(*options, session); };
}

const RegisteredCommand registered{30, "modes", "Compute vibration modes of a solid mesh.", add};

}  // namespace
}  // namespace supple::modes_verb
