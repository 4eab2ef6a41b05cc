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
#include "supple/offline/domains/split_mesh.h"
#include "supple/pipeline/object/scene_output.h"
#include "supple/runtime/domains/domain_dynamics.h"

#include <algorithm>

namespace supple {
namespace {

// ---- building -------------------------------------------------------------------------------------------------------

/// The domain of each element; later ones win.
Result<std::vector<Index>> element_labels(const Scene& scene, const SolidMesh& mesh) {
  std::vector<Index> label(element_count_of(mesh), -1);
  for (std::size_t d = 0; d < scene.domains.parts.size(); ++d) {
    const SceneDomain& domain = scene.domains.parts[d];
    const Result<std::vector<Index>> elements = elements_of(domain.elements, scene, mesh);
    if (!elements.ok()) return in_scene(scene, fmt::format("[[domain]] \"{}\"", domain.name), elements.error());
    for (const Index e : *elements) label[to_size(e)] = static_cast<Index>(d);
  }
  const auto left = std::count(label.begin(), label.end(), -1);
  if (left > 0)
    return in_scene(scene, "[[domain]]",
                    input_error(fmt::format("{} of {} elements belong to no domain; let the first [[domain]] have "
                                            "select = \"all\", and the others take their parts from it",
                                            left, label.size())));
  return label;
}

void choose_sizes(const Scene& scene, TreePlan& plan) {
  for (std::size_t k = 0; k < plan.parts.size(); ++k) {
    for (const SceneDomain& domain : scene.domains.parts) {
      if (domain.name != plan.parts[k].name) continue;
      plan.parts[k].size = domain.size >= 0 ? domain.size : scene.domains.size;
      plan.domains[k].frequency = domain.frequency;
    }
  }
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
        push.newtons.emplace_back(each / (end - first));
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
    xyz_.assign(3 * rest_.size(), 0.0);
    return open_output();
  }

  Status run(Progress& progress) {
    const int steps = scene_.step_count(), every = std::max(1, scene_.output.every);
    dynamics_->initialize();
    std::vector<double> seconds;
    for (int step = 0;; ++step) {
      if (step % every == 0) SUPPLE_RETURN_IF_ERROR(add_frame());
      if (step == steps) break;
      if (progress.cancelled()) return failure("cancelled");
      push((step + 1) * scene_.dynamics.time_step);
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
  std::filesystem::path shape_beside_cache() const {
    return std::filesystem::path(options_.point_cache).replace_extension(".obj");
  }

  Status open_output() {
    if (!options_.point_cache.empty()) {
      std::error_code none;
      if (const auto shape = shape_beside_cache(); !options_.force && std::filesystem::exists(shape, none))
        return usage_error(
            fmt::format("{} is there already, and the surface of the point cache would replace it; name "
                        "another -o, or --force",
                        shape.string()));
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

  Vec3 moved(Index vertex) const { return Eigen::Map<const Vec3>(xyz_.data() + 3 * vertex) - rest_[to_size(vertex)]; }

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
      const std::filesystem::path shape = shape_beside_cache();
      SUPPLE_RETURN_IF_ERROR(write_file_atomically(shape, encode_obj(surface)));
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
  std::vector<double> xyz_;
  FileTransaction files_;
  std::optional<Pc2Writer> cache_;
  std::string history_;
};

}  // namespace

Result<DomainSceneBuild> build_domain_scene(const Scene& scene, Progress& progress) {
  if (scene.model_given && scene.model != MaterialModel::stvk)
    return in_scene(scene, "[material]",
                    input_error("domains have exact forces for model = \"stvk\" only; say that, or nothing"));
  progress.stage("preparing the body");
  Scene body_scene = scene;
  body_scene.model = MaterialModel::stvk;
  const Result<SceneBody> body = make_scene_body(body_scene);
  SUPPLE_RETURN_IF_ERROR(body);
  const Result<std::vector<Index>> label = element_labels(scene, body->mesh);
  SUPPLE_RETURN_IF_ERROR(label);
  SplitSettings settings;
  for (const SceneDomain& domain : scene.domains.parts) settings.names.push_back(domain.name);
  settings.root = scene.domains.root;
  settings.fixed = body->fixed;
  settings.size = scene.domains.size;
  Result<TreePlan> plan = std::visit([&](const auto& mesh) { return split_mesh(mesh, *label, settings); }, body->mesh);
  if (!plan.ok()) return in_scene(scene, "[[domain]]", plan.error());
  choose_sizes(scene, *plan);
  Result<DomainBuild> built = build_domains(*plan, progress);
  if (!built.ok()) return in_scene(scene, {}, built.error());
  DomainSceneBuild out;
  out.build = std::move(*built);
  out.fixed_selections = body->fixed_selections;
  out.warnings = body->warnings;
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
