// SPDX-License-Identifier: Apache-2.0
// What stands behind CharacterState (character.h); not for users.
//
//   joints, weights ──read_input──▶ placement, p ──PoseHistory──▶ poses on the grid ──PoseSpaceDynamics──▶ q
//   q, carried on to the display's time ──ShownCharacter──▶ displacements, positions, normals, bind space
#pragma once

#include "supple/runtime/character_data.h"
#include "supple/runtime/pose_history.h"
#include "supple/runtime/step_clock.h"

namespace supple {

/// What is shown of one moment. Each part is found when it is first asked for, and kept until the next moment.
struct ShownCharacter {
  std::vector<float> q;              ///< at the display's time
  Pose locals;                       ///< joints of that time, in the true world
  std::vector<Affine> world, bones;  ///< of joints and of the skin
  std::vector<Eigen::Vector3f> displacement;
  std::vector<Vec3> bind, position, normal;
  std::vector<Vec3> played_position;  ///< as an engine's own skinning has it, where that differs …
  std::vector<double> played_p;       ///< … and its parameters
  std::unique_ptr<RigWorkspace> workspace, played_workspace;
  bool has_displacement = false, has_bind = false, has_position = false, has_normal = false;

  explicit ShownCharacter(const CharacterData& character);
  void forget() { has_displacement = has_bind = has_position = has_normal = false; }
};

struct CharacterStateData {
  CharacterStateData(const Character& shared, const CharacterSettings& settings, PoseSpaceDynamics<float> created);

  const CharacterData& model() const { return character.data(); }
  const CharacterDrive& drive() const { return character.data().drive(); }
  /// p of the rig that engines play.
  std::vector<double>& engine_p() { return drive().played ? played_pose.p : pose.p; }

  void set_local(std::size_t joint, const JointTransform& local);
  void set_world(std::span<const float> matrices);
  void read_input();
  AdvanceReport advance(double seconds);
  void show();
  void exchange(StateBytes& bytes);

  std::span<const Eigen::Vector3f> displacements();
  std::span<const Vec3> bind_displacements();
  /// In the world of the caller.
  std::span<const Vec3> positions();
  std::span<const Vec3> normals();

  Character character;
  PoseSpaceDynamics<float> dynamics;
  StepClock clock;
  int steps_per_pose;
  PoseHistory history;
  PlacedPose on_grid;

  Pose locals;  ///< as the caller has set them, from his origin
  Vec3 origin = Vec3::Zero();
  CharacterPose pose, played_pose;
  std::vector<char> held_morphs;  ///< of each follower: the caller has set it
  std::vector<double> morph_scratch;
  std::vector<Affine> input_world;

  SoftForces forces;
  std::vector<SurfaceForce> pulls;  ///< as many as there may be
  std::size_t pull_count = 0;

  ShownCharacter shown;
};

}  // namespace supple
