// SPDX-License-Identifier: Apache-2.0
// Figure 12 of the 2005 paper on a coarser spoon: reduced swings follow the full one.
#include "samples/swing.h"

#include "supple/offline/modes/mass_pca.h"
#include "supple/offline/modes/modal_basis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple::swing_test {
namespace {

Swing wave(double amplitude, double frequency, double decay = 0) {
  Swing swing;
  for (int k = 1; k <= 300; ++k) {
    const double t = 0.01 * k;
    swing.time.push_back(t);
    swing.height.push_back(amplitude * std::exp(-decay * t) * std::sin(2 * std::numbers::pi * frequency * t));
  }
  return swing;
}

TEST(Swing, AmplitudeAndFrequencyOfASineAreFound) {
  const SwingMeasure measure = measure_swing(wave(1.5, 0.9));
  ASSERT_EQ(measure.crossings.size(), 5u);
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_NEAR(measure.crossings[k], static_cast<double>(k + 1) / 1.8, 1e-6);
    EXPECT_NEAR(measure.extremes[k], 1.5, 1e-6);
  }
}

TEST(Swing, ComparisonGivesTheDifferenceOfTwoSines) {
  const SwingComparison same = compare_swings(wave(1, 0.9), wave(1, 0.9)).value();
  EXPECT_EQ(same.amplitude_error, 0);
  EXPECT_EQ(same.frequency_error, 0);
  EXPECT_EQ(same.rms_error, 0);
  const SwingComparison other = compare_swings(wave(1, 0.9), wave(0.95, 0.927)).value();
  EXPECT_NEAR(other.amplitude_error, -0.05, 1e-5);
  EXPECT_NEAR(other.frequency_error, 0.03, 1e-5);
  EXPECT_NEAR(other.frequency, 0.927, 1e-5);
  EXPECT_GT(other.rms_error, 0.05);
  // Of the common half-swings only; the slower one has fewer.
  EXPECT_NEAR(compare_swings(wave(1, 0.9), wave(1, 0.4)).value().frequency_error, 0.4 / 0.9 - 1, 1e-5);
  EXPECT_FALSE(compare_swings(wave(1, 0.9), wave(1, 0.1)).ok());
  EXPECT_FALSE(compare_swings(wave(1, 0.9), Swing{}).ok());
}

TEST(Swing, RipplesAroundZeroAreNotSwings) {
  Swing swing = wave(1, 0.9);
  for (std::size_t k = 0; k < swing.height.size(); ++k)
    swing.height[k] += 0.02 * std::sin(40 * std::numbers::pi * swing.time[k]);
  EXPECT_EQ(measure_swing(swing).crossings.size(), 5u);
}

TEST(Swing, TheHandGrabsTheFreeEnd) {
  const SubspaceSample spoon = make_spoon(50);
  const std::vector<Index> grabbed = grabbed_vertices(spoon);
  ASSERT_GT(grabbed.size(), 4u);
  for (const Index v : grabbed) EXPECT_GT(spoon.bricks.vertices[to_size(v)].x(), 2.3);
}

TEST(Swing, AHandMayGrabElsewhere) {
  const SubspaceSample spoon = make_spoon(50);
  const std::vector<Index> grabbed = grabbed_vertices(spoon, 2.0 / 3), tip = grabbed_vertices(spoon);
  ASSERT_GT(grabbed.size(), 1u);
  for (const Index v : grabbed) {
    EXPECT_LT(spoon.bricks.vertices[to_size(v)].x(), 2.1);
    EXPECT_GT(spoon.bricks.vertices[to_size(v)].x(), 1.2);
    EXPECT_EQ(std::count(tip.begin(), tip.end(), v), 0);
  }
}

/// As far as in the benchmark; shorter, and on a quarter of the bricks.
class SpoonSwing : public testing::Test {
 protected:
  static void SetUpTestSuite() { full_ = swing_full(spoon(), body(), settings()).value(); }
  static const SubspaceSample& spoon() {
    static const SubspaceSample scene = make_spoon(50);
    return scene;
  }
  static const ElasticBody& body() {
    static const ElasticBody made = ElasticBody::create(spoon().bricks, MaterialModel::stvk).value();
    return made;
  }
  static SwingSettings settings() { return {.force = force, .push_seconds = 0.15, .seconds = 1.0, .time_step = 0.01}; }
  static SwingComparison errors_of(const MatX& basis) {
    return compare_swings(full_, swing_reduced(spoon(), basis, settings()).value()).value();
  }
  static constexpr double force = 3000;
  static Swing full_;
};
Swing SpoonSwing::full_;

TEST_F(SpoonSwing, GoesFarAndIsRepeatedInTheBasisOfItsOwnMotion) {
  const SwingMeasure measure = measure_swing(full_);
  ASSERT_GE(measure.extremes.size(), 2u);
  EXPECT_GT(measure.extremes[0], 1.0);  // of 2.5 m
  const MassPca pca = mass_pca(body().consistent_mass(), full_.shapes).value();
  const SwingComparison errors = errors_of(pca.basis.leftCols(12));
  EXPECT_LT(std::abs(errors.amplitude_error), 0.005);
  EXPECT_LT(std::abs(errors.frequency_error), 0.005);
  EXPECT_LT(errors.rms_error, 0.01);
}

TEST_F(SpoonSwing, IsRepeatedByModesAndDerivativesAsWellAsInThePaper) {
  const ModalBasis modal = build_modal_basis(body(), spoon().fixed_vertices, {.linear_modes = 6, .size = 12}).value();
  const SwingComparison errors = errors_of(modal.basis);
  EXPECT_LT(std::abs(errors.amplitude_error), 0.02);
  EXPECT_LT(std::abs(errors.frequency_error), 0.046);
}

TEST_F(SpoonSwing, LocksInLinearModesAlone) {
  const Modes modes = compute_modes(body(), spoon().fixed_vertices, {.count = 12}).value();
  const Swing locked = swing_reduced(spoon(), modes.shapes, settings()).value();
  const double reached = *std::max_element(locked.height.begin(), locked.height.end());
  EXPECT_LT(reached, 0.5 * measure_swing(full_).extremes[0]);
}

}  // namespace
}  // namespace supple::swing_test
