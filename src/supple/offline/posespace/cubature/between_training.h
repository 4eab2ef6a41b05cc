// SPDX-License-Identifier: Apache-2.0
// BetweenTraining: how forces come out in poses that a model has no basis for, judged with all that a step blends
// there, and the corrections C = Λ − K_c that have to be known in some of them as well (asset/pose_space_model.h).
//
// The poses are some that the character takes and those halfway between the model's, far apart. Half of them help to
// make the result; of the others every second decides whether elements are enough, and the rest judges what comes out.
#pragma once

#include "supple/offline/cubature/cubature_samples.h"
#include "supple/offline/posespace/cubature/train_cubature.h"

#include <optional>

namespace supple {

class BetweenTraining {
 public:
  /// Where progress is cancelled there are fewer poses.
  BetweenTraining(const TrainingInput& input, std::mt19937_64& random, const Progress& progress);

  /// Nothing is known of poses that the character takes, or of how to blend.
  bool empty() const { return poses_.empty(); }
  /// Poses that help to make the result: the first.
  std::size_t making() const { return (poses_.size() + 1) / 2; }
  /// Of one of the poses. `this` has to stay where it is.
  ElasticSampling sampling(std::size_t number, std::span<const Index> candidates) const;
  /// w_i there.
  const VecX& shares(std::size_t number) const { return poses_[number].at.weights(); }

  /// Elements will be chosen among these, which have to stay.
  void watch(std::span<const Index> candidates, const Progress& progress);
  /// Adds corrections to those of the poses where they are missed most, until forces are within `tolerance`, and
  /// judges. `places` are those of the sites among the candidates. Returns the error in the poses that decide.
  double correct(const std::vector<Index>& places, double tolerance, PoseCubature& result) const;

 private:
  /// A pose, and what all elements make of it.
  struct Pose {
    BetweenPose at;
    MatX stiffness, spread;
    CubatureSamples watched = {};  ///< of those that help
  };
  /// Corrections that are known at some poses.
  struct Corrections {
    PoseSpaceWeights weights;
    std::vector<MatX> C;

    MatX at(const BetweenPose& pose) const;
  };
  /// Cubature in a pose, to try corrections on.
  struct Trial {
    const Pose& pose;
    MatX K_c;
    const MatX& coordinates;  ///< of its samples …
    MatX residual;            ///< … and what cubature lacks
    double length;            ///< of all that is wanted
    bool known = false;       ///< its correction

    double error(const Corrections& corrections) const;
  };

  std::vector<std::vector<double>> candidate_poses() const;
  Trial watched_trial(std::size_t number, const std::vector<Cubature>& elements) const;
  void add_corrections(std::vector<Trial>& trials, double tolerance, Corrections& corrections, MatX& between) const;
  double judge(const Corrections& corrections, PoseCubature& result) const;

  const TrainingInput& input_;
  std::mt19937_64& random_;
  std::optional<PoseSpaceWeights> weights_;
  std::vector<Pose> poses_;
  std::span<const Index> candidates_;
};

}  // namespace supple
