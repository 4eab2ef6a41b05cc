// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/scene_file.h"

#include <gtest/gtest.h>

namespace supple::scene_file_test {
namespace {

Result<Scene> parse(const std::string& text) { return parse_scene(text, "test.toml", "/folder"); }

TEST(SceneFile, EveryKeyArrives) {
  const Result<Scene> scene = parse(R"(
mesh = "sub/body.veg"
gravity = [0, -9, 1]
[material]
model = "stvk"
young = 5
poisson = 0.25
density = 7
[[region]]
set = "shell"
young = 50
[[fix]]
select = "min-x"
[[fix]]
select = "max-x"
[[force]]
select = "all"
total = [1, 2, 3]
start = 0.5
end = 2
[[force]]
select = "all"
per_vertex = [4, 5, 6]
[[traction]]
select = "max-y"
value = [7, 8, 9]
[[pressure]]
select = "max-z"
value = 10
[solver]
kind = "dynamic"
integrator = "backward_euler"
dt = 0.5
duration = 10
newmark_beta = 0.3
newmark_gamma = 0.6
mass_damping = 0.1
stiffness_damping = 0.2
newton_iterations = 3
newton_tolerance = 1e-5
linear_solver = "conjugate_gradients"
linear_tolerance = 1e-6
[[track]]
name = "tip"
select = "vertices:3"
[output]
directory = "out"
every = 4
)");
  ASSERT_TRUE(scene.ok()) << scene.error().message;
  EXPECT_EQ(scene->mesh, "/folder/sub/body.veg");
  EXPECT_EQ(scene->gravity, Vec3(0, -9, 1));
  EXPECT_EQ(scene->model, MaterialModel::stvk);
  EXPECT_EQ(scene->material.young, 5.0);
  EXPECT_EQ(scene->material.poisson, 0.25);
  EXPECT_EQ(scene->material.density, 7.0);
  ASSERT_EQ(scene->regions.size(), 1u);
  EXPECT_EQ(scene->regions[0].set, "shell");
  EXPECT_EQ(scene->regions[0].material.young, 50.0);
  EXPECT_FALSE(scene->regions[0].material.density.has_value());
  EXPECT_EQ(scene->fixed, (std::vector<std::string>{"min-x", "max-x"}));
  ASSERT_EQ(scene->forces.size(), 2u);
  EXPECT_EQ(scene->forces[0].newtons, Vec3(1, 2, 3));
  EXPECT_FALSE(scene->forces[0].per_vertex);
  EXPECT_FALSE(scene->forces[0].window.contains(0.4));
  EXPECT_TRUE(scene->forces[0].window.contains(0.5));
  EXPECT_FALSE(scene->forces[0].window.contains(2));
  EXPECT_TRUE(scene->forces[1].per_vertex);
  EXPECT_TRUE(scene->forces[1].window.always());
  EXPECT_EQ(scene->tractions.at(0).pascals, Vec3(7, 8, 9));
  EXPECT_EQ(scene->pressures.at(0).pascals, 10);
  EXPECT_TRUE(scene->dynamic);
  EXPECT_EQ(scene->dynamics.integrator, Integrator::backward_euler);
  EXPECT_EQ(scene->step_count(), 20);
  EXPECT_EQ(scene->dynamics.newmark_beta, 0.3);
  EXPECT_EQ(scene->dynamics.newmark_gamma, 0.6);
  EXPECT_EQ(scene->dynamics.mass_damping, 0.1);
  EXPECT_EQ(scene->dynamics.stiffness_damping, 0.2);
  EXPECT_EQ(scene->dynamics.max_newton_iterations, 3);
  EXPECT_EQ(scene->dynamics.newton_tolerance, 1e-5);
  EXPECT_EQ(scene->dynamics.linear.method, LinearMethod::conjugate_gradients);
  EXPECT_EQ(scene->dynamics.linear.cg_tolerance, 1e-6);
  EXPECT_EQ(scene->tracks.at(0).name, "tip");
  EXPECT_EQ(scene->output.directory, "/folder/out");
  EXPECT_EQ(scene->output.every, 4);
}

TEST(SceneFile, StaticKeysAndTheBox) {
  const Result<Scene> scene = parse(R"(
mesh = "box"
[box]
size = [1, 2, 3]
cells = [4, 5, 6]
element = "brick"
[solver]
kind = "static"
load_steps = 7
newton_iterations = 8
newton_tolerance = 1e-3
linear_solver = "direct"
)");
  ASSERT_TRUE(scene.ok()) << scene.error().message;
  EXPECT_TRUE(scene->mesh.empty());
  EXPECT_EQ(scene->box.size, Vec3(1, 2, 3));
  EXPECT_EQ(scene->box.cells, (std::array<int, 3>{4, 5, 6}));
  EXPECT_TRUE(scene->box.bricks);
  EXPECT_FALSE(scene->dynamic);
  EXPECT_EQ(scene->statics.load_steps, 7);
  EXPECT_EQ(scene->statics.max_iterations, 8);
  EXPECT_EQ(scene->statics.tolerance, 1e-3);
  EXPECT_EQ(scene->statics.linear.method, LinearMethod::direct);
}

TEST(SceneFile, FaultsAreOneSentenceWithALine) {
  const std::string good = "mesh = \"box\"\n[solver]\nkind = \"dynamic\"\n";
  ASSERT_TRUE(parse(good).ok());
  const std::vector<std::pair<std::string, std::string>> cases = {
      {good + "duratoin = 5\n", "line 4: [solver] has no key \"duratoin\"; did you mean \"duration\"?"},
      {good + "load_steps = 5\n", "line 4: \"load_steps\" is for kind = \"static\""},
      {good + "dt = 0\n", "line 4: \"dt\" must be positive"},
      {good + "dt = nan\n", "line 4: \"dt\" must be a finite number"},
      {good + "dt = \"fast\"\n", "line 4: \"dt\" must be a finite number"},
      {good + "newton_iterations = 0\n", "line 4: \"newton_iterations\" must be a whole number of at least 1"},
      {good + "newmark_gamma = 0.4\n", "line 4: \"newmark_gamma\""},
      {good + "integrator = \"rk4\"\n", "newmark, backward_euler, central_differences"},
      {good + "dt = 1e-300\n", "1e9 steps"},
      {good + "[fix]\nselect = \"all\"\n", "line 4: \"fix\" must be a list of tables: write [[fix]]"},
      {good + "[[fix]]\n", "line 4: [[fix]] needs the key \"select\""},
      {good + "[[force]]\nselect = \"all\"\n", "either \"total\" or \"per_vertex\""},
      {good + "[[force]]\nselect = \"all\"\ntotal = [1, 2, 3]\nstart = 2\nend = 1\n", "later"},
      {good + "[[region]]\nset = \"a\"\nselect = \"all\"\n", "needs one of \"set\""},
      {good + "[voxels]\nresolution = 0\n", "whole number of at least 1"},
      {good + "[reduce]\nanchored = 1\n", "true or false"},
      {good + "[[region]]\nyoung = 5\n", "needs one of \"set\""},
      {good + "[output]\nevery = 2\n", "needs the key \"directory\""},
      {good + "[[track]]\nname = \"a,b\"\nselect = \"all\"\n", "no commas"},
      {good + "[box]\nsize = [1, -1, 1]\n", "line 5: \"size\""},
      {good + "[box]\ncells = [100000, 100000, 1]\n", "20 million"},
      {good + "[box]\ncells = [1.5, 1, 1]\n", "whole numbers"},
      {"[solver]\nkind = \"static\"\n", "needs the key \"mesh\""},
      {"mesh = \"box\"\n", "needs the key \"solver\""},
      {"mesh = 5\n[solver]\nkind = \"static\"\n", "line 1: \"mesh\" must be a text"},
      {"mesh = \"box\"\nmesh = \"box\"\n", "line 2"},
      {std::string("\xff\xfe garbage \x00\x01", 13), "line 1"},
  };
  for (const auto& [text, words] : cases) {
    const Result<Scene> scene = parse(text);
    ASSERT_FALSE(scene.ok()) << text;
    EXPECT_EQ(scene.error().kind, ErrorKind::input);
    EXPECT_EQ(scene.error().message.rfind("test.toml", 0), 0u) << scene.error().message;
    EXPECT_NE(scene.error().message.find(words), std::string::npos) << text << "\n" << scene.error().message;
  }
}

TEST(SceneFile, StaticScenesHaveNoTime) {
  const Result<Scene> scene =
      parse("mesh = \"box\"\n[solver]\nkind = \"static\"\n[[force]]\nselect = \"all\"\ntotal = [1, 2, 3]\nstart = 2\n");
  ASSERT_FALSE(scene.ok());
  EXPECT_NE(scene.error().message.find("static"), std::string::npos);
}

}  // namespace
}  // namespace supple::scene_file_test
