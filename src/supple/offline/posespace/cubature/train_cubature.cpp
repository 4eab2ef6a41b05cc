// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/cubature/train_cubature.h"

#include "supple/math/dense/decompositions.h"
#include "supple/offline/cubature/cubature_samples.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/offline/posespace/bases/training_spread.h"
#include "supple/offline/posespace/cubature/blended_pose_training.h"
#include "supple/offline/posespace/cubature/train_exact.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace supple {
namespace {

/// Shapes in poses that nobody has shown, around one of the model's.
std::vector<std::vector<Vec3>> unknown_shapes(const TrainingInput& input, std::size_t pose, int count,
                                              std::mt19937_64& random) {
  constexpr double angle = 0.2;  // [rad] a joint
  std::vector<std::vector<Vec3>> shapes;
  for (const std::vector<double>& p : random_poses(input.rest.layout(), input.poses[pose].p, angle, count, random))
    shapes.push_back(evaluate_all(input.rest, p));
  return shapes;
}

/// Where the flesh may be when a pose of the model is nearest: in known poses, in some that nobody has shown, and in
/// the pose itself.
std::vector<std::vector<Vec3>> training_shapes(const TrainingInput& input, std::size_t pose, std::mt19937_64& random) {
  const PoseLayout& layout = input.rest.layout();
  std::vector<std::vector<Vec3>> shapes = unknown_shapes(input, pose, input.poses.size() == 1 ? 20 : 3, random);
  for (const std::vector<double>& p : input.known_poses) {
    std::size_t nearest = 0;
    for (std::size_t i = 1; i < input.poses.size(); ++i)
      if (pose_distance(layout, p, input.poses[i].p) < pose_distance(layout, p, input.poses[nearest].p)) nearest = i;
    if (nearest == pose) shapes.push_back(evaluate_all(input.rest, p));
  }
  shapes.push_back(input.poses[pose].positions);
  return shapes;
}

/// Judges choices of sites by samples; bases of all candidates are not kept.
class Judge {
 public:
  Judge(ElasticSampling where, int count, std::mt19937_64& random)
      : where_(std::move(where)), samples_(elastic_samples(where_, count, random)) {
    samples_.bases.clear();
  }
  double error(const Cubature& cubature) const {
    return cubature_residual(where_, samples_, cubature).norm() / samples_.length;
  }

 private:
  ElasticSampling where_;
  CubatureSamples samples_;
};

/// Columns first, first + 2, …, but for those in which next to nothing happens.
MatX every_second(const MatX& columns, Eigen::Index first) {
  if (columns.cols() == 0) return {};
  const VecX sizes = columns.colwise().norm();
  std::vector<Eigen::Index> kept;
  for (Eigen::Index c = first; c < columns.cols(); c += 2)
    if (sizes[c] > 0.01 * sizes.maxCoeff()) kept.push_back(c);
  return columns(Eigen::all, kept);
}

class Trainer {
 public:
  Trainer(const TrainingInput& input, const TrainingSettings& settings, Progress& progress)
      : input_(input), settings_(settings), progress_(progress), random_(settings.seed) {
    const auto size = static_cast<int>(input.poses.front().basis.cols());
    const auto poses = static_cast<int>(input.poses.size());
    samples_ = poses == 1 ? std::max(120, size) : std::max({40, 240 / poses, size / 2});
    linear_ = poses == 1 ? size : std::max(8, size / 2);
  }

  void train_elements(PoseCubature& result) {
    if (input_.frames != nullptr) return train_exact_elements(input_, settings_, random_, result, progress_);
    between_.emplace(input_, random_, progress_);
    for (std::size_t i = 0; i < input_.poses.size(); ++i) {
      spreads_.push_back(training_spread(input_, input_.poses[i].basis, input_.stiffness[i]));
      shapes_.push_back(training_shapes(input_, i, random_));
    }
    // Candidates × poses × (samples + coordinates) numbers are kept; a GiB of them.
    const std::size_t row =
        9 * sizeof(float) * input_.poses.size() * to_size(samples_ + linear_ + input_.poses.front().basis.cols());
    const std::vector<Index> candidates = candidate_elements(input_.mesh, input_.free, row);
    between_->watch(candidates, progress_);
    if (progress_.cancelled()) return;
    const auto sample = [&](int count, bool training) {
      std::vector<CubatureSamples> all;
      for (std::size_t i = 0; i < input_.poses.size(); ++i)
        all.push_back(elastic_samples(sampling(i, candidates), count, random_, training ? linear_ : 0));
      return joined(std::move(all));
    };
    if (settings_.elements == 0)
      choose_elements(sample, candidates, result);
    else
      finish(choose_sites(sample, settings_.elements, settings_.tolerance), candidates, result);
  }

  void train_vertices(PoseCubature& result) {
    // What counts of an inertial force is how far it moves the flesh, Λ⁻¹ f: a small error along a soft coordinate is
    // seen.
    std::vector<MatX> responding;
    for (std::size_t i = 0; i < input_.poses.size(); ++i) {
      const MatX& stiffness = input_.stiffness[i];
      const double softest = symmetric_eigenvalues(stiffness)[0];
      responding.push_back(softest *
                           PositiveFactor(stiffness).solve(MatX(turned(input_.poses[i]).transpose())).transpose());
    }
    const auto sample = [&](int count, bool training) {
      std::vector<CubatureSamples> all;
      // What the clips do, too: half of it to choose by, half to judge by.
      const MatX known = every_second(input_.accelerations, training ? 0 : 1);
      if (known.cols() > 0) all.push_back(inertial_samples(input_.body, responding[0], known));
      for (std::size_t i = 0; i < input_.poses.size(); ++i)
        all.push_back(inertial_samples(input_.body, responding[i], input_.rest, input_.poses[i].p, input_.height, count,
                                       random_));
      return joined(std::move(all));
    };
    // Beside twelve rows of every element, vertices cost next to nothing.
    const double share = input_.frames != nullptr ? 0.5 : 1;
    result.vertices = choose_sites(sample, settings_.vertices, share * settings_.tolerance);
    result.inertial_error = cubature_error(sample(40, false), result.vertices);
  }

 private:
  /// Weights and corrections of chosen elements. Returns the error in poses that decide whether they are enough.
  double finish(const Cubature& chosen, std::span<const Index> candidates, PoseCubature& result) {
    result = {};
    std::vector<Index> sites;
    for (const Index site : chosen.sites) sites.push_back(candidates[to_size(site)]);
    result.elastic_training_error = chosen.training_error;
    std::vector<Cubature> weighted = final_weights(sites, chosen);
    if (progress_.cancelled()) return 0;  // nobody will look at the result
    for (std::size_t i = 0; i < input_.poses.size(); ++i) finish_pose(i, sites, std::move(weighted[i]), result);
    return between_->empty() ? 0 : between_->correct(chosen.sites, 0.75 * posed_tolerance(), result);
  }

  ElasticSampling sampling(std::size_t pose, std::span<const Index> candidates) const {
    return {input_.mesh,       input_.body.material(), input_.poses[pose],
            input_.directions, input_.stiffness[pose], spreads_[pose],
            candidates,        shapes_[pose]};
  }

  /// In the pose itself.
  ElasticSampling own_pose(std::size_t pose, std::span<const Index> candidates) const {
    ElasticSampling own = sampling(pose, candidates);
    own.shapes = own.shapes.last(1);
    return own;
  }

  /// Sites are chosen with some samples, how many with others; neither may judge the result.
  template <class Sampler>
  Cubature choose_sites(const Sampler& sample, int most, double tolerance) {
    const CubatureSamples known = sample(samples_, true), watched = sample(24, false);
    return select_cubature(known, {.most_sites = most, .tolerance = tolerance}, progress_, &watched);
  }

  /// A step costs elements × coordinates: where coordinates are few, more elements are cheap, and seen.
  double pose_tolerance() const {
    return strictness() * std::clamp(0.002 * std::sqrt(static_cast<double>(size())), 0.75 * settings_.pose_tolerance,
                                     settings_.pose_tolerance);
  }
  double posed_tolerance() const { return strictness() * settings_.posed_tolerance; }
  /// Of a single pose, where no clip leads: corrections don't help there, and elements little.
  double unknown_tolerance() const { return 2 * posed_tolerance(); }
  /// Who asks for another tolerance than usual asks for it everywhere.
  double strictness() const { return settings_.tolerance / TrainingSettings{}.tolerance; }
  Eigen::Index size() const { return input_.stiffness.front().rows(); }

  /// Elements are judged as they will be used: with each pose's own weights in the poses, which their corrections make
  /// exact for small deformations, and elsewhere as steps see it.
  template <class Sampler>
  void choose_elements(const Sampler& sample, std::span<const Index> candidates, PoseCubature& result) {
    const CubatureSamples known = sample(samples_, true);
    std::vector<Judge> judges;
    for (std::size_t i = 0; i < input_.poses.size(); ++i) judges.emplace_back(own_pose(i, candidates), 16, random_);
    std::vector<std::vector<Vec3>> unknown;
    std::optional<Judge> elsewhere;  // of a single pose; several are judged between them
    if (judges.size() == 1) {
      unknown = unknown_shapes(input_, 0, 5, random_);
      ElasticSampling where = sampling(0, candidates);
      where.shapes = unknown;
      elsewhere.emplace(std::move(where), 40, random_);
    }
    const auto right_in_poses = [&](const Cubature& chosen) {
      double squares = 0, worst = 0;
      for (std::size_t i = 0; i < judges.size(); ++i) {
        const double error = judges[i].error(with_own_weights(known, i, chosen));
        squares += error * error / static_cast<double>(judges.size());
        worst = std::max(worst, error);
      }
      if (std::sqrt(squares) > pose_tolerance() || worst > 1.4 * pose_tolerance()) return false;
      return !elsewhere || elsewhere->error(chosen) <= unknown_tolerance();
    };
    // Between poses weights have to be fitted together first, which takes long. Errors fall about as elements grow.
    const double aim = 0.9 * posed_tolerance();
    double next = 0;
    bool finished = false;
    const Cubature last = select_cubature(known, {}, progress_, [&](const Cubature& chosen) {
      const auto count = static_cast<double>(chosen.sites.size());
      // The sites' common weights are worse than the poses' own; no use in looking closely while they are far off.
      if (chosen.training_error > 4 * settings_.tolerance || count < next || !right_in_poses(chosen)) return false;
      const double error = finish(chosen, candidates, result);
      next = 0.97 * count * error / aim;
      finished = error <= aim;
      return finished;
    });
    if (!finished && !progress_.cancelled()) finish(last, candidates, result);
  }

  static std::vector<Index> every_place(const Cubature& chosen) {
    std::vector<Index> places(chosen.sites.size());
    std::iota(places.begin(), places.end(), 0);
    return places;
  }
  static Cubature with_own_weights(const CubatureSamples& known, std::size_t pose, const Cubature& chosen) {
    Cubature own = fit_weights(of_pose(known, pose, chosen.sites), every_place(chosen));
    own.sites = chosen.sites;
    return own;
  }

  /// Weights of all poses (Eq. 19), also for what is between them.
  std::vector<Cubature> final_weights(const std::vector<Index>& sites, const Cubature& chosen) {
    if (input_.poses.size() == 1) return {{every_place(chosen), chosen.weights, chosen.training_error}};
    std::vector<CubatureSamples> samples;
    const auto poses = std::ssize(input_.poses);
    MatX shares = MatX::Identity(poses + static_cast<Eigen::Index>(between_->training_count()), poses);
    for (std::size_t i = 0; i < input_.poses.size(); ++i)
      samples.push_back(elastic_samples(sampling(i, sites), 2 * samples_, random_, linear_));
    for (std::size_t k = 0; k < between_->training_count(); ++k) {
      if (progress_.cancelled()) return {};
      shares.row(std::ssize(samples)) = between_->shares(k).transpose();
      samples.push_back(elastic_samples(between_->sampling(k, sites), samples_, random_, linear_));
    }
    return fit_blended_weights(samples, shares, every_place(chosen));
  }

  /// The correction of one pose, and how good both are.
  void finish_pose(std::size_t pose, const std::vector<Index>& sites, Cubature cubature, PoseCubature& result) {
    const ElasticSampling own = sampling(pose, sites);
    const MatX C = input_.stiffness[pose] - cubature_stiffness(own, cubature);
    const MatX typical = spreads_[pose].transpose() * C * spreads_[pose];
    result.correction_limit = std::max(result.correction_limit, typical_takes * 0.5 * typical.norm());
    // The correction makes the linear answer exact: what is left is what cubature makes of the rest.
    const auto error = [&](const ElasticSampling& where) {
      return cubature_error(elastic_samples(where, 64, random_), cubature);
    };
    result.elastic_error = std::max(result.elastic_error, error(own_pose(pose, sites)));
    if (between_->empty()) {
      const std::vector<std::vector<Vec3>> shapes = unknown_shapes(input_, pose, 8, random_);
      ElasticSampling elsewhere = own;
      elsewhere.shapes = shapes;
      result.posed_error = result.worst_posed_error = error(elsewhere);
    }
    result.corrections.push_back(C);
    cubature.sites = sites;
    result.elements.push_back(std::move(cubature));
  }

  const TrainingInput& input_;
  const TrainingSettings& settings_;
  Progress& progress_;
  std::mt19937_64 random_;
  int samples_ = 0, linear_ = 0;
  std::optional<BlendedPoseTraining> between_;
  std::vector<MatX> spreads_;
  std::vector<std::vector<std::vector<Vec3>>> shapes_;
};

}  // namespace

std::vector<Index> candidate_elements(const TetMesh& mesh, std::span<const Index> free, std::size_t bytes) {
  std::vector<char> is_free(mesh.vertices.size(), 0);
  for (const Index v : free) is_free[to_size(v)] = 1;
  std::vector<Index> all;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    if (std::any_of(mesh.elements[e].begin(), mesh.elements[e].end(),
                    [&](Index v) { return is_free[to_size(v)] != 0; }))
      all.push_back(static_cast<Index>(e));
  }
  const std::size_t most = std::min<std::size_t>(40'000, (std::size_t(1) << 30) / bytes);
  if (all.size() <= most) return all;
  std::vector<Index> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
  return some;
}

PoseCubature train_cubature(const TrainingInput& input, const TrainingSettings& settings, Progress& progress) {
  PoseCubature result;
  progress.stage("choosing elements");
  Trainer trainer(input, settings, progress);
  trainer.train_elements(result);
  if (progress.cancelled()) return result;
  progress.stage("choosing vertices");
  trainer.train_vertices(result);
  return result;
}

}  // namespace supple
