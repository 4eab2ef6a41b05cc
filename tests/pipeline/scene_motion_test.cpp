// SPDX-License-Identifier: Apache-2.0
// A free body as a scene moves it: what it says about its motion in the world is checked by the full body.
#include "supple/pipeline/object/scene_motion.h"

#include "supple/asset/subspace_archive.h"
#include "supple/io/file.h"
#include "supple/pipeline/object/build_subspace.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace supple::scene_motion_test {
namespace {

constexpr double time_step = 0.001;

/// A bar that falls and is pushed at one end, hard enough to turn and bend.
Scene thrown_bar() {
  Scene scene;
  scene.name = "thrown";
  scene.box = {.size = Vec3(0.4, 0.1, 0.1), .cells = {6, 2, 2}, .bricks = true};
  scene.material.young = 2e5;
  scene.material.poisson = 0.3;
  scene.reduction.linear_modes = 6;
  scene.reduction.size = 20;
  scene.gravity = Vec3(0, -9.81, 0);
  scene.forces.push_back({.select = "max-x", .newtons = Vec3(1, 2, 20), .per_vertex = false, .window = {}});
  scene.dynamic = true;
  scene.dynamics.time_step = time_step;
  return scene;
}

class FreeMotion : public testing::Test {
 protected:
  void SetUp() override {
    scene = thrown_bar();
    const Result<SubspaceBuild> built = build_subspace(scene);
    ASSERT_TRUE(built.ok()) << built.error().message;
    file = std::filesystem::temp_directory_path() / ("supple_thrown_" + std::to_string(::getpid()) + ".supple");
    ASSERT_TRUE(write_file_atomically(file, encode_subspace_model(built->model)).ok());
    scene.mesh = file;
    scene.model = MaterialModel::stvk;
    body = make_scene_body(scene).value();
    motion = SceneMotion::create(scene, body).value();
    motion->begin();
  }
  void TearDown() override { std::filesystem::remove(file); }

  VecX step() {
    const MotionReport report = motion->step(motion->time() + time_step);
    EXPECT_FALSE(report.recovered);
    EXPECT_TRUE(report.converged);
    return motion->displacements();
  }

  Scene scene;
  std::filesystem::path file;
  SceneBody body;
  std::unique_ptr<SceneMotion> motion;
};

TEST_F(FreeMotion, VelocitiesAreThoseOfItsPlaces) {
  for (int k = 0; k < 150; ++k) step();
  const VecX before = motion->displacements();
  step();
  const VecX velocities = motion->velocities();
  const VecX difference = (step() - before) / (2 * time_step);
  EXPECT_GT(velocities.norm(), 10);
  EXPECT_LT((velocities - difference).lpNorm<Eigen::Infinity>(), 2e-3 * velocities.lpNorm<Eigen::Infinity>());
}

TEST_F(FreeMotion, EnergiesAreThoseOfTheFullBodyAndAddUp) {
  const VecX push = body.external_force(VecX::Zero(body.body.dof_count()), 0);  // gravity included
  for (int k = 0; k < 200; ++k) step();
  const VecX u = motion->displacements(), v = motion->velocities();
  const double kinetic = 0.5 * v.dot(body.body.consistent_mass() * v);
  const double elastic = body.body.energy(u);
  EXPECT_GT(elastic, 0.01);
  EXPECT_NEAR(motion->kinetic_energy(), kinetic, 1e-9 * kinetic);
  EXPECT_NEAR(motion->elastic_energy(), elastic, 1e-8 * elastic);
  // Loads that keep their direction have done the work f · u, and nothing damps.
  EXPECT_NEAR(kinetic + elastic, push.dot(u), 2e-3 * push.dot(u));
}

TEST_F(FreeMotion, TheSurfaceIsWhereTheMeshIs) {
  for (int k = 0; k < 100; ++k) step();
  const VecX u = motion->displacements();
  const std::vector<Vec3> surface = motion->surface_positions();
  const std::vector<Vec3>& rest = body.model->surface.rest_positions;
  ASSERT_EQ(surface.size(), rest.size());
  for (std::size_t s = 0; s < rest.size(); ++s) {
    for (Index v = 0; v < body.model->vertex_count(); ++v) {
      const Vec3& x = body.model->rest_positions[to_size(v)];
      if ((x - rest[s]).norm() < 1e-9) {
        EXPECT_LT((x + u.segment<3>(3 * v) - surface[s]).norm(), 1e-12);
      }
    }
  }
}

TEST_F(FreeMotion, StaticScenesAreRefused) {
  scene.dynamic = false;
  const Result<std::unique_ptr<SceneMotion>> refused = SceneMotion::create(scene, body);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::input);
  EXPECT_NE(refused.error().message.find("nothing holds"), std::string::npos);
}

}  // namespace
}  // namespace supple::scene_motion_test
