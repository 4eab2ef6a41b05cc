// SPDX-License-Identifier: Apache-2.0
// PoseMorphs: morph targets that belong to poses. An artist corrects a skin in a few example poses with a morph target
// each; whoever moves the joints (inverse kinematics, motion capture, a game) knows nothing of that, so the weights
// follow the joints by pose-space interpolation (Eq. 2 of the 2016 paper, deform/pose_space.h):
//
//   weight of the morph target of pose i = w_i(p),   w_i(p_j) = δ_ij
//
// Distances between poses are those of the rig's layout without its morph weights.
#pragma once

#include "supple/rig/character_rig.h"

namespace supple {

/// A pose that an artist has looked at.
struct NamedPose {
  std::string name;
  Pose locals;             ///< of all joints
  bool corrected = false;  ///< morph targets of the same name belong to it; without them the skin is right as it is
};

/// Places in p of the weights of the morph targets of that name, in any mesh.
std::vector<Index> morph_places(const CharacterRig& rig, const std::string& target);

class PoseMorphs {
 public:
  /// A morph weight, and the example pose that it follows.
  struct Follower {
    Index place;  ///< in p
    Index pose;   ///< of weights()
  };

  /// Nothing where no morph target of the rig belongs to a pose. The neutral pose counts as an example. Fails where
  /// the examples leave the interpolation undecided.
  static Result<std::optional<PoseMorphs>> create(const CharacterRig& rig, std::span<const NamedPose> poses);
  /// From parts that were stored: p of each example, and the followers.
  static Result<PoseMorphs> create(const CharacterRig& rig, std::vector<std::vector<double>> examples,
                                   std::vector<Follower> followers);

  const PoseSpaceWeights& weights() const { return weights_; }
  const std::vector<Follower>& followers() const { return followers_; }

  /// Gives the weights in p what the joints in it ask for, except those whose entry in `held` (one per follower) isn't
  /// zero. `scratch` has two numbers per example pose. Allocates nothing.
  void apply(std::span<double> p, std::span<const char> held, std::span<double> scratch) const;
  /// Gives a clip that moves joints alone, as recordings and inverse kinematics do, keys for the weights that follow
  /// them, `rate` times a second. A mesh whose weights the clip moves by itself is left alone.
  void add_channels(const CharacterRig& rig, double rate, Clip& clip) const;

 private:
  PoseMorphs(PoseSpaceWeights weights, std::vector<Follower> followers)
      : weights_(std::move(weights)), followers_(std::move(followers)) {}

  PoseSpaceWeights weights_;
  std::vector<Follower> followers_;
};

}  // namespace supple
