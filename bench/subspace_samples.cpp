// SPDX-License-Identifier: Apache-2.0
// The four models of the 2005 paper, made by our own code: their sizes (Figure 3), the precomputation of force
// coefficients (Figure 5) and modal derivatives (Figure 8), and what a step costs (Figure 11), beside a full step.
#include "bench/report.h"

#include "samples/subspace_samples.h"
#include "supple/base/parallel.h"
#include "supple/fem/dynamics.h"
#include "supple/offline/forces/cubic_forces.h"
#include "supple/offline/modes/modal_basis.h"
#include "supple/runtime/subspace/subspace_dynamics.h"

#include <fmt/format.h>

#include <chrono>

namespace supple::bench {
namespace {

/// The paper's figures for one model; what it does not tell is empty.
struct Published {
  int linear_modes, r;
  double vertices, triangles, brick_vertices, bricks;           // Figure 3
  double coefficients_s, coefficients_kib;                      // Figure 5
  std::optional<double> modes_s, right_hand_sides_s, solves_s;  // Figure 8; none for the bridge
  double evaluate_us, step_us, displacements_us;                // Figure 11
};

Published published(const std::string& name) {
  if (name == "spoon") return {6, 12, 3321, 6638, 3698, 2005, 60, 98, 24, 6.5, 33, 17.7, 30.2, 565};
  if (name == "bridge") return {8, 15, 41361, 59630, 11829, 5854, 186, 223, {}, {}, {}, 47, 65.4, 14500};
  if (name == "tower") return {20, 30, 45882, 105788, 20713, 11304, 4752, 3072, 65, 226, 1560, 1320, 1395, 25500};
  return {20, 30, 12186, 23616, 28041, 14444, 5844, 3072, 111, 291, 1680, 1320, 1395, 6500};
}

class SceneRows {
 public:
  SceneRows(Report& report, const SubspaceSample& scene)
      : report_(report), scene_(scene), paper_(published(scene.name)) {}

  void run() {
    add_sizes();
    const Result<ElasticBody> body = ElasticBody::create(scene_.bricks, MaterialModel::stvk);
    if (!body.ok()) return add_error("step_us", body.error());
    const Result<ModalBasis> basis =
        build_modal_basis(*body, scene_.fixed_vertices, {.linear_modes = paper_.linear_modes, .size = paper_.r});
    if (!basis.ok()) return add_error("step_us", basis.error());
    add("figure8", "linear_modes_s", basis->modes_seconds, "s", paper_.modes_s);
    add("figure8", "right_hand_sides_s", basis->right_hand_side_seconds, "s", paper_.right_hand_sides_s);
    add("figure8", "solves_s", basis->solve_seconds, "s", paper_.solves_s);
    add("figure8", "largest_residual", basis->largest_residual, "1", {});
    add_runtime(*body, basis->basis);
  }

 private:
  void add(const std::string& figure, const std::string& metric, double value, const std::string& unit,
           std::optional<double> paper) {
    report_.add({.table = "subspace/" + figure,
                 .row = scene_.name,
                 .metric = metric,
                 .value = value,
                 .unit = unit,
                 .paper = paper});
  }
  void add_error(const std::string& metric, const Error& error) {
    report_.add({.table = "subspace/figure11", .row = scene_.name, .metric = metric, .error = error.message});
  }
  void add_sizes() {
    add("figure3", "surface_vertices", static_cast<double>(scene_.surface.vertices.size()), "1", paper_.vertices);
    add("figure3", "surface_triangles", static_cast<double>(scene_.surface.triangles.size()), "1", paper_.triangles);
    add("figure3", "brick_vertices", static_cast<double>(scene_.bricks.vertices.size()), "1", paper_.brick_vertices);
    add("figure3", "bricks", static_cast<double>(scene_.bricks.elements.size()), "1", paper_.bricks);
  }

  void add_runtime(const ElasticBody& body, const MatX& basis) {
    std::optional<Result<SubspaceModel>> model;
    const double coefficients_ms = once_ms([&] { model = build_subspace_model(scene_.bricks, basis); });
    if (!model->ok()) return add_error("step_us", model->error());
    add("figure5", "coefficients_s", coefficients_ms / 1000, "s", paper_.coefficients_s);
    ReducedForces<double> forces(**model);
    add("figure5", "coefficients_kib", static_cast<double>(forces.bytes_read()) / 1024, "KiB", paper_.coefficients_kib);

    const VecX q = VecX::Constant(paper_.r, 1e-3);
    constexpr int rounds = 100;
    add("figure11", "evaluate_us",
        median_ms(15,
                  [&] {
                    for (int k = 0; k < rounds; ++k) forces.evaluate(q.data());
                  }) *
            1000 / rounds,
        "us", paper_.evaluate_us);
    auto dynamics =
        SubspaceDynamics<double>::create(**model, {.time_step = 1e-3, .stiffness_damping = 1e-3, .tolerance = 0})
            .value();
    const std::vector<double> force(to_size(paper_.r), 1.0);
    const double step = median_ms(15,
                                  [&] {
                                    for (int k = 0; k < rounds; ++k) dynamics.step(force);
                                  }) *
                        1000 / rounds;
    add("figure11", "step_us", step, "us", paper_.step_us);
    const MatX shown = scene_.embedding.interpolate(basis);
    VecX displacements;
    add("figure11", "displacements_us", median_ms(15, [&] { displacements.noalias() = shown * q; }) * 1000, "us",
        paper_.displacements_us);
    add_full_step(body, step);
  }

  void add_full_step(const ElasticBody& body, double reduced_us) {
    DynamicsSettings settings{.time_step = 1e-3, .stiffness_damping = 1e-3, .max_newton_iterations = 1};
    auto full = FullDynamics::create(body, scene_.fixed_vertices, settings);
    if (!full.ok()) return add_error("full_step_ms", full.error());
    DynamicsState state = full->rest_state();
    const VecX load = VecX::Constant(body.dof_count(), 1e-3);
    const double full_ms = median_ms(3, [&] { full->step(state, load); });
    add("figure11", "full_step_ms", full_ms, "ms", {});
    add("figure11", "speed_up", 1000 * full_ms / reduced_us, "1", {});
  }

  static double once_ms(const std::function<void()>& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }

  Report& report_;
  const SubspaceSample& scene_;
  Published paper_;
};

}  // namespace

void add_subspace_samples(Report& report, const Options& options) {
  for (const SubspaceSample& scene : make_subspace_samples()) {
    if (options.quick && scene.name != "spoon") continue;
    SceneRows(report, scene).run();
  }
}

}  // namespace supple::bench
