// SPDX-License-Identifier: Apache-2.0
// Trees of domains against the full simulation of the same mesh: an arm of three parts, a tree shaped like a Y, a
// ring that is closed by a constraint, and what more coordinates bring.
#include "bench/domain_truth.h"

#include "samples/domain_scenes.h"
#include "supple/fem/modes.h"
#include "supple/fem/statics.h"
#include "supple/mesh/box.h"
#include "supple/mesh/low_side.h"
#include "supple/pipeline/object/small_motion.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

namespace supple::bench {
namespace {

struct TruthBody {
  const char* name;
  TetMesh mesh;
  std::vector<Index> labels = {}, held = {};
  Vec3 pull;  ///< under which it hangs [m/s²]
  bool loops = false;
};

TruthBody truth_arm() {
  TruthBody arm{.name = "arm", .mesh = make_tet_box(Vec3(0.9, 0.1, 0.12), {18, 2, 2}), .pull = Vec3(0, -3, 0)};
  set_uniform_material(arm.mesh, {.name = "soft", .young = 5e5, .poisson = 0.4, .density = 1000});
  for (const auto& element : arm.mesh.elements) {
    double x = 0;
    for (const Index v : element) x += arm.mesh.vertices[to_size(v)].x() / 4;
    arm.labels.push_back(std::min<Index>(2, static_cast<Index>(x / 0.3)));
  }
  arm.held = vertices_at_zero(arm.mesh.vertices, 0);
  return arm;
}

/// A stem with a shoulder, and two arms that stand on it.
TruthBody truth_y() {
  const samples::CellBox boxes[] = {{{4, 0, 0}, {6, 12, 2}, 0},
                                    {{0, 12, 0}, {10, 14, 2}, 0},
                                    {{0, 14, 0}, {2, 24, 2}, 1},
                                    {{8, 14, 0}, {10, 22, 2}, 2}};
  samples::CellBody<TetMesh> cells = samples::tetrahedra_of(boxes, 0.03);
  TruthBody y{.name = "y", .mesh = cells.mesh, .labels = cells.labels, .pull = Vec3(0, 0, -2)};
  set_uniform_material(y.mesh, {.name = "soft", .young = 1e6, .poisson = 0.35, .density = 700});
  y.held = vertices_at_zero(y.mesh.vertices, 1);
  return y;
}

/// A frame of four beams that stands on one of them: its parts touch in a ring, which is closed at the roof.
TruthBody truth_ring() {
  const samples::CellBox boxes[] = {{{0, 0, 0}, {20, 2, 2}, 0},
                                    {{0, 2, 0}, {2, 14, 2}, 1},
                                    {{18, 2, 0}, {20, 14, 2}, 2},
                                    {{0, 14, 0}, {20, 16, 2}, 3}};
  samples::CellBody<TetMesh> cells = samples::tetrahedra_of(boxes, 0.03);
  TruthBody ring{.name = "ring", .mesh = cells.mesh, .labels = cells.labels, .pull = Vec3(6, 0, 0), .loops = true};
  set_uniform_material(ring.mesh, {.name = "soft", .young = 1e6, .poisson = 0.35, .density = 700});
  for (const Index v : vertices_at_zero(ring.mesh.vertices, 1))
    if (std::abs(ring.mesh.vertices[to_size(v)].x() - 0.3) < 0.13) ring.held.push_back(v);
  return ring;
}

Result<DomainModel> domains_of(const TruthBody& body, int size) {
  SplitSettings settings;
  settings.fixed = body.held;
  settings.size = size;
  settings.close_loops = body.loops;
  const Result<TreePlan> plan = split_mesh(body.mesh, body.labels, settings);
  SUPPLE_RETURN_IF_ERROR(plan);
  Result<DomainBuild> build = build_domains(*plan);
  SUPPLE_RETURN_IF_ERROR(build);
  return std::move(build->model);
}

DomainDynamics dynamics_for(const DomainModel& model, const DomainSettings& settings) {
  return DomainDynamics::create(std::make_shared<const PreparedTree>(prepare_tree(model).value()), settings).value();
}

/// How far the vertex that goes farthest along the pull goes, when all has come to rest.
double sag_of_domains(const DomainModel& model, const Vec3& pull) {
  DomainSettings settings;
  settings.time_step = 0.01;
  settings.gravity = pull;
  settings.stiffness_damping = 0.1;
  DomainDynamics dynamics = dynamics_for(model, settings);
  for (int k = 0; k < 1000; ++k) dynamics.step();
  std::vector<double> xyz(3 * to_size(model.surface.vertex_count()));
  dynamics.update_frames();
  dynamics.surface_positions(xyz);
  const std::vector<Vec3> rest = rest_positions(model);
  double farthest = 0;
  for (std::size_t v = 0; v < rest.size(); ++v)
    farthest = std::max(farthest, (Eigen::Map<const Vec3>(xyz.data() + 3 * v) - rest[v]).dot(pull.normalized()));
  return farthest;
}

Result<double> sag_of_mesh(const TruthBody& truth, const ElasticBody& body) {
  VecX g(body.dof_count());
  for (Eigen::Index v = 0; v < g.size(); v += 3) g.segment<3>(v) = truth.pull;
  const Result<StaticsResult> answer = solve_static(body, truth.held, body.consistent_mass() * g, {});
  SUPPLE_RETURN_IF_ERROR(answer);
  double farthest = 0;
  for (Eigen::Index v = 0; v < g.size(); v += 3)
    farthest = std::max(farthest, answer->u.segment<3>(v).dot(truth.pull.normalized()));
  return farthest;
}

Status add_body(Report& report, const TruthBody& truth, bool quick) {
  const Result<ElasticBody> body = ElasticBody::create(truth.mesh, MaterialModel::stvk);
  SUPPLE_RETURN_IF_ERROR(body);
  const Result<Modes> modes = compute_modes(*body, truth.held, {.count = 3});
  SUPPLE_RETURN_IF_ERROR(modes);
  const Result<double> sag = sag_of_mesh(truth, *body);
  SUPPLE_RETURN_IF_ERROR(sag);
  const Result<DomainModel> model = domains_of(truth, 16);
  SUPPLE_RETURN_IF_ERROR(model);
  const auto add = [&](const std::string& row, const std::string& metric, double value, std::optional<double> target) {
    report.add({.table = "domains/truth", .row = row, .metric = metric, .value = value, .target = target});
  };
  add(truth.name, "sag_ratio", sag_of_domains(*model, truth.pull) / *sag, 1);
  std::vector<double> size, error;
  for (const int r : quick ? std::vector<int>{4, 8, 16} : std::vector<int>{4, 8, 16, 24}) {
    const Result<DomainModel> chain = domains_of(truth, r);
    SUPPLE_RETURN_IF_ERROR(chain);
    DomainDynamics dynamics = dynamics_for(*chain, {});
    const VecX found = small_motion_frequencies(small_motion(dynamics));
    double worst = 0;
    for (Eigen::Index k = 0; k < 3; ++k) worst = std::max(worst, std::abs(found[k] / modes->frequencies[k] - 1));
    if (r == 16)
      for (Eigen::Index k = 0; k < 3; ++k)
        add(truth.name, fmt::format("frequency{}_ratio", k + 1), found[k] / modes->frequencies[k], 1);
    size.push_back(r);
    error.push_back(worst);
    add(truth.name, fmt::format("frequency_error_r{}", r), worst, std::nullopt);
  }
  add(truth.name, "order_in_r", -fitted_exponent(size, error), std::nullopt);
  return {};
}

}  // namespace

void add_domain_truth(Report& report, const Options& options) {
  for (const TruthBody& truth : {truth_arm(), truth_y(), truth_ring()})
    if (const Status added = add_body(report, truth, options.quick); !added.ok())
      report.add({.table = "domains/truth", .row = truth.name, .metric = "sag_ratio", .error = added.error().message});
}

}  // namespace supple::bench
