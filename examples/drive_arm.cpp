// SPDX-License-Identifier: Apache-2.0
// What a game does with a soft character in every frame: it moves a target, turns a limb's joints after it by inverse
// kinematics, tells the flesh where the joints are, and reads how far every vertex of the skin has swung.
//
//   supple example arm -o out && supple build out/arm.toml -o out/arm.supple
//   drive_arm out/arm.toml out/arm.supple shoulder wrist 5
//
// Nothing here waits for a screen: frames are computed as fast as they come.
#include <supple/asset/character_archive.h>
#include <supple/pipeline/character/simulate_clip.h>
#include <supple/pipeline/character/soft_character.h>
#include <supple/rig/motion/inverse_kinematics.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numbers>

namespace {

constexpr int frames_per_second = 90;
constexpr int substeps = 3;  // flesh wants steps of about 1/240 s

int fail(const std::string& sentence, int exit_code) {
  std::fprintf(stderr, "drive_arm: %s\n", sentence.c_str());
  return exit_code;
}

/// A circle before the root of the chain, three quarters of the chain's length away: one round a second.
struct Circle {
  supple::Vec3 centre, side, up;

  Circle(const supple::Skeleton& skeleton, const supple::Pose& pose, supple::Index root, supple::Index tip) {
    const supple::Vec3 from = supple::world_matrix(skeleton, pose, root).translation();
    const supple::Vec3 along = supple::world_matrix(skeleton, pose, tip).translation() - from;
    centre = from + 0.75 * along;
    side = 0.25 * along.norm() * along.unitOrthogonal();
    up = along.normalized().cross(side);
  }
  supple::Vec3 at(double seconds) const {
    const double angle = 2 * std::numbers::pi * seconds;
    return centre + std::cos(angle) * side + std::sin(angle) * up;
  }
};

int drive(const supple::SoftCharacter& soft, supple::Index root, supple::Index tip, int seconds) {
  const supple::Skeleton& skeleton = soft.rig.skeleton();
  const std::vector<supple::Index> chain = supple::joint_chain(skeleton, root, tip);
  if (chain.size() < 2) return fail("the tip doesn't hang below the root; name joints of one limb", 2);

  // One instance of the character. Others would share the asset's model, and each have its own state.
  supple::SimulateSettings flesh;
  flesh.time_step = 1.0 / (frames_per_second * substeps);
  flesh.damping_ratio = soft.asset.damping;
  auto dynamics = supple::PoseSpaceDynamics<float>::create(
      soft.asset.model, supple::dynamics_settings(flesh, soft.asset.flesh_frequency));
  if (!dynamics.ok()) return fail(dynamics.error().message, 3);

  const supple::Pose rest = supple::rest_pose(skeleton);
  const Circle circle(skeleton, rest, root, tip);
  supple::CharacterPose pose = soft.rig.neutral();
  std::vector<supple::Vec3> swing(supple::to_size(soft.rig.rig()->vertex_count()));
  for (int second = 0; second < seconds; ++second) {
    double largest = 0, missed = 0, spent = 0;
    for (int frame = 0; frame < frames_per_second; ++frame) {
      // From the animation's pose, here the rest, so that the same target gives the same pose again.
      supple::Pose joints = rest;
      const supple::Vec3 target = circle.at(second + static_cast<double>(frame) / frames_per_second);
      missed = std::max(missed, supple::solve_chain(skeleton, joints, chain, target));
      soft.rig.set_joints(joints, pose);

      const auto start = std::chrono::steady_clock::now();
      const supple::PoseSpaceReport report = dynamics->step(pose.placement, pose.p, {}, substeps);
      spent += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (report.recovered) return fail("a step broke down", 4);

      // In the world, to be added to the skinned vertices (evaluate_all() of rig.h, or the engine's own skinning).
      dynamics->surface_displacements(pose.placement, pose.p, dynamics->coordinates(), swing);
      for (const supple::Vec3& d : swing) largest = std::max(largest, d.norm());
    }
    std::printf("second %d: flesh swings by up to %.2f mm, target missed by %.3f mm, %.3f ms per frame's step\n",
                second + 1, 1e3 * largest, 1e3 * missed, 1e3 * spent / frames_per_second);
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 6) return fail("write: drive_arm RECIPE.toml ASSET.supple ROOT TIP SECONDS", 2);
  // The recipe names the character's file, which has the skeleton and the skin; the asset has the flesh.
  const auto recipe = supple::load_recipe(words[1]);
  if (!recipe.ok()) return fail(recipe.error().message, 3);
  auto asset = supple::load_character_asset(words[2]);
  if (!asset.ok()) return fail(asset.error().message, 3);
  const auto soft = supple::dress_with_asset(*recipe, std::filesystem::path(words[1]).parent_path(), std::move(*asset));
  if (!soft.ok()) return fail(soft.error().message, 3);
  const supple::Index root = supple::find_joint(soft->rig.skeleton(), words[3]);
  const supple::Index tip = supple::find_joint(soft->rig.skeleton(), words[4]);
  if (root < 0 || tip < 0) return fail("the character has no joint of that name", 2);
  return drive(*soft, root, tip, std::max(1, std::atoi(words[5])));
}
