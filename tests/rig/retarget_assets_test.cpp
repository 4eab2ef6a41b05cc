// SPDX-License-Identifier: Apache-2.0
// Every recording of the collection on every person of it: upright, the right way round, and with the feet on the
// floor.
#include "supple/io/gltf/read_character.h"
#include "supple/io/motion/bvh.h"
#include "supple/rig/character_rig.h"
#include "supple/rig/motion/retarget_floor.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace supple::retarget_assets_test {
namespace {

const std::filesystem::path assets = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets";

/// A character with the part of its skin that is near the floor at rest.
struct Person {
  RawCharacter character;
  CharacterRig rig;
  std::vector<Index> low_skin;
  double floor = 0;
  double height = 0;
};

Person load_person(const std::string& path) {
  RawCharacter character = read_character(load_gltf(assets / "rigged" / path).value()).value();
  character.clips.clear();
  CharacterRig rig = CharacterRig::create(character).value();
  Person person{std::move(character), std::move(rig), {}, 0, 0};
  const CharacterPose neutral = person.rig.neutral();
  const std::vector<Vec3> skin = evaluate_all(*person.rig.rig(), neutral.p);
  double low = 1e9, high = -1e9;
  for (const Vec3& x : skin) {
    low = std::min(low, (neutral.placement * x).y());
    high = std::max(high, (neutral.placement * x).y());
  }
  for (std::size_t v = 0; v < skin.size(); ++v) {
    if ((neutral.placement * skin[v]).y() < low + 0.05 * (high - low)) person.low_skin.push_back(static_cast<Index>(v));
  }
  person.floor = low;
  person.height = high - low;
  return person;
}

/// Height of the feet's skin over the floor, in parts of the person's height.
double feet_above_floor(const Person& person, const CharacterRig& rig, const Clip& clip, double time) {
  CharacterPose pose = rig.neutral();
  rig.sample(clip, time, ClipWrap::hold, pose);
  std::vector<Vec3> x(person.low_skin.size());
  const auto workspace = rig.rig()->make_workspace(static_cast<Index>(x.size()));
  rig.rig()->evaluate(pose.p, person.low_skin, x, *workspace);
  double low = 1e9;
  for (const Vec3& v : x) low = std::min(low, (pose.placement * v).y());
  return (low - person.floor) / person.height;
}

/// Lowest of each 1.2 s of the clip: people come down to the floor that often.
std::vector<double> touchdowns(const Person& person, const CharacterRig& rig, const Clip& clip) {
  const int windows = std::max(1, static_cast<int>(clip.duration / 1.2));
  std::vector<double> lowest(to_size(windows), 1e9);
  for (int k = 0; k < 24 * windows; ++k) {
    double& low = lowest[to_size(k / 24)];
    low = std::min(low, feet_above_floor(person, rig, clip, clip.duration * k / (24 * windows)));
  }
  return lowest;
}

Clip load_motion(const std::string& path, const RawCharacter& character) {
  const BvhMotion bvh = load_bvh(assets / "mocap" / path).value();
  RetargetSettings settings;
  settings.frames_per_second = 30;
  settings.target_soles = soles_of(character);
  return retarget(bvh.skeleton, bvh.clip, character.skeleton, match_joints(bvh.skeleton, character.skeleton), settings)
      .value();
}

class RetargetedAssets : public testing::TestWithParam<const char*> {};

TEST_P(RetargetedAssets, StandOnTheFloorAndFaceForward) {
  if (!std::filesystem::exists(assets)) GTEST_SKIP() << "no shared assets";
  Person person = load_person(GetParam());
  const BodyJoints body = find_body(joint_roles(person.character.skeleton));
  const BodyAxes rest =
      body_axes(body, world_matrices(person.character.skeleton, rest_pose(person.character.skeleton)));
  for (const std::string motion :
       {"cmu_02_01/02_01.bvh", "cmu_02_03/02_03.bvh", "cmu_05_06/05_06.bvh", "cmu_16_03/16_03.bvh",
        "cmu_49_07/49_07.bvh", "mh_zombiewalk/zombieWalk1.bvh", "rokoko_jesse_dance/jesse_dance.bvh"}) {
    person.character.clips = {load_motion(motion, person.character)};
    const Clip& clip = person.character.clips.front();
    const CharacterRig rig = CharacterRig::create(person.character).value();
    std::vector<double> lows = touchdowns(person, rig, clip);
    for (const double low : lows) EXPECT_GT(low, -0.035) << motion;
    std::nth_element(lows.begin(), lows.begin() + static_cast<std::ptrdiff_t>(lows.size() / 2), lows.end());
    EXPECT_NEAR(lows[lows.size() / 2], 0, 0.02) << motion;
    // At the start all of them stand and look ahead.
    Pose pose = rest_pose(person.character.skeleton);
    sample_clip(clip, 0, ClipWrap::hold, pose);
    const BodyAxes start = body_axes(body, world_matrices(person.character.skeleton, pose));
    EXPECT_GT(start.up().dot(rest.up()), 0.99) << motion;
    EXPECT_GT(start.axes.col(2).dot(rest.axes.col(2)), 0.7) << motion;
  }
}

INSTANTIATE_TEST_SUITE_P(People, RetargetedAssets,
                         testing::Values("khr_cesiumman/CesiumMan.glb", "godot_mannequiny/mannequiny.glb",
                                         "kaykit_barbarian/Barbarian.glb", "khr_riggedfigure/RiggedFigure.glb",
                                         "quat_knightcharacter/KnightCharacter.glb",
                                         "three_robotexpressive/RobotExpressive.glb",
                                         "sumerian_cristine/cristine.gltf"));

}  // namespace
}  // namespace supple::retarget_assets_test
