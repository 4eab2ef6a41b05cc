// SPDX-License-Identifier: Apache-2.0
// Figure 7 of the 2011 paper: the flower is let go with the velocity of its first mode, so fast that its stem bends by
// some 45 degrees, and swings as its whole mesh does and as trees of domains do whose subtrees are felt in three ways.
#include "bench/domain_truth.h"

#include "samples/domain_scenes.h"
#include "supple/fem/dynamics.h"
#include "supple/fem/modes.h"
#include "supple/math/dense/decompositions.h"
#include "supple/pipeline/object/small_motion.h"

#include <cmath>
#include <memory>
#include <numbers>

namespace supple::bench {
namespace {

/// What both swing from: the top of the bloom goes `fast` [m/s] along `direction`.
struct Swing {
  TetMesh mesh;
  std::vector<Index> ground;
  VecX velocity;  ///< of all vertices
  Index top = 0;
  Vec3 direction;
  double frequency = 0, fast = 0;
  double time_step = 0;
  int steps = 0;
};

constexpr double reach = 0.15;  // how far the top would go if it swung as the mode does [m]

Result<Swing> first_swing(bool quick) {
  Swing swing;
  swing.mesh = samples::flower_body().mesh;
  swing.ground = samples::flower_ground(swing.mesh);
  const Result<ElasticBody> body = ElasticBody::create(swing.mesh, MaterialModel::stvk);
  SUPPLE_RETURN_IF_ERROR(body);
  const Result<Modes> modes = compute_modes(*body, swing.ground, {.count = 1});
  SUPPLE_RETURN_IF_ERROR(modes);
  for (std::size_t v = 0; v < swing.mesh.vertices.size(); ++v)
    if (swing.mesh.vertices[v].y() > swing.mesh.vertices[to_size(swing.top)].y()) swing.top = static_cast<Index>(v);
  const Vec3 at_top = modes->shapes.col(0).segment<3>(3 * swing.top);
  swing.direction = at_top.normalized();
  swing.frequency = modes->frequencies[0];
  swing.fast = reach * 2 * std::numbers::pi * swing.frequency;
  swing.velocity = modes->shapes.col(0) * (swing.fast / at_top.norm());
  swing.time_step = 1 / (100 * swing.frequency);
  swing.steps = quick ? 120 : 300;
  return swing;
}

/// How far the top is along the direction, at every step.
Result<std::vector<double>> sway_of_mesh(const Swing& swing) {
  const Result<ElasticBody> body = ElasticBody::create(swing.mesh, MaterialModel::stvk);
  SUPPLE_RETURN_IF_ERROR(body);
  DynamicsSettings settings;
  settings.time_step = swing.time_step;
  Result<FullDynamics> dynamics = FullDynamics::create(*body, swing.ground, settings);
  SUPPLE_RETURN_IF_ERROR(dynamics);
  DynamicsState state = dynamics->rest_state();
  state.v = swing.velocity;
  const VecX none = VecX::Zero(state.u.size());
  SUPPLE_RETURN_IF_ERROR(dynamics->initialize(state, none));
  std::vector<double> sway;
  for (int k = 0; k <= swing.steps; ++k) {
    sway.push_back(state.u.segment<3>(3 * swing.top).dot(swing.direction));
    if (!dynamics->step(state, none).converged) return failure("a step of the whole mesh did not converge");
  }
  return sway;
}

class TreeSway {
 public:
  TreeSway(const DomainModel& model, const Swing& swing)
      : model_(model), swing_(swing), tree_(std::make_shared<const PreparedTree>(prepare_tree(model).value())) {
    const std::vector<Vec3> rest = rest_positions(model);
    const Vec3 place = swing.mesh.vertices[to_size(swing.top)];
    for (std::size_t v = 0; v < rest.size(); ++v)
      if ((rest[v] - place).norm() < (rest[top_] - place).norm()) top_ = v;
    rest_ = rest[top_];
    DomainDynamics dynamics = DomainDynamics::create(tree_, {}).value();
    const SmallMotion motion = small_motion(dynamics);
    shape_ = generalized_eigen(motion.stiffness, motion.mass).vectors.col(0);
  }

  /// Empty where a step broke down.
  std::vector<double> sway(SubtreeInertia inertia) {
    DomainSettings settings;
    settings.time_step = swing_.time_step;
    settings.mass_damping = settings.stiffness_damping = 0;
    settings.gravity = Vec3::Zero();
    settings.inertia = inertia;
    settings.iterations = 4;
    DomainDynamics dynamics = DomainDynamics::create(tree_, settings).value();
    constexpr double little = 1e-4;
    std::copy_n((little * shape_).eval().data(), shape_.size(), dynamics.coordinates().begin());
    const double along = at(dynamics) / little;
    dynamics.reset();
    std::copy_n((swing_.fast / along * shape_).eval().data(), shape_.size(), dynamics.velocities().begin());
    dynamics.initialize();
    std::vector<double> found;
    for (int k = 0; k <= swing_.steps; ++k) {
      found.push_back(at(dynamics));
      if (dynamics.step().recovered) return {};
    }
    return found;
  }

 private:
  double at(DomainDynamics& dynamics) {
    std::vector<double> xyz(3 * to_size(model_.surface.vertex_count()));
    dynamics.update_frames();
    dynamics.surface_positions(xyz);
    return (Eigen::Map<const Vec3>(xyz.data() + 3 * top_) - rest_).dot(swing_.direction);
  }

  const DomainModel& model_;
  const Swing& swing_;
  std::shared_ptr<const PreparedTree> tree_;
  std::size_t top_ = 0;
  Vec3 rest_;
  VecX shape_;
};

/// Steps until it is back at the middle for the first time: half a period. None: it doesn't come back.
std::optional<double> half_period(const std::vector<double>& sway) {
  for (std::size_t k = 2; k < sway.size(); ++k)
    if (sway[k] <= 0 && sway[k - 1] > 0) return static_cast<double>(k - 1) + sway[k - 1] / (sway[k - 1] - sway[k]);
  return {};
}

PlotSeries curve(const char* name, const std::vector<double>& sway, double h) {
  PlotSeries series{name, {}, sway};
  for (std::size_t k = 0; k < sway.size(); ++k) series.x.push_back(h * static_cast<double>(k));
  return series;
}

Status add_swing(Report& report, bool quick) {
  const Result<Swing> swing = first_swing(quick);
  SUPPLE_RETURN_IF_ERROR(swing);
  const Result<std::vector<double>> truth = sway_of_mesh(*swing);
  SUPPLE_RETURN_IF_ERROR(truth);
  const Result<TreePlan> plan = samples::domain_scene("flower", quick);
  SUPPLE_RETURN_IF_ERROR(plan);
  const Result<DomainBuild> built = build_domains(*plan);
  SUPPLE_RETURN_IF_ERROR(built);
  const std::optional<double> half = half_period(*truth);
  if (!half) return failure("the whole mesh doesn't swing back");
  TreeSway tree(built->model, *swing);
  PlotPanel panel{
      "time [s]", "top of the bloom along its first mode [m]", {curve("whole mesh", *truth, swing->time_step)}};
  report.add({.table = "domains/sway",
              .row = "truth",
              .metric = "largest_m",
              .value = *std::max_element(truth->begin(), truth->end()),
              .unit = "m"});
  for (const auto& [name, inertia, paper] : {std::tuple{"L1", SubtreeInertia::interface, std::optional<double>(2.0)},
                                             std::tuple{"L2", SubtreeInertia::centre, std::optional<double>(1.5)},
                                             std::tuple{"full", SubtreeInertia::full, std::optional<double>()}}) {
    const std::vector<double> sway = tree.sway(inertia);
    const std::optional<double> own = half_period(sway);
    Row row{.table = "domains/sway", .row = name, .metric = "frequency_ratio", .paper = paper};
    row.target = inertia == SubtreeInertia::full ? 1.1 : inertia == SubtreeInertia::centre ? 1.5 : 2.0;
    if (own)
      row.value = *half / *own;
    else
      row.error = sway.empty() ? "a step broke down" : "it doesn't swing back";
    report.add(row);
    if (sway.empty()) continue;
    double off = 0, size = 0;
    for (std::size_t k = 0; k < sway.size(); ++k) {
      off += std::pow(sway[k] - (*truth)[k], 2);
      size += std::pow((*truth)[k], 2);
    }
    report.add({.table = "domains/sway", .row = name, .metric = "error", .value = std::sqrt(off / size)});
    panel.series.push_back(curve(name, sway, swing->time_step));
  }
  report.add_plot("domains_flower_sway",
                  {.title = "A flower swings: its whole mesh, and its twelve domains", .panels = {std::move(panel)}});
  return {};
}

}  // namespace

void add_domain_sway(Report& report, const Options& options) {
  if (const Status added = add_swing(report, options.quick); !added.ok())
    report.add({.table = "domains/sway", .row = "flower", .metric = "frequency_ratio", .error = added.error().message});
}

}  // namespace supple::bench
