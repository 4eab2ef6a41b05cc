// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/deform/pose_space.h"
#include "supple/rig/character_rig.h"
#include "supple/rig/deform/rig_stack.h"
#include "support/rigs.h"

#include <gtest/gtest.h>

namespace supple::rig_pose_space_test {
namespace {

std::vector<double> coefficients(const Quat& q) { return {q.x(), q.y(), q.z(), q.w()}; }

TEST(PoseLayout, RotationsCompareAsRotations) {
  PoseLayout layout;
  layout.add_rotation("joint", Quat::Identity());
  const auto distance = [&](const Quat& a, const Quat& b) {
    return pose_distance(layout, coefficients(a), coefficients(b)) * 180 / std::numbers::pi;
  };
  const Vec3 axis(1, -2, 0.5);
  for (const double angle : {0.0, 1e-7, 30.0, 179.999, 180.0}) {
    EXPECT_NEAR(distance(Quat::Identity(), turn(angle, axis)), angle, 1e-12 + 1e-13 * angle);
    EXPECT_NEAR(distance(turn(angle, axis), turn(-angle, axis)), std::min(2 * angle, 360 - 2 * angle), 2e-6);
  }
  EXPECT_NEAR(distance(turn(179, axis), turn(-179, axis)), 2.0, 1e-9);  // over 180°, not all the way back
  std::mt19937 random(1);
  const Quat q = random_rotation(random);
  EXPECT_LT(distance(q, Quat(-q.coeffs())), 1e-13);
}

TEST(PoseLayout, UnitsMixByTheirScales) {
  PoseLayout layout;
  layout.add_rotation("joint", Quat::Identity());
  const std::array<double, 3> zero{};
  layout.add("slide", ParameterKind::translation, zero, "m", 4.0);
  layout.add_scalar("bend", 0.0, "deg", std::numbers::pi / 180);
  std::vector<double> p = layout.neutral;
  const std::vector<double> q = coefficients(turn(90, Vec3::UnitX()));
  std::copy(q.begin(), q.end(), p.begin());
  p[5] = 0.25;
  p[7] = 60;
  const double expected = std::sqrt(std::pow(std::numbers::pi / 2, 2) + 1 + std::pow(std::numbers::pi / 3, 2));
  EXPECT_NEAR(pose_distance(layout, p, layout.neutral), expected, 1e-14);
}

PoseLayout two_joints() {
  PoseLayout layout;
  layout.add_rotation("a", Quat::Identity());
  layout.add_rotation("b", Quat::Identity());
  layout.add_scalar("slider", 0.0, "", 1.0);
  return layout;
}

std::vector<double> random_parameters(std::mt19937& random) {
  std::vector<double> p = coefficients(random_rotation(random));
  for (const double value : coefficients(random_rotation(random))) p.push_back(value);
  p.push_back(std::uniform_real_distribution<double>(-1, 1)(random));
  return p;
}

TEST(PoseMetric, IsThePoseDistance) {
  PoseLayout layout;
  std::mt19937 random(11);
  for (int k = 0; k < 21; ++k) layout.add_rotation("r", random_rotation(random), 0.5 + 0.1 * k);
  layout.add("t", ParameterKind::translation, std::array{1.0, 2.0, 3.0}, "m", 1.5);
  layout.add_scalar("s", 0.25, "", 2.0);
  layout.add_scalar("ignored", 0.0, "", 0.0);
  const PoseMetric metric(layout);
  std::normal_distribution<double> normal;
  for (const double far : {1e-9, 1e-4, 0.1, 1.0, 10.0}) {
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<double> p = layout.neutral;
      for (double& value : p) value = 3 * (value + far * normal(random));  // quaternions of any length
      const double expected = pose_distance(layout, p, layout.neutral);
      EXPECT_NEAR(metric.distance(p, layout.neutral), expected, 1e-12 * expected);
    }
  }
  PoseLayout one;
  one.add_rotation("r", Quat::Identity());
  for (const double angle : {0.0, 1e-12, 1e-6, 1.0, 3.0, std::numbers::pi - 1e-9, std::numbers::pi}) {
    const Quat q(Eigen::AngleAxisd(angle, Vec3::UnitX()));
    EXPECT_NEAR(PoseMetric(one).distance(std::vector{q.x(), q.y(), q.z(), q.w()}, one.neutral), angle, 2e-12 * angle);
  }
}

TEST(PoseSpaceWeights, AreOneTogetherAndInterpolate) {
  std::mt19937 random(2);
  std::vector<std::vector<double>> poses;
  for (int k = 0; k < 10; ++k) poses.push_back(random_parameters(random));
  const PoseSpaceWeights weights = PoseSpaceWeights::create(two_joints(), poses).value();
  std::vector<double> w(10);
  std::vector<double> scratch(10);
  for (std::size_t i = 0; i < poses.size(); ++i) {
    for (std::size_t k = 0; k < 4; ++k) poses[i][k] *= -1;  // the same rotation
    weights.evaluate(poses[i], w, scratch);
    for (std::size_t j = 0; j < w.size(); ++j) EXPECT_NEAR(w[j], i == j ? 1.0 : 0.0, 1e-11);
  }
  for (int k = 0; k < 100; ++k) {
    const auto p = random_parameters(random);
    weights.evaluate(p, w, scratch);
    double sum = 0;
    for (const double value : w) sum += value;
    EXPECT_NEAR(sum, 1.0, 1e-12);
  }
}

TEST(PoseSpaceWeights, NoJumpAcrossHalfATurn) {
  PoseLayout layout;
  layout.add_rotation("a", Quat::Identity());
  std::vector<std::vector<double>> poses;
  for (const double angle : {0.0, 80.0, 170.0, -120.0}) poses.push_back(coefficients(turn(angle, Vec3::UnitZ())));
  const PoseSpaceWeights weights = PoseSpaceWeights::create(layout, poses).value();
  std::vector<double> before(4);
  std::vector<double> after(4);
  std::vector<double> scratch(4);
  weights.evaluate(coefficients(turn(179.9999, Vec3::UnitZ())), before, scratch);
  weights.evaluate(coefficients(turn(-179.9999, Vec3::UnitZ())), after, scratch);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(before[k], after[k], 1e-5);
}

/// Two poses on a line, where the weights can be written down: |x − 1| and |x| over their sum.
TEST(PoseSpaceWeights, ClosedFormOfTwoPoses) {
  PoseLayout layout;
  layout.add_scalar("x", 0.0, "", 3.0);
  const PoseSpaceWeights weights = PoseSpaceWeights::create(layout, {{0.0}, {1.0}}).value();
  std::vector<double> w(2);
  std::vector<double> scratch(2);
  for (const double x : {-5.0, 0.0, 0.3, 1.0, 1e6}) {
    weights.evaluate(std::vector<double>{x}, w, scratch);
    EXPECT_NEAR(w[0], std::abs(x - 1) / (std::abs(x) + std::abs(x - 1)), 1e-14);
    EXPECT_NEAR(w[1], std::abs(x) / (std::abs(x) + std::abs(x - 1)), 1e-14);
  }
}

TEST(PoseSpaceWeights, RefusalsAreSentences) {
  const PoseLayout layout = two_joints();
  std::vector<double> flipped = layout.neutral;
  for (std::size_t k = 0; k < 4; ++k) flipped[k] *= -1;
  EXPECT_NE(PoseSpaceWeights::create(layout, {layout.neutral, flipped}).error().message.find("1 and 2 are the same"),
            std::string::npos);
  EXPECT_NE(PoseSpaceWeights::create(layout, {{1.0}}).error().message.find("has 1 numbers"), std::string::npos);
  flipped[2] = NAN;
  EXPECT_FALSE(PoseSpaceWeights::create(layout, {flipped}).ok());
  EXPECT_FALSE(PoseSpaceWeights::create(layout, {}).ok());
}

TEST(PoseSpaceRig, ReachesTheSculptedShapesExactly) {
  const RawCharacter tube = make_tube(4, 9, 8, 2.0, 0.2, 3);
  const CharacterRig character = CharacterRig::create(tube).value();
  std::mt19937 random(5);
  std::vector<PoseCorrection> corrections;
  std::vector<std::vector<Vec3>> sculpted;
  std::vector<std::vector<double>> poses;
  for (int k = 0; k < 5; ++k) {
    CharacterPose pose = character.neutral();
    Pose locals = rest_pose(tube.skeleton);
    for (Transform& local : locals) local.rotation = random_rotation(random);
    character.set_joints(locals, pose);
    poses.push_back(pose.p);
    sculpted.push_back(evaluate_all(*character.rig(), pose.p));
    for (std::size_t v = 10; v < 30; ++v) sculpted.back()[v] += 0.05 * Vec3::Random();
    corrections.push_back(correction_towards(*character.rig(), pose.p, sculpted.back()));
  }
  const auto rig = PoseSpaceRig::create(character.rig(), corrections).value();
  for (std::size_t k = 0; k < poses.size(); ++k) {
    const auto reached = evaluate_all(*rig, poses[k]);
    for (std::size_t v = 0; v < reached.size(); ++v) EXPECT_LT((reached[v] - sculpted[k][v]).norm(), 1e-12);
  }
  const auto neutral = evaluate_all(*rig, rig->layout().neutral);
  for (std::size_t v = 0; v < neutral.size(); ++v)
    EXPECT_LT((neutral[v] - tube.meshes[0].surface.vertices[v]).norm(), 1e-12);
  EXPECT_FALSE(PoseSpaceRig::create(character.rig(), {{poses[0], {}}}).ok());
}

}  // namespace
}  // namespace supple::rig_pose_space_test
