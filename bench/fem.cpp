// SPDX-License-Identifier: Apache-2.0
// The finite-element core: assembly and one implicit step on a cube of 16k tetrahedra, vibration modes, and how time
// and memory grow from a thousand to a million tetrahedra. Peer figures: Vega FEM 4 on the same kind of machine.
#include "bench/report.h"

#include "supple/base/parallel.h"
#include "supple/fem/dynamics.h"
#include "supple/fem/loads.h"
#include "supple/fem/modes.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/mesh/box.h"

#include <fmt/format.h>

#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <cmath>

namespace supple::bench {
namespace {

TetMesh cube(int cells) {
  constexpr double edge = 0.28;
  TetMesh mesh = make_tet_box(Vec3(edge, edge, edge), {cells, cells, cells});
  set_uniform_material(mesh, {.name = "flesh", .young = 1e5, .poisson = 0.45, .density = 1000});
  return mesh;
}

/// The bottom face, y = 0.
std::vector<Index> bottom(const std::vector<Vec3>& vertices) {
  std::vector<Index> result;
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    if (vertices[v].y() < 1e-9) result.push_back(static_cast<Index>(v));
  }
  return result;
}

/// Displacements of a few per cent, the same every time.
VecX some_displacement(const ElasticBody& body) {
  VecX u(body.dof_count());
  for (Eigen::Index k = 0; k < u.size(); ++k) u[k] = 1e-3 * std::sin(0.37 * static_cast<double>(k));
  return u;
}

void bench_assembly(Report& report, const Options& options) {
  const TetMesh mesh = cube(14);
  for (const auto model : {MaterialModel::stvk, MaterialModel::linear, MaterialModel::corotational,
                           MaterialModel::neo_hookean, MaterialModel::stable_neo_hookean}) {
    const ElasticBody body = ElasticBody::create(mesh, model).value();
    const VecX u = some_displacement(body);
    VecX f;
    BlockMatrix K = body.make_matrix();
    const double time = median_ms(options.quick ? 11 : 51, [&] { body.internal_force_and_stiffness(u, f, K); });
    const std::string row = model == MaterialModel::stvk ? "cube16k" : fmt::format("cube16k/{}", to_string(model));
    report.add({.table = "fem/step",
                .row = row,
                .metric = "assembly_ms",
                .value = time,
                .unit = "ms",
                .peer = 23,
                .target = 12});
  }
}

DynamicsSettings step_settings(LinearMethod method) {
  DynamicsSettings settings;
  settings.time_step = 1.0 / 60;
  settings.stiffness_damping = 0.01;
  settings.max_newton_iterations = 1;
  settings.linear.method = method;
  settings.linear.cg_tolerance = 1e-6;  // the peer's
  return settings;
}

/// The state after `steps` steps from rest under gravity, held at the bottom.
DynamicsState fall(FullDynamics& dynamics, const VecX& gravity, int steps) {
  DynamicsState state = dynamics.rest_state();
  if (!dynamics.initialize(state, gravity).ok()) return state;
  for (int k = 0; k < steps; ++k) dynamics.step(state, gravity);
  return state;
}

void bench_step(Report& report, const Options& options) {
  const TetMesh mesh = cube(14);
  const std::vector<Index> fixed = bottom(mesh.vertices);
  const ElasticBody body = ElasticBody::create(mesh, MaterialModel::stvk).value();
  const VecX gravity = gravity_force(body, Vec3(0, -9.81, 0));
  FullDynamics direct = FullDynamics::create(body, fixed, step_settings(LinearMethod::direct)).value();
  FullDynamics iterative = FullDynamics::create(body, fixed, step_settings(LinearMethod::conjugate_gradients)).value();

  const auto step_time = [&](FullDynamics& dynamics) {
    DynamicsState state = fall(dynamics, gravity, 3);
    return median_ms(options.quick ? 7 : 25, [&] { dynamics.step(state, gravity); });
  };
  const double direct_ms = step_time(direct);
  const double iterative_ms = step_time(iterative);
  const auto row = [&](const std::string& name, double time) {
    report.add(
        {.table = "fem/step", .row = name, .metric = "step_ms", .value = time, .unit = "ms", .peer = 91, .target = 60});
  };
  row("cube16k", std::min(direct_ms, iterative_ms));
  row("cube16k/direct", direct_ms);
  row("cube16k/conjugate_gradients", iterative_ms);

  // How far the iterative steps are from direct ones, and one Newton iteration from a converged step.
  const int steps = options.quick ? 5 : 20;
  const DynamicsState reference = fall(direct, gravity, steps);
  const double size = reference.u.norm();
  report.add({.table = "fem/step",
              .row = "cube16k/conjugate_gradients",
              .metric = "error_vs_direct",
              .value = (fall(iterative, gravity, steps).u - reference.u).norm() / size,
              .unit = "1"});
  DynamicsSettings converged = step_settings(LinearMethod::direct);
  converged.max_newton_iterations = 20;
  FullDynamics full = FullDynamics::create(body, fixed, converged).value();
  report.add({.table = "fem/step",
              .row = "cube16k",
              .metric = "error_vs_converged_newton",
              .value = (fall(full, gravity, steps).u - reference.u).norm() / size,
              .unit = "1"});
}

void bench_modes(Report& report, const Options& options) {
  const TetMesh mesh = cube(15);
  const ElasticBody body = ElasticBody::create(mesh, MaterialModel::stvk).value();
  for (const bool anchored : {true, false}) {
    const std::vector<Index> fixed = anchored ? bottom(mesh.vertices) : std::vector<Index>{};
    std::optional<Result<Modes>> modes;
    const double time = median_ms(options.quick ? 1 : 3, [&] { modes = compute_modes(body, fixed); });
    const std::string row = anchored ? "cube12k_anchored" : "cube12k_free";
    Row result{.table = "fem/modes", .row = row, .metric = "modes20_s", .unit = "s", .target = 3};
    if (!modes->ok()) {
      result.error = modes->error().message;
      report.add(result);
      continue;
    }
    result.value = time / 1000;
    report.add(result);
    report.add({.table = "fem/modes",
                .row = row,
                .metric = "largest_residual",
                .value = (*modes)->residuals.maxCoeff(),
                .unit = "1"});
  }
}

struct ScalePoint {
  double tets, assembly_ms, memory;
};

/// Bytes that the program holds on its heap.
double heap_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

/// One size, in a process of its own; the mesh is built by code. Memory is what the mesh, the body and one stiffness
/// matrix hold.
Result<ScalePoint> measure_scale(int cells, int repetitions) {
  const auto child = run_in_child([&] {
    const double before = heap_bytes();
    const TetMesh mesh = cube(cells);
    const ElasticBody body = ElasticBody::create(mesh, MaterialModel::stvk).value();
    const VecX u = some_displacement(body);
    VecX f;
    BlockMatrix K = body.make_matrix();
    const double time = median_ms(repetitions, [&] { body.internal_force_and_stiffness(u, f, K); });
    return std::vector<double>{static_cast<double>(mesh.elements.size()), time, heap_bytes() - before};
  });
  SUPPLE_RETURN_IF_ERROR(child);
  return ScalePoint{child->values[0], child->values[1], child->values[2]};
}

void bench_scale(Report& report, const Options& options) {
  std::vector<double> tets, times, memory;
  const std::vector<int> sizes = options.quick ? std::vector<int>{6, 12, 25} : std::vector<int>{6, 12, 25, 40, 55};
  for (const int cells : sizes) {
    const double count = 6.0 * cells * cells * cells;
    const auto point = measure_scale(cells, std::clamp(static_cast<int>(2e6 / count), 3, 101));
    Row row{.table = "fem/scale",
            .row = fmt::format("tets{:.0f}k", std::max(1.0, count / 1000)),
            .metric = "assembly_ms",
            .unit = "ms"};
    if (!point.ok()) {
      row.error = point.error().message;
      report.add(row);
      continue;
    }
    row.value = point->assembly_ms;
    report.add(row);
    row.metric = "memory_mib", row.unit = "MiB", row.value = point->memory / (1 << 20);
    report.add(row);
    tets.push_back(point->tets);
    times.push_back(point->assembly_ms);
    memory.push_back(point->memory);
  }
  report.add({.table = "fem/scale",
              .row = "fit",
              .metric = "assembly_exponent",
              .value = fitted_exponent(tets, times),
              .unit = "1",
              .target = 1});
  report.add({.table = "fem/scale",
              .row = "fit",
              .metric = "memory_exponent",
              .value = fitted_exponent(tets, memory),
              .unit = "1",
              .target = 1});
}

/// A million tetrahedra from a file to the end of one implicit step with conjugate gradients.
std::vector<double> million_step(const std::filesystem::path& file) {
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  const double start = now();
  auto loaded = load_mesh(file);
  if (!loaded.ok()) _Exit(1);
  TetMesh& mesh = std::get<TetMesh>(loaded->mesh);
  set_uniform_material(mesh, {.name = "flesh", .young = 1e5, .poisson = 0.45, .density = 1000});
  const double loaded_at = now();
  const ElasticBody body = ElasticBody::create(mesh, MaterialModel::stvk).value();
  const std::vector<Index> fixed = bottom(mesh.vertices);
  *loaded = {};
  FullDynamics dynamics = FullDynamics::create(body, fixed, step_settings(LinearMethod::conjugate_gradients)).value();
  const double built_at = now();
  DynamicsState state = dynamics.rest_state();
  const StepReport step = dynamics.step(state, gravity_force(body, Vec3(0, -9.81, 0)));
  return {loaded_at - start, built_at - loaded_at, now() - built_at, step.converged ? 1.0 : 0.0,
          static_cast<double>(step.linear_iterations)};
}

void bench_million(Report& report, const Options& options) {
  const int cells = options.quick ? 25 : 55;  // 6 · 55³ = 998,250
  const std::string name = options.quick ? "tets94k" : "tets1M";
  const auto file = std::filesystem::temp_directory_path() / fmt::format("supple_bench_{}.msh", getpid());
  const auto saved = save_mesh(cube(cells), file);
  const auto child = saved.ok() ? run_in_child([&] { return million_step(file); }) : Result<ChildResult>(saved.error());
  std::error_code ignored;
  std::filesystem::remove(file, ignored);
  const auto row = [&](const std::string& metric, std::size_t entry, const std::string& unit) {
    Row result{.table = "fem/million", .row = name, .metric = metric, .unit = unit};
    if (child.ok())
      result.value = child->values[entry];
    else
      result.error = child.error().message;
    report.add(result);
  };
  row("load_s", 0, "s");
  row("build_s", 1, "s");
  row("cg_step_s", 2, "s");
  row("cg_iterations", 4, "1");
  Row memory{.table = "fem/million", .row = name, .metric = "peak_memory_gib", .unit = "GiB", .target = 4};
  if (child.ok())
    memory.value = child->peak_memory / (1 << 30);
  else
    memory.error = child.error().message;
  report.add(memory);
}

}  // namespace

Report run_fem(const Options& options) {
  Report report;
  bench_assembly(report, options);
  bench_step(report, options);
  bench_modes(report, options);
  bench_scale(report, options);
  bench_million(report, options);
  return report;
}

}  // namespace supple::bench
