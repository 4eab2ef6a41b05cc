// SPDX-License-Identifier: Apache-2.0
// The example characters have the sizes of Table 3 of the 2016 paper and are fit to be skinned, played and embedded.
#include "scenes/creatures.h"

#include "scenes/motion.h"
#include "supple/mesh/topology.h"
#include "supple/rig/deformers.h"
#include "supple/rig/sample_clip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace supple {
namespace {

struct Made {
  Creature creature;
  RawCharacter character;
};

const Made& made(const std::string& name) {
  static std::map<std::string, Made> all;
  const auto found = all.find(name);
  if (found != all.end()) return found->second;
  const CreatureExample* example = find_creature_example(name);
  Creature creature = example->make();
  RawCharacter character = make_character(creature, example->vertices);
  return all.emplace(name, Made{std::move(creature), std::move(character)}).first->second;
}

const std::vector<std::string> names = {"mascot", "arm", "x_shape", "bear", "gorilla"};

std::vector<Vec3> skinned(const RawCharacter& character, const Pose& pose, const std::vector<double>& morph = {}) {
  const CharacterMesh& mesh = character.meshes.front();
  const Skin& skin = character.skins.front();
  const std::vector<Affine> world = world_matrices(character.skeleton, pose);
  std::vector<Vec3> positions;
  for (std::size_t v = 0; v < mesh.surface.vertices.size(); ++v) {
    Vec3 x = mesh.surface.vertices[v], sum = Vec3::Zero();
    for (std::size_t t = 0; t < morph.size(); ++t) x += morph[t] * mesh.targets[t].displacements[v];
    for (Index e = mesh.weights.first[v]; e < mesh.weights.first[v + 1]; ++e) {
      const auto k = static_cast<std::size_t>(mesh.weights.joint[static_cast<std::size_t>(e)]);
      const Affine bone = world[static_cast<std::size_t>(skin.joints[k])] * skin.inverse_bind[k];
      sum += mesh.weights.weight[static_cast<std::size_t>(e)] * (bone * x);
    }
    positions.push_back(sum);
  }
  return positions;
}

double volume(const std::vector<Triangle>& triangles, const std::vector<Vec3>& x) {
  double sum = 0;
  for (const Triangle& t : triangles)
    sum += x[static_cast<std::size_t>(t[0])].dot(
        x[static_cast<std::size_t>(t[1])].cross(x[static_cast<std::size_t>(t[2])]));
  return sum / 6;
}

Pose posed(const RawCharacter& character, const ExamplePose& example) {
  Pose pose = rest_pose(character.skeleton);
  for (const JointRotation& r : example.rotations) pose[static_cast<std::size_t>(r.joint)].rotation = r.rotation;
  return pose;
}

TEST(Creatures, HaveTheSizesOfThePaper) {
  struct Row {
    std::string name;
    double vertices;
    std::size_t tets, joints, poses, corrections;
  };
  for (const Row& row : {Row{"arm", 10525, 8122, 4, 10, 9}, Row{"x_shape", 2362, 9303, 17, 3, 0},
                         Row{"bear", 6876, 12762, 36, 8, 7}, Row{"gorilla", 15774, 16297, 16, 4, 2}}) {
    SCOPED_TRACE(row.name);
    const Made& m = made(row.name);
    std::size_t vertices = 0;
    for (const CharacterMesh& mesh : m.character.meshes) vertices += mesh.surface.vertices.size();
    EXPECT_NEAR(static_cast<double>(vertices), row.vertices, 0.1 * row.vertices);
    EXPECT_EQ(static_cast<std::size_t>(find_creature_example(row.name)->tets), row.tets);
    EXPECT_EQ(m.character.skins.front().joints.size(), row.joints);
    EXPECT_EQ(m.creature.poses.size(), row.poses);
    EXPECT_EQ(m.character.meshes.front().targets.size(), row.corrections);
  }
}

TEST(Creatures, AreClosedAndWhole) {
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const Surface& surface = made(name).character.meshes.front().surface;
    const SurfaceTopology topology = surface_topology(surface);
    EXPECT_TRUE(topology.watertight());
    EXPECT_EQ(topology.components, 1);
    EXPECT_GT(volume(surface.triangles, surface.vertices), 0);
    for (const CharacterMesh& mesh : made(name).character.meshes)
      EXPECT_TRUE(surface_topology(mesh.surface).watertight());
  }
}

TEST(Creatures, LieWhereTheFieldIsZero) {
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const Surface& surface = made(name).character.meshes.front().surface;
    double sum = 0;
    for (const Vec3& x : surface.vertices) sum += std::abs(made(name).creature.value(x));
    Vec3 low = surface.vertices.front(), high = low;
    for (const Vec3& x : surface.vertices) {
      low = low.cwiseMin(x);
      high = high.cwiseMax(x);
    }
    EXPECT_LT(sum / static_cast<double>(surface.vertices.size()), 2e-4 * (high - low).norm());
  }
}

TEST(Creatures, HaveWeightsThatSumToOne) {
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    for (const CharacterMesh& mesh : made(name).character.meshes) {
      ASSERT_EQ(static_cast<std::size_t>(mesh.weights.vertex_count()), mesh.surface.vertices.size());
      for (std::size_t v = 0; v < mesh.surface.vertices.size(); ++v) {
        const Index first = mesh.weights.first[v], last = mesh.weights.first[v + 1];
        ASSERT_GE(last - first, 1);
        ASSERT_LE(last - first, 4);
        const double sum =
            std::accumulate(mesh.weights.weight.begin() + first, mesh.weights.weight.begin() + last, 0.0);
        ASSERT_NEAR(sum, 1.0, 1e-12);
        for (Index e = first; e < last; ++e) ASSERT_GT(mesh.weights.weight[static_cast<std::size_t>(e)], 0);
      }
    }
  }
}

TEST(Creatures, AreSymmetric) {
  for (const char* name : {"mascot", "bear", "gorilla"}) {
    SCOPED_TRACE(name);
    std::vector<Vec3> sorted = made(name).character.meshes.front().surface.vertices;
    std::sort(sorted.begin(), sorted.end(), [](const Vec3& a, const Vec3& b) { return a.y() < b.y(); });
    constexpr double tolerance = 1e-3;
    int lonely = 0;
    for (const Vec3& x : sorted) {
      const Vec3 twin(-x.x(), x.y(), x.z());
      auto at = std::lower_bound(sorted.begin(), sorted.end(), x.y() - tolerance,
                                 [](const Vec3& a, double y) { return a.y() < y; });
      while (at != sorted.end() && at->y() < x.y() + tolerance && (*at - twin).norm() > tolerance) ++at;
      lonely += at == sorted.end() || at->y() >= x.y() + tolerance ? 1 : 0;
    }
    EXPECT_EQ(lonely, 0);
  }
}

TEST(Creatures, LoopCleanly) {
  for (const std::string& name : names) {
    ASSERT_FALSE(made(name).character.clips.empty());
    for (const Clip& clip : made(name).character.clips) {
      SCOPED_TRACE(name + " " + clip.name);
      for (const Channel& channel : clip.channels) {
        EXPECT_EQ(channel.times.front(), 0);
        EXPECT_EQ(channel.times.back(), clip.duration);
        const auto width = static_cast<std::size_t>(channel.width), size = channel.values.size();
        ASSERT_EQ(size, width * channel.times.size());
        double same = 0, opposite = 0;  // q and −q are one rotation
        for (std::size_t k = 0; k < width; ++k) {
          same = std::max(same, std::abs(channel.values[k] - channel.values[size - width + k]));
          opposite = std::max(opposite, std::abs(channel.values[k] + channel.values[size - width + k]));
        }
        EXPECT_LT(channel.target == ChannelTarget::rotation ? std::min(same, opposite) : same, 1e-9);
      }
    }
  }
}

// In place, the ground moves back under the animal: a foot that stands does so at one speed, that of the stride.
TEST(Creatures, FeetStandWhileTheyBearWeight) {
  struct Row {
    std::string name, foot;
    double stride, duty;
  };
  for (const Row& row : {Row{"mascot", "left_foot", 0.12, 0.58}, Row{"bear", "left_wrist", 0.50, 0.66},
                         Row{"bear", "right_ankle", 0.50, 0.66}, Row{"gorilla", "right_hand", 0.34, 0.62},
                         Row{"gorilla", "left_foot", 0.34, 0.62}}) {
    SCOPED_TRACE(row.name + " " + row.foot);
    const RawCharacter& character = made(row.name).character;
    const Clip& walk = character.clips.front();
    const Index foot = find_joint(character.skeleton, row.foot);
    const double ground = made(row.name).creature.joints[static_cast<std::size_t>(foot)].y();
    const std::vector<double>& times = walk.channels.front().times;
    std::vector<Vec3> path;
    for (const double time : times) {
      Pose pose = rest_pose(character.skeleton);
      sample_clip(walk, time, ClipWrap::hold, pose);
      path.push_back(world_matrices(character.skeleton, pose)[static_cast<std::size_t>(foot)].translation());
    }
    const double speed = row.stride / (row.duty * walk.duration);
    int standing = 0;
    for (std::size_t k = 1; k < path.size(); ++k) {
      EXPECT_GT(path[k].y(), ground - 2e-3);
      if (std::max(path[k].y(), path[k - 1].y()) > ground + 1e-4) continue;
      ++standing;
      EXPECT_NEAR((path[k].z() - path[k - 1].z()) / (times[k] - times[k - 1]), -speed, 0.03 * speed);
    }
    EXPECT_GT(standing, 0.85 * row.duty * static_cast<double>(path.size() - 1));
  }
}

TEST(Creatures, CorrectionsGiveBackVolume) {
  for (const char* name : {"arm", "bear", "gorilla"}) {
    const Made& m = made(name);
    const CharacterMesh& mesh = m.character.meshes.front();
    std::size_t target = 0;
    for (const CreaturePose& example : m.creature.poses) {
      if (!example.pose.corrected) continue;
      SCOPED_TRACE(std::string(name) + " " + example.pose.name);
      EXPECT_EQ(mesh.targets[target].name, example.pose.name);
      const Pose pose = posed(m.character, example.pose);
      std::vector<double> morph(mesh.targets.size(), 0.0);
      const double linear = volume(mesh.surface.triangles, skinned(m.character, pose, morph));
      morph[target++] = 1;
      EXPECT_GT(volume(mesh.surface.triangles, skinned(m.character, pose, morph)), linear);
    }
  }
}

TEST(Creatures, ChainOfTheXIsABend) {
  const Made& m = made("x_shape");
  const std::vector<Vec3>& rest = m.character.meshes.front().surface.vertices;
  const std::vector<Vec3> chain = skinned(m.character, posed(m.character, m.creature.poses.at(2).pose));
  std::vector<Vec3> bent = rest;
  for (const double side : {1.0, -1.0}) {  // each half by itself, from the middle
    Bend::Settings settings;
    settings.axis = Vec3(0, side, 0);
    settings.towards = Vec3::UnitZ();
    settings.length = 0.5;
    const Bend bend(settings);
    std::vector<Index> half;
    std::vector<Vec3> positions;
    for (std::size_t v = 0; v < rest.size(); ++v) {
      if (side * rest[v].y() < 0) continue;
      half.push_back(static_cast<Index>(v));
      positions.push_back(rest[v]);
    }
    const auto workspace = bend.make_workspace(static_cast<Index>(half.size()));
    const double degrees = 135.0 / 2;
    bend.deform(std::span(&degrees, 1), half, positions, *workspace);
    for (std::size_t k = 0; k < half.size(); ++k) bent[static_cast<std::size_t>(half[k])] = positions[k];
  }
  double moved = 0, worst = 0;
  for (std::size_t v = 0; v < rest.size(); ++v) {
    moved = std::max(moved, (bent[v] - rest[v]).norm());
    worst = std::max(worst, (chain[v] - bent[v]).norm());
  }
  EXPECT_GT(moved, 0.2);
  EXPECT_LT(worst, 0.004);  // of a letter one metre high
}

}  // namespace
}  // namespace supple
