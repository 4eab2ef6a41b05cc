// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/deformers.h"

#include "supple/rig/pose.h"
#include "supple/rig/rig_stack.h"
#include "support/rigs.h"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

namespace supple {
namespace {

std::vector<Vec3> line_points() {
  std::vector<Vec3> points;
  for (int k = -5; k <= 25; ++k) points.emplace_back(0.01 * (k % 3), 0.1 * k, 0.02 * (k % 4));
  return points;
}

TEST(Bend, MakesAnArcOfTheSameLength) {
  const Bend::Settings settings{.length = 2.0};
  std::vector<Vec3> points;
  for (int k = 0; k <= 200; ++k) points.emplace_back(0, 0.01 * k, 0);
  const StackRig rig(points, {std::make_shared<Bend>(settings)});
  const auto bent = evaluate_all(rig, std::vector<double>{90.0});
  const double radius = 2.0 / (std::numbers::pi / 2);
  for (std::size_t k = 0; k < bent.size(); ++k) {
    EXPECT_NEAR((bent[k] - Vec3(radius, 0, 0)).norm(), radius, 1e-12);  // a circle about (r, 0, 0), towards +x
    if (k > 0) {
      EXPECT_NEAR((bent[k] - bent[k - 1]).norm(), 0.01, 1e-6);
    }
  }
  EXPECT_LT((bent.back() - Vec3(radius, radius, 0)).norm(), 1e-12);
}

TEST(Bend, IsRigidOutsideAndNothingAtZero) {
  const StackRig rig(line_points(), {std::make_shared<Bend>(Bend::Settings{.length = 1.0})});
  EXPECT_EQ(evaluate_all(rig, std::vector<double>{0.0}), line_points());
  const auto bent = evaluate_all(rig, std::vector<double>{70.0});
  const auto rest = line_points();
  for (std::size_t k = 0; k < 5; ++k) EXPECT_LT((bent[k] - rest[k]).norm(), 1e-15);
  for (std::size_t k = 16; k < rest.size(); ++k)
    EXPECT_NEAR((bent[k] - bent[20]).norm(), (rest[k] - rest[20]).norm(), 1e-13);
  // Continuous in the angle where the formula changes to its series.
  const double switch_angle = 1e-4 * 180 / std::numbers::pi;
  const auto below = evaluate_all(rig, std::vector<double>{switch_angle * (1 - 1e-9)});
  const auto above = evaluate_all(rig, std::vector<double>{switch_angle * (1 + 1e-9)});
  for (std::size_t k = 0; k < below.size(); ++k) EXPECT_LT((below[k] - above[k]).norm(), 1e-12);
}

Wire::Settings straight_wire(double radius) {
  Wire::Settings settings;
  for (int k = 0; k < 9; ++k) settings.handles.emplace_back(0, 0.25 * k, 0);
  settings.radius = radius;
  return settings;
}

TEST(Wire, MovesRigidlyWithItsHandles) {
  const auto rest = line_points();
  const Wire::Settings settings = straight_wire(0);
  const StackRig rig(rest, {std::make_shared<Wire>(settings, rest)});
  EXPECT_EQ(rig.layout().size(), 4 * 9);
  const RigidTransform motion{Vec3(1, 2, 3), turn(50, Vec3(1, 0, 2))};  // axis normal to the wire: no twist to guess
  std::vector<double> p(36, 0.0);
  for (std::size_t k = 0; k < 9; ++k) {
    const Vec3 moved = motion * settings.handles[k] - settings.handles[k];
    std::copy_n(moved.data(), 3, p.begin() + static_cast<std::ptrdiff_t>(3 * k));
  }
  const auto result = evaluate_all(rig, p);
  for (std::size_t k = 0; k < rest.size(); ++k) EXPECT_LT((result[k] - motion * rest[k]).norm(), 1e-12);
}

TEST(Wire, TwistsAboutItselfAndFadesWithDistance) {
  std::vector<Vec3> rest = {{0.1, 1.0, 0}, {0.25, 1.0, 0}, {0.5, 1.0, 0}, {0, 1.0, 0}};
  const StackRig rig(rest, {std::make_shared<Wire>(straight_wire(0.5), rest)});
  std::vector<double> p(36, 0.0);
  for (std::size_t k = 27; k < 36; ++k) p[k] = 90;
  const auto twisted = evaluate_all(rig, p);
  const double fade = std::pow(1 - 0.04, 2);
  EXPECT_LT((twisted[0] - (rest[0] + fade * (Vec3(0, 1.0, -0.1) - rest[0]))).norm(), 1e-9);
  EXPECT_EQ(twisted[2], rest[2]);
  EXPECT_LT((twisted[3] - rest[3]).norm(), 1e-9);
}

TEST(Wire, TurnsAboutAnyAxisWhenTwistedAsMuch) {
  const auto rest = line_points();
  const Wire::Settings settings = straight_wire(0);
  const StackRig rig(rest, {std::make_shared<Wire>(settings, rest)});
  for (const double degrees : {-170.0, -95.0, 20.0, 100.0, 350.0, 1000.0}) {
    const Quat rotation = turn(degrees, Vec3(0.3, 1, -0.2));
    const Quat least = Quat::FromTwoVectors(Vec3::UnitY(), rotation * Vec3::UnitY());
    const Eigen::AngleAxisd beyond(least.conjugate() * rotation);
    std::vector<double> p(36, 0.0);
    for (std::size_t k = 0; k < 9; ++k) {
      const Vec3 moved = rotation * settings.handles[k] - settings.handles[k];
      std::copy_n(moved.data(), 3, p.begin() + static_cast<std::ptrdiff_t>(3 * k));
      p[27 + k] = beyond.angle() * beyond.axis().y() * 180 / std::numbers::pi;
    }
    const auto result = evaluate_all(rig, p);
    for (std::size_t k = 0; k < rest.size(); ++k) EXPECT_LT((result[k] - rotation * rest[k]).norm(), 1e-12) << degrees;
  }
}

TEST(Wire, OtherVerticesThanTheLastTimeAreFound) {
  const auto rest = line_points();
  const StackRig rig(rest, {std::make_shared<Wire>(straight_wire(0.3), rest)});
  std::vector<double> p(36, 0.0);
  for (std::size_t k = 0; k < p.size(); ++k) p[k] = 0.02 * static_cast<double>(k % 7);
  const auto all = evaluate_all(rig, p);
  const auto workspace = rig.make_workspace(rig.vertex_count());
  for (const std::vector<Index>& some : {std::vector<Index>{3, 17, 4}, {4, 4, 9, 10, 11, 30, 0}, {17}}) {
    std::vector<Vec3> positions(some.size());
    for (int again = 0; again < 2; ++again) {
      rig.evaluate(p, some, positions, *workspace);
      for (std::size_t k = 0; k < some.size(); ++k)
        EXPECT_EQ(positions[k], all[static_cast<std::size_t>(some[k])]) << k;
    }
  }
}

TEST(Wire, OneHandleMovesOnlyItsNeighbourhood) {
  const auto rest = line_points();
  const StackRig rig(rest, {std::make_shared<Wire>(straight_wire(0), rest)});
  std::vector<double> p(36, 0.0);
  p[3 * 4] = 0.3;  // handle at y = 1 along x
  const auto moved = evaluate_all(rig, p);
  for (std::size_t k = 0; k < rest.size(); ++k) {
    if (std::abs(rest[k].y() - 1) >= 0.5 + 1e-6) {
      EXPECT_LT((moved[k] - rest[k]).norm(), 1e-6);
    }
  }
  EXPECT_NEAR(moved[15].x() - rest[15].x(), 0.3, 1e-6);  // the curve goes through its handles
}

TEST(Composition, StagesRunInOrderAndSumsAdd) {
  const auto rest = line_points();
  std::vector<MorphTarget> targets(2);
  targets[0] = {"a", std::vector<Vec3>(rest.size(), Vec3(0, 0, 1))};
  targets[1] = {"b", std::vector<Vec3>(rest.size(), Vec3(2, 0, 0))};
  const auto shapes = std::make_shared<BlendShapes>(targets, static_cast<Index>(rest.size()));
  PoseLayout layout;
  layout.add_scalar("factor", 1.0, "", 1.0);
  const auto grow = std::make_shared<CallbackDeformer>(
      layout, [](std::span<const double> p, std::span<const Index>, std::span<Vec3> x) {
        for (Vec3& v : x) v *= p[0];
      });
  const std::vector<double> p = {0.5, -1.0, 3.0};
  const auto stacked = evaluate_all(StackRig(rest, {shapes, grow}), p);
  const StackRig sum_rig(rest, {std::make_shared<SumDeformer>(std::vector<DeformerPtr>{shapes, grow})});
  const auto summed = evaluate_all(sum_rig, p);
  EXPECT_EQ(sum_rig.layout().groups[2].name, "factor");
  for (std::size_t k = 0; k < rest.size(); ++k) {
    const Vec3 shaped = rest[k] + Vec3(-2, 0, 0.5);
    EXPECT_LT((stacked[k] - 3 * shaped).norm(), 1e-14);
    EXPECT_LT((summed[k] - (shaped + 2 * rest[k])).norm(), 1e-14);
  }
}

void lift(void* user, const double* p, const std::int32_t* vertices, std::size_t count, double* positions) {
  ++*static_cast<int*>(user);
  for (std::size_t k = 0; k < count; ++k) positions[3 * k + 1] += p[0] * vertices[k];
}

TEST(Composition, ACFunctionIsARig) {
  const auto rest = line_points();
  int calls = 0;
  PoseLayout layout;
  layout.add_scalar("lift", 0.0, "m", 1.0);
  const StackRig rig(rest, {std::make_shared<CallbackDeformer>(layout, lift, &calls)});
  const auto lifted = evaluate_all(rig, std::vector<double>{0.5});
  EXPECT_EQ(calls, 1);
  for (std::size_t k = 0; k < rest.size(); ++k)
    EXPECT_EQ(lifted[k], Vec3(rest[k].x(), rest[k].y() + 0.5 * static_cast<double>(k), rest[k].z()));
}

}  // namespace
}  // namespace supple
