// SPDX-License-Identifier: Apache-2.0
// BlendedPoseTraining: how forces come out in poses that a model has no basis for, judged with all that a step blends
// there, and the corrections C = Λ − K_c that have to be known in some of them as well (asset/pose_space_model.h).
//
// The poses are some that the character takes and those halfway between the model's, far apart. Half of them help to
// make the result; of the others every second decides whether elements are enough, and the rest judges what comes out.
#pragma once

#include "supple/offline/cubature/cubature_samples.h"
#include "supple/offline/posespace/cubature/train_cubature.h"

#include <optional>

namespace supple {

class BlendedPoseTraining {
 public:
  /// Chooses the poses and computes their stiffness over all elements. Stops early where progress is cancelled.
  BlendedPoseTraining(const TrainingInput& input, std::mt19937_64& random, const Progress& progress);

  /// True where there are no poses to judge: the character's motion isn't known, or there are no weights to blend with.
  bool empty() const { return poses_.empty(); }
  /// How many of the poses, from the first on, help to make the result; the others only judge it.
  std::size_t training_count() const { return (poses_.size() + 1) / 2; }
  /// What elastic_samples() needs to draw forces at one of the poses. The result points into this object.
  ElasticSampling sampling(std::size_t number, std::span<const Index> candidates) const;
  /// w_i: how much each pose of the model counts at one of these poses.
  const VecX& shares(std::size_t number) const { return poses_[number].at.weights(); }

  /// Draws samples at the training poses for these candidates, among which elements will be chosen. The caller keeps
  /// the array alive.
  void watch(std::span<const Index> candidates, const Progress& progress);
  /// Adds corrections to those of the poses where they are missed most, until forces are within `tolerance`, and
  /// judges. `places` are those of the sites among the candidates. Returns the error in the poses that decide.
  double correct(const std::vector<Index>& places, double tolerance, PoseCubature& result) const;

 private:
  /// A pose, its exact stiffness over all elements, and how far training moves the flesh there (training_spread.h).
  struct Pose {
    BlendedPose at;
    MatX stiffness, spread;
    CubatureSamples watched = {};  ///< empty for poses that only judge
  };
  /// Corrections that are known at some poses.
  struct Corrections {
    PoseSpaceWeights weights;
    std::vector<MatX> C;

    MatX at(const BlendedPose& pose) const;
  };
  /// Cubature in a pose, to try corrections on.
  struct Trial {
    const Pose& pose;
    MatX K_c;
    const MatX& coordinates;  ///< of its samples …
    MatX residual;            ///< … and what cubature misses of their forces
    double length;            ///< |exact forces| of all samples: errors are shares of this
    bool known = false;       ///< whether its own correction has been added already

    /// The share of the forces that cubature with these corrections misses.
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
