// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/cubature/train_exact.h"

#include "supple/base/parallel.h"
#include "supple/fem/element.h"
#include "supple/fem/material_models.h"
#include "supple/fem/posed_rest.h"
#include "supple/offline/cubature/gaussian.h"
#include "supple/offline/fitting/frame_sites.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/offline/posespace/bases/pose_basis.h"

#include <Eigen/LU>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace supple {
namespace {

constexpr int rows = 12;               ///< of an element: what its corners do
constexpr double linear_weight = 0.3;  ///< of samples that ask for the linear answer
/// How many times the tolerance forces may be off, and linear answers, of which corrections know half. The motion of
/// the skin forgives errors of forces, but not of answers: where these may be off by 8 times the tolerance, a body that
/// bends far from its one pose (the X, r = 100) is 23 % off the full simulation, by 3 times 4 %, with 14 % more
/// elements on a character of 8,000 tetrahedra.
constexpr double force_share = 4, answer_share = 3;
constexpr std::size_t most_poses = 48;      ///< that samples are drawn in
constexpr std::size_t most_corrected = 16;  ///< poses with a correction of their own, the neutral one among them
constexpr std::size_t most_compared = 300;  ///< moments among which these are chosen

using Twelve = Eigen::Matrix<double, rows, 1>;

/// A pose: where the vertices rest and how they have turned.
struct Stance {
  std::vector<double> p;
  std::vector<Vec3> positions;
  std::vector<Mat3> turns;
};

/// What a stance makes of an element: F = 1 + V B, V_k = R_k δ_k + (R_k − R_0) û_0.
struct StancedElement {
  Mat3 B = Mat3::Identity();
  double volume = 0;  ///< of the rest shape there
  std::array<Mat3, 3> R, difference;

  Mat3 strain(const Twelve& y) const {
    Mat3 V;
    for (int k = 0; k < 3; ++k) V.col(k) = R[to_size(k)] * y.segment<3>(3 * k) + difference[to_size(k)] * y.tail<3>();
    return V * B;
  }
  Twelve pulled_back(const Mat3& stress) const {
    const Mat3 s = volume * stress * B.transpose();
    Twelve result = Twelve::Zero();
    for (int k = 0; k < 3; ++k) {
      result.segment<3>(3 * k) = R[to_size(k)].transpose() * s.col(k);
      result.tail<3>() += difference[to_size(k)].transpose() * s.col(k);
    }
    return result;
  }
};

Mat3 rest_stress(const Lame<double>& lame, const Mat3& Y) {
  return lame.mu * (Y + Y.transpose()) + lame.lambda * Y.trace() * Mat3::Identity();
}

/// Where flesh is: coordinates, and in which of the stances.
struct Moments {
  MatX q;
  std::vector<std::size_t> stance;

  int count() const { return static_cast<int>(q.cols()); }
};

class ExactTrainer {
 public:
  ExactTrainer(const TrainingInput& input, const TrainingSettings& settings, std::mt19937_64& random,
               Progress& progress)
      : input_(input),
        settings_(settings),
        random_(random),
        progress_(progress),
        basis_(input.poses.front().basis),
        taught_(input.teach()),
        taught_q_(basis_.transpose() * multiply_columns(input.body.consistent_mass(), taught_.displacements)) {
    choose_stances();
  }

  void train(PoseCubature& result) {
    const auto size = static_cast<int>(basis_.cols());
    const std::vector<Index> candidates =
        candidate_elements(input_.mesh, input_.free, rows * sizeof(float) * to_size(3 * basis_.cols() + 200));
    const int count = std::max(160, size);
    const Moments known = draw(count), unknown = draw(40);
    const CubatureSamples samples = sample(candidates, known, std::max(60, size / 2));
    const CubatureSamples watched = sample(candidates, unknown, 0);
    const CubatureSamples watched_answers = sample_answers(candidates, unknown);
    const int most = settings_.elements;
    const Cubature chosen =
        most > 0 ? select_cubature(samples, {.most_sites = most, .tolerance = 0}, progress_)
                 : select_cubature(samples, {.most_sites = 8 * size + 64}, progress_, [&](const Cubature& now) {
                     return cubature_error(watched, now) <= force_share * tolerance() &&
                            cubature_error(watched_answers, now) <= answer_share * tolerance();
                   });
    if (progress_.cancelled()) return;
    finish(candidates, chosen, result);
    if (progress_.cancelled()) return;
    result.correction_reach = find_reach(unknown, watched_answers, chosen, result);
    judge(result);
  }

 private:
  /// A step costs elements × coordinates: where coordinates are few, more elements are cheap, and seen.
  double tolerance() const {
    return settings_.tolerance * std::clamp(std::sqrt(static_cast<double>(basis_.cols()) / 100), 0.3, 1.0);
  }

  /// The neutral pose, and those of moments that are evenly spread.
  void choose_stances() {
    stances_.push_back(stance(input_.poses.front().p));
    const auto& poses = taught_.poses;
    const std::size_t count = std::min(most_poses, poses.size());
    for (std::size_t k = 0; k < count; ++k) {
      moment_of_.push_back(k * poses.size() / count);
      stances_.push_back(stance(poses[moment_of_.back()]));
    }
  }

  Stance stance(const std::vector<double>& p) const {
    Stance result{p, evaluate_all(input_.rest, p), {}};
    result.turns = blended_rotations(input_.mesh, *input_.frames, result.positions);
    return result;
  }

  /// Half of the moments as they were, a little larger or smaller, the others at random.
  Moments draw(int count) {
    Moments result{MatX(basis_.cols(), count), std::vector<std::size_t>(to_size(count), 0)};
    const Eigen::Index taught = taught_q_.cols();
    for (int k = 0; k < count; ++k) {
      const std::size_t at = random_() % stances_.size();
      result.stance[to_size(k)] = at;
      if (taught == 0) {
        result.q.col(k) = random_small();
        continue;
      }
      const double gain = std::exp2(2.5 * (static_cast<double>(random_() >> 11) * 0x1p-53) - 1.5);
      if (at > 0 && random_() % 2 == 0) {
        result.q.col(k) = gain * taught_q_.col(static_cast<Eigen::Index>(moment_of_[at - 1]));
        continue;
      }
      VecX g(taught);
      for (double& x : g) x = Gaussian(random_)();
      result.q.col(k) = gain * (taught_q_ * g) / std::sqrt(static_cast<double>(taught));
    }
    return result;
  }

  /// Where no motion could be simulated: small coordinates, the soft ones larger.
  VecX random_small() {
    const VecX stiffness = input_.stiffness.front().diagonal();
    VecX q(stiffness.size());
    for (Eigen::Index c = 0; c < q.size(); ++c) q[c] = Gaussian(random_)() * stiffness.minCoeff() / stiffness[c];
    const VecX u = basis_ * q;
    return q * (0.01 * input_.height / std::max(u.cwiseAbs().maxCoeff(), 1e-300));
  }

  StancedElement stanced(std::size_t e, const Stance& stance) const {
    const auto& nodes = input_.mesh.elements[e];
    const auto edges = [&](std::span<const Vec3> x) {
      Mat3 E;
      for (int k = 0; k < 3; ++k) E.col(k) = x[to_size(nodes[to_size(k) + 1])] - x[to_size(nodes[0])];
      return E;
    };
    const Mat3 neutral = edges(input_.mesh.vertices), inverse = neutral.inverse();
    const PosedRest<double> rest = posed_rest<double>(Mat3(edges(stance.positions) * inverse));
    StancedElement result;
    result.B = inverse * rest.inverse_transpose.transpose();
    result.volume = std::abs(neutral.determinant()) / 6 * rest.volume_ratio;
    for (std::size_t k = 0; k < 3; ++k) {
      result.R[k] = stance.turns[to_size(nodes[k + 1])];
      result.difference[k] = result.R[k] - stance.turns[to_size(nodes[0])];
    }
    return result;
  }

  Lame<double> lame_of(std::size_t e) const {
    const ElasticMaterial& material = input_.mesh.material_of(e);
    return lame_from(material.young, material.poisson);
  }

  /// t_e of all samples, one per row: how forces differ from the linear answer for the first of them, that answer for
  /// the `linear` last; and the linear answer of the first ones beside it.
  template <class Model>
  void sample_element(std::size_t e, const MatX& y, const Moments& moments, int linear,
                      const std::vector<StancedElement>& at, Eigen::MatrixXf& values, Eigen::MatrixXf& answers) const {
    const Lame<double> lame = lame_of(e);
    const auto count = static_cast<Eigen::Index>(moments.count());
    for (Eigen::Index k = 0; k < count; ++k) {
      const StancedElement& element = at[moments.stance[to_size(k)]];
      const Mat3 Y = element.strain(y.col(k));
      const Twelve answer = element.pulled_back(rest_stress(lame, Y));
      if (k >= count - linear) {
        values.row(k) = answer.transpose().cast<float>();
        answers.row(k).setZero();
        continue;
      }
      const Twelve force = element.pulled_back(Model(Mat3(Mat3::Identity() + Y), lame).stress());
      values.row(k) = (force - answer).transpose().cast<float>();
      answers.row(k) = answer.transpose().cast<float>();
    }
  }

  /// The linear answers of moments alone.
  CubatureSamples sample_answers(std::span<const Index> candidates, const Moments& moments) {
    CubatureSamples samples = sample_all(candidates, moments, moments.count());
    samples.totals /= linear_weight;
    samples.values /= static_cast<float>(linear_weight);
    samples.length = std::sqrt(static_cast<double>(moments.count()));
    return samples;
  }

  /// `linear` moments more are asked for the linear answer alone.
  CubatureSamples sample(std::span<const Index> candidates, const Moments& drawn, int linear) {
    Moments moments = drawn;
    if (linear > 0) {
      const Moments more = draw(linear);
      moments.q.conservativeResize(Eigen::NoChange, drawn.count() + linear);
      moments.q.rightCols(linear) = even_forces(more.q);
      moments.stance.insert(moments.stance.end(), more.stance.begin(), more.stance.end());
    }
    return sample_all(candidates, moments, linear);
  }

  /// The `linear` last of the moments are asked for their linear answers.
  CubatureSamples sample_all(std::span<const Index> candidates, const Moments& moments, int linear) const {
    const Eigen::Index all = moments.count(), r = basis_.cols();
    CubatureSamples samples;
    samples.site_size = rows;
    samples.bases.emplace_back(r, rows * std::ssize(candidates));
    samples.counts.push_back(all);
    samples.values.resize(all, rows * std::ssize(candidates));
    samples.totals = MatX::Zero(r, all);
    MatX answers = samples.totals;
    const std::int64_t elements = std::ssize(input_.mesh.elements), grain = std::max<std::int64_t>(64, elements / 64);
    std::vector<MatX> totals(to_size((elements + grain - 1) / grain)), linear_totals = totals;
    parallel_ranges(elements, grain, [&](std::int64_t begin, std::int64_t end) {
      MatX &total = totals[to_size(begin / grain)], &linear_total = linear_totals[to_size(begin / grain)];
      total = linear_total = MatX::Zero(r, all);
      auto candidate = std::lower_bound(candidates.begin(), candidates.end(), static_cast<Index>(begin));
      Eigen::MatrixXf values(all, rows), answer(all, rows);
      for (std::int64_t i = begin; i < end; ++i) {
        const auto e = to_size(i);
        const MatX Y = corner_rows(input_.mesh, e, basis_);
        std::vector<StancedElement> at;
        for (const Stance& stance : stances_) at.push_back(stanced(e, stance));
        with_material<double>(input_.body.material(), [&](auto type) {
          sample_element<typename decltype(type)::type>(e, Y * moments.q, moments, linear, at, values, answer);
        });
        const Eigen::MatrixXf columns = Y.transpose().cast<float>();
        total += (columns * values.transpose()).cast<double>();
        linear_total += (columns * answer.transpose()).cast<double>();
        if (candidate == candidates.end() || *candidate != static_cast<Index>(i)) continue;
        const Eigen::Index column = rows * (candidate - candidates.begin());
        samples.bases.front().middleCols<rows>(column) = columns;
        samples.values.middleCols<rows>(column) = values;
        ++candidate;
      }
    });
    for (std::size_t k = 0; k < totals.size(); ++k) samples.totals += totals[k], answers += linear_totals[k];
    normalize(samples, answers, moments, linear);
    return samples;
  }

  /// Coordinates whose linear forces are of one size, as q = Λ⁻¹ g would be, mixed with moments: stiff coordinates are
  /// asked for as well as soft ones.
  MatX even_forces(const MatX& q) {
    const VecX stiffness = input_.stiffness.front().diagonal();
    MatX result = q;
    for (Eigen::Index k = 0; k < q.cols(); k += 2) {
      VecX g(q.rows());
      for (Eigen::Index c = 0; c < g.size(); ++c) g[c] = Gaussian(random_)() / stiffness[c];
      result.col(k) = g;
    }
    return result;
  }

  static void normalize(CubatureSamples& samples, const MatX& answers, const Moments& moments, int linear) {
    const Eigen::Index all = samples.samples();
    samples.coordinates = moments.q;
    samples.lengths.resize(all);
    for (Eigen::Index k = 0; k < all; ++k) {
      double length = std::max((samples.totals.col(k) + answers.col(k)).norm(), 1e-300);
      if (k >= all - linear) length = std::max(samples.totals.col(k).norm(), 1e-300) / linear_weight;
      samples.lengths[k] = length;
      samples.totals.col(k) /= length;
      samples.values.row(k) /= static_cast<float>(length);
      samples.coordinates.col(k) /= length;
    }
    samples.length = std::sqrt(static_cast<double>(all - linear));
  }

  /// Σ_e w_e Y_eᵀ T_eᵀ H_0 T_e Y_e in a stance, over all elements and over the chosen ones.
  MatX stiffness_of(const Stance& stance, std::span<const Index> elements, const VecX& weights) const {
    const std::int64_t count = std::ssize(elements), grain = std::max<std::int64_t>(32, count / 16);
    std::vector<MatX> parts(to_size((count + grain - 1) / grain));
    parallel_ranges(count, grain, [&](std::int64_t begin, std::int64_t end) {
      MatX& part = parts[to_size(begin / grain)];
      // As one product of tall matrices: nine rows an element, with the root of its energy.
      MatX tall(9 * (end - begin), basis_.cols());
      for (std::int64_t i = begin; i < end; ++i) {
        const auto e = to_size(elements[to_size(i)]);
        const StancedElement at = stanced(e, stance);
        const Lame<double> lame = lame_of(e);
        Eigen::Matrix<double, 9, rows> map;
        for (int c = 0; c < rows; ++c) {
          const Mat3 Y = at.strain(Twelve::Unit(c));
          const Mat3 symmetric = 0.5 * (Y + Y.transpose());
          // Ψ = μ ε:ε + λ/2 tr²ε = ½ |√(2μ) (ε − tr ε/3) + √(2μ + 3λ) tr ε/3|²: the parts are orthogonal
          const double mean = symmetric.trace() / 3;
          const Mat3 root = std::sqrt(2 * lame.mu) * (symmetric - mean * Mat3::Identity()) +
                            std::sqrt(2 * lame.mu + 3 * lame.lambda) * mean * Mat3::Identity();
          map.col(c) = Eigen::Map<const Eigen::Matrix<double, 9, 1>>(root.data());
        }
        tall.middleRows<9>(9 * (i - begin)) =
            std::sqrt(std::max(0.0, weights[i]) * at.volume) * map * corner_rows(input_.mesh, e, basis_);
      }
      part.noalias() = tall.transpose() * tall;
    });
    MatX sum = MatX::Zero(basis_.cols(), basis_.cols());
    for (const MatX& part : parts) sum += part;
    return 0.5 * (sum + sum.transpose());
  }

  void finish(std::span<const Index> candidates, const Cubature& chosen, PoseCubature& result) {
    std::vector<Index> sites, every(input_.mesh.elements.size());
    for (const Index site : chosen.sites) sites.push_back(candidates[to_size(site)]);
    std::iota(every.begin(), every.end(), 0);
    const VecX ones = VecX::Ones(std::ssize(every));
    result.elements = {{sites, chosen.weights, chosen.training_error}};
    result.elastic_training_error = chosen.training_error;
    const std::vector<std::vector<double>> central = central_poses();
    result.between.resize(input_.rest.layout().size(), std::ssize(central));
    std::vector<Stance> stances = {stances_.front()};
    for (std::size_t k = 0; k < central.size(); ++k) {
      result.between.col(static_cast<Eigen::Index>(k)) =
          Eigen::Map<const VecX>(central[k].data(), std::ssize(central[k]));
      stances.push_back(stance(central[k]));
    }
    for (const Stance& at : stances) {
      if (progress_.cancelled()) return;
      result.linear.push_back(stiffness_of(at, every, ones));
      result.corrections.push_back(result.linear.back() - stiffness_of(at, sites, chosen.weights));
    }
    limit_corrections(result);
  }

  /// What poses are chosen among: moments of the simulated motion, evenly spread, and how much each counts. Clips count
  /// as much as all motion that was made up.
  struct Compared {
    std::vector<std::size_t> moments;
    VecX weight;
  };
  Compared compared() const {
    Compared result;
    const std::size_t all = taught_.poses.size(), count = std::min(most_compared, all);
    for (std::size_t k = 0; k < count; ++k) result.moments.push_back(k * all / count);
    const auto is_of_clip = [&](std::size_t moment) { return taught_.clips[moment] >= 0; };
    const auto of_clips = std::count_if(result.moments.begin(), result.moments.end(), is_of_clip);
    result.weight.resize(std::ssize(result.moments));
    for (std::size_t k = 0; k < count; ++k)
      result.weight[static_cast<Eigen::Index>(k)] =
          1 /
          static_cast<double>(is_of_clip(result.moments[k]) ? of_clips : static_cast<std::ptrdiff_t>(count) - of_clips);
    return result;
  }

  /// Poses near to what the character does, one after the other: each takes most away from the mean distance of moments
  /// to the nearest pose with a correction. Poses that are far from each other are the extremes of made-up motion, and
  /// tell nothing of a clip.
  std::vector<std::vector<double>> central_poses() const {
    constexpr double worth = 1e-3;  // of the mean distance
    const PoseLayout& layout = input_.rest.layout();
    const auto [moments, weight] = compared();
    const auto pose = [&, &all = moments](Eigen::Index k) -> const std::vector<double>& {
      return taught_.poses[all[to_size(k)]];
    };
    const Eigen::Index count = weight.size();
    MatX between(count, count);
    VecX distance(count);
    for (Eigen::Index a = 0; a < count; ++a) {
      distance[a] = pose_distance(layout, pose(a), input_.poses.front().p);
      for (Eigen::Index b = 0; b <= a; ++b) between(a, b) = between(b, a) = pose_distance(layout, pose(a), pose(b));
    }
    std::vector<std::vector<double>> chosen;
    while (chosen.size() + 1 < most_corrected) {
      Eigen::Index best = -1;
      double most = worth * weight.dot(distance);
      for (Eigen::Index c = 0; c < count; ++c)
        if (const double gain = weight.dot(distance - distance.cwiseMin(between.col(c))); gain > most)
          most = gain, best = c;
      if (best < 0) break;
      chosen.push_back(pose(best));
      distance = distance.cwiseMin(between.col(best));
    }
    return chosen;
  }

  /// C as a step has it in a pose.
  class Corrections {
   public:
    Corrections(const PoseLayout& layout, std::vector<double> neutral, const PoseCubature& result)
        : matrices_(result.corrections), reach_(result.correction_reach) {
      std::vector<std::vector<double>> poses = {std::move(neutral)};
      for (const auto& p : result.between.colwise()) poses.emplace_back(p.begin(), p.end());
      weight_.resize(poses.size());
      distance_.resize(poses.size());
      Result<PoseSpaceWeights> weights = PoseSpaceWeights::create(layout, std::move(poses));
      if (weights.ok()) weights_ = std::move(*weights);
    }
    bool ok() const { return weights_.has_value(); }
    /// Interpolated, as if all poses were near.
    MatX everywhere(std::span<const double> p) {
      weights_->evaluate(p, weight_, distance_);
      MatX C = MatX::Zero(matrices_.front().rows(), matrices_.front().cols());
      double total = 0;
      for (std::size_t i = 0; i < weight_.size(); ++i)
        C += std::max(0.0, weight_[i]) * matrices_[i], total += std::max(0.0, weight_[i]);
      return C / total;
    }
    /// What counts of that in the last pose.
    double share(double reach) const { return correction_share(distance_, reach); }
    MatX at(std::span<const double> p) {
      const MatX C = everywhere(p);
      return share(reach_) * C;
    }

   private:
    std::span<const MatX> matrices_;
    double reach_;
    std::optional<PoseSpaceWeights> weights_;
    std::vector<double> weight_, distance_;
  };

  /// ρ of correction_share() with which the linear answers of moments that elements weren't fitted to are missed least.
  double find_reach(const Moments& moments, const CubatureSamples& answers, const Cubature& chosen,
                    const PoseCubature& result) const {
    Corrections corrections(input_.rest.layout(), stances_.front().p, result);
    if (!corrections.ok() || result.between.cols() == 0) return 0;
    const MatX missing = -cubature_residual(answers, chosen);
    constexpr double reaches[] = {0, 4, 2.8, 2, 1.4, 1, 0.7, 0.5, 0.35, 0.25, 0.18, 0.12};
    std::array<double, std::size(reaches)> squares{};
    for (Eigen::Index k = 0; k < missing.cols(); ++k) {
      const std::vector<double>& p = stances_[moments.stance[to_size(k)]].p;
      const VecX told = corrections.everywhere(p) * answers.coordinates.col(k) / linear_weight;
      for (std::size_t i = 0; i < squares.size(); ++i)
        squares[i] += (corrections.share(reaches[i]) * told - missing.col(k)).squaredNorm();
    }
    return reaches[std::min_element(squares.begin(), squares.end()) - squares.begin()];
  }

  void limit_corrections(PoseCubature& result) const {
    const double moments = std::max<double>(1, static_cast<double>(taught_q_.cols()));
    for (const MatX& C : result.corrections) {
      const double typical = (taught_q_.transpose() * C * taught_q_).diagonal().cwiseAbs().sum() / moments;
      result.correction_limit = std::max(result.correction_limit, typical_takes * 0.5 * typical);
    }
  }

  /// On moments that nothing was chosen by: elements alone, and all that a step sees, with corrections interpolated.
  void judge(PoseCubature& result) {
    const Cubature& chosen = result.elements.front();
    const std::vector<Index>& sites = chosen.sites;
    Cubature own = chosen;
    std::iota(own.sites.begin(), own.sites.end(), 0);
    const Moments moments = draw(48);
    const CubatureSamples samples = sample(sites, moments, 0);
    const MatX residual = cubature_residual(samples, own);
    result.elastic_error = std::round(1e6 * residual.norm() / samples.length) / 1e6;
    Corrections corrections(input_.rest.layout(), stances_.front().p, result);
    if (!corrections.ok()) return;
    double squares = 0, worst = 0;
    std::vector<Index> every(input_.mesh.elements.size());
    std::iota(every.begin(), every.end(), 0);
    constexpr int judged = 12;
    for (int k = 0; k < judged; ++k) {
      const Stance& at = stances_[moments.stance[to_size(k)]];
      const MatX missing = corrections.at(at.p) + stiffness_of(at, sites, chosen.weights) -
                           stiffness_of(at, every, VecX::Ones(std::ssize(every)));
      const double error = (residual.col(k) + missing * samples.coordinates.col(k)).norm();
      squares += error * error;
      worst = std::max(worst, error);
    }
    result.posed_error = std::round(1e6 * std::sqrt(squares / judged)) / 1e6;
    result.worst_posed_error = std::round(1e6 * worst) / 1e6;
  }

  const TrainingInput& input_;
  const TrainingSettings& settings_;
  std::mt19937_64& random_;
  Progress& progress_;
  const MatX& basis_;
  const TaughtShapes& taught_;
  MatX taught_q_;  ///< coordinates of all moments
  std::vector<Stance> stances_;
  std::vector<std::size_t> moment_of_;  ///< for each stance but the first, the moment that it is of
};

}  // namespace

void train_exact_elements(const TrainingInput& input, const TrainingSettings& settings, std::mt19937_64& random,
                          PoseCubature& result, Progress& progress) {
  ExactTrainer(input, settings, random, progress).train(result);
}

}  // namespace supple
