// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/cubature/blended_pose_training.h"

#include "supple/offline/posespace/bases/choose_poses.h"
#include "supple/offline/posespace/bases/training_spread.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace supple {
namespace {

double root_mean_square(std::span<const double> values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return values.empty() ? 0 : std::sqrt(squares / static_cast<double>(values.size()));
}

/// Sums over as many samples differ in their last bits with where they lie in memory.
double rounded(double error) { return std::round(1e6 * error) / 1e6; }

/// The weights that a step gives to the elements there.
Cubature blended(const BlendedPose& at, const std::vector<Cubature>& elements) {
  Cubature result = elements.front();
  result.weights.setZero();
  for (std::size_t i = 0; i < elements.size(); ++i)
    result.weights += at.weights()[static_cast<Eigen::Index>(i)] * elements[i].weights;
  return result;
}

std::vector<Index> first_numbers(std::size_t count) {
  std::vector<Index> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

MatX BlendedPoseTraining::Corrections::at(const BlendedPose& pose) const {
  std::vector<double> w(C.size()), scratch = w;
  weights.evaluate(pose.pose().p, w, scratch);
  return pose.blended(C, w);
}

/// Samples are of what departs from the linear answer Λ: to what cubature lacks of them comes what C and K_c have more
/// than it.
double BlendedPoseTraining::Trial::error(const Corrections& corrections) const {
  const MatX missing = corrections.at(pose.at) + K_c - pose.stiffness;
  return (residual + missing * coordinates).norm() / length;
}

BlendedPoseTraining::BlendedPoseTraining(const TrainingInput& input, std::mt19937_64& random, const Progress& progress)
    : input_(input), random_(random) {
  // Each costs a few passes over all elements. A single pose has no weights to be fitted between poses.
  const bool several = input.poses.size() > 1;
  const std::size_t most = several ? 48 : 24;
  if (input.known_poses.empty() && !several) return;
  if (several && input.weights == nullptr) return;
  const PoseLayout& layout = input.rest.layout();
  weights_ = several ? *input.weights : std::move(*PoseSpaceWeights::create(layout, {input.poses.front().p}));
  const KnownPoses known{input.body, input.mesh, input.rest, input.poses, input.directions};
  const std::vector<Index> every = first_numbers(input.mesh.elements.size());
  const Cubature all{every, VecX::Ones(std::ssize(every)), 0};
  const Eigen::Index size = input.stiffness.front().rows();
  const std::vector<std::vector<double>> far = far_poses(layout, input.poses, candidate_poses(), most);
  poses_.reserve(far.size());
  for (const std::vector<double>& p : far) {
    if (progress.cancelled()) break;
    Pose& pose = poses_.emplace_back(Pose{BlendedPose(known, *weights_, p), MatX::Zero(size, size), {}});
    pose.stiffness = cubature_stiffness(sampling(poses_.size() - 1, every), all);
    pose.spread = training_spread(input, pose.at.pose().basis, pose.stiffness);
  }
}

std::vector<std::vector<double>> BlendedPoseTraining::candidate_poses() const {
  std::vector<std::vector<double>> candidates(input_.known_poses.begin(), input_.known_poses.end());
  for (std::size_t i = 0; i < input_.poses.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      candidates.push_back(pose_between(input_.rest.layout(), input_.poses[i].p, input_.poses[j].p, 0.5));
  return candidates;
}

ElasticSampling BlendedPoseTraining::sampling(std::size_t number, std::span<const Index> candidates) const {
  const Pose& pose = poses_[number];
  return {input_.mesh,
          input_.body.material(),
          pose.at.pose(),
          input_.directions,
          pose.stiffness,
          pose.spread,
          candidates,
          {},
          [&pose](std::size_t e) { return pose.at.gradient(e); }};
}

void BlendedPoseTraining::watch(std::span<const Index> candidates, const Progress& progress) {
  candidates_ = candidates;
  for (std::size_t k = 0; k < training_count() && !progress.cancelled(); ++k) {
    poses_[k].watched = elastic_samples(sampling(k, candidates), 16, random_);
    poses_[k].watched.bases.clear();
  }
}

BlendedPoseTraining::Trial BlendedPoseTraining::watched_trial(std::size_t number,
                                                              const std::vector<Cubature>& elements) const {
  const Pose& pose = poses_[number];
  const Cubature cubature = blended(pose.at, elements);
  const ElasticSampling where = sampling(number, candidates_);
  return {pose, cubature_stiffness(where, cubature), pose.watched.coordinates,
          cubature_residual(where, pose.watched, cubature), pose.watched.length};
}

void BlendedPoseTraining::add_corrections(std::vector<Trial>& trials, double tolerance, Corrections& corrections,
                                          MatX& between) const {
  std::vector<std::vector<double>> poses;
  for (const PoseBasis& pose : input_.poses) poses.push_back(pose.p);
  between.resize(input_.rest.layout().size(), 0);
  for (;;) {
    double error = 0;
    Trial* worst = nullptr;
    for (Trial& each : trials) {
      const double own = each.known ? 0 : each.error(corrections);
      if (own > error) error = own, worst = &each;
    }
    if (error < tolerance) return;
    worst->known = true;
    const BlendedPose& at = worst->pose.at;
    poses.push_back(at.pose().p);
    Result<PoseSpaceWeights> more = PoseSpaceWeights::create(input_.rest.layout(), poses);
    if (!more.ok()) return;
    corrections.weights = std::move(*more);
    corrections.C.push_back(at.unscaled(worst->pose.stiffness - worst->K_c));
    between.conservativeResize(Eigen::NoChange, between.cols() + 1);
    between.rightCols(1) = Eigen::Map<const VecX>(poses.back().data(), std::ssize(poses.back()));
  }
}

double BlendedPoseTraining::correct(const std::vector<Index>& places, double tolerance, PoseCubature& result) const {
  std::vector<Cubature> elements = result.elements;
  for (Cubature& each : elements) each.sites = places;
  std::vector<Trial> trials;
  for (std::size_t k = 0; k < training_count(); ++k) trials.push_back(watched_trial(k, elements));
  Corrections corrections{*weights_, result.corrections};
  add_corrections(trials, tolerance, corrections, result.between);
  const double decisive = judge(corrections, result);
  result.corrections = std::move(corrections.C);
  return decisive;
}

double BlendedPoseTraining::judge(const Corrections& corrections, PoseCubature& result) const {
  std::vector<double> errors, decisive;
  for (std::size_t k = poses_.size() > 2 ? training_count() : 0; k < poses_.size(); ++k) {
    const std::vector<Index>& sites = result.elements.front().sites;
    const ElasticSampling where = sampling(k, sites);
    const CubatureSamples unseen = elastic_samples(where, 32, random_);
    Cubature cubature = blended(poses_[k].at, result.elements);
    cubature.sites = first_numbers(sites.size());
    const Trial trial{poses_[k], cubature_stiffness(where, cubature), unseen.coordinates,
                      cubature_residual(unseen, cubature), unseen.length};
    (k % 2 == 0 ? decisive : errors).push_back(trial.error(corrections));
  }
  if (errors.empty()) errors = decisive;
  result.posed_error = rounded(root_mean_square(errors));
  result.worst_posed_error = rounded(*std::max_element(errors.begin(), errors.end()));
  return root_mean_square(decisive);
}

}  // namespace supple
