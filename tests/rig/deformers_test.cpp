// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/deform/deformers.h"

#include "supple/rig/deform/rig_stack.h"
#include "supple/rig/pose.h"
#include "support/rigs.h"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <numbers>
#include <random>

namespace supple::deformers_test {
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
    const Quat least = rotation_between(Vec3::UnitY(), rotation * Vec3::UnitY());
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

/// The definition, by the textbook's spline and rotations.
Vec3 moved_by_wire(const Wire::Settings& settings, const Vec3& x, double u, std::span<const double> p) {
  const auto count = settings.handles.size();
  const auto segment = std::min(to_size(u), count - 2);
  const double t = u - static_cast<double>(segment);
  const auto value = [&](std::ptrdiff_t h, bool moved) -> Eigen::Vector4d {  // place and twist of a handle
    const auto k = to_size(h);
    Eigen::Vector4d result(0, 0, 0, moved ? p[3 * count + k] : 0.0);
    result.head<3>() = settings.handles[k];
    if (moved) result.head<3>() += Eigen::Map<const Vec3>(p.data() + 3 * k);
    return result;
  };
  const auto curve = [&](double at, bool moved) -> Eigen::Vector4d {  // Neville's scheme of Catmull and Rom
    std::array<Eigen::Vector4d, 4> h;
    for (std::ptrdiff_t j = 0; j < 4; ++j) {
      const std::ptrdiff_t k = static_cast<std::ptrdiff_t>(segment) + j - 1,
                           last = static_cast<std::ptrdiff_t>(count) - 1;
      h[to_size(j)] = k < 0      ? Eigen::Vector4d(2 * value(0, moved) - value(1, moved))
                      : k > last ? Eigen::Vector4d(2 * value(last, moved) - value(last - 1, moved))
                                 : value(k, moved);
    }
    const auto between = [at](const Eigen::Vector4d& a, const Eigen::Vector4d& b, double from, double to) {
      return Eigen::Vector4d(((to - at) * a + (at - from) * b) / (to - from));
    };
    const Eigen::Vector4d a = between(h[0], h[1], -1, 0), b = between(h[1], h[2], 0, 1), c = between(h[2], h[3], 1, 2);
    return between(between(a, b, -1, 1), between(b, c, 0, 2), 0, 1);
  };
  const auto tangent = [&](bool moved) {
    return Vec3((curve(t + 1e-5, moved) - curve(t - 1e-5, moved)).head<3>().normalized());
  };
  const Eigen::Vector4d now = curve(t, true);
  const Quat twist(Eigen::AngleAxisd(now[3] * std::numbers::pi / 180, tangent(false)));
  return now.head<3>() + rotation_between(tangent(false), tangent(true)) * (twist * (x - curve(t, false).head<3>()));
}

TEST(Wire, IsWhatItsDefinitionSays) {
  Wire::Settings settings;
  for (int k = 0; k < 5; ++k) settings.handles.emplace_back(0.1 * k * (k - 2), 0.3 * k, 0.05 * (k % 2));
  std::mt19937 random(4);
  std::uniform_real_distribution<double> number(-1, 1);
  const std::vector<Vec3> rest = {
      {0.1, 0.02, 0.1}, {-0.2, 0.4, 0}, {0.1, 0.7, -0.1}, {0.2, 1.0, 0.1}, {0.9, 1.15, 0.1}};
  const Wire wire(settings, rest);
  const StackRig rig(rest, {std::make_shared<Wire>(wire)});
  std::vector<double> p(20);
  for (std::size_t k = 0; k < 20; ++k) p[k] = k < 15 ? 0.1 * number(random) : 250 * number(random);
  const std::vector<Vec3> found = evaluate_all(rig, p);
  for (std::size_t v = 0; v < rest.size(); ++v) {
    const Wire::Binding& binding = wire.bindings()[v];  // linear precision of the weights gives the place
    double u = 0;
    for (std::size_t j = 0; j < 4; ++j) u += binding.value[static_cast<Eigen::Index>(j)] * binding.handle[j];
    EXPECT_LT((found[v] - moved_by_wire(settings, rest[v], u, p)).norm(), 1e-8) << v;  // tangents by differences
  }
}

TEST(Wire, AfterOtherStagesIsTheSame) {
  const auto rest = line_points();
  const std::vector<DeformerPtr> wires = {std::make_shared<Wire>(straight_wire(0.3), rest),
                                          std::make_shared<Wire>(straight_wire(0), rest)};
  const auto sum = std::make_shared<SumDeformer>(wires);
  const MorphTarget shift{"shift", std::vector<Vec3>(rest.size(), Vec3(0.01, 0, 0))};
  const auto shapes = std::make_shared<BlendShapes>(std::span(&shift, 1), static_cast<Index>(rest.size()));
  const StackRig alone(rest, {sum}), after(rest, {shapes, sum});
  std::mt19937 random(8);
  const std::vector<double> p = random_pose(alone.layout(), random);
  std::vector<double> longer = {0.0};
  longer.insert(longer.end(), p.begin(), p.end());
  const auto expected = evaluate_all(alone, p), found = evaluate_all(after, longer);
  for (std::size_t v = 0; v < rest.size(); ++v) EXPECT_LT((found[v] - expected[v]).norm(), 1e-13) << v;
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
      for (std::size_t k = 0; k < some.size(); ++k) EXPECT_EQ(positions[k], all[to_size(some[k])]) << k;
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
}  // namespace supple::deformers_test
