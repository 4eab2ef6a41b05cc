// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/deform/carried_rig.h"

#include "supple/rig/character_rig.h"
#include "supple/rig/deform/deformers.h"
#include "support/rigs.h"

#include <gtest/gtest.h>

#include <random>

namespace supple::carried_rig_test {
namespace {

struct Hanging {
  SurfaceCarry carry;
  std::vector<Vec3> rest;
};

Hanging points_inside(const Rig& surface) {
  std::mt19937 random(3);
  std::uniform_int_distribution<Index> any(0, surface.vertex_count() - 1);
  std::uniform_real_distribution<double> number(-0.2, 0.7);
  Hanging result;
  for (int i = 0; i < 40; ++i) {
    const double a = number(random), b = number(random), c = number(random);
    result.carry.vertex.push_back({any(random), any(random), any(random), any(random)});
    result.carry.weight.push_back({a, b, c, 1 - a - b - c});
    result.rest.emplace_back(a, b, c);
  }
  return result;
}

/// The formula as it stands in the header, vertex by vertex.
Vec3 carried(const Hanging& hanging, std::size_t i, std::span<const Vec3> posed, std::span<const Vec3> neutral) {
  Vec3 x = hanging.rest[i];
  for (std::size_t k = 0; k < SurfaceCarry::neighbours; ++k) {
    const auto v = to_size(hanging.carry.vertex[i][k]);
    x += hanging.carry.weight[i][k] * (posed[v] - neutral[v]);
  }
  return x;
}

void expect_carried(const std::shared_ptr<const Rig>& surface) {
  const Hanging hanging = points_inside(*surface);
  const std::shared_ptr<const Rig> rig = carry_rig(surface, hanging.carry, hanging.rest);
  const std::vector<Vec3> neutral = evaluate_all(*surface, surface->layout().neutral);
  std::mt19937 random(5);
  const auto workspace = rig->make_workspace(2);
  for (int again = 0; again < 5; ++again) {
    const std::vector<double> p = random_pose(surface->layout(), random);
    const std::vector<Vec3> posed = evaluate_all(*surface, p), found = evaluate_all(*rig, p);
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_LT((found[i] - carried(hanging, i, posed, neutral)).norm(), 1e-12) << i;
    const std::vector<Index> some = {31, 7};
    std::vector<Vec3> positions(2);
    rig->evaluate(p, some, positions, *workspace);
    EXPECT_EQ(positions[0], found[31]);
    EXPECT_EQ(positions[1], found[7]);
  }
}

std::vector<PoseCorrection> corrections_of(const Rig& rig, bool neutral) {
  std::mt19937 random(9);
  std::vector<PoseCorrection> corrections;
  for (int k = 0; k < 3; ++k) {
    PoseCorrection correction{random_pose(rig.layout(), random), {}};
    if (neutral && k == 1) correction.p = rig.layout().neutral;
    for (Index v = 0; v < rig.vertex_count(); ++v)
      correction.displacements.push_back((v + k) % 3 == 0 ? Vec3(0.01 * k, 0.002 * v, -0.01) : Vec3(0, 0, 0));
    corrections.push_back(std::move(correction));
  }
  return corrections;
}

TEST(CarriedRig, SumsOfLinearSkinningAreTheSkinsMean) {
  expect_carried(CharacterRig::create(make_tube(4, 9, 8, 1.0, 0.1, 3)).value().rig());
}

/// Workspaces share what they have found out of the points that they are asked for. None may see that another goes on
/// to other points, or that it is gone.
TEST(CarriedRig, WhoAsksForTheSamePointsDoesNotDisturbOthers) {
  const auto surface = CharacterRig::create(make_tube(4, 9, 8, 1.0, 0.1, 3)).value().rig();
  const Hanging hanging = points_inside(*surface);
  const std::shared_ptr<const Rig> rig = carry_rig(surface, hanging.carry, hanging.rest);
  const std::vector<std::vector<Index>> lists = {{31, 7, 12}, {7, 31, 12}, {1, 2, 3, 4, 5}, {9}, {39, 0}, {5, 4}, {}};
  std::vector<std::unique_ptr<RigWorkspace>> workspaces(4);
  std::mt19937 random(5);
  for (std::size_t turn = 0; turn < 200; ++turn) {
    auto& workspace = workspaces[random() % workspaces.size()];
    if (!workspace || random() % 10 == 0) workspace = rig->make_workspace(5);
    const std::vector<Index>& points = lists[random() % (turn < 100 ? 2 : lists.size())];
    const std::vector<double> p = random_pose(surface->layout(), random);
    const std::vector<Vec3> all = evaluate_all(*rig, p);
    std::vector<Vec3> found(points.size());
    rig->evaluate(p, points, found, *workspace);
    for (std::size_t k = 0; k < points.size(); ++k) EXPECT_EQ(found[k], all[to_size(points[k])]) << turn;
  }
}

TEST(CarriedRig, BlendShapesBeforeTheSkinAreSummedToo) {
  RawCharacter tube = make_tube(4, 9, 8, 1.0, 0.1, 3);
  const std::vector<Vec3>& rest = tube.meshes[0].surface.vertices;
  for (int k = 0; k < 3; ++k) {
    MorphTarget target{"target" + std::to_string(k), std::vector<Vec3>(rest.size(), Vec3::Zero())};
    for (std::size_t v = 10 * to_size(k); v < rest.size(); v += 2) target.displacements[v] = 0.1 * (k + 1) * rest[v];
    tube.meshes[0].targets.push_back(std::move(target));
    tube.meshes[0].default_target_weights.push_back(0.25 * k);
  }
  expect_carried(CharacterRig::create(tube).value().rig());
}

TEST(CarriedRig, OtherRigsAreAskedVertexByVertex) {
  CharacterRigSettings settings;
  settings.method = SkinningMethod::dual_quaternion;
  expect_carried(CharacterRig::create(make_tube(4, 9, 8, 1.0, 0.1, 3), settings).value().rig());
}

TEST(CarriedRig, WiresAreAskedHowFarTheyMove) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> number(-0.5, 0.5);
  std::vector<Vec3> rest;
  for (int v = 0; v < 61; ++v) rest.emplace_back(number(random), 1 + 2 * number(random), number(random));
  Wire::Settings straight, bent;
  for (int k = 0; k < 5; ++k) straight.handles.emplace_back(0, 0.5 * k, 0);
  for (int k = 0; k < 3; ++k) bent.handles.emplace_back(0.1 * k * k, 0.6 * k, 0.2);
  bent.radius = 0.8;
  const std::vector<DeformerPtr> wires = {std::make_shared<Wire>(straight, rest), std::make_shared<Wire>(bent, rest)};
  expect_carried(std::make_shared<StackRig>(rest, std::vector<DeformerPtr>{std::make_shared<SumDeformer>(wires)}));
}

TEST(CarriedRig, CorrectionsOfTheSkinAreCarried) {
  for (const bool neutral : {false, true}) {
    CharacterRig rig = CharacterRig::create(make_tube(4, 9, 8, 1.0, 0.1, 3)).value();
    ASSERT_TRUE(rig.correct(corrections_of(*rig.rig(), neutral)).ok());
    expect_carried(rig.rig());
  }
}

}  // namespace
}  // namespace supple::carried_rig_test
