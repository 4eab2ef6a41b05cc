// SPDX-License-Identifier: Apache-2.0
// PoseMorphs: morph targets that belong to poses. An artist corrects a skin in a few example poses with a morph target
// each; whoever moves the joints (inverse kinematics, motion capture, a game) knows nothing of that, so the weights
// follow the joints by pose-space interpolation (Eq. 2 of the 2016 paper, deform/pose_space.h):
//
//   weight of the morph target of pose i = w_i(p),   w_i(p_j) = δ_ij
//
// Distances between poses are those of the rig's layout without its morph weights.
//
// A correction may say which joints it is for, as correctives of an elbow are. Then the rest of the body is none of its
// business: the distance counts these joints only, poses of the same joints are interpolated among themselves, and
// beyond what lies between rest and correction the weight fades like that of a pose reader,
//
//   weight_i = min(w_i, 1 − ‖p − p_i‖ / ‖p_rest − p_i‖),   never below 0
//
// so that an elbow bent the other way isn't corrected at all.
//
// A correction may also say how far it reaches. Then it belongs to the surroundings of its pose alone, whatever other
// corrections there are:
//
//   weight_i = (1 − s²)³ where s = ‖p − p_i‖ / reach_i < 1, otherwise 0
//
// Such corrections are added to what the character shows there already, whoever gave it the weights of its own targets:
// they take nothing from these weights, which add up to one among themselves. A weight has no corners, neither in its
// pose nor at the edge of its reach, so that flesh isn't kicked on the way through.
#pragma once

#include "supple/rig/character_rig.h"

namespace supple {

/// A pose that an artist has looked at.
struct NamedPose {
  std::string name;
  Pose locals;             ///< of all joints
  bool corrected = false;  ///< morph targets of the same name belong to it; without them the skin is right as it is
  std::vector<Index> joints = {};  ///< that it is about; empty: all
  double reach = 0;                ///< [rad] as far as its joints together may be from it; 0: it is interpolated
};

/// What a correction weighs at a share s of its reach: (1 − s²)³, 0 from 1 on.
double reach_weight(double s);
/// The metric of corrections that reach so far: rotations, translations and scales of these joints count, or of all
/// where none is named. Fails where none of them is part of the pose.
Result<PoseLayout> reach_layout(const CharacterRig& rig, std::span<const Index> joints);

/// Places in p of the weights of the morph targets of that name, in any mesh.
std::vector<Index> morph_places(const CharacterRig& rig, const std::string& target);

class PoseMorphs {
 public:
  /// A morph weight, and the example pose that it follows.
  struct Follower {
    Index place;      ///< in p
    Index pose;       ///< of weights(), or of its space's
    Index space = 0;  ///< 0: all joints; k: local_spaces()[k - 1]
  };
  /// Poses that some joints tell apart; the first is at rest.
  struct LocalExamples {
    std::vector<Index> joints;
    std::vector<std::vector<double>> poses;  ///< p of each
    std::vector<double> reaches = {};        ///< of each, the first is 0; empty: the poses are interpolated
  };
  struct LocalSpace {
    std::vector<Index> joints;
    PoseSpaceWeights weights;
    std::vector<double> reach;  ///< from rest to each pose, or as far as each reaches
    bool alone = false;         ///< each pose has a reach of its own
  };

  /// Nothing where no morph target of the rig belongs to a pose. The neutral pose counts as an example. Fails where
  /// the examples leave the interpolation undecided, and where joints of a correction are no part of the pose.
  static Result<std::optional<PoseMorphs>> create(const CharacterRig& rig, std::span<const NamedPose> poses);
  /// From parts that were stored: p of each example, the followers, and examples of single joints.
  static Result<PoseMorphs> create(const CharacterRig& rig, std::vector<std::vector<double>> examples,
                                   std::vector<Follower> followers, std::vector<LocalExamples> local = {});

  const PoseSpaceWeights& weights() const { return weights_; }
  const std::vector<Follower>& followers() const { return followers_; }
  const std::vector<LocalSpace>& local_spaces() const { return local_; }
  /// Numbers that apply() works with.
  std::size_t scratch_size() const;

  /// Gives the weights in p what the joints in it ask for, except those whose entry in `held` (one per follower) isn't
  /// zero. `scratch` has scratch_size() numbers. Allocates nothing.
  void apply(std::span<double> p, std::span<const char> held, std::span<double> scratch) const;
  /// Gives a clip that moves joints alone, as recordings and inverse kinematics do, keys for the weights that follow
  /// them, `rate` times a second. A weight that the clip moves by itself is left to it.
  void add_channels(const CharacterRig& rig, double rate, Clip& clip) const;

 private:
  PoseMorphs(PoseSpaceWeights weights, std::vector<Follower> followers, std::vector<LocalSpace> local)
      : weights_(std::move(weights)), followers_(std::move(followers)), local_(std::move(local)) {}
  static double local_weight(const LocalSpace& local, std::size_t pose, double interpolated, double distance);
  void apply_local(Index space, std::span<double> p, std::span<const char> held, std::span<double> scratch) const;

  PoseSpaceWeights weights_;
  std::vector<Follower> followers_;  ///< those of all joints first
  std::vector<LocalSpace> local_;
};

}  // namespace supple
