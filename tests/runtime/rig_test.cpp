// SPDX-License-Identifier: Apache-2.0
// What a step asks of a rig: a few hundred vertices of a large character, soon, and without allocating.
#include "runtime/allocation_counter.h"
#include "supple/rig/character_rig.h"
#include "supple/rig/deform/pose_space.h"
#include "support/rigs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

namespace supple::rig_test {
namespace {

struct Case {
  RawCharacter character = make_tube(60, 250, 60, 2.0, 0.1, 4);
  std::vector<Index> vertices;
  std::vector<Vec3> positions = std::vector<Vec3>(400);

  Case() {
    std::mt19937 random(1);
    for (int k = 0; k < 400; ++k) vertices.push_back(static_cast<Index>(random() % 15000));
    std::sort(vertices.begin(), vertices.end());
    Clip clip{"sway", 1.0, {}};
    for (Index j = 0; j < 60; ++j) {
      const Quat q = turn(3, Vec3(1, j % 3, 2));
      clip.channels.push_back(
          {j, ChannelTarget::rotation, Interpolation::linear, 4, {0, 1}, {0, 0, 0, 1, q.x(), q.y(), q.z(), q.w()}});
    }
    character.clips.push_back(clip);
  }
};

double median_microseconds(const Rig& rig, const CharacterRig& character, Case& c) {
  const auto workspace = rig.make_workspace(400);
  CharacterPose pose = character.neutral();
  std::vector<double> times;
  for (int k = 0; k < 300; ++k) {
    character.sample(c.character.clips[0], 0.003 * k, ClipWrap::loop, pose);
    const auto start = std::chrono::steady_clock::now();
    rig.evaluate(pose.p, c.vertices, c.positions, *workspace);
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + 150, times.end());
  return times[150];
}

TEST(Rig, EvaluatesWithoutAllocating) {
  Case c;
  for (const SkinningMethod method : {SkinningMethod::linear, SkinningMethod::dual_quaternion}) {
    CharacterRigSettings settings;
    settings.method = method;
    const CharacterRig character = CharacterRig::create(c.character, settings).value();
    ASSERT_EQ(character.rig()->vertex_count(), 15000);
    std::vector<PoseCorrection> corrections;
    CharacterPose pose = character.neutral();
    for (int k = 1; k <= 4; ++k) {
      character.sample(c.character.clips[0], 0.2 * k, ClipWrap::hold, pose);
      corrections.push_back({pose.p, std::vector<Vec3>(15000, Vec3(0, 0.01, 0))});
    }
    const auto corrected = PoseSpaceRig::create(character.rig(), corrections).value();
    const auto workspace = corrected->make_workspace(400);
    const long before = allocation_count();
    for (int k = 0; k < 5; ++k) {
      character.sample(c.character.clips[0], 0.17 * k, ClipWrap::loop, pose);
      corrected->evaluate(pose.p, c.vertices, c.positions, *workspace);
    }
    EXPECT_EQ(allocation_count() - before, 0);
    for (const Vec3& x : c.positions) EXPECT_TRUE(x.allFinite());
    std::printf("rig: 400 of 15000 vertices, 60 joints, %s: %.1f us; with 4 corrected poses %.1f us (median)\n",
                method == SkinningMethod::linear ? "linear" : "dual quaternion",
                median_microseconds(*character.rig(), character, c), median_microseconds(*corrected, character, c));
  }
}

}  // namespace
}  // namespace supple::rig_test
