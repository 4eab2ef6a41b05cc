// SPDX-License-Identifier: Apache-2.0
// Trees of reduced domains (2011 paper): Table 1 with our own scenes at the paper's sizes, time against the number of
// domains, Figure 7 (frequencies against the simulation of the whole mesh), gaps, and conservation laws. One thread.
#include "bench/domain_truth.h"
#include "bench/report.h"

#include "samples/domain_scenes.h"
#include "supple/base/clock.h"
#include "supple/base/parallel.h"
#include "supple/fem/modes.h"
#include "supple/runtime/domains/domain_dynamics.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

namespace supple::bench {
namespace {

struct SceneFigures {
  const char* name;
  double paper_ms, target_ms;
  double paper_minutes;  ///< of precomputation
};
constexpr SceneFigures scenes[] = {{"flower", 6.5, 0.3, 0.6},
                                   {"letters", 1.7, 0.2, 4.3},
                                   {"dragon", 1.6, 0.25, 5.1},
                                   {"station", 4.5, 0.6, 0.8},
                                   {"oak", 29, 4, 1.0}};

void fail(Report& report, const std::string& table, const std::string& row, const std::string& metric,
          const std::string& why) {
  report.add({.table = table, .row = row, .metric = metric, .error = why});
}

WindField gusty() {
  WindField wind;
  wind.velocity = Vec3(4, 0, 1.5);
  wind.gusts = 0.5;
  wind.turbulence = 0.4;
  return wind;
}

void on_all_threads(void*, std::int64_t count, JobBody body, void* context) {
  parallel_for(count, 1, [=](std::int64_t i) { body(context, i); });
}

/// How many times as fast two threads step: the median of turns, so that whoever else uses the machine slows both.
double speedup_of_two(const DomainModel& model, bool quick) {
  DomainDynamics dynamics =
      DomainDynamics::create(std::make_shared<const PreparedTree>(prepare_tree(model).value()), {}).value();
  dynamics.set_wind(gusty());
  for (int k = 0; k < 10; ++k) dynamics.step();
  const int threads = thread_count(),
            steps = std::max(1, (quick ? 2000 : 20000) / static_cast<int>(model.domain_count()));
  set_thread_count(2);
  std::vector<double> ratio;
  for (int turn = 0; turn < 9; ++turn) {
    const auto time = [&](JobLoop loop) {
      dynamics.set_jobs(loop, nullptr);
      const Clock::time_point start = Clock::now();
      for (int k = 0; k < steps; ++k) dynamics.step();
      return seconds_since(start);
    };
    const double one = time(nullptr);
    ratio.push_back(one / time(on_all_threads));
  }
  set_thread_count(threads);
  return median(ratio);
}

/// Median time of a step while the wind blows, after a second of it [ms].
double step_ms(const DomainModel& model, bool quick, SubtreeInertia inertia, bool& sound) {
  DomainSettings settings;
  settings.inertia = inertia;
  const auto tree = std::make_shared<const PreparedTree>(prepare_tree(model).value());
  DomainDynamics dynamics = DomainDynamics::create(tree, settings).value();
  dynamics.set_wind(gusty());
  const int batch = quick ? 5 : 20;
  for (int k = 0; k < (quick ? 20 : 240); ++k) dynamics.step();
  sound = true;
  const double ms = median_ms(quick ? 5 : 15, [&] {
    for (int k = 0; k < batch; ++k) sound &= !dynamics.step().recovered;
  });
  return ms / batch;
}

/// The largest gap between copies of a vertex and the largest strain of an interface, while the wind blows.
void add_gaps(Report& report, const char* name, const DomainModel& model, bool quick) {
  DomainDynamics dynamics =
      DomainDynamics::create(std::make_shared<const PreparedTree>(prepare_tree(model).value()), {}).value();
  dynamics.set_wind(gusty());
  double gap = 0, strain = 0;
  for (int k = 0; k < (quick ? 40 : 240); ++k) {
    dynamics.step();
    if (k % 10 != 0) continue;
    dynamics.update_frames();
    gap = std::max(gap, dynamics.largest_gap());
    for (Index d = 1; d < model.domain_count(); ++d) strain = std::max(strain, dynamics.interface_strain(d));
  }
  const std::vector<Vec3> rest = rest_positions(model);
  Vec3 low = rest[0], high = rest[0];
  for (const Vec3& x : rest) {
    low = low.cwiseMin(x);
    high = high.cwiseMax(x);
  }
  const bool shares =
      to_size(model.surface.vertex_count()) < model.surface.domain.size() || !model.surface.seams.empty();
  if (shares)
    report.add({.table = "domains/gaps",
                .row = name,
                .metric = "gap_percent",
                .value = 100 * gap / (high - low).norm(),
                .unit = "% of the size"});
  else
    fail(report, "domains/gaps", name, "gap_percent", "its parts are meshes of their own, stuck into each other");
  report.add({.table = "domains/gaps", .row = name, .metric = "interface_strain", .value = strain});
}

void add_scene(Report& report, const SceneFigures& figures, const Options& options) {
  const std::string table = "domains/table1";
  const Result<TreePlan> plan = samples::domain_scene(figures.name, options.quick);
  if (!plan.ok()) return fail(report, table, figures.name, "step_ms", plan.error().message);
  const Result<DomainBuild> built = build_domains(*plan);
  if (!built.ok()) return fail(report, table, figures.name, "step_ms", built.error().message);
  const DomainModel& model = built->model;
  double elements = 0;
  for (const Domain& domain : model.domains) elements += built->parts[to_size(domain.part)].elements;
  const auto add = [&](const char* metric, double value, const char* unit) {
    report.add({.table = table, .row = figures.name, .metric = metric, .value = value, .unit = unit});
  };
  add("domains", model.domain_count(), "");
  add("coordinates", model.size(), "");
  add("depth", model.depth(), "");
  add("elements", elements, "");
  report.add({.table = table,
              .row = figures.name,
              .metric = "precompute_s",
              .value = built->seconds,
              .unit = "s",
              .paper = 60 * figures.paper_minutes,
              .target = 60});
  bool sound = true;
  report.add({.table = table,
              .row = figures.name,
              .metric = "step_ms",
              .value = step_ms(model, options.quick, SubtreeInertia::full, sound),
              .unit = "ms",
              .paper = figures.paper_ms,
              .target = figures.target_ms});
  if (!sound) report.add({.table = table, .row = figures.name, .metric = "sound", .error = "a step broke down"});
  add("step_L1_ms", step_ms(model, options.quick, SubtreeInertia::interface, sound), "ms");
  if (model.domain_count() > 1000)
    report.add({.table = table,
                .row = figures.name,
                .metric = "two_threads",
                .value = speedup_of_two(model, options.quick),
                .unit = "times as fast",
                .target = 1.7});
  add_gaps(report, figures.name, model, options.quick);
}

void add_scaling(Report& report, const Options& options) {
  std::vector<double> count, time;
  std::vector<int> sizes = {100, 1000, 10000};
  if (!options.quick) sizes.push_back(100000);
  for (const int leaves : sizes) {
    const Result<DomainBuild> built = build_domains(samples::leafy_plan(leaves));
    if (!built.ok())
      return fail(report, "domains/scaling", fmt::format("{}", leaves), "step_ms", built.error().message);
    bool sound = true;
    const double ms = step_ms(built->model, true, SubtreeInertia::full, sound);
    count.push_back(built->model.domain_count());
    time.push_back(ms);
    report.add({.table = "domains/scaling",
                .row = fmt::format("leaves{}", leaves),
                .metric = "step_ms",
                .value = ms,
                .unit = "ms",
                .target = leaves == 100000 ? std::optional<double>(250) : std::nullopt});
    if (leaves == sizes.back())
      report.add({.table = "domains/scaling",
                  .row = fmt::format("leaves{}", leaves),
                  .metric = "two_threads",
                  .value = speedup_of_two(built->model, options.quick),
                  .unit = "times as fast",
                  .target = 1.7});
  }
  report.add({.table = "domains/scaling",
              .row = "fit",
              .metric = "exponent",
              .value = fitted_exponent(count, time),
              .paper = 1,
              .target = 1});
}

/// The strongest frequency in samples of a motion, between two bounds [Hz].
double strongest_frequency(const std::vector<double>& samples, double h, double low, double high) {
  double mean = 0;
  for (const double x : samples) mean += x / static_cast<double>(samples.size());
  const auto power = [&](double f) {
    double c = 0, s = 0;
    for (std::size_t k = 0; k < samples.size(); ++k) {
      const double t = static_cast<double>(k),
                   window = std::sin(std::numbers::pi * t / static_cast<double>(samples.size()));
      const double angle = 2 * std::numbers::pi * f * h * t;
      c += window * (samples[k] - mean) * std::cos(angle);
      s += window * (samples[k] - mean) * std::sin(angle);
    }
    return c * c + s * s;
  };
  double best = low;
  double strongest = 0;
  for (double f = low; f <= high; f *= 1.002) {
    if (const double p = power(f); p > strongest) {
      strongest = p;
      best = f;
    }
  }
  return best;
}

/// The flower's sway against the simulation of its whole mesh: Figure 7.
void add_accuracy(Report& report, const Options& options) {
  const samples::CellBody<TetMesh> flower = samples::flower_body();
  const Result<ElasticBody> body = ElasticBody::create(flower.mesh, MaterialModel::stvk);
  const std::vector<Index> ground = samples::flower_ground(flower.mesh);
  const Result<Modes> modes = compute_modes(*body, ground, {.count = 3});
  const Result<DomainBuild> built = build_domains(samples::domain_scene("flower", options.quick).value());
  if (!modes.ok() || !built.ok())
    return fail(report, "domains/accuracy", "flower", "frequency_hz", "the flower could not be built");
  const double truth = modes->frequencies[0];
  // The first mode moves the top along a direction: push it so and let go.
  Index top = 0;
  for (std::size_t v = 0; v < flower.mesh.vertices.size(); ++v)
    if (flower.mesh.vertices[v].y() > flower.mesh.vertices[to_size(top)].y()) top = static_cast<Index>(v);
  const Vec3 direction = modes->shapes.col(0).segment<3>(3 * top).normalized();
  report.add({.table = "domains/accuracy", .row = "truth", .metric = "frequency_hz", .value = truth, .unit = "Hz"});
  const auto tree = std::make_shared<const PreparedTree>(prepare_tree(built->model).value());
  struct Variant {
    const char* name;
    SubtreeInertia inertia;
    std::optional<double> paper;
    double target;
  };
  for (const Variant& variant :
       {Variant{"L1", SubtreeInertia::interface, 2.0, 2.0}, Variant{"L2", SubtreeInertia::centre, 1.5, 1.5},
        Variant{"full", SubtreeInertia::full, std::nullopt, 1.1}}) {
    DomainSettings settings;
    settings.time_step = 1 / (200 * truth);
    settings.mass_damping = settings.stiffness_damping = 0;
    settings.gravity = 0.2 * direction;  // small: frequencies of modes are those of small motion
    settings.inertia = variant.inertia;
    DomainDynamics dynamics = DomainDynamics::create(tree, settings).value();
    std::vector<double> sway;
    Index petal = 0;
    while (petal + 1 < built->model.domain_count() && built->model.part_names[to_size(petal)] != "top petal") ++petal;
    for (int k = 0; k < 200 * (options.quick ? 12 : 24); ++k) {
      dynamics.step();
      dynamics.update_frames();
      Mat3 R;
      Vec3 c;
      dynamics.frame(petal, R, c);
      sway.push_back(c.dot(direction));
    }
    report.add({.table = "domains/accuracy",
                .row = variant.name,
                .metric = "frequency_ratio",
                .value = strongest_frequency(sway, settings.time_step, 0.5 * truth, 4 * truth) / truth,
                .paper = variant.paper,
                .target = variant.target});
  }
}

/// The letters fly and turn for a second: what happens to momentum and energy.
void add_momentum(Report& report, const Options& options) {
  const Result<DomainBuild> built = build_domains(samples::domain_scene("letters", true).value());
  if (!built.ok()) return fail(report, "domains/momentum", "letters", "drift", built.error().message);
  const auto tree = std::make_shared<const PreparedTree>(prepare_tree(built->model).value());
  for (const auto& [name, inertia] :
       {std::pair{"L1", SubtreeInertia::interface}, std::pair{"L2", SubtreeInertia::centre},
        std::pair{"full", SubtreeInertia::full}}) {
    DomainSettings settings;
    settings.time_step = 1e-3;
    settings.mass_damping = settings.stiffness_damping = 0;
    settings.gravity = Vec3::Zero();
    settings.inertia = inertia;
    DomainDynamics dynamics = DomainDynamics::create(tree, settings).value();
    RootMotion root = dynamics.root();
    root.velocity = Vec3(1, 2, 0);
    root.angular_velocity = Vec3(0.5, 1.5, 0.3);
    dynamics.set_root(root);
    const DomainMeasures start = dynamics.measure();
    const double seconds = options.quick ? 0.2 : 1.0;
    bool sound = true;
    for (int k = 0; k < seconds / settings.time_step; ++k) sound &= !dynamics.step().recovered;
    const DomainMeasures end = dynamics.measure();
    const auto add = [&](const char* metric, double value, std::optional<double> target) {
      report.add({.table = "domains/momentum",
                  .row = name,
                  .metric = metric,
                  .value = value,
                  .unit = "1/s",
                  .target = target,
                  .error = sound ? "" : "a step broke down"});
    };
    add("linear_drift", (end.momentum - start.momentum).norm() / start.momentum.norm() / seconds, 1e-4);
    add("angular_drift",
        (end.angular_momentum - start.angular_momentum).norm() / start.angular_momentum.norm() / seconds, 1e-4);
    const double before = start.kinetic_energy + start.elastic_energy;
    add("energy_drift", (end.kinetic_energy + end.elastic_energy - before) / before / seconds, std::nullopt);
  }
}

/// The largest energy after the first tenth of the steps since a scene was let go, over the largest in it, less one:
/// what is off in a swing is not counted, what grows is. A free scene flies and turns.
double energy_growth(const DomainModel& model, int steps, bool damped, SubtreeInertia inertia = SubtreeInertia::full) {
  DomainSettings settings;
  settings.inertia = inertia;
  if (!damped) settings.mass_damping = settings.stiffness_damping = 0;
  settings.gravity = Vec3(3, -2.5, 3);
  DomainDynamics dynamics =
      DomainDynamics::create(std::make_shared<const PreparedTree>(prepare_tree(model).value()), settings).value();
  if (!model.anchored()) {
    RootMotion root = dynamics.root();
    root.velocity = Vec3(1, 2, 0);
    root.angular_velocity = Vec3(0.5, 1.5, 0.3);
    dynamics.set_root(root);
  }
  for (int k = 0; k < 48; ++k) dynamics.step();
  dynamics.set_gravity(Vec3::Zero());
  const auto energy = [&] {
    const DomainMeasures now = dynamics.measure();
    return now.kinetic_energy + now.elastic_energy;
  };
  double early = 0, late = 0;
  for (int k = 0; k < steps; ++k) {
    if (dynamics.step().recovered) return std::numeric_limits<double>::infinity();
    double& most = k < steps / 10 ? early : late;
    if (k % 20 == 0) most = std::max(most, energy());
  }
  return late / early - 1;
}

/// Scenes at their small size: a million steps of each take minutes.
void add_energy(Report& report, const Options& options) {
  for (const SceneFigures& scene : scenes) {
    const Result<DomainBuild> built = build_domains(samples::domain_scene(scene.name, true).value());
    if (!built.ok()) {
      fail(report, "domains/energy", scene.name, "growth", built.error().message);
      continue;
    }
    struct Variant {
      const char* metric;
      int steps;
      bool damped;
      SubtreeInertia inertia;
    };
    const int many = options.quick ? 3000 : 1000000, fewer = options.quick ? 3000 : 20000;
    for (const Variant& variant :
         {Variant{"growth", many, true, SubtreeInertia::full},
          Variant{"growth_undamped", options.quick ? 3000 : 200000, false, SubtreeInertia::full},
          Variant{"growth_undamped_L1", fewer, false, SubtreeInertia::interface},
          Variant{"growth_undamped_L2", fewer, false, SubtreeInertia::centre}}) {
      const double growth = energy_growth(built->model, variant.steps, variant.damped, variant.inertia);
      Row row{.table = "domains/energy", .row = scene.name, .metric = variant.metric};
      row.target = 0;
      if (std::isfinite(growth))
        row.value = growth;
      else
        row.error = "a step broke down";
      report.add(row);
    }
  }
}

}  // namespace

Report run_domains(const Options& options) {
  Report report;
  for (const SceneFigures& scene : scenes)
    if (options.wants(scene.name)) add_scene(report, scene, options);
  if (options.wants("accuracy")) add_accuracy(report, options);
  if (options.wants("sway")) add_domain_sway(report, options);
  if (options.wants("truth")) add_domain_truth(report, options);
  if (options.wants("momentum")) add_momentum(report, options);
  if (options.wants("energy")) add_energy(report, options);
  if (options.wants("scaling")) add_scaling(report, options);
  return report;
}

}  // namespace supple::bench
