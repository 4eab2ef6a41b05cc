// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/train_cubature.h"

#include "supple/offline/cubature/cubature_samples.h"
#include "supple/offline/modes/mass_pca.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include <algorithm>
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

struct Correction {
  MatX added, taken;
};

/// How much more energy than usual the corrections may take away before they fade. Flesh is then some three hundred
/// times as far out as usual, farther than any motion takes it, and must still come back.
constexpr double typical_takes = 1e5;

/// Λ − K_c in a positive and a negative part; at most a share of Λ is taken away.
Correction correction_of(const MatX& stiffness, const MatX& K_c) {
  constexpr double most = 0.5;
  const Eigen::LLT<MatX> root(stiffness);
  MatX scaled = root.matrixL().solve(K_c);
  scaled = root.matrixL().solve(scaled.transpose()).eval();
  const Eigen::SelfAdjointEigenSolver<MatX> eigen(MatX(MatX::Identity(K_c.rows(), K_c.cols()) - scaled));
  const VecX& values = eigen.eigenvalues();
  const MatX V = root.matrixL() * eigen.eigenvectors();
  return {V * values.cwiseMax(0.0).asDiagonal() * V.transpose(),
          V * (-values).cwiseMax(0.0).cwiseMin(most).asDiagonal() * V.transpose()};
}

/// How far coordinates go: their static answers to the inertia of the known motion, no force below a tenth of the
/// largest. Without a known motion all get the same force. Flesh is taken to sway by no more than a two-hundredth of
/// the height: clips jump.
MatX typical_spread(const TrainingInput& input, std::size_t pose) {
  const MatX& basis = input.poses[pose].basis;
  VecX force = VecX::Ones(basis.cols());
  double most = std::numeric_limits<double>::infinity();
  if (input.accelerations.norm() > 0) {
    const MatX f = basis.transpose() * multiply_columns(input.body.consistent_mass(), input.accelerations);
    force = (f.rowwise().squaredNorm() / static_cast<double>(f.cols())).cwiseSqrt();
    force = force.cwiseMax(0.1 * force.maxCoeff()).eval();
    most = 1;
  }
  const MatX spread = input.stiffness[pose].llt().solve(MatX(force.asDiagonal()));
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

/// Of a cubature with its corrections. Samples are of what departs from the linear answer Λ; `missing` is what C⁺ and
/// K_c have more than it.
double unseen_error(const CubatureSamples& samples, const Cubature& cubature, const MatX& missing, const MatX& taken,
                    double taken_limit) {
  const MatX& q = samples.coordinates;
  const VecX energy =
      0.5 * (taken * q).cwiseProduct(q).colwise().sum().transpose().cwiseProduct(samples.lengths.cwiseAbs2());
  const VecX t = (1 + energy.array() / taken_limit).inverse();
  const MatX corrected = missing * q - taken * q * t.cwiseAbs2().asDiagonal();
  return (cubature_residual(samples, cubature) + corrected).norm() / samples.length;
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
      spreads_.push_back(typical_spread(input_, i));
      shapes_.push_back(training_shapes(input_, i, random_));
    }
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
    const bool judged_whole = input_.poses.size() > 1 && settings_.elements == 0;
    const Cubature chosen =
        judged_whole ? choose_elements(sample, candidates) : choose_sites(sample, settings_.elements);
    std::vector<Index> sites;
    for (const Index site : chosen.sites) sites.push_back(candidates[static_cast<std::size_t>(site)]);
    result.elastic_training_error = chosen.training_error;
    for (std::size_t i = 0; i < input_.poses.size(); ++i) finish_pose(i, sites, chosen, result);
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

  /// Elements are judged as they will be used: with each pose's own weights and its correction, in the pose itself and
  /// in others.
  template <class Sampler>
  Cubature choose_elements(const Sampler& sample, std::span<const Index> candidates) {
    const CubatureSamples known = sample(samples_, true);
    std::vector<CubatureSamples> here, elsewhere;
    for (std::size_t i = 0; i < input_.poses.size(); ++i) {
      ElasticSampling own = sampling(i, candidates);
      const auto shapes = own.shapes;
      own.shapes = shapes.last(1);
      here.push_back(elastic_samples(own, 16, random_));
      own.shapes = shapes.first(shapes.size() - 1);
      elsewhere.push_back(elastic_samples(own, 32, random_));
    }
    const CubatureSamples at_poses = joined(std::move(here)), between = joined(std::move(elsewhere));
    const auto good_enough = [&](const Cubature& chosen) {
      for (std::size_t i = 0; i < input_.poses.size(); ++i) {
        const Cubature own = with_own_weights(known, i, chosen);
        // Λ − K_c in all, but for what may not be taken away.
        const MatX K_c = cubature_stiffness(sampling(i, candidates), own);
        const Correction correction = correction_of(input_.stiffness[i], K_c);
        const MatX missing = correction.added - correction.taken + K_c - input_.stiffness[i];
        const auto error = [&](const CubatureSamples& all) {
          const CubatureSamples unseen = of_pose(all, i, chosen.sites);
          const Cubature placed{every_place(chosen), own.weights, 0};
          return (cubature_residual(unseen, placed) + missing * unseen.coordinates).norm() / unseen.length;
        };
        if (error(at_poses) > settings_.pose_tolerance || error(between) > settings_.posed_tolerance) return false;
      }
      return true;
    };
    return select_cubature(known, {}, progress_, [&](const Cubature& chosen) {
      // The sites' common weights are worse than the poses' own; no use in looking closely while they are far off.
      return chosen.training_error < 4 * settings_.tolerance && good_enough(chosen);
    });
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

  /// Weights of one pose (Eq. 19), its correction, and how good both are.
  void finish_pose(std::size_t pose, const std::vector<Index>& sites, const Cubature& chosen, PoseCubature& result) {
    std::vector<Index> all(sites.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Index>(i);
    const ElasticSampling own = sampling(pose, sites);
    Cubature cubature{all, chosen.weights, chosen.training_error};
    if (input_.poses.size() > 1) cubature = fit_weights(elastic_samples(own, 2 * samples_, random_, linear_), all);
    const MatX K_c = cubature_stiffness(own, cubature);
    const Correction correction = correction_of(input_.stiffness[pose], K_c);
    result.taken_limit = std::max(
        result.taken_limit, typical_takes * 0.5 * spreads_[pose].cwiseProduct(correction.taken * spreads_[pose]).sum());
    const MatX missing = correction.added + K_c - input_.stiffness[pose];
    const auto error = [&](const ElasticSampling& where) {
      return unseen_error(elastic_samples(where, 64, random_), cubature, missing, correction.taken, result.taken_limit);
    };
    ElasticSampling here = own, elsewhere = own;
    elsewhere.shapes = here.shapes.first(here.shapes.size() - 1);
    here.shapes = here.shapes.last(1);
    result.elastic_error = std::max(result.elastic_error, error(here));
    result.posed_error = std::max(result.posed_error, error(elsewhere));
    result.added.push_back(correction.added);
    result.taken.push_back(correction.taken);
    cubature.sites = sites;
    result.elements.push_back(std::move(cubature));
  }

  const TrainingInput& input_;
  const TrainingSettings& settings_;
  Progress& progress_;
  std::mt19937_64 random_;
  int samples_ = 0, linear_ = 0;
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
