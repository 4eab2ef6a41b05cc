// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/engine_posespace.h"

#include "supple/asset/character_archive.h"
#include "supple/offline/stage_archives.h"
#include "supple/pipeline/character/build_posespace.h"
#include "supple/pipeline/character/fingerprint.h"

#include <algorithm>
#include <mutex>

namespace supple {
namespace {

std::vector<PoseFacts> pose_facts(const ReducedBody& reduced) {
  std::vector<PoseFacts> facts;
  for (std::size_t i = 0; i < reduced.poses.size(); ++i) {
    const VecX& angles = reduced.alignment.angles[i];
    PoseFacts& fact = facts.emplace_back();
    fact = {.name = reduced.pose_names[i],
            .parent = reduced.alignment.parent[i],
            .angle = subspace_angle(angles),
            .largest_angle = angles.size() > 0 ? angles.maxCoeff() : 0};
    if (i == 0 || i > reduced.fits.size()) continue;
    const FitReport& fit = reduced.fits[i - 1];
    fact.inverted_before = fit.inverted_before;
    fact.inverted = fit.inverted;
    fact.fit_error = fit.mean_error;
  }
  return facts;
}

CharacterAsset asset_of(const Recipe& recipe, const ReducedBody& reduced) {
  CharacterAsset asset;
  asset.name = std::filesystem::path(recipe.input).stem().string();
  asset.model = reduced.model;
  asset.flesh_frequency = reduced.flesh_frequency;
  asset.most_acceleration = reduced.most_acceleration;
  asset.exaggeration = reduced.exaggeration;  // until it is found with the model
  asset.facts = {.tets = static_cast<Index>(reduced.mesh.elements.size()),
                 .vertices = static_cast<Index>(reduced.mesh.vertices.size()),
                 .held_vertices = static_cast<Index>(reduced.fixed.size()),
                 .young = reduced.young,
                 .elastic_error = reduced.elastic_error,
                 .posed_error = reduced.posed_error,
                 .inertial_error = reduced.inertial_error,
                 .frequencies = reduced.frequencies,
                 .warnings = reduced.warnings,
                 .poses = pose_facts(reduced),
                 .estimated_error = reduced.estimated_error};
  return asset;
}

Result<CharacterAsset> decode(const std::string& bytes) {
  const Result<Archive> archive = Archive::parse(std::as_bytes(std::span(bytes)), "the character");
  SUPPLE_RETURN_IF_ERROR(archive);
  return decode_character(*archive);
}

// ---- what an asset is made from -------------------------------------------------------------------------------------

void add(ContentHash& content, const CharacterBody& body) {
  add_content(content, body.body.mesh);
  add_content(content, body.body.skin);
  add_content(content, std::span(&body.base, 1));
  content.add(body.file_materials);
  content.add(body.body.embedding.vertices).add(body.body.embedding.weights);
  content.add(body.body.carry.vertex).add(body.body.carry.weight);
  content.add(body.body.fixed_vertices).add(body.body.hard).add(body.body.bones.size());
  for (const BoneSegment& bone : body.body.bones) {
    content.add(bone.joint);
    for (const Vec3& end : {bone.from, bone.to})
      for (const double x : end) content.add(x);
  }
  for (const auto& [quantity, paint] : body.pose_paints) content.add(quantity).add(paint.values);
}

/// Of the recipe only what hasn't gone into the character or its body. Damping is no part of the model, and the last
/// three are for another engine.
void add(ContentHash& content, const Recipe& recipe) {
  const auto& [quality, size, feel, damping, amount, share, limit, poses, angle, fit, directions, local, contact,
               friction, inertia, biharmonic] = recipe.flesh;
  content.add(feel)
      .add(limit)
      .add(quality)
      .add(size)
      .add(poses)
      .add(angle)
      .add(fit)
      .add(directions)
      .add(local)
      .add(contact);
  const auto& [model, young, frequency, poisson, density] = recipe.material;
  content.add(model).add(young.has_value()).add(frequency.value_or(0));
  content.add(std::any_of(recipe.paints.begin(), recipe.paints.end(),
                          [](const RecipePaint& paint) { return paint.quantity == PaintQuantity::young; }));
  content.add(recipe.locals.size());
  for (const RecipeLocal& patch : recipe.locals) {
    content.add(std::string_view(patch.name)).add(patch.joints).add(patch.points).add(patch.segments);
    content.add(patch.modes);
  }
}

/// None where the rig can't be told by its data.
std::optional<ContentHash> content_of(const CharacterSource& source, const CharacterBody& body) {
  ContentHash content;
  if (!add_content(content, *source.rig.rig())) return {};
  add_content(content, source.character);
  for (const RecipePoseState& pose : source.poses) {
    content.add(std::string_view(pose.name)).add(pose.corrected);
    for (const Transform& local : pose.locals) add_content(content, local);
    for (const auto& [node, weights] : pose.morphs) content.add(node).add(weights);
  }
  add(content, body);
  add(content, source.recipe);
  content.add(std::string_view(source.recipe.input));
  return content;
}

Result<std::string> build_bytes(const CharacterSource& source, const CharacterBody& body, Progress& progress,
                                StageStore& store) {
  const Result<ReducedBody> reduced = reduce_character(source.recipe, source, body, progress, store);
  SUPPLE_RETURN_IF_ERROR(reduced);
  return encode_character(asset_of(source.recipe, *reduced));
}

/// What a game moves the asset with.
Result<std::shared_ptr<const CharacterDrive>> drive_of(const CharacterSource& source) {
  return make_character_drive(source.character, source.rig, named_poses(source), source.recipe.scale);
}

/// What the store has, or what is built now; in both cases as the file format has it.
Result<CharacterAsset> find_or_build(const CharacterSource& source, const CharacterBody& body, Progress& progress,
                                     StageStore& store) {
  const std::optional<ContentHash> content = content_of(source, body);
  const auto make = [&] { return build_bytes(source, body, progress, store); };
  const auto whole = [](const std::string& bytes) -> Result<std::string> {
    const Result<CharacterAsset> asset = decode(bytes);
    SUPPLE_RETURN_IF_ERROR(asset);
    return bytes;
  };
  const Result<std::string> bytes =
      content ? find_or_make(
                    store, "character", *content, make, [](const std::string& made) { return made; }, whole)
              : make();
  SUPPLE_RETURN_IF_ERROR(bytes);
  Result<CharacterAsset> asset = decode(*bytes);
  SUPPLE_RETURN_IF_ERROR(asset);
  asset->damping = wanted_damping(source.recipe);
  asset->gain = source.recipe.flesh.amount;
  asset->made_for = fingerprint_of(source);
  Result<std::shared_ptr<const CharacterDrive>> drive = drive_of(source);
  SUPPLE_RETURN_IF_ERROR(drive);
  asset->drive = std::move(*drive);
  asset->facts.warnings.insert(asset->facts.warnings.begin(), body.body.warnings.begin(), body.body.warnings.end());
  return asset;
}

// ---- a clip ---------------------------------------------------------------------------------------------------------

using Dynamics = PoseSpaceDynamics<float>;
using Prepared = std::shared_ptr<const PreparedModel<float>>;

class PoseSpaceStepper final : public FleshStepper {
 public:
  PoseSpaceStepper(Prepared prepared, SoftStepSettings settings)
      : prepared_(std::move(prepared)), settings_(settings) {}

  Index state_size() const override { return prepared_->size; }
  Status begin(double time_step, double gain) override {
    SoftStepSettings settings = settings_;
    settings.time_step = time_step;
    settings.gain *= gain;
    Result<Dynamics> made = Dynamics::create(prepared_, settings);
    SUPPLE_RETURN_IF_ERROR(made);
    dynamics_.emplace(std::move(*made));
    return {};
  }
  Status step(const CharacterPose& pose, const SoftForces& forces, SoftStepReport& report) override {
    report = dynamics_->step(pose.placement, pose.p, forces);
    return {};
  }
  void cut() override { dynamics_->cut(); }
  VecX state() const override {
    const auto q = dynamics_->coordinates();
    return Eigen::Map<const Eigen::VectorXf>(q.data(), static_cast<Eigen::Index>(q.size())).cast<double>();
  }
  double energy() override { return dynamics_->elastic_energy() + dynamics_->kinetic_energy(); }
  double visible(const VecX& difference) const override { return largest_displacement(*prepared_->model, difference); }

  Dynamics& dynamics() { return *dynamics_; }

 private:
  Prepared prepared_;
  SoftStepSettings settings_;
  std::optional<Dynamics> dynamics_;
};

/// Of flesh that nothing holds, or of which nothing moves, no instance can be made.
Result<Prepared> prepare(const std::shared_ptr<const PoseSpaceModel>& model) {
  const Result<Dynamics> made = Dynamics::create(model, {});
  SUPPLE_RETURN_IF_ERROR(made);
  return made->prepared();
}

/// Û of the neutral pose over the skin, shared by all clips and made for the first that asks.
class NeutralBasis {
 public:
  explicit NeutralBasis(std::shared_ptr<const PoseSpaceModel> model) : model_(std::move(model)) {}

  const Eigen::MatrixXf& get() {
    std::call_once(once_, [&] {
      basis_ = surface_shape(*model_, 0, MatX::Identity(model_->size(), model_->size())).cast<float>();
    });
    return basis_;
  }

 private:
  std::shared_ptr<const PoseSpaceModel> model_;
  std::once_flag once_;
  Eigen::MatrixXf basis_;
};

class PoseSpaceRun final : public ClipRun {
 public:
  PoseSpaceRun(const CharacterRig& rig, const Clip& clip, SimulatedClip simulated, Dynamics dynamics,
               std::shared_ptr<NeutralBasis> basis)
      : rig_(rig),
        clip_(clip),
        simulated_(std::move(simulated)),
        dynamics_(std::move(dynamics)),
        basis_(std::move(basis)),
        pose_(rig.neutral()) {}

  double start() const override { return simulated_.start; }
  ClipRunReport report() const override { return report_of(simulated_); }
  void in_world(double time, std::span<Vec3> displacement) override {
    rig_.sample(clip_, time, ClipWrap::hold, pose_);
    show(time, pose_.placement, displacement);
  }
  void in_character(double time, std::span<Vec3> displacement) override {
    rig_.sample(clip_, time, ClipWrap::hold, pose_);
    show(time, {}, displacement);
  }
  void in_neutral_pose(double time, std::span<Vec3> displacement) override {
    const Eigen::VectorXf u = basis_->get() * simulated_.at(time).cast<float>();
    for (std::size_t v = 0; v < displacement.size(); ++v)
      displacement[v] = u.segment<3>(3 * static_cast<Eigen::Index>(v)).cast<double>();
  }

 private:
  void show(double time, const RigidTransform& placement, std::span<Vec3> displacement) {
    const Eigen::VectorXf q = simulated_.at(time).cast<float>();
    dynamics_.surface_displacements(placement, pose_.p, {q.data(), to_size(q.size())}, displacement);
  }

  const CharacterRig& rig_;
  const Clip& clip_;
  SimulatedClip simulated_;
  Dynamics dynamics_;
  std::shared_ptr<NeutralBasis> basis_;
  CharacterPose pose_;
};

// ---- the engine -----------------------------------------------------------------------------------------------------

class PoseSpaceCharacter final : public SoftCharacter {
 public:
  /// `asset` holds a CharacterAsset.
  static Result<std::unique_ptr<SoftCharacter>> create(std::shared_ptr<const CharacterSource> source,
                                                       CharacterAsset asset) {
    Result<Prepared> prepared = prepare(asset.model);
    SUPPLE_RETURN_IF_ERROR(prepared);
    return std::unique_ptr<SoftCharacter>(
        std::make_unique<PoseSpaceCharacter>(std::move(source), std::move(asset), std::move(*prepared)));
  }
  PoseSpaceCharacter(std::shared_ptr<const CharacterSource> source, CharacterAsset asset, Prepared prepared)
      : SoftCharacter(std::move(source)),
        asset_(std::move(asset)),
        prepared_(std::move(prepared)),
        basis_(std::make_shared<NeutralBasis>(prepared_->model)) {}

  const Asset& asset() const override { return asset_; }
  std::vector<std::string> warnings() const override { return own().facts.warnings; }
  double exaggeration() const override { return own().exaggeration; }
  void set_exaggeration(double gain) override { std::get<CharacterAsset>(asset_).exaggeration = gain; }
  Result<std::unique_ptr<ClipRun>> simulate(const Clip& clip, const SimulateSettings& settings,
                                            Progress& progress) const override {
    PoseSpaceStepper flesh(prepared_, dynamics_settings(settings, own().flesh_frequency, own().most_acceleration));
    Result<SimulatedClip> simulated = simulate_clip(flesh, rig(), clip, own().model->height, settings, progress);
    SUPPLE_RETURN_IF_ERROR(simulated);
    return std::unique_ptr<ClipRun>(
        std::make_unique<PoseSpaceRun>(rig(), clip, std::move(*simulated), std::move(flesh.dynamics()), basis_));
  }

 private:
  const CharacterAsset& own() const { return std::get<CharacterAsset>(asset_); }

  Asset asset_;
  Prepared prepared_;
  std::shared_ptr<NeutralBasis> basis_;
};

class PoseSpaceEngine final : public CharacterEngine {
 public:
  std::string_view name() const override { return "posespace"; }
  std::string_view brief() const override { return "few coordinates around the character's poses, in real time"; }
  bool owns(const Asset& asset) const override { return std::holds_alternative<CharacterAsset>(asset); }

  Result<std::unique_ptr<SoftCharacter>> take_asset(std::shared_ptr<const CharacterSource> source,
                                                    Asset asset) const override {
    Result<std::shared_ptr<const CharacterSource>> apart = with_contact(std::move(source));
    SUPPLE_RETURN_IF_ERROR(apart);
    source = std::move(*apart);
    auto* own = std::get_if<CharacterAsset>(&asset);
    if (own == nullptr) return another_model(asset, name(), "a character's soft tissue");
    SUPPLE_RETURN_IF_ERROR(
        check_asset_fits(*source, own->model->surface.vertex_count(), own->model->rest->layout(), own->made_for));
    own->damping = wanted_damping(source->recipe);
    own->gain = source->recipe.flesh.amount;
    return PoseSpaceCharacter::create(std::move(source), std::move(*own));
  }

 protected:
  Result<std::unique_ptr<SoftCharacter>> reduce(std::shared_ptr<const CharacterSource> source,
                                                const CharacterBody& body, Progress& progress,
                                                StageStore& store) const override {
    Result<CharacterAsset> asset = find_or_build(*source, body, progress, store);
    SUPPLE_RETURN_IF_ERROR(asset);
    return PoseSpaceCharacter::create(std::move(source), std::move(*asset));
  }
};

}  // namespace

const CharacterEngine& posespace_engine() {
  static const PoseSpaceEngine engine;
  return engine;
}

Result<std::unique_ptr<SoftCharacter>> soft_character(std::shared_ptr<const CharacterSource> source,
                                                      const ReducedBody& reduced) {
  const Result<std::string> bytes = encode_character(asset_of(source->recipe, reduced));
  SUPPLE_RETURN_IF_ERROR(bytes);
  Result<CharacterAsset> asset = decode(*bytes);
  SUPPLE_RETURN_IF_ERROR(asset);
  return PoseSpaceCharacter::create(std::move(source), std::move(*asset));
}

Result<SimulatedClip> simulate_clip(const std::shared_ptr<const PoseSpaceModel>& model, double flesh_frequency,
                                    const CharacterRig& rig, const Clip& clip, const SimulateSettings& settings,
                                    double most_acceleration) {
  Result<Prepared> prepared = prepare(model);
  SUPPLE_RETURN_IF_ERROR(prepared);
  PoseSpaceStepper flesh(std::move(*prepared), dynamics_settings(settings, flesh_frequency, most_acceleration));
  return simulate_clip(flesh, rig, clip, model->height, settings);
}

}  // namespace supple
