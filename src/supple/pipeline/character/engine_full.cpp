// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/engine_full.h"

#include <fmt/format.h>

#include "supple/offline/dynamics/full_pose_dynamics.h"
#include "supple/offline/full/build_full.h"
#include "supple/pipeline/character/fingerprint.h"
#include "supple/pipeline/character/rehearsal.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

/// Vertices of the mesh that the skin hangs on, and the skin in terms of them: only these are recorded.
struct ShownVertices {
  std::vector<Index> vertices;                                   ///< of the mesh, ascending
  std::vector<std::array<Eigen::Index, FullModel::nodes>> hold;  ///< places among them, for each vertex of the skin

  explicit ShownVertices(const FullModel& model) {
    for (const auto& nodes : model.surface_vertex) vertices.insert(vertices.end(), nodes.begin(), nodes.end());
    std::sort(vertices.begin(), vertices.end());
    vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
    for (const auto& nodes : model.surface_vertex) {
      auto& places = hold.emplace_back();
      for (std::size_t k = 0; k < nodes.size(); ++k)
        places[k] = std::lower_bound(vertices.begin(), vertices.end(), nodes[k]) - vertices.begin();
    }
  }
  /// Displacements of the skin from those of the shown vertices, stacked.
  void hang(const FullModel& model, const VecX& u, std::span<Vec3> skin) const {
    for (std::size_t v = 0; v < skin.size(); ++v) {
      skin[v].setZero();
      for (std::size_t k = 0; k < FullModel::nodes; ++k)
        skin[v] += model.surface_weight[v][k] * u.segment<3>(3 * hold[v][k]);
    }
  }
};

/// What clips of one character share.
struct SharedFull {
  const FullModel& model;
  ShownVertices shown{model};
};

double longest(std::span<const Vec3> vectors) {
  double largest = 0;
  for (const Vec3& u : vectors) largest = std::max(largest, u.norm());
  return largest;
}

/// The state is u of the shown vertices, turned back with the flesh: it can be interpolated while limbs turn.
class FullStepper final : public FleshStepper {
 public:
  FullStepper(const SharedFull& shared, const SoftStepSettings& settings, bool rough)
      : shared_(shared), settings_(settings), rough_(rough) {}

  Index state_size() const override { return 3 * static_cast<Index>(shared_.shown.vertices.size()); }
  Status begin(double time_step, double gain) override {
    SoftStepSettings settings = settings_;
    settings.time_step = time_step;
    settings.gain *= gain;
    const FullModel& model = shared_.model;
    Result<FullPoseDynamics> made =
        FullPoseDynamics::create(model.mesh, model.material, model.fixed, model.rest, settings, &model.frames);
    SUPPLE_RETURN_IF_ERROR(made);
    if (model.poses) SUPPLE_RETURN_IF_ERROR(made->set_materials(*model.poses, model.pose_materials));
    dynamics_.emplace(std::move(*made));
    if (rough_) dynamics_->set_surprise(0.1);
    return {};
  }
  Status step(const CharacterPose& pose, const SoftForces& forces, SoftStepReport& report) override {
    ++steps_;
    report = dynamics_->step(pose.placement, pose.p, forces);
    const double farthest = dynamics_->displacements().cwiseAbs().maxCoeff();
    if (!report.recovered && farthest <= FullPoseDynamics::absurd * shared_.model.extent) return {};
    return failure(
        fmt::format("the full simulation {} in step {}, so it has no result; a smaller time step, more damping or "
                    "firmer flesh may help",
                    report.recovered ? "broke down" : "flew apart", steps_));
  }
  void cut() override { dynamics_->cut(); }
  VecX state() const override {
    VecX local(state_size());
    for (std::size_t k = 0; k < shared_.shown.vertices.size(); ++k) {
      const Index v = shared_.shown.vertices[k];
      local.segment<3>(3 * static_cast<Eigen::Index>(k)) =
          dynamics_->rotations()[to_size(v)].transpose() * dynamics_->displacements().segment<3>(3 * Eigen::Index{v});
    }
    return local;
  }
  double energy() override { return dynamics_->elastic_energy() + dynamics_->kinetic_energy(); }
  double visible(const VecX& difference) const override {
    std::vector<Vec3> skin(shared_.model.surface_vertex.size());
    shared_.shown.hang(shared_.model, difference, skin);
    return longest(skin);
  }
  /// Nobody sees what is left, and a round takes seconds.
  double closed_gap() const override { return rough_ ? 5e-3 : 5e-4; }
  int most_rounds() const override { return 12; }

 private:
  const SharedFull& shared_;
  SoftStepSettings settings_;
  bool rough_;
  std::optional<FullPoseDynamics> dynamics_;
  int steps_ = 0;
};

class FullRun final : public ClipRun {
 public:
  FullRun(const SharedFull& shared, const CharacterRig& rig, const Clip& clip, SimulatedClip simulated)
      : shared_(shared), rig_(rig), clip_(clip), simulated_(std::move(simulated)), pose_(rig.neutral()) {}

  double start() const override { return simulated_.start; }
  ClipRunReport report() const override { return report_of(simulated_); }
  void in_world(double time, std::span<Vec3> displacement) override {
    in_character(time, displacement);
    for (Vec3& u : displacement) u = pose_.placement.rotation * u;
  }
  void in_character(double time, std::span<Vec3> displacement) override {
    rig_.sample(clip_, time, ClipWrap::hold, pose_);
    const FullModel& model = shared_.model;
    const std::vector<Mat3> turns = blended_rotations(model.mesh, model.frames, evaluate_all(*model.rest, pose_.p));
    VecX u = simulated_.at(time);
    for (std::size_t k = 0; k < shared_.shown.vertices.size(); ++k) {
      auto at = u.segment<3>(3 * static_cast<Eigen::Index>(k));
      at = (turns[to_size(shared_.shown.vertices[k])] * at).eval();
    }
    shared_.shown.hang(model, u, displacement);
  }
  void in_neutral_pose(double time, std::span<Vec3> displacement) override {
    shared_.shown.hang(shared_.model, simulated_.at(time), displacement);
  }

 private:
  const SharedFull& shared_;
  const CharacterRig& rig_;
  const Clip& clip_;
  SimulatedClip simulated_;
  CharacterPose pose_;
};

class FullCharacter final : public SoftCharacter {
 public:
  FullCharacter(std::shared_ptr<const CharacterSource> source, FullModel model)
      : SoftCharacter(std::move(source)), asset_(std::move(model)), shared_{std::get<FullModel>(asset_)} {}

  const Asset& asset() const override { return asset_; }
  std::vector<std::string> warnings() const override { return shared_.model.warnings; }
  double exaggeration() const override { return shared_.model.exaggeration; }
  void set_exaggeration(double gain) override { std::get<FullModel>(asset_).exaggeration = gain; }
  Result<std::unique_ptr<ClipRun>> simulate(const Clip& clip, const SimulateSettings& asked,
                                            Progress& progress) const override {
    SimulateSettings settings = asked;
    if (settings.rough) settings.time_step *= 2;
    FullStepper flesh(shared_,
                      dynamics_settings(settings, shared_.model.flesh_frequency, shared_.model.most_acceleration),
                      settings.rough);
    Result<SimulatedClip> simulated = simulate_clip(flesh, rig(), clip, shared_.model.extent, settings, progress);
    SUPPLE_RETURN_IF_ERROR(simulated);
    return std::unique_ptr<ClipRun>(std::make_unique<FullRun>(shared_, rig(), clip, std::move(*simulated)));
  }

 private:
  Asset asset_;
  SharedFull shared_;
};

FullSettings full_settings(const CharacterSource& source, const CharacterBody& body, StageStore& store) {
  const Recipe& recipe = source.recipe;
  FullSettings settings;
  settings.material = recipe.material.model;
  settings.frequency.reset();
  if (tunes_stiffness(recipe)) settings.frequency = wanted_frequency(recipe);
  settings.base_young = body.base.young;
  settings.bearable_share = bearable_share(recipe);
  constexpr int all = 1000;
  if (recipe.flesh.fit)
    for (DistinctPose& pose : distinct_poses(source, all)) settings.fitted_poses.push_back(std::move(pose.p));
  if (!body.pose_paints.empty()) {
    std::vector<std::size_t> numbers;
    for (DistinctPose& pose : distinct_poses(source, all)) {
      settings.material_poses.push_back(std::move(pose.p));
      numbers.push_back(pose.pose);
    }
    settings.materials_in_pose = [&body, numbers](const TetMesh& tuned, std::size_t pose) {
      return materials_in_pose(body, tuned, numbers[pose]);
    };
  }
  settings.store = &store;
  return settings;
}

/// Where the search for the exaggeration begins: trying it out takes the model a hundred times as long as a reduced
/// one.
double rehearse(const CharacterSource& source, const CharacterBody& body, const FullModel& model, Progress& progress) {
  constexpr int steps = 90;
  return rehearsed_exaggeration(source,
                                {.mesh = model.mesh,
                                 .material = model.material,
                                 .fixed = model.fixed,
                                 .rest = model.rest,
                                 .frequency = model.flesh_frequency,
                                 .most_acceleration = model.most_acceleration,
                                 .extent = model.extent,
                                 .frames = &model.frames},
                                body.body.embedding, steps, progress);
}

class FullEngine final : public CharacterEngine {
 public:
  std::string_view name() const override { return "full"; }
  std::string_view brief() const override { return "every vertex free, without reduction: slow, and the truth"; }
  bool owns(const Asset& asset) const override { return std::holds_alternative<FullModel>(asset); }

  Result<std::unique_ptr<SoftCharacter>> take_asset(std::shared_ptr<const CharacterSource> source,
                                                    Asset asset) const override {
    Result<std::shared_ptr<const CharacterSource>> apart = with_contact(std::move(source));
    SUPPLE_RETURN_IF_ERROR(apart);
    source = std::move(*apart);
    auto* model = std::get_if<FullModel>(&asset);
    if (model == nullptr) return another_model(asset, name(), "the full simulation of a character");
    SUPPLE_RETURN_IF_ERROR(
        check_asset_fits(*source, model->surface_vertex_count(), model->rest->layout(), model->made_for));
    model->damping = wanted_damping(source->recipe);
    model->gain = source->recipe.flesh.amount;
    return std::unique_ptr<SoftCharacter>(std::make_unique<FullCharacter>(std::move(source), std::move(*model)));
  }

 protected:
  Result<std::unique_ptr<SoftCharacter>> reduce(std::shared_ptr<const CharacterSource> source,
                                                const CharacterBody& body, Progress& progress,
                                                StageStore& store) const override {
    FullSettings settings = full_settings(*source, body, store);
    if (body.file_materials) settings.frequency.reset();
    Result<FullModel> model = build_full(body.body, source->character, source->rig, settings, progress);
    SUPPLE_RETURN_IF_ERROR(model);
    model->name = std::filesystem::path(source->recipe.input).stem().string();
    model->damping = wanted_damping(source->recipe);
    model->gain = source->recipe.flesh.amount;
    model->warnings.insert(model->warnings.begin(), body.body.warnings.begin(), body.body.warnings.end());
    model->made_for = fingerprint_of(*source);
    model->exaggeration = rehearse(*source, body, *model, progress);
    return std::unique_ptr<SoftCharacter>(std::make_unique<FullCharacter>(std::move(source), std::move(*model)));
  }
};

}  // namespace

const CharacterEngine& full_engine() {
  static const FullEngine engine;
  return engine;
}

}  // namespace supple
