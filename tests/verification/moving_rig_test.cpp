// SPDX-License-Identifier: Apache-2.0
// The truth that reduced characters are measured by, against a truth that isn't ours: the full simulation on a moving
// rig beside textbook finite elements in the world (world_flesh.h). Both converge to the same motion as the step
// shrinks, the full simulation with second order, while limbs bend and the character runs and turns. What a placement
// that moves does to flesh (Euler's, centrifugal and Coriolis forces) comes out of differences on one side and is
// nothing at all on the other.
#include "supple/offline/dynamics/full_pose_dynamics.h"
#include "supple/runtime/rayleigh_damping.h"

#include "support/soft_limb.h"
#include "verification/world_flesh.h"

namespace supple::moving_rig_test {
namespace {

constexpr double duration = 0.75;  ///< [s]
constexpr int shown = 15;          ///< moments that runs are compared at
constexpr MaterialModel material = MaterialModel::stable_neo_hookean;

struct Case {
  const char* name;
  double ratio;               ///< of damping
  double bend;                ///< of knees, as a part of a lively motion
  double travel, spin, tilt;  ///< of the root [m], [rad/s], [rad]
  double within;              ///< the tolerance at the default step
};

LimbMotion motion_of(const Case& c, double time) {
  LimbMotion motion = lively(time);
  motion.knee *= c.bend, motion.ankle *= c.bend;
  const double s = std::clamp(time / 0.25, 0.0, 1.0), fade = s * s * s * (10 - 15 * s + 6 * s * s);
  motion.root.translation = fade * c.travel * Vec3(std::sin(9 * time), 0.5 * std::sin(13 * time), 0.3);
  motion.root.rotation = Quat(Eigen::AngleAxisd(fade * c.spin * time, Vec3::UnitX())) *
                         Quat(Eigen::AngleAxisd(fade * c.tilt * std::sin(7 * time), Vec3::UnitZ()));
  return motion;
}

class MovingRig : public testing::TestWithParam<Case> {
 protected:
  const SoftLimb limb = make_soft_limb({.cells = {4, 6, 2}, .material = {"flesh", 1.8e4, 0.4, 1000}});
  const RayleighDamping damping = rayleigh_damping(4, GetParam().ratio);
  const WorldFlesh::Motion motion = [this](double time) { return limb_pose(limb, motion_of(GetParam(), time)); };

  MatX of_the_engine(int steps) const {
    SoftStepSettings settings{
        .time_step = duration / steps, .mass_damping = damping.mass, .stiffness_damping = damping.stiffness};
    auto full =
        must(FullPoseDynamics::create(limb.body.mesh, material, limb.body.fixed_vertices, limb.rig.rig(), settings));
    MatX result(3 * std::ssize(limb.body.mesh.vertices), shown);
    for (int k = 0; k <= steps; ++k) {
      const CharacterPose pose = motion(k * settings.time_step);
      EXPECT_FALSE(full.step(pose.placement, pose.p).recovered);
      if (k > 0 && k % (steps / shown) == 0) result.col(k / (steps / shown) - 1) = full.displacements();
    }
    return result;
  }
  MatX of_the_world(int steps, WorldFlesh::Damping kind = WorldFlesh::Damping::rest_stiffness) const {
    WorldFlesh flesh(limb.body.mesh, material, limb.body.fixed_vertices, limb.rig.rig(), motion,
                     {.mass_damping = damping.mass, .stiffness_damping = damping.stiffness, .damping = kind});
    MatX result(3 * std::ssize(limb.body.mesh.vertices), shown);
    for (int k = 1; k <= steps; ++k) {
      flesh.step(duration / steps);
      if (k % (steps / shown) == 0) result.col(k / (steps / shown) - 1) = flesh.displacements();
    }
    return result;
  }
};

TEST_P(MovingRig, IsWhatTextbookElementsDoInTheWorld) {
  const Case& c = GetParam();
  const MatX coarse = of_the_world(360), fine = of_the_world(720);
  // Both have second order: what is left of the error after extrapolation is smaller than either.
  const MatX truth = fine + (fine - coarse) / 3;
  double peak = 0;
  for (Eigen::Index k = 0; k < truth.size(); k += 3)
    peak = std::max(peak, Eigen::Map<const Vec3>(truth.data() + k).norm());
  measured(std::string(c.name) + ": largest motion, of the height", peak);
  EXPECT_GT(peak, 0.03);
  EXPECT_LT(peak, 0.1);
  const double own = (fine - truth).norm() / truth.norm();
  std::vector<double> errors;
  for (const int steps : {180, 360, 720}) errors.push_back((of_the_engine(steps) - truth).norm() / truth.norm());
  const double order = order_of(errors[1], errors[2]);
  measured(std::string(c.name) + ": error of textbook elements at 1/960 s", own);
  measured(std::string(c.name) + ": error at 1/240 s", errors[0]);
  measured(std::string(c.name) + ": error at 1/480 s", errors[1]);
  measured(std::string(c.name) + ": error at 1/960 s", errors[2]);
  measured(std::string(c.name) + ": order", order);
  EXPECT_LT(errors[0], c.within);
  // Nothing but the step is between the two.
  EXPECT_LT(errors[2], 1.5 * c.within / 16);
  EXPECT_GT(order, 1.8);
  if (c.ratio > 0) {
    const MatX other = of_the_world(360, WorldFlesh::Damping::tangent_stiffness);
    measured(std::string(c.name) + ": what damping by β K(u) would change", (other - coarse).norm() / coarse.norm());
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, MovingRig,
                         testing::Values(Case{"bends", 0.2, 0.7, 0, 0, 0, 0.015},
                                         Case{"runs", 0.2, 0.3, 0.08, 0, 0.2, 0.015},
                                         Case{"spins", 0.2, 0.2, 0, 1.4, 0, 0.015},
                                         Case{"undamped", 0.0, 0.3, 0.03, 0.2, 0.1, 0.05}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace supple::moving_rig_test
