// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/reduce_body.h"

#include "supple/base/clock.h"
#include "supple/math/dense/decompositions.h"
#include "supple/mesh/topology.h"
#include "supple/offline/cubature/cubature_samples.h"
#include "supple/offline/fitting/flesh_frequency.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/offline/posespace/bases/basis_store.h"
#include "supple/offline/posespace/bases/choose_poses.h"
#include "supple/offline/posespace/bases/skin_weighted_metric.h"
#include "supple/offline/posespace/estimate_error.h"
#include "supple/offline/posespace/model_builder.h"
#include "supple/offline/stage_archives.h"

#include <Eigen/LU>

#include <algorithm>
#include <random>

namespace supple {
namespace {

// ---- what can move --------------------------------------------------------------------------------------------------

/// All of 0 … count − 1 that aren't in `ascending`.
std::vector<Index> indices_without(const std::vector<Index>& ascending, Index count) {
  std::vector<Index> result;
  std::size_t next = 0;
  for (Index v = 0; v < count; ++v) {
    if (next < ascending.size() && ascending[next] == v)
      ++next;
    else
      result.push_back(v);
  }
  return result;
}

// ---- bases of the poses ---------------------------------------------------------------------------------------------

/// A pose isn't inserted closer than this to its neighbours [rad, in the layout's distance].
constexpr double nearest_inserted = 0.1;
/// Patches whose directions differ by less share a basis [rad]: 0.4 % of what it can do. Gradients have to be closer.
constexpr double same_angle = 0.06, same_gradients = 0.01;

/// A shape and its negative are the same. Which of them comes out of a solver is an accident of rounding, and all that
/// is drawn at random afterwards would depend on it; so each points along one direction that no symmetry knows, fixed
/// in the character.
void choose_signs(const Quat& axes, MatX& U) {
  std::mt19937_64 random(1);
  VecX along = VecX::NullaryExpr(U.rows(), [&] { return static_cast<double>(random() >> 11) * 0x1p-52 - 1; });
  for (Eigen::Index v = 0; 3 * v < along.size(); ++v) along.segment<3>(3 * v) = axes * Vec3(along.segment<3>(3 * v));
  for (Eigen::Index c = 0; c < U.cols(); ++c)
    if (along.dot(U.col(c)) < 0) U.col(c) *= -1;
}

/// ÛᵀKÛ in a pose at rest.
MatX projected_stiffness(const ElasticBody& posed, const PoseBasis& pose) {
  BlockMatrix K = posed.make_matrix();
  VecX f(posed.dof_count());
  posed.internal_force_and_stiffness(VecX::Zero(posed.dof_count()), f, K);
  const MatX U = turned(pose);
  const MatX projected = U.transpose() * multiply_columns(K, U);
  return 0.5 * (projected + projected.transpose());
}

/// Turns the basis so that its stiffness is diagonal, ascending.
void diagonalize(const ElasticBody& body, const Quat& axes, PoseBasis& pose) {
  pose.basis = pose.basis * symmetric_eigen(projected_stiffness(body, pose)).vectors;
  choose_signs(axes, pose.basis);
}

/// The neutral pose and those that were asked for, without bases.
std::vector<PoseBasis> known_poses(const Rig& rest, std::span<const ReducePose> wanted) {
  std::vector<PoseBasis> poses;
  poses.push_back({rest.layout().neutral, evaluate_all(rest, rest.layout().neutral), {}, {}, {}});
  for (const ReducePose& pose : wanted) poses.push_back({pose.p, evaluate_all(rest, pose.p), {}, {}, {}});
  return poses;
}

/// Halfway between two poses, materials too (Eq. 36); those of the mesh where a pose has none.
ReducePose pose_halfway(const PoseLayout& layout, const TetMesh& mesh, const ReducePose& a, const ReducePose& b) {
  ReducePose result{pose_between(layout, a.p, b.p, 0.5), {}, "midway(" + a.name + ", " + b.name + ")"};
  if (a.materials.empty() && b.materials.empty()) return result;
  const auto material = [&](const ReducePose& pose, std::size_t e) {
    return pose.materials.empty() ? mesh.material_of(e) : pose.materials[e];
  };
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const ElasticMaterial first = material(a, e), second = material(b, e);
    ElasticMaterial& mean = result.materials.emplace_back(first);
    mean.young = 0.5 * (first.young + second.young);
    mean.poisson = 0.5 * (first.poisson + second.poisson);
  }
  return result;
}

// ---- stiffness ------------------------------------------------------------------------------------------------------

/// Scales every Young's modulus so that flesh sways as often as wanted.
Status tune_stiffness(const ReduceSettings& settings, ReducedBody& reduced) {
  for (int pass = 0; pass < (settings.frequency ? 2 : 1); ++pass) {
    const Result<ElasticBody> body = ElasticBody::create(reduced.mesh, settings.material);
    SUPPLE_RETURN_IF_ERROR(body);
    const Result<double> frequency = flesh_frequency(*body, reduced.fixed);
    SUPPLE_RETURN_IF_ERROR(frequency);
    reduced.flesh_frequency = *frequency;
    if (!settings.frequency || pass == 1) break;
    const double factor = std::pow(*settings.frequency / *frequency, 2);
    if (reduced.mesh.materials.empty()) set_uniform_material(reduced.mesh, default_material());
    for (ElasticMaterial& material : reduced.mesh.materials) material.young *= factor;
    reduced.stiffness_factor = factor;
  }
  reduced.young = reduced.mesh.materials.empty() ? default_material().young : reduced.mesh.materials.front().young;
  for (const ElasticMaterial& material : reduced.mesh.materials)
    reduced.young = std::min(reduced.young, material.young);
  return {};
}

// ---- all of it
// -------------------------------------------------------------------------------------------------------

class Reduction {
 public:
  Reduction(const EmbeddedBody& body, std::shared_ptr<const Rig> rest, const KnownMotion& motion,
            const ReduceSettings& settings, Progress& progress)
      : body_(body),
        rest_(std::move(rest)),
        motion_(motion),
        settings_(settings),
        progress_(progress),
        wanted_(settings.poses) {}

  Result<ReducedBody> run() {
    reduced_.mesh = body_.mesh;
    reduced_.fixed = hold_loose_pieces(body_.mesh, body_.fixed_vertices);
    free_ = indices_without(reduced_.fixed, static_cast<Index>(body_.mesh.vertices.size()));
    if (free_.empty())
      return input_error(
          "everything is held by bones or is a hard part, so nothing is left to be soft; see [bones] in the recipe");
    progress_.stage("tuning the stiffness");
    SUPPLE_RETURN_IF_ERROR(tune_stiffness(settings_, reduced_));
    const Result<ElasticBody> elastic = ElasticBody::create(reduced_.mesh, settings_.material);
    SUPPLE_RETURN_IF_ERROR(elastic);
    height_ = body_.extent();
    choose_from_candidates(*elastic);
    do {
      SUPPLE_RETURN_IF_ERROR(place_poses());
      SUPPLE_RETURN_IF_ERROR(find_bases(*elastic));
      if (progress_.cancelled()) return failure("cancelled");
    } while (insert_poses());
    const Result<PoseCubature> cubature = train(*elastic);
    SUPPLE_RETURN_IF_ERROR(cubature);
    finish(*elastic, *cubature);
    return std::move(reduced_);
  }

 private:
  void choose_from_candidates(const ElasticBody& elastic) {
    const int room = settings_.most_poses - 1 - static_cast<int>(wanted_.size());
    if (settings_.candidates.empty() || room <= 0 || settings_.one_basis) return;
    progress_.stage("choosing poses");
    std::vector<std::vector<double>> candidates;
    std::vector<const ReducePose*> far;
    for (const ReducePose& pose : settings_.candidates) {
      if (std::any_of(wanted_.begin(), wanted_.end(), [&](const ReducePose& own) {
            return pose_distance(rest_->layout(), own.p, pose.p) < nearest_inserted;
          }))
        continue;
      candidates.push_back(pose.p);
      far.push_back(&pose);
    }
    for (const std::size_t c : choose_poses({elastic, reduced_.mesh, *rest_, reduced_.fixed}, candidates,
                                            {.most = room, .angle = settings_.largest_angle}))
      wanted_.push_back(*far[c]);
  }

  /// Between poses and their parents where their bases differ too much, the worst first. False: nowhere.
  bool insert_poses() {
    if (settings_.largest_angle <= 0 || settings_.one_basis) return false;
    const PoseLayout& layout = rest_->layout();
    const ReducePose neutral{layout.neutral, {}, "neutral"};
    const auto pose = [&](std::size_t i) -> const ReducePose& { return i == 0 ? neutral : wanted_[i - 1]; };
    std::vector<std::pair<double, std::size_t>> wide;
    for (std::size_t i = 1; i < reduced_.poses.size(); ++i) {
      const auto parent = to_size(reduced_.alignment.parent[i]);
      const double angle = subspace_angle(reduced_.alignment.angles[i]);
      if (angle > settings_.largest_angle && pose_distance(layout, pose(i).p, pose(parent).p) > 2 * nearest_inserted)
        wide.emplace_back(-angle, i);
    }
    std::sort(wide.begin(), wide.end());
    const int room = settings_.most_poses - static_cast<int>(reduced_.poses.size());
    std::vector<ReducePose> inserted;
    for (std::size_t k = 0; k < wide.size() && static_cast<int>(k) < room; ++k) {
      const std::size_t i = wide[k].second;
      inserted.push_back(pose_halfway(layout, body_.mesh, pose(to_size(reduced_.alignment.parent[i])), pose(i)));
    }
    reduced_.inserted += static_cast<int>(inserted.size());
    std::move(inserted.begin(), inserted.end(), std::back_inserter(wanted_));
    return !inserted.empty();
  }

  /// Φ becomes what fits the skin in all poses of the model.
  Status fit_rest_shapes() {
    if (!settings_.surface || wanted_.empty()) return {};
    std::vector<std::vector<double>> parameters;
    for (const ReducePose& pose : wanted_) parameters.push_back(pose.p);
    Result<FittedPoses> fitted =
        fit_poses(body_, settings_.surface, parameters, {}, progress_, std::move(fitted_), *settings_.store);
    SUPPLE_RETURN_IF_ERROR(fitted);
    fitted_ = std::move(*fitted);
    rest_ = fitted_.rig;
    reduced_.fits = fitted_.reports;
    return {};
  }

  Status place_poses() {
    SUPPLE_RETURN_IF_ERROR(fit_rest_shapes());
    progress_.stage("following the pose");
    const std::span<const ReducePose> based = settings_.one_basis ? std::span<const ReducePose>() : wanted_;
    reduced_.poses = known_poses(*rest_, based);
    reduced_.pose_names = {"neutral"};
    for (const ReducePose& pose : based) reduced_.pose_names.push_back(pose.name);
    if (reduced_.poses.size() > 1) {
      std::vector<std::vector<double>> parameters;
      for (const PoseBasis& pose : reduced_.poses) parameters.push_back(pose.p);
      Result<PoseSpaceWeights> weights = PoseSpaceWeights::create(rest_->layout(), std::move(parameters));
      SUPPLE_RETURN_IF_ERROR(weights);
      weights_ = std::move(*weights);
    }
    std::vector<std::vector<Vec3>> shapes;
    for (const std::vector<double>& p : motion_.poses) shapes.push_back(evaluate_all(*rest_, p));
    for (std::size_t i = 1; i < reduced_.poses.size(); ++i) shapes.push_back(reduced_.poses[i].positions);
    reduced_.frames = choose_frame_sites(reduced_.mesh, free_, shapes, settings_.frames);
    reduced_.frame_error = reduced_.frames.error;
    for (std::size_t i = 0; i < reduced_.poses.size(); ++i) {
      PoseBasis& pose = reduced_.poses[i];
      pose.turns = blended_rotations(reduced_.mesh, reduced_.frames, pose.positions);
      if (i == 0) pose.turns.assign(pose.turns.size(), Mat3::Identity());
      if (i > 0) pose.materials = wanted_[i - 1].materials;
      for (ElasticMaterial& material : pose.materials) material.young *= reduced_.stiffness_factor;
    }
    return {};
  }

  /// A single basis that was learnt from bent flesh has to be exact where it bends. Several are exact in their poses.
  bool exact_strain() const {
    return settings_.directions == BasisDirections::rotating && (wanted_.empty() || settings_.one_basis) &&
           settings_.patches.size() <= 1 && !motion_.runs.empty();
  }

  /// Flesh is simulated in full once, however often bases are made of it.
  const TaughtShapes& teach() {
    if (taught_) return *taught_;
    progress_.stage("shaking the flesh");
    taught_ = simulate_runs(taught_body(exact_strain()), motion_.runs, progress_);
    return *taught_;
  }

  TaughtBody taught_body(bool bent) const {
    return {.mesh = reduced_.mesh,
            .material = settings_.material,
            .fixed = reduced_.fixed,
            .rest = rest_,
            .frequency = reduced_.flesh_frequency,
            .most_acceleration = settings_.most_acceleration,
            .exaggeration = settings_.exaggeration,
            .extent = height_,
            .frames = bent ? &reduced_.frames : nullptr};
  }

  Status find_contacts() {
    reduced_.contacts.clear();
    constraints_.clear();
    if (!settings_.contact) return {};
    for (const PoseBasis& pose : reduced_.poses) {
      const Result<std::vector<SelfContact>> contacts =
          find_self_contacts(reduced_.mesh, pose.positions, *settings_.contact);
      SUPPLE_RETURN_IF_ERROR(contacts);
      reduced_.contacts.push_back(static_cast<int>(contacts->size()));
      constraints_.push_back(
          contact_constraints(*contacts, static_cast<Index>(reduced_.mesh.vertices.size()), settings_.contact_kind));
    }
    return {};
  }

  /// r, as it was asked for or as the body needs it.
  Result<int> coordinates(const PoseBasesInput& input) {
    if (settings_.size > 0) return settings_.size;
    const auto make = [&]() -> Result<std::vector<MatX>> {
      const std::vector<double> left = left_of_unseen_motion(skin_weighted_metric(input.body, input.skin), teach());
      return std::vector<MatX>{Eigen::Map<const VecX>(left.data(), std::ssize(left))};
    };
    const auto encode = [](const std::vector<MatX>& made) { return encode_stage(std::span<const MatX>(made)); };
    const Result<std::vector<MatX>> left = find_or_make(*store_, "size", content_, make, encode, decode_matrices);
    SUPPLE_RETURN_IF_ERROR(left);
    if (left->empty()) return settings_.automatic.least;
    return choose_size(std::span(left->front().data(), to_size(left->front().size())), settings_.automatic);
  }

  Status find_bases(const ElasticBody& elastic) {
    const auto start = Clock::now();
    SUPPLE_RETURN_IF_ERROR(find_contacts());
    const auto available = static_cast<int>(std::min<std::size_t>(3 * free_.size(), 1'000'000));
    PoseBasesInput input{.body = elastic,
                         .mesh = reduced_.mesh,
                         .rest = *rest_,
                         .fixed = reduced_.fixed,
                         .motion = motion_,
                         .teach = [this] { return teach(); },
                         .skin = &body_.embedding,
                         .weights = weights_ ? &*weights_ : nullptr,
                         .patches = settings_.patches,
                         .contacts = constraints_,
                         .height = height_,
                         .size = available / 2,
                         .exact_strain = exact_strain(),
                         .most_acceleration = settings_.most_acceleration,
                         .exaggeration = settings_.exaggeration};
    if (settings_.store != &StageStore::none()) {
      const std::optional<ContentHash> content = content_of(input);
      if (content) store_ = settings_.store, content_ = *content;
    }
    input.store = store_;
    input.content = content_;
    const Result<int> size = coordinates(input);
    SUPPLE_RETURN_IF_ERROR(size);
    input.size = std::clamp(*size, 1, std::max(1, available / 2));
    Result<PoseBases> bases = make_bases(input, reduced_.poses, progress_);
    SUPPLE_RETURN_IF_ERROR(bases);
    reduced_.frequencies = bases->frequencies;
    reduced_.patch_sizes = bases->patch_sizes;
    if (bases->patch_sizes.size() == 1) diagonalize(elastic, body_.axes, reduced_.poses.front());
    stiffness_.clear();
    for (const PoseBasis& pose : reduced_.poses)
      stiffness_.push_back(projected_stiffness(posed_body(input, pose), pose));
    const bool turns = settings_.directions == BasisDirections::rotating;
    reduced_.alignment = align_bases(elastic.consistent_mass(), rest_->layout(), bases->patch_sizes, reduced_.poses,
                                     stiffness_, {turns ? same_angle : 0.0, constraints_});
    for (std::size_t i = 0; i < reduced_.poses.size(); ++i)
      if (!reduced_.poses[i].sources.empty())
        stiffness_[i] = projected_stiffness(posed_body(input, reduced_.poses[i]), reduced_.poses[i]);
    share_gradients(reduced_.mesh, settings_.directions, bases->patch_sizes, stiffness_, same_gradients,
                    reduced_.poses);
    reduced_.basis = reduced_.poses.front().basis;
    reduced_.modes_seconds += seconds_since(start);
    return {};
  }

  Result<PoseCubature> train(const ElasticBody& elastic) {
    const auto start = Clock::now();
    Result<PoseCubature> cubature =
        find_or_make_cubature(*store_, content_,
                              {.body = elastic,
                               .rest = *rest_,
                               .mesh = reduced_.mesh,
                               .poses = reduced_.poses,
                               .weights = weights_ ? &*weights_ : nullptr,
                               .stiffness = stiffness_,
                               .directions = settings_.directions,
                               .free = free_,
                               .accelerations = motion_.accelerations,
                               .known_poses = motion_.poses,
                               .height = height_,
                               .frames = exact_strain() ? &reduced_.frames : nullptr,
                               .teach = [this]() -> const TaughtShapes& { return teach(); }},
                              {.tolerance = settings_.cubature_tolerance,
                               .elements = settings_.cubature_elements,
                               .vertices = settings_.cubature_vertices,
                               .seed = settings_.seed},
                              progress_);
    if (!cubature.ok()) return cubature;
    reduced_.elastic_error = cubature->elastic_error;
    reduced_.posed_error = cubature->posed_error;
    reduced_.worst_posed_error = cubature->worst_posed_error;
    reduced_.inertial_error = cubature->inertial_error;
    reduced_.elastic_training_error = cubature->elastic_training_error;
    reduced_.inertial_training_error = cubature->vertices.training_error;
    reduced_.cubature_seconds = seconds_since(start);
    return cubature;
  }

  /// The poses, and those between them whose correction is known.
  std::optional<PoseSpaceWeights> correction_poses(const Rig& rest, const MatX& between) const {
    if (between.cols() == 0) return {};
    std::vector<std::vector<double>> all;
    for (const PoseBasis& pose : reduced_.poses) all.push_back(pose.p);
    for (Eigen::Index c = 0; c < between.cols(); ++c) all.emplace_back(between.col(c).begin(), between.col(c).end());
    // They are apart: training interpolated between them.
    return std::move(*PoseSpaceWeights::create(rest.layout(), std::move(all)));
  }

  void finish(const ElasticBody& elastic, const PoseCubature& cubature) {
    std::vector<MatX> inertial;
    for (const PoseBasis& pose : reduced_.poses) inertial.push_back(mass_averaged(elastic, pose.basis));
    PoseSpaceModel model = build_model({.mesh = reduced_.mesh,
                                        .embedding = body_.embedding,
                                        .frames = reduced_.frames,
                                        .poses = reduced_.poses,
                                        .patch_sizes = reduced_.patch_sizes,
                                        .elements = cubature.elements,
                                        .vertices = cubature.vertices,
                                        .inertial = inertial,
                                        .vertex_mass = elastic.lumped_mass(),
                                        .directions = settings_.directions,
                                        .exact_strain = exact_strain()});
    model.rest = std::move(rest_);
    model.material = settings_.material;
    model.poses = std::move(weights_);
    model.stiffness = stiffness_.front().diagonal();
    model.linear = exact_strain() ? cubature.linear : stiffness_;
    model.corrections = cubature.corrections;
    model.correction_limit = cubature.correction_limit;
    model.correction_reach = cubature.correction_reach;
    model.correction_poses = correction_poses(*model.rest, cubature.between);
    model.height = height_;
    reduced_.most_acceleration = settings_.most_acceleration;
    reduced_.exaggeration = settings_.exaggeration;
    for (std::size_t i = 0; i < reduced_.poses.size(); ++i) {
      const MatX M_basis = multiply_columns(elastic.consistent_mass(), reduced_.poses[i].basis);
      for (std::size_t j = 0; j <= i; ++j) model.mass.emplace_back(M_basis.transpose() * reduced_.poses[j].basis);
    }
    reduced_.model = std::make_shared<const PoseSpaceModel>(std::move(model));
    progress_.stage("estimating the error");
    rest_ = reduced_.model->rest;
    reduced_.estimated_error = estimate_error(taught_body(true), body_.embedding, reduced_.model, motion_.judges);
  }

  const EmbeddedBody& body_;
  std::shared_ptr<const Rig> rest_;
  const KnownMotion& motion_;
  const ReduceSettings& settings_;
  Progress& progress_;
  std::vector<ReducePose> wanted_;  ///< besides the neutral pose
  FittedPoses fitted_;
  ReducedBody reduced_;
  std::optional<TaughtShapes> taught_;
  std::vector<Index> free_;
  std::optional<PoseSpaceWeights> weights_;
  std::vector<SparseConstraints> constraints_;
  std::vector<MatX> stiffness_;
  double height_ = 1;
  StageStore* store_ = &StageStore::none();
  ContentHash content_;
};

}  // namespace

Result<ReducedBody> reduce_body(const EmbeddedBody& body, std::shared_ptr<const Rig> rest, const KnownMotion& motion,
                                const ReduceSettings& settings, Progress& progress) {
  return Reduction(body, std::move(rest), motion, settings, progress).run();
}

}  // namespace supple
