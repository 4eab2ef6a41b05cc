// SPDX-License-Identifier: Apache-2.0
#include "samples/cantilever.h"

#include "samples/vibration.h"
#include "supple/io/file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace supple::cantilever_test {
namespace {

// The shape of a clamped-free beam (Euler-Bernoulli), with the cross-section's rotation.
VecX bending_shape(const Cantilever& beam, double lambda, const Vec3& direction) {
  const double sigma = (std::cosh(lambda) + std::cos(lambda)) / (std::sinh(lambda) + std::sin(lambda));
  VecX u(3 * static_cast<Eigen::Index>(beam.mesh.vertices.size()));
  for (std::size_t v = 0; v < beam.mesh.vertices.size(); ++v) {
    const Vec3& p = beam.mesh.vertices[v];
    const double s = lambda * p.x() / beam.size.x();
    const double deflection = std::cosh(s) - std::cos(s) - sigma * (std::sinh(s) - std::sin(s));
    const double slope = lambda / beam.size.x() * (std::sinh(s) + std::sin(s) - sigma * (std::cosh(s) - std::cos(s)));
    const double height = (p - 0.5 * beam.size).dot(direction);
    u.segment<3>(3 * static_cast<Eigen::Index>(v)) = deflection * direction - slope * height * Vec3::UnitX();
  }
  return u;
}

VecX twist_shape(const Cantilever& beam) {
  VecX u(3 * static_cast<Eigen::Index>(beam.mesh.vertices.size()));
  for (std::size_t v = 0; v < beam.mesh.vertices.size(); ++v) {
    const Vec3& p = beam.mesh.vertices[v];
    const double turn = std::sin(0.5 * std::numbers::pi * p.x() / beam.size.x());
    const Vec3 arm = p - 0.5 * beam.size;
    u.segment<3>(3 * static_cast<Eigen::Index>(v)) = turn * Vec3(0, -arm.z(), arm.y());
  }
  return u;
}

TEST(Cantilever, BeamTheoryFrequenciesHaveTheKnownRatios) {
  const Cantilever beam = make_cantilever();
  const double first = beam.beam_theory_frequency(1);
  EXPECT_NEAR(first,
              3.5160152685 / (2 * std::numbers::pi) * beam.size.y() *
                  std::sqrt(beam.material.young / (12 * beam.material.density)),
              1e-6);
  EXPECT_NEAR(beam.beam_theory_frequency(2) / first, 6.266893, 1e-5);
  EXPECT_NEAR(beam.beam_theory_frequency(3) / first, 17.547482, 1e-5);
}

TEST(Cantilever, OneEndIsFixed) {
  const Cantilever beam = make_cantilever(3);
  EXPECT_EQ(beam.fixed_vertices.size(), 16u);
  EXPECT_EQ(beam.mesh.vertices.size(), 31u * 16u);
  EXPECT_EQ(beam.mesh.material_of(0).young, beam.material.young);
}

TEST(Cantilever, PluckedModesAddUpToTheStaticDeflectionOfTheTip) {
  // A unit force at the tip bends the beam by L³ / 3 E I; three modes hold 99.9 % of it. The lumped masses of a coarse
  // box and the rotation of the sections leave a per cent or so.
  const Cantilever beam = make_cantilever(4);
  std::vector<VecX> shapes;
  std::vector<double> frequencies;
  int n = 0;
  for (const double lambda : {1.8751040687, 4.6940911330, 7.8547574382}) {
    shapes.push_back(bending_shape(beam, lambda, Vec3::UnitY()));
    frequencies.push_back(beam.beam_theory_frequency(++n));
  }
  const std::vector<Index> tip = {static_cast<Index>(40)};
  const std::vector<double> q = pluck_amplitudes(beam.mesh, shapes, frequencies, tip, Vec3::UnitY());
  double deflection = 0;
  for (std::size_t i = 0; i < q.size(); ++i) deflection += q[i] * shapes[i][3 * 40 + 1];
  const double inertia = std::pow(beam.size.y(), 4) / 12;
  EXPECT_NEAR(deflection, 1 / (3 * beam.material.young * inertia), 0.02 / (3 * beam.material.young * inertia));
}

TEST(Cantilever, RingIsTheDampedOscillator) {
  const double f = 2, zeta = 0.1, omega = 2 * std::numbers::pi * f, h = 1e-5;
  for (const double t : {0.1, 0.33, 1.0}) {
    const double velocity = (ring(t + h, f, zeta) - ring(t - h, f, zeta)) / (2 * h);
    const double acceleration = (ring(t + h, f, zeta) - 2 * ring(t, f, zeta) + ring(t - h, f, zeta)) / (h * h);
    EXPECT_NEAR(acceleration + 2 * zeta * omega * velocity + omega * omega * ring(t, f, zeta), 0, 1e-3);
  }
  EXPECT_EQ(ring(0, f, zeta), 1);
  EXPECT_NEAR((ring(h, f, zeta) - 1) / h, 0, 1e-2);
}

TEST(Cantilever, VisibleScaleIsLimitedByDisplacementOrByGradient) {
  const Cantilever beam = make_cantilever(2);
  VecX stretch = VecX::Zero(3 * static_cast<Eigen::Index>(beam.mesh.vertices.size()));
  for (std::size_t v = 0; v < beam.mesh.vertices.size(); ++v)
    stretch[3 * static_cast<Eigen::Index>(v)] = 2 * beam.mesh.vertices[v].x();  // |u| <= 2, |∇u| = 2
  EXPECT_NEAR(visible_scale(beam.mesh, stretch, 0.1, 1), 0.05, 1e-12);
  EXPECT_NEAR(visible_scale(beam.mesh, stretch, 1, 0.1), 0.05, 1e-12);
}

TEST(Cantilever, WritesPictureAndAnimation) {
  const Cantilever beam = make_cantilever(4);
  const double f1 = beam.beam_theory_frequency(1), f2 = beam.beam_theory_frequency(2);
  const std::vector<VecX> shapes = {bending_shape(beam, 1.8751040687, Vec3::UnitY()),
                                    bending_shape(beam, 1.8751040687, Vec3::UnitZ()),
                                    bending_shape(beam, 4.6940911330, Vec3::UnitY()),
                                    bending_shape(beam, 4.6940911330, Vec3(0, -0.6, 0.8)),
                                    twist_shape(beam),
                                    bending_shape(beam, 7.8547574382, Vec3::UnitY())};
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "supple_cantilever";
  const Status status =
      write_vibration(beam.mesh, shapes, {f1, f1, f2, f2, 8.5, beam.beam_theory_frequency(3)}, folder);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_TRUE(read_file(folder / "cantilever.png")->starts_with("\x89PNG"));
  EXPECT_TRUE(read_file(folder / "cantilever.glb")->starts_with("glTF"));
}

TEST(Cantilever, RefusesModesThatDoNotFit) {
  const Cantilever beam = make_cantilever(1);
  const VecX shape = VecX::Ones(3 * static_cast<Eigen::Index>(beam.mesh.vertices.size()));
  EXPECT_FALSE(write_vibration(beam.mesh, {shape}, {}, testing::TempDir()).ok());
  EXPECT_FALSE(write_vibration(beam.mesh, {shape}, {0.0}, testing::TempDir()).ok());
  EXPECT_FALSE(write_vibration(beam.mesh, {VecX::Ones(5)}, {1.0}, testing::TempDir()).ok());
}

}  // namespace
}  // namespace supple::cantilever_test
