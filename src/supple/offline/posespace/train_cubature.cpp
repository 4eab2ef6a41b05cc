// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/train_cubature.h"

#include "supple/offline/cubature/cubature_samples.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/offline/posespace/choose_poses.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace supple {
namespace {

/// Elements with a vertex that can move; at most as many as fit into memory, evenly spread.
std::vector<Index> candidate_elements(const TetMesh& mesh, std::span<const Index> free, std::size_t most) {
  std::vector<char> is_free(mesh.vertices.size(), 0);
  for (const Index v : free) is_free[static_cast<std::size_t>(v)] = 1;
  std::vector<Index> all;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    if (std::any_of(mesh.elements[e].begin(), mesh.elements[e].end(),
                    [&](Index v) { return is_free[static_cast<std::size_t>(v)] != 0; }))
      all.push_back(static_cast<Index>(e));
  }
  if (all.size() <= most) return all;
  std::vector<Index> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
  return some;
}

/// How much more energy than usual the corrections may take away before they fade. Flesh is then some three hundred
/// times as far out as usual, farther than any motion takes it, and must still come back.
constexpr double typical_takes = 1e5;

/// How far coordinates go: their static answers to the inertia of the known motion, no force below a tenth of the
/// largest. Without a known motion all get the same force. Flesh is taken to sway by no more than a two-hundredth of
/// the height: clips jump.
MatX typical_spread(const TrainingInput& input, const MatX& basis, const MatX& stiffness) {
  VecX force = VecX::Ones(basis.cols());
  double most = std::numeric_limits<double>::infinity();
  if (input.accelerations.norm() > 0) {
    const MatX f = basis.transpose() * multiply_columns(input.body.consistent_mass(), input.accelerations);
    force = (f.rowwise().squaredNorm() / static_cast<double>(f.cols())).cwiseSqrt();
    force = force.cwiseMax(0.1 * force.maxCoeff()).eval();
    most = 1;
  }
  const MatX spread = stiffness.llt().solve(MatX(force.asDiagonal()));
  const VecX squares = (basis * spread).rowwise().squaredNorm();
  double sway = 0;
  for (Eigen::Index v = 0; v < squares.size(); v += 3) sway = std::max(sway, std::sqrt(squares.segment<3>(v).sum()));
  return spread * std::min(most, 0.005 * input.height / std::max(sway, 1e-300));
}

/// Where the flesh may be when a pose of the model is nearest: in known poses, in some that nobody has shown, and in
/// the pose itself.
std::vector<std::vector<Vec3>> training_shapes(const TrainingInput& input, std::size_t pose, std::mt19937_64& random) {
  constexpr double angle = 0.2;  // [rad] a joint
  const int unknown = input.poses.size() == 1 ? 7 : 3;
  const PoseLayout& layout = input.rest.layout();
  std::vector<std::vector<Vec3>> shapes = random_shapes(input.rest, input.poses[pose].p, angle, unknown, random);
  for (const std::vector<double>& p : input.known_poses) {
    std::size_t nearest = 0;
    for (std::size_t i = 1; i < input.poses.size(); ++i)
      if (pose_distance(layout, p, input.poses[i].p) < pose_distance(layout, p, input.poses[nearest].p)) nearest = i;
    if (nearest == pose) shapes.push_back(evaluate_all(input.rest, p));
  }
  shapes.push_back(input.poses[pose].positions);
  return shapes;
}

/// Of a cubature with its corrections. Samples are of what departs from the linear answer Λ; `missing` is what C and
/// K_c have more than it.
double whole_error(const CubatureSamples& samples, const MatX& residual, const MatX& missing) {
  return (residual + missing * samples.coordinates).norm() / samples.length;
}

/// To judge a choice of sites by: bases of all candidates are not kept.
CubatureSamples judging_samples(const ElasticSampling& sampling, int count, std::mt19937_64& random) {
  CubatureSamples samples = elastic_samples(sampling, count, random);
  samples.bases.clear();
  return samples;
}

double root_mean_square(std::span<const double> values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return values.empty() ? 0 : std::sqrt(squares / static_cast<double>(values.size()));
}

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
    for (std::size_t i = 0; i < input_.poses.size(); ++i) {
      spreads_.push_back(typical_spread(input_, input_.poses[i].basis, input_.stiffness[i]));
      shapes_.push_back(training_shapes(input_, i, random_));
    }
    find_between();
    // Candidates × poses × (samples + coordinates) numbers are kept; a GiB of them.
    const std::size_t row = 9 * sizeof(float) * input_.poses.size() *
                            static_cast<std::size_t>(samples_ + linear_ + input_.poses.front().basis.cols());
    const std::vector<Index> candidates =
        candidate_elements(input_.mesh, input_.free, std::min<std::size_t>(40'000, (std::size_t(1) << 30) / row));
    const auto sample = [&](int count, bool training) {
      std::vector<CubatureSamples> all;
      for (std::size_t i = 0; i < input_.poses.size(); ++i)
        all.push_back(elastic_samples(sampling(i, candidates), count, random_, training ? linear_ : 0));
      return joined(std::move(all));
    };
    const auto choose = [&](double enough) {
      return settings_.elements == 0 ? choose_elements(sample, candidates, enough)
                                     : choose_sites(sample, settings_.elements);
    };
    if (between_.empty()) return finish(choose(0.85 * posed_tolerance()), candidates, result);
    // Between poses errors can't be told before weights are fitted together, which takes long. So elements are first
    // chosen for the poses alone; what comes out says how much less is to be expected of more of them.
    finish(choose(std::numeric_limits<double>::infinity()), candidates, result);
    const double aim = 0.95 * posed_tolerance();
    if (settings_.elements > 0 || decisive_error_ <= aim) return;
    const double enough = expected_ * aim / decisive_error_;
    result = {};
    finish(choose(enough), candidates, result);
  }

  void train_vertices(PoseCubature& result) {
    // What counts of an inertial force is how far it moves the flesh, Λ⁻¹ f: a small error along a soft coordinate is
    // seen.
    std::vector<MatX> responding;
    for (std::size_t i = 0; i < input_.poses.size(); ++i) {
      const MatX& stiffness = input_.stiffness[i];
      const double softest = Eigen::SelfAdjointEigenSolver<MatX>(stiffness, Eigen::EigenvaluesOnly).eigenvalues()[0];
      responding.push_back(softest * stiffness.llt().solve(turned(input_.poses[i]).transpose()).transpose());
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
    result.vertices = choose_sites(sample, settings_.vertices);
    result.inertial_error = cubature_error(sample(40, false), result.vertices);
  }

 private:
  void finish(const Cubature& chosen, std::span<const Index> candidates, PoseCubature& result) {
    std::vector<Index> sites;
    for (const Index site : chosen.sites) sites.push_back(candidates[static_cast<std::size_t>(site)]);
    result.elastic_training_error = chosen.training_error;
    std::vector<Cubature> weighted = final_weights(sites, chosen);
    for (std::size_t i = 0; i < input_.poses.size(); ++i) finish_pose(i, sites, std::move(weighted[i]), result);
    if (!between_.empty()) finish_between(sites, result);
  }

  /// A pose between those of the model, and what all elements make of it.
  struct Between {
    BetweenPose at;
    MatX stiffness, spread;
  };

  ElasticSampling sampling(std::size_t pose, std::span<const Index> candidates) const {
    return {input_.mesh,       input_.body.material(), input_.poses[pose],
            input_.directions, input_.stiffness[pose], spreads_[pose],
            candidates,        shapes_[pose]};
  }

  /// Sites are chosen with some samples, how many with others; neither may judge the result.
  template <class Sampler>
  Cubature choose_sites(const Sampler& sample, int most) {
    const CubatureSamples known = sample(samples_, true), watched = sample(24, false);
    return select_cubature(known, {.most_sites = most, .tolerance = settings_.tolerance}, progress_, &watched);
  }

  /// Poses between those of the model. The farther half helps to make the result.
  void find_between() {
    constexpr std::size_t most = 48;
    if (input_.poses.size() == 1 || input_.weights == nullptr) return;
    const PoseLayout& layout = input_.rest.layout();
    std::vector<std::vector<double>> candidates(input_.known_poses.begin(), input_.known_poses.end());
    for (std::size_t i = 0; i < input_.poses.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        candidates.push_back(pose_between(layout, input_.poses[i].p, input_.poses[j].p, 0.5));
    const KnownPoses known{input_.body, input_.mesh, input_.rest, input_.poses, input_.directions};
    std::vector<Index> every(input_.mesh.elements.size());
    std::iota(every.begin(), every.end(), 0);
    const Cubature all{every, VecX::Ones(std::ssize(every)), 0};
    for (std::vector<double>& p : far_poses(layout, input_.poses, candidates, most)) {
      BetweenPose at(known, *input_.weights, std::move(p));
      Between& between = between_.emplace_back(Between{std::move(at), MatX::Zero(size(), size()), {}});
      between.stiffness = cubature_stiffness(sampling(between, every), all);
      between.spread = typical_spread(input_, between.at.pose().basis, between.stiffness);
    }
  }
  /// A step costs elements × coordinates: where coordinates are few, more elements are cheap, and seen.
  double pose_tolerance() const {
    return strictness() * std::clamp(0.002 * std::sqrt(static_cast<double>(size())), 0.75 * settings_.pose_tolerance,
                                     settings_.pose_tolerance);
  }
  double posed_tolerance() const { return strictness() * settings_.posed_tolerance; }
  /// Who asks for another tolerance than usual asks for it everywhere.
  double strictness() const { return settings_.tolerance / TrainingSettings{}.tolerance; }
  std::size_t making() const { return (between_.size() + 1) / 2; }
  Eigen::Index size() const { return input_.stiffness.front().rows(); }

  ElasticSampling sampling(const Between& between, std::span<const Index> candidates) const {
    return {input_.mesh,
            input_.body.material(),
            between.at.pose(),
            input_.directions,
            between.stiffness,
            between.spread,
            candidates,
            {},
            [&between](std::size_t e) { return between.at.gradient(e); }};
  }

  /// The weights that a step gives to the elements there.
  static Cubature blended(const BetweenPose& at, const std::vector<Cubature>& elements) {
    Cubature result = elements.front();
    result.weights.setZero();
    for (std::size_t i = 0; i < elements.size(); ++i)
      result.weights += at.weights()[static_cast<Eigen::Index>(i)] * elements[i].weights;
    return result;
  }

  /// Elements are judged as they will be used: with each pose's own weights in the poses, which their corrections make
  /// exact for small deformations, and elsewhere as steps see it.
  template <class Sampler>
  Cubature choose_elements(const Sampler& sample, std::span<const Index> candidates, double enough) {
    const CubatureSamples known = sample(samples_, true);
    std::vector<CubatureSamples> here, elsewhere;
    for (std::size_t i = 0; i < input_.poses.size(); ++i) {
      ElasticSampling own = sampling(i, candidates);
      own.shapes = own.shapes.last(1);
      here.push_back(judging_samples(own, 16, random_));
    }
    if (between_.empty()) elsewhere.push_back(judging_samples(sampling(0, candidates), 48, random_));
    for (std::size_t k = 0; k < making(); ++k)
      elsewhere.push_back(judging_samples(sampling(between_[k], candidates), 16, random_));
    const auto error_at = [&](std::size_t pose, const CubatureSamples& samples, const Cubature& own) {
      return cubature_residual(sampling(pose, candidates), samples, own).norm() / samples.length;
    };
    const auto good_enough = [&](const Cubature& chosen) {
      std::vector<Cubature> own;
      for (std::size_t i = 0; i < input_.poses.size(); ++i) {
        own.push_back(with_own_weights(known, i, chosen));
        if (error_at(i, here[i], own.back()) > pose_tolerance()) return false;
      }
      expected_ =
          between_.empty() ? error_at(0, elsewhere.front(), own.front()) : error_between(elsewhere, own, candidates);
      return expected_ <= enough;
    };
    return select_cubature(known, {}, progress_, [&](const Cubature& chosen) {
      // The sites' common weights are worse than the poses' own; no use in looking closely while they are far off.
      return chosen.training_error < 4 * settings_.tolerance && good_enough(chosen);
    });
  }

  /// Corrections that are known at some poses.
  struct Corrections {
    PoseSpaceWeights weights;
    std::vector<MatX> C;

    MatX at(const BetweenPose& pose) const {
      std::vector<double> w(C.size()), scratch = w;
      weights.evaluate(pose.pose().p, w, scratch);
      return pose.blended(C, w);
    }
  };

  /// In each of the poses that help to make the result, with corrections known in all others: a little more than what
  /// is to be expected where they are known in all of them.
  double error_between(std::span<const CubatureSamples> samples, const std::vector<Cubature>& own,
                       std::span<const Index> candidates) const {
    std::vector<std::vector<double>> poses;
    std::vector<MatX> C, missing;
    for (std::size_t i = 0; i < own.size(); ++i) {
      poses.push_back(input_.poses[i].p);
      C.push_back(input_.stiffness[i] - cubature_stiffness(sampling(i, candidates), own[i]));
    }
    for (std::size_t k = 0; k < samples.size(); ++k) {
      const Between& between = between_[k];
      missing.push_back(cubature_stiffness(sampling(between, candidates), blended(between.at, own)) -
                        between.stiffness);
      poses.push_back(between.at.pose().p);
      C.push_back(between.at.unscaled(-missing.back()));
    }
    std::vector<double> errors;
    for (std::size_t k = 0; k < samples.size(); ++k) {
      const auto without = [&](auto all) {
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(own.size() + k));
        return all;
      };
      Result<PoseSpaceWeights> weights = PoseSpaceWeights::create(input_.rest.layout(), without(poses));
      if (!weights.ok()) continue;
      const Corrections known{std::move(*weights), without(C)};
      const MatX residual =
          cubature_residual(sampling(between_[k], candidates), samples[k], blended(between_[k].at, own));
      errors.push_back(whole_error(samples[k], residual, known.at(between_[k].at) + missing[k]));
    }
    return root_mean_square(errors);
  }

  /// A pose between those of the model with its cubature, to try corrections on.
  struct Trial {
    const Between& between;
    Cubature cubature;
    MatX K_c;
    CubatureSamples unseen;
    bool known = false;  ///< its correction

    double error(const Corrections& corrections) const {
      return whole_error(unseen, cubature_residual(unseen, cubature),
                         corrections.at(between.at) + K_c - between.stiffness);
    }
  };
  Trial trial(std::size_t number, const std::vector<Index>& sites, const PoseCubature& result, int samples) {
    const Between& between = between_[number];
    Cubature cubature = blended(between.at, result.elements);
    cubature.sites = every_place(cubature);
    const ElasticSampling where = sampling(between, sites);
    MatX K_c = cubature_stiffness(where, cubature);
    return {between, std::move(cubature), std::move(K_c), elastic_samples(where, samples, random_)};
  }

  /// Corrections at more poses: where they are missed most, until forces are right everywhere.
  void finish_between(const std::vector<Index>& sites, PoseCubature& result) {
    const PoseLayout& layout = input_.rest.layout();
    std::vector<std::vector<double>> poses;
    for (const PoseBasis& pose : input_.poses) poses.push_back(pose.p);
    std::vector<Trial> trials;
    for (std::size_t k = 0; k < making(); ++k) trials.push_back(trial(k, sites, result, 16));
    Corrections corrections{*input_.weights, result.corrections};
    result.between.resize(layout.size(), 0);
    for (;;) {
      double error = 0;
      Trial* worst = nullptr;
      for (Trial& each : trials) {
        const double own = each.known ? 0 : each.error(corrections);
        if (own > error) error = own, worst = &each;
      }
      if (error < 0.75 * posed_tolerance()) break;
      worst->known = true;
      const std::vector<double>& p = worst->between.at.pose().p;
      poses.push_back(p);
      Result<PoseSpaceWeights> more = PoseSpaceWeights::create(layout, poses);
      if (!more.ok()) break;
      corrections.weights = std::move(*more);
      corrections.C.push_back(worst->between.at.unscaled(worst->between.stiffness - worst->K_c));
      result.between.conservativeResize(Eigen::NoChange, result.between.cols() + 1);
      result.between.rightCols(1) = Eigen::Map<const VecX>(p.data(), std::ssize(p));
    }
    judge_between(sites, corrections, result);
    result.corrections = std::move(corrections.C);
  }

  /// Of the other half every second pose decides whether elements are enough; those between judge the result.
  void judge_between(const std::vector<Index>& sites, const Corrections& corrections, PoseCubature& result) {
    std::vector<double> errors, decisive;
    for (std::size_t k = between_.size() > 2 ? making() : 0; k < between_.size(); ++k)
      (k % 2 == 0 ? decisive : errors).push_back(trial(k, sites, result, 32).error(corrections));
    decisive_error_ = root_mean_square(decisive);
    if (errors.empty()) errors = decisive;
    // Rounded: sums over as many samples differ in their last bits with where they lie in memory.
    result.posed_error = std::round(1e6 * root_mean_square(errors)) / 1e6;
    result.worst_posed_error = std::round(1e6 * *std::max_element(errors.begin(), errors.end())) / 1e6;
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
    MatX shares = MatX::Identity(poses + static_cast<Eigen::Index>(making()), poses);
    for (std::size_t i = 0; i < input_.poses.size(); ++i)
      samples.push_back(elastic_samples(sampling(i, sites), 2 * samples_, random_, linear_));
    for (std::size_t k = 0; k < making(); ++k) {
      shares.row(std::ssize(samples)) = between_[k].at.weights().transpose();
      samples.push_back(elastic_samples(sampling(between_[k], sites), samples_, random_, linear_));
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
    ElasticSampling here = own, elsewhere = own;
    elsewhere.shapes = here.shapes.first(here.shapes.size() - 1);
    here.shapes = here.shapes.last(1);
    result.elastic_error = std::max(result.elastic_error, error(here));
    if (input_.poses.size() == 1) result.posed_error = result.worst_posed_error = error(elsewhere);
    result.corrections.push_back(C);
    cubature.sites = sites;
    result.elements.push_back(std::move(cubature));
  }

  const TrainingInput& input_;
  const TrainingSettings& settings_;
  Progress& progress_;
  std::mt19937_64 random_;
  int samples_ = 0, linear_ = 0;
  double expected_ = 0;        ///< error outside the poses, of elements while they are chosen …
  double decisive_error_ = 0;  ///< … and of those that were
  std::vector<Between> between_;
  std::vector<MatX> spreads_;
  std::vector<std::vector<std::vector<Vec3>>> shapes_;
};

}  // namespace

PoseCubature train_cubature(const TrainingInput& input, const TrainingSettings& settings, Progress& progress) {
  PoseCubature result;
  Trainer trainer(input, settings, progress);
  progress.stage("choosing elements");
  trainer.train_elements(result);
  progress.stage("choosing vertices");
  trainer.train_vertices(result);
  return result;
}

}  // namespace supple
