// SPDX-License-Identifier: Apache-2.0
// The example characters have the sizes of Table 3 of the 2016 paper and are fit to be skinned, played and embedded.
#include "samples/creatures.h"

#include "samples/motion.h"
#include "supple/mesh/bounds.h"
#include "supple/mesh/normals.h"
#include "supple/mesh/topology.h"
#include "supple/mesh/winding_number.h"
#include "supple/offline/meshing/tetrahedralize.h"
#include "supple/rig/deform/deformers.h"
#include "supple/rig/motion/sample_clip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace supple::creatures_test {
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
      const auto k = to_size(mesh.weights.joint[to_size(e)]);
      const Affine bone = world[to_size(skin.joints[k])] * skin.inverse_bind[k];
      sum += mesh.weights.weight[to_size(e)] * (bone * x);
    }
    positions.push_back(sum);
  }
  return positions;
}

double volume(const std::vector<Triangle>& triangles, const std::vector<Vec3>& x) {
  double sum = 0;
  for (const Triangle& t : triangles) sum += x[to_size(t[0])].dot(x[to_size(t[1])].cross(x[to_size(t[2])]));
  return sum / 6;
}

Pose posed(const RawCharacter& character, const ExamplePose& example) {
  Pose pose = rest_pose(character.skeleton);
  for (const JointRotation& r : example.rotations) pose[to_size(r.joint)].rotation = r.rotation;
  return pose;
}

struct PaperRow {
  std::string name;
  double tet_vertices, tets, vertices;
  std::size_t joints, poses, corrections;
};

// Table 3; joints are ours, where the paper doesn't count them.
const std::vector<PaperRow> table_3 = {{"arm", 2364, 8122, 10525, 4, 10, 9},
                                       {"x_shape", 3077, 9303, 2362, 17, 3, 0},
                                       {"bear", 4018, 12762, 6876, 36, 8, 7},
                                       {"gorilla", 3771, 16297, 15774, 16, 4, 2}};

TEST(Creatures, HaveTheSizesOfThePaper) {
  for (const PaperRow& row : table_3) {
    SCOPED_TRACE(row.name);
    const Made& m = made(row.name);
    std::size_t vertices = 0;
    for (const CharacterMesh& mesh : m.character.meshes) vertices += mesh.surface.vertices.size();
    EXPECT_NEAR(static_cast<double>(vertices), row.vertices, 0.1 * row.vertices);
    EXPECT_EQ(m.character.skins.front().joints.size(), row.joints);
    EXPECT_EQ(m.creature.poses.size(), row.poses);
    EXPECT_EQ(m.character.meshes.front().targets.size(), row.corrections);
  }
}

TEST(Creatures, HaveBodiesOfThePapersSizes) {
  for (const PaperRow& row : table_3) {
    SCOPED_TRACE(row.name);
    TetMeshingOptions options;
    options.tets = find_creature_example(row.name)->tets;
    options.distance_samples = 100;
    // The details take no part; the skeleton rests as it was bound.
    const TetMesh mesh = tetrahedralize(made(row.name).character.meshes.front().surface, options).value().mesh;
    EXPECT_NEAR(static_cast<double>(mesh.elements.size()), row.tets, 0.1 * row.tets);
    EXPECT_NEAR(static_cast<double>(mesh.vertices.size()), row.tet_vertices, 0.1 * row.tet_vertices);
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
      ASSERT_EQ(to_size(mesh.weights.vertex_count()), mesh.surface.vertices.size());
      for (std::size_t v = 0; v < mesh.surface.vertices.size(); ++v) {
        const Index first = mesh.weights.first[v], last = mesh.weights.first[v + 1];
        ASSERT_GE(last - first, 1);
        ASSERT_LE(last - first, 4);
        const double sum =
            std::accumulate(mesh.weights.weight.begin() + first, mesh.weights.weight.begin() + last, 0.0);
        ASSERT_NEAR(sum, 1.0, 1e-12);
        for (Index e = first; e < last; ++e) ASSERT_GT(mesh.weights.weight[to_size(e)], 0);
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
    Vec3 at_last = Vec3::Zero();
    for (const Vec3& x : sorted) {
      const Vec3 twin(-x.x(), x.y(), x.z());
      auto at = std::lower_bound(sorted.begin(), sorted.end(), x.y() - tolerance,
                                 [](const Vec3& a, double y) { return a.y() < y; });
      while (at != sorted.end() && at->y() < x.y() + tolerance && (*at - twin).norm() > tolerance) ++at;
      if (at != sorted.end() && at->y() < x.y() + tolerance) continue;
      ++lonely;
      at_last = x;
    }
    EXPECT_EQ(lonely, 0) << at_last.transpose();
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
        const auto width = to_size(channel.width), size = channel.values.size();
        ASSERT_EQ(size, width * channel.times.size());
        double same = 0, opposite = 0;  // q and −q are one rotation
        for (std::size_t k = 0; k < width; ++k) {
          same = std::max(same, std::abs(channel.values[k] - channel.values[size - width + k]));
          opposite = std::max(opposite, std::abs(channel.values[k] + channel.values[size - width + k]));
        }
        // Legs that are nearly straight bend by the root of a difference of squares: good to the root of rounding.
        EXPECT_LT(channel.target == ChannelTarget::rotation ? std::min(same, opposite) : same, 2e-8);
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
    const double ground = made(row.name).creature.joints[to_size(foot)].y();
    const std::vector<double>& times = walk.channels.front().times;
    std::vector<Vec3> path;
    for (const double time : times) {
      Pose pose = rest_pose(character.skeleton);
      sample_clip(walk, time, ClipWrap::hold, pose);
      path.push_back(world_matrices(character.skeleton, pose)[to_size(foot)].translation());
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

// How deep a posed skin lies inside itself. A vertex is buried if the skin still winds around a point just outside it;
// it is as deep as the nearest skin that faces it, or the nearest open air, is far.
double deepest(const Surface& rest, const std::vector<Vec3>& x, double size) {
  Surface posed;
  posed.vertices = x;
  posed.triangles = rest.triangles;
  const std::vector<Vec3> normals = vertex_normals(posed.triangles, x), faces = triangle_normals(posed);
  const TriangleTree tree(posed);
  const WindingNumber winding(tree);
  const auto inside = [&](const Vec3& q) { return winding(q) > 0.5; };
  double worst = 0;
  for (std::size_t v = 0; v < x.size(); ++v) {
    if (!inside(x[v] + 1e-3 * size * normals[v])) continue;
    double depth = 1e9;
    for (std::size_t t = 0; t < posed.triangles.size(); ++t) {
      const Triangle& c = posed.triangles[t];
      const Vec3 offset = x[v] - nearest_point_of_triangle(x[v], x[to_size(c[0])], x[to_size(c[1])], x[to_size(c[2])]);
      if (faces[t].dot(normals[v]) < -0.2 && offset.dot(faces[t]) < 0) depth = std::min(depth, offset.norm());
    }
    for (int k = 0; k < 27; ++k) {
      const Vec3 away = Vec3(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1).normalized();
      for (const double r : {0.0025, 0.005, 0.0075})
        if (k != 13 && !inside(x[v] + r * size * away)) depth = std::min(depth, r * size);
    }
    worst = std::max(worst, depth);
  }
  return worst;
}

// The paper's artist sculpted contact out of the poses (section 9); so do the corrections.
TEST(Creatures, DontLieInsideThemselvesInTheirPoses) {
  double worst_plain = 0;
  for (const char* name : {"arm", "x_shape", "bear", "gorilla"}) {
    const Made& m = made(name);
    const CharacterMesh& mesh = m.character.meshes.front();
    const double size = bounds_of(mesh.surface.vertices).size().maxCoeff();
    std::size_t target = 0;
    for (const CreaturePose& example : m.creature.poses) {
      SCOPED_TRACE(std::string(name) + " " + example.pose.name);
      const Pose pose = posed(m.character, example.pose);
      std::vector<double> morph(mesh.targets.size(), 0.0);
      if (example.pose.name == "elbow_bent")
        worst_plain = std::max(worst_plain, deepest(mesh.surface, skinned(m.character, pose, morph), size) / size);
      if (example.pose.corrected) morph[target++] = 1;
      EXPECT_LT(deepest(mesh.surface, skinned(m.character, pose, morph), size), 0.01 * size);
    }
  }
  EXPECT_GT(worst_plain, 0.02);  // without corrections the forearm goes into the upper arm
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
    for (std::size_t k = 0; k < half.size(); ++k) bent[to_size(half[k])] = positions[k];
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
}  // namespace supple::creatures_test
