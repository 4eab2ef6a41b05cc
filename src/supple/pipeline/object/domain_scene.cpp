// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/domain_scene.h"

#include <fmt/format.h>

#include "supple/asset/asset_file.h"
#include "supple/base/clock.h"
#include "supple/io/file.h"
#include "supple/io/file_transaction.h"
#include "supple/io/mesh/obj.h"
#include "supple/io/mesh/vertex_selection.h"
#include "supple/io/motion/pc2.h"
#include "supple/offline/domains/branch_labels.h"
#include "supple/offline/domains/neck_labels.h"
#include "supple/offline/domains/split_mesh.h"
#include "supple/pipeline/object/base_motion.h"
#include "supple/pipeline/object/cache_surface.h"
#include "supple/pipeline/object/scene_output.h"
#include "supple/runtime/domains/domain_dynamics.h"

#include <algorithm>

namespace supple {
namespace {

// ---- building -------------------------------------------------------------------------------------------------------

/// The domain of each element, and what domains are called.
struct SceneLabels {
  std::vector<Index> label;
  std::vector<std::string> names;
};

/// As [[domain]] has them; later ones win.
Result<SceneLabels> labels_by_hand(const Scene& scene, const SceneBody& body) {
  SceneLabels out;
  out.label.assign(body.element_count(), -1);
  for (const SceneDomain& domain : scene.domains.parts) {
    const auto number = static_cast<Index>(out.names.size());
    const Result<std::vector<Index>> elements =
        elements_of(domain.elements, scene, body.mesh, body.surface ? &*body.surface : nullptr);
    if (!elements.ok()) return in_scene(scene, fmt::format("[[domain]] \"{}\"", domain.name), elements.error());
    for (const Index e : *elements) out.label[to_size(e)] = number;
    out.names.push_back(domain.name);
  }
  const auto left = std::count(out.label.begin(), out.label.end(), -1);
  if (left > 0)
    return in_scene(scene, "[[domain]]",
                    input_error(fmt::format("{} of {} elements belong to no domain; let the first [[domain]] have "
                                            "select = \"all\", and the others take their parts from it",
                                            left, out.label.size())));
  return out;
}

/// As the body's shape has them.
Result<SceneLabels> labels_by_shape(const Scene& scene, const SceneBody& body) {
  if (!scene.domains.parts.empty())
    return in_scene(scene, "[domains]",
                    input_error("\"cut\" finds domains by itself; leave [[domain]] out, or \"cut\""));
  SceneLabels out;
  if (scene.domains.cut == SceneCut::branches)
    out.label = std::visit([&](const auto& mesh) { return label_branches(mesh, body.fixed).label; }, body.mesh);
  else
    out.label =
        std::visit([&](const auto& m) { return label_necks(m, {.narrow = scene.domains.narrow}).label; }, body.mesh);
  const Index count = *std::max_element(out.label.begin(), out.label.end()) + 1;
  for (Index d = 0; d < count; ++d) out.names.push_back(fmt::format("part {}", d + 1));
  return out;
}

/// Joins what touches in a loop, and tells which domains these were.
void merge_domains(const SceneBody& body, SplitSettings& settings, SceneLabels& labels,
                   std::vector<std::string>& warnings) {
  MergedLabels merged =
      std::visit([&](const auto& mesh) { return merge_loops(mesh, labels.label, settings); }, body.mesh);
  for (const std::string& names : merged.merged)
    warnings.push_back(fmt::format("the domains {} touch in a loop or are held together, and became one", names));
  const Index last = static_cast<Index>(settings.names.size());
  for (Index d = 0; d < last; ++d)
    if (settings.names[to_size(d)] == settings.root)
      settings.root = merged.names[to_size(merged.domain_of[to_size(d)])];
  std::vector<JointPlan> joints(merged.names.size());
  for (std::size_t d = 0; d < settings.joints.size(); ++d) {
    const std::size_t into = to_size(merged.domain_of[d]);
    if (merged.names[into] == settings.names[d]) joints[into] = settings.joints[d];
  }
  if (!settings.joints.empty()) settings.joints = std::move(joints);
  labels.label = std::move(merged.label);
  labels.names = std::move(merged.names);
  settings.names = labels.names;
}

SplitSettings split_settings(const Scene& scene, const SceneBody& body, const SceneLabels& labels) {
  SplitSettings settings;
  settings.names = labels.names;
  settings.root = scene.domains.root;
  settings.fixed = body.fixed;
  settings.size = scene.domains.size;
  settings.smooth = scene.domains.smooth;
  settings.close_loops = scene.domains.loops == SceneLoops::close;
  for (const SceneLoop& loop : scene.domains.closed)
    settings.loops.push_back({.between = loop.between, .stiffness = loop.stiffness, .turns = loop.turns});
  const auto has_joint = [](const SceneDomain& domain) { return domain.joint.kind != JointKind::fixed; };
  if (std::any_of(scene.domains.parts.begin(), scene.domains.parts.end(), has_joint))
    for (const SceneDomain& domain : scene.domains.parts) settings.joints.push_back(domain.joint);
  return settings;
}

Status check_materials(const Scene& scene) {
  bool linear = scene.model_given && scene.model == MaterialModel::linear;
  for (const SceneDomain& domain : scene.domains.parts) linear |= domain.model == MaterialModel::linear;
  if (linear)
    return in_scene(scene, "[[domain]]",
                    input_error("parts that bend far can't have model = \"linear\"; choose \"stvk\" or another"));
  return {};
}

/// Coordinates, frequencies and materials of the parts.
void choose_sizes(const Scene& scene, TreePlan& plan) {
  for (std::size_t k = 0; k < plan.parts.size(); ++k) {
    if (scene.model_given) plan.parts[k].material = scene.model;
    for (const SceneDomain& domain : scene.domains.parts) {
      if (domain.name != plan.parts[k].name) continue;
      if (domain.model) plan.parts[k].material = *domain.model;
      plan.parts[k].size = domain.size >= 0 ? domain.size : scene.domains.size;
      plan.domains[k].frequency = domain.frequency;
    }
  }
  if (scene.domains.total > 0) share_coordinates(plan, scene.domains.total);
}

// ---- running --------------------------------------------------------------------------------------------------------

/// A force on vertices of the surface, as single pushes on domains.
struct DomainPush {
  std::vector<Index> sources;  ///< of DomainSurface
  std::vector<Vec3> newtons;
  TimeWindow window;
};

Result<std::vector<DomainPush>> pushes_of(const Scene& scene, const DomainModel& model, const std::vector<Vec3>& rest) {
  std::vector<DomainPush> pushes;
  for (const SceneForce& force : scene.forces) {
    const Result<std::vector<Index>> vertices = select_vertices(force.select, rest, scene.folder);
    if (!vertices.ok()) return in_scene(scene, "[[force]]", vertices.error());
    DomainPush push;
    push.window = force.window;
    const Vec3 each = force.per_vertex ? force.newtons : Vec3(force.newtons / static_cast<double>(vertices->size()));
    for (const Index v : *vertices) {
      const Index first = model.surface.first[to_size(v)], end = model.surface.first[to_size(v) + 1];
      for (Index k = first; k < end; ++k) {
        push.sources.push_back(k);
        push.newtons.emplace_back(each * model.surface.weight_of(to_size(v), to_size(k)));
      }
    }
    pushes.push_back(std::move(push));
  }
  return pushes;
}

Status check_loads(const Scene& scene) {
  if (!scene.dynamic) return input_error(scene.name + ": domains are run in time; say kind = \"dynamic\" in [solver]");
  if (!scene.tractions.empty() || !scene.pressures.empty())
    return input_error(scene.name +
                       ": domains take gravity, [wind] and [[force]], not tractions and pressures; leave "
                       "them out");
  return {};
}

DomainSettings settings_of(const Scene& scene, std::size_t forces) {
  DomainSettings settings;
  settings.time_step = scene.dynamics.time_step;
  settings.newmark_beta = scene.dynamics.newmark_beta;
  settings.newmark_gamma = scene.dynamics.newmark_gamma;
  settings.mass_damping = scene.dynamics.mass_damping;
  settings.stiffness_damping = scene.dynamics.stiffness_damping;
  settings.gravity = scene.gravity;
  settings.most_forces = static_cast<int>(forces);
  constexpr SubtreeInertia kinds[] = {SubtreeInertia::full, SubtreeInertia::centre, SubtreeInertia::interface};
  settings.iterations = scene.domains.iterations;
  settings.inertia = kinds[static_cast<std::size_t>(scene.domains.inertia)];
  return settings;
}

class DomainRun {
 public:
  DomainRun(const Scene& scene, const SimulateOptions& options, const DomainModel& model, DomainSceneSummary& summary)
      : scene_(scene), options_(options), model_(model), summary_(summary), rest_(rest_positions(model)) {}

  Status prepare() {
    Result<std::vector<DomainPush>> pushes = pushes_of(scene_, model_, rest_);
    SUPPLE_RETURN_IF_ERROR(pushes);
    pushes_ = std::move(*pushes);
    std::size_t forces = 0;
    for (const DomainPush& push : pushes_) forces += push.sources.size();
    for (const SceneTrack& track : scene_.tracks) {
      Result<std::vector<Index>> vertices = select_vertices(track.select, rest_, scene_.folder);
      if (!vertices.ok()) return in_scene(scene_, "[[track]]", vertices.error());
      tracks_.push_back(std::move(*vertices));
    }
    Result<PreparedTree> tree = prepare_tree(model_);
    SUPPLE_RETURN_IF_ERROR(tree);
    Result<DomainDynamics> dynamics =
        DomainDynamics::create(std::make_shared<const PreparedTree>(std::move(*tree)), settings_of(scene_, forces));
    if (!dynamics.ok()) return in_scene(scene_, {}, dynamics.error());
    dynamics_.emplace(std::move(*dynamics));
    if (scene_.wind) dynamics_->set_wind(*scene_.wind);
    if (scene_.base) SUPPLE_RETURN_IF_ERROR(load_base());
    xyz_.assign(3 * rest_.size(), 0.0);
    return open_output();
  }

  Status run(Progress& progress) {
    const int steps = scene_.step_count(), every = std::max(1, scene_.output.every);
    if (base_)
      dynamics_->place_root(base_->at(0, rest_root()));
    else
      dynamics_->initialize();
    std::vector<double> seconds;
    for (int step = 0;; ++step) {
      if (step % every == 0) SUPPLE_RETURN_IF_ERROR(add_frame());
      if (step == steps) break;
      if (progress.cancelled()) return failure("cancelled");
      push((step + 1) * scene_.dynamics.time_step);
      if (base_) dynamics_->set_root(base_->at((step + 1) * scene_.dynamics.time_step, rest_root()));
      const auto begin = Clock::now();
      const DomainReport report = dynamics_->step();
      seconds.push_back(seconds_since(begin));
      if (report.recovered)
        return input_error(
            fmt::format("{}: the step after {:.6g} s broke down; use a smaller dt, more damping or a "
                        "smaller load",
                        scene_.name, dynamics_->time()));
      progress.update(static_cast<double>(step + 1) / steps);
    }
    std::sort(seconds.begin(), seconds.end());
    summary_.steps = steps;
    summary_.step_seconds = seconds[seconds.size() / 2];
    const DomainMeasures end = dynamics_->measure();
    summary_.kinetic = end.kinetic_energy;
    summary_.elastic = end.elastic_energy;
    return finish();
  }

 private:
  Status open_output() {
    if (!options_.point_cache.empty()) {
      SUPPLE_RETURN_IF_ERROR(check_cache_surface(cache_surface_path(options_.point_cache), options_.force));
      const int frames = scene_.step_count() / std::max(1, scene_.output.every) + 1;
      Result<Pc2Writer> writer =
          Pc2Writer::open(options_.point_cache, {.points = static_cast<Index>(rest_.size()), .samples = frames});
      SUPPLE_RETURN_IF_ERROR(writer);
      cache_.emplace(std::move(*writer));
      return {};
    }
    if (scene_.output.directory.empty()) return {};
    SUPPLE_RETURN_IF_ERROR(files_.make_folder(scene_.output.directory));
    history_ = "time_s,kinetic_J,elastic_J,largest_displacement_m";
    for (const SceneTrack& track : scene_.tracks) history_ += fmt::format(",{0}_x_m,{0}_y_m,{0}_z_m", track.name);
    history_ += "\n";
    return {};
  }

  Status load_base() {
    if (!model_.anchored())
      return in_scene(scene_, "[base]",
                      input_error("the base moves what holds the root, and nothing holds it; build with a [[fix]]"));
    Result<BaseMotion> base = BaseMotion::load(*scene_.base, scene_.folder, 1.0);
    if (!base.ok()) return in_scene(scene_, "[base]", base.error());
    base_.emplace(std::move(*base));
    return {};
  }

  RigidTransform rest_root() const { return {model_.domains[0].position, Quat(model_.domains[0].rotation)}; }

  /// Where a vertex would be if all were rigid and went with the base.
  Vec3 carried(const Vec3& x) const {
    if (!base_) return x;
    const RootMotion& root = dynamics_->root();
    return root.position + root.rotation * (model_.domains[0].rotation.transpose() * (x - model_.domains[0].position));
  }

  void push(double time) {
    dynamics_->clear_forces();
    for (const DomainPush& push : pushes_) {
      if (!push.window.contains(time)) continue;
      for (std::size_t k = 0; k < push.sources.size(); ++k) {
        const auto source = to_size(push.sources[k]);
        dynamics_->add_force(model_.surface.domain[source], model_.surface.vertex[source], push.newtons[k]);
      }
    }
  }

  Vec3 moved(Index vertex) const {
    return Eigen::Map<const Vec3>(xyz_.data() + 3 * vertex) - carried(rest_[to_size(vertex)]);
  }

  Status add_frame() {
    const DomainMeasures sums = dynamics_->measure();
    dynamics_->update_frames();
    dynamics_->surface_positions(xyz_);
    double largest = 0;
    for (Index v = 0; v < std::ssize(rest_); ++v) largest = std::max(largest, moved(v).norm());
    summary_.largest_motion = std::max(summary_.largest_motion, largest);
    summary_.largest_gap = std::max(summary_.largest_gap, dynamics_->largest_gap());
    if (cache_) return cache_->add_sample(positions());
    if (history_.empty()) return {};
    history_ += fmt::format("{:.9g},{:.9g},{:.9g},{:.9g}", dynamics_->time(), sums.kinetic_energy, sums.elastic_energy,
                            largest);
    for (const std::vector<Index>& track : tracks_) {
      Vec3 mean = Vec3::Zero();
      for (const Index v : track) mean += moved(v) / static_cast<double>(track.size());
      history_ += fmt::format(",{:.9g},{:.9g},{:.9g}", mean.x(), mean.y(), mean.z());
    }
    history_ += '\n';
    return {};
  }

  std::vector<Vec3> positions() const {
    std::vector<Vec3> all(rest_.size());
    for (std::size_t v = 0; v < all.size(); ++v) all[v] = Eigen::Map<const Vec3>(xyz_.data() + 3 * v);
    return all;
  }

  Status finish() {
    Surface surface;
    surface.triangles = model_.surface.triangles;
    if (cache_) {
      surface.vertices = rest_;
      const std::filesystem::path shape = cache_surface_path(options_.point_cache);
      SUPPLE_RETURN_IF_ERROR(write_cache_surface(shape, surface));
      SUPPLE_RETURN_IF_ERROR(cache_->finish());
      summary_.files = {options_.point_cache, shape};
      return files_.commit();
    }
    if (history_.empty()) return {};
    surface.vertices = positions();
    const std::filesystem::path folder = scene_.output.directory;
    SUPPLE_RETURN_IF_ERROR(write_file_atomically(folder / "history.csv", history_));
    SUPPLE_RETURN_IF_ERROR(write_file_atomically(folder / "final.obj", encode_obj(surface)));
    summary_.files = {folder / "final.obj", folder / "history.csv"};
    return files_.commit();
  }

  const Scene& scene_;
  const SimulateOptions& options_;
  const DomainModel& model_;
  DomainSceneSummary& summary_;
  std::vector<Vec3> rest_;
  std::vector<DomainPush> pushes_;
  std::vector<std::vector<Index>> tracks_;
  std::optional<DomainDynamics> dynamics_;
  std::optional<BaseMotion> base_;
  std::vector<double> xyz_;
  FileTransaction files_;
  std::optional<Pc2Writer> cache_;
  std::string history_;
};

}  // namespace

Result<DomainSceneBuild> build_domain_scene(const Scene& scene, Progress& progress) {
  SUPPLE_RETURN_IF_ERROR(check_materials(scene));
  progress.stage("preparing the body");
  Scene body_scene = scene;
  body_scene.model = MaterialModel::stvk;
  const Result<SceneBody> body = make_scene_body(body_scene);
  SUPPLE_RETURN_IF_ERROR(body);
  Result<SceneLabels> labels =
      scene.domains.cut == SceneCut::by_hand ? labels_by_hand(scene, *body) : labels_by_shape(scene, *body);
  SUPPLE_RETURN_IF_ERROR(labels);
  SplitSettings settings = split_settings(scene, *body, *labels);
  DomainSceneBuild out;
  out.fixed_selections = body->fixed_selections;
  out.warnings = body->warnings;
  if (scene.domains.loops == SceneLoops::merge) merge_domains(*body, settings, *labels, out.warnings);
  std::optional<RidingSurface> rides;
  if (body->surface) rides.emplace(RidingSurface{*body->surface, *body->embedding});
  settings.rides = rides ? &*rides : nullptr;
  Result<TreePlan> plan =
      std::visit([&](const auto& mesh) { return split_mesh(mesh, labels->label, settings); }, body->mesh);
  if (!plan.ok()) return in_scene(scene, "[[domain]]", plan.error());
  choose_sizes(scene, *plan);
  Result<DomainBuild> built = build_domains(*plan, progress);
  if (!built.ok()) return in_scene(scene, {}, built.error());
  out.build = std::move(*built);
  return out;
}

bool holds_domains(const std::filesystem::path& path) {
  if (!is_archive(path)) return false;
  const Result<Archive> archive = Archive::open(path);
  return archive.ok() && archive->kind() == "domains";
}

Result<DomainSceneSummary> simulate_domain_scene(const Scene& scene, const SimulateOptions& options,
                                                 Progress& progress) {
  SUPPLE_RETURN_IF_ERROR(check_loads(scene));
  if (!options.resume.empty() || !options.save_state.empty())
    return usage_error("states of domains can't be saved or resumed; leave --resume and --save-state out");
  progress.stage("preparing the model");
  const Result<DomainModel> model = load_asset_of<DomainModel>(scene.mesh);
  SUPPLE_RETURN_IF_ERROR(model);
  DomainSceneSummary summary;
  summary.domains = model->domain_count();
  summary.coordinates = model->size();
  DomainRun run(scene, options, *model, summary);
  SUPPLE_RETURN_IF_ERROR(run.prepare());
  progress.stage("stepping through time");
  SUPPLE_RETURN_IF_ERROR(run.run(progress));
  return summary;
}

}  // namespace supple
