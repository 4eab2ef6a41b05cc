// SPDX-License-Identifier: Apache-2.0
// Characters from bare meshes and handles: by hand, and those of the research examples where they are at hand.
#include "supple/pipeline/character/handle_character.h"

#include "supple/io/file.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/io/motion/dmat.h"
#include "supple/io/motion/handle_json.h"
#include "supple/io/motion/handle_motion.h"
#include "supple/io/motion/tgf.h"
#include "supple/mesh/bounds.h"
#include "supple/mesh/box.h"
#include "supple/mesh/topology.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

namespace supple::handle_character_test {
namespace {

constexpr const char* two_bones = "1 0.5 0 0.5\n2 0.5 2 0.5\n3 0.5 4 0.5\n#\n1 2 1 0 0 0\n2 3 1 0 0 0\n#\n";

/// A bar of 1 × 4 × 1 with two bones along it; the upper one bends by 90 degrees about z in its only clip.
class HandleCharacterTest : public testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("supple_handles_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    bar = make_tet_box(Vec3(1, 4, 1), {2, 8, 2});
    ASSERT_TRUE(save_mesh(bar, folder / "bar.mesh").ok());
    ASSERT_TRUE(save_mesh(boundary_surface(bar).surface, folder / "bar.obj").ok());
    MatX weights(static_cast<Eigen::Index>(bar.vertices.size()), 2);
    for (std::size_t v = 0; v < bar.vertices.size(); ++v) {
      const double upper = std::clamp(bar.vertices[v][1] - 1.5, 0.0, 1.0);
      weights.row(static_cast<Eigen::Index>(v)) << 1 - upper, upper;
    }
    write("bar.dmat", encode_dmat(weights));
    write("bar.tgf", two_bones);
    write("bend.txt", "2 3\n0.5 0 0.5\n0 0 0\n0 0 0\n0 0 0\n" + frame(0) + frame(45) + frame(90));
    recipe.input = "bar.mesh";
    recipe.handles = {"bar.tgf", "bar.dmat", {"bend.txt"}, 2};
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  static std::string frame(int degrees) { return "0 0 0\n0.5 0 0.5\n0 0 0\n0 0 " + std::to_string(degrees) + "\n"; }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file_atomically(folder / name, text).ok());
  }
  void expect_refusal(const std::string& words) const {
    const Result<CharacterSource> source = load_source(recipe, folder);
    ASSERT_FALSE(source.ok()) << words;
    EXPECT_EQ(source.error().kind, ErrorKind::input);
    EXPECT_NE(source.error().message.find(words), std::string::npos) << source.error().message;
  }
  static std::vector<Vec3> skin_at(const CharacterSource& source, double time) {
    CharacterPose pose = source.rig.neutral();
    source.rig.sample(source.character.clips.at(0), time, ClipWrap::hold, pose);
    std::vector<Vec3> positions = evaluate_all(*source.rig.rig(), pose.p);
    for (Vec3& x : positions) x = pose.placement * x;
    return positions;
  }
  /// Where x goes when the upper half turns about (0.5, 2) by an angle.
  static Vec3 bent(const Vec3& x, double degrees) {
    const double upper = std::clamp(x[1] - 1.5, 0.0, 1.0);
    const Eigen::AngleAxisd turn(degrees * M_PI / 180, Vec3::UnitZ());
    const Vec3 pivot(0.5, 2, 0.5);
    return (1 - upper) * x + upper * (pivot + turn * (x - pivot));
  }
  void expect_bent(const CharacterSource& source, double tolerance) const {
    const std::vector<Vec3>& rest = source.character.meshes.at(0).surface.vertices;
    const std::vector<Vec3> posed = skin_at(source, 1.0);
    double worst = 0;
    for (std::size_t v = 0; v < rest.size(); ++v) worst = std::max(worst, (posed[v] - bent(rest[v], 90)).norm());
    EXPECT_LT(worst, tolerance);
  }

  std::filesystem::path folder;
  TetMesh bar;
  Recipe recipe;
};

TEST_F(HandleCharacterTest, HandlesBecomeJointsAndMotionAClip) {
  const Result<CharacterSource> source = load_source(recipe, folder);
  ASSERT_TRUE(source.ok()) << source.error().message;
  const Skeleton& skeleton = source->character.skeleton;
  const Index lower = find_joint(skeleton, "handle1"), upper = find_joint(skeleton, "handle2");
  ASSERT_GE(lower, 0);
  ASSERT_GE(upper, 0);
  EXPECT_EQ(skeleton.joints[to_size(upper)].parent, lower);
  EXPECT_TRUE(skeleton.joints[to_size(upper)].rest.translation.isApprox(Vec3(0, 2, 0)));
  ASSERT_EQ(source->character.clips.size(), 1u);
  EXPECT_EQ(source->character.clips[0].name, "bend");
  EXPECT_NEAR(source->character.clips[0].duration, 1.0, 1e-6);
  expect_bent(*source, 1e-5);
  EXPECT_EQ(source->character.meshes[0].surface.triangles.size(), boundary_surface(bar).surface.triangles.size());
}

TEST_F(HandleCharacterTest, TetrahedraOfTheBodyCarryWeightsToAnotherSkin) {
  recipe.input = "bar.obj";
  recipe.body_mesh = "bar.mesh";
  const Result<CharacterSource> source = load_source(recipe, folder);
  ASSERT_TRUE(source.ok()) << source.error().message;
  expect_bent(*source, 1e-5);
  recipe.body_mesh.clear();
  expect_refusal("rows, but the input has");
}

TEST_F(HandleCharacterTest, WithoutWeightsTheyAreBiharmonic) {
  recipe.handles.weights.clear();
  for (const char* input : {"bar.mesh", "bar.obj"}) {
    recipe.input = input;
    const Result<CharacterSource> source = load_source(recipe, folder);
    ASSERT_TRUE(source.ok()) << source.error().message;
    const CharacterMesh& mesh = source->character.meshes.at(0);
    for (std::size_t v = 0; v < mesh.surface.vertices.size(); ++v) {
      double upper = 0, sum = 0;
      for (Index k = mesh.weights.first[v]; k < mesh.weights.first[v + 1]; ++k) {
        const Index joint = source->character.skins[0].joints[to_size(mesh.weights.joint[to_size(k)])];
        sum += mesh.weights.weight[to_size(k)];
        if (joint == find_joint(source->character.skeleton, "handle2")) upper += mesh.weights.weight[to_size(k)];
      }
      EXPECT_NEAR(sum, 1, 1e-6);
      const double y = mesh.surface.vertices[v][1];
      EXPECT_TRUE(y >= 1 || upper < 0.3) << y << " " << upper;
      EXPECT_TRUE(y <= 3 || upper > 0.7) << y << " " << upper;
    }
  }
}

TEST_F(HandleCharacterTest, ExamplesNameTheRest) {
  write("bar.json",
        R"({"mesh_file": "bar.mesh", "handle_file": "bar.tgf", "weight_file": "bar.dmat", "anim_file": "bend.txt",
            "dt": 0.5})");
  recipe.handles = {"bar.json", "", {}, 30};
  for (const char* input : {"bar.mesh", "bar.obj"}) {
    recipe.input = input;
    const Result<CharacterSource> source = load_source(recipe, folder);
    ASSERT_TRUE(source.ok()) << source.error().message;
    expect_bent(*source, 1e-5);
  }
}

TEST_F(HandleCharacterTest, KeyframesMoveHandlesThatHaveNoMotion) {
  recipe.handles.motions.clear();
  recipe.keyframes = {{"bend",
                       Interpolation::linear,
                       {{"handle2", 0, Vec3(0, 0, 0), std::nullopt, std::nullopt},
                        {"handle2", 1, Vec3(0, 0, 90), std::nullopt, std::nullopt}}}};
  const Result<CharacterSource> source = load_source(recipe, folder);
  ASSERT_TRUE(source.ok()) << source.error().message;
  expect_bent(*source, 1e-5);
}

TEST_F(HandleCharacterTest, WhatDoesntFitIsRefused) {
  write("one.dmat", encode_dmat(MatX::Ones(static_cast<Eigen::Index>(bar.vertices.size()), 1)));
  recipe.handles.weights = "one.dmat";
  expect_refusal("it has 1 columns, but there are 2 handles");
  recipe.handles.weights = "bar.dmat";
  write("three.txt", "3 1\n0 0 0\n");
  recipe.handles.motions = {"three.txt"};
  expect_refusal("it moves 3 handles, but the rig has 2");
  write("crowd.tgf", "1 0.5 1 0.5\n2 0.5 1 0.5\n#\n");
  recipe.handles = {"crowd.tgf", "", {}, 30};
  expect_refusal("no vertex of the body is its own");
  recipe.input = "x.glb";
  write("x.glb", "");
  expect_refusal("a rig of its own");
}

// ---- the research examples ------------------------------------------------------------------------------------------

/// Σ w_h M_h x of the files' own weights, without our skeleton, clip, skin or document.
std::vector<Vec3> blended(const std::vector<Vec3>& points, const MatX& weights, const std::vector<Affine>& maps) {
  std::vector<Vec3> moved;
  for (std::size_t v = 0; v < points.size(); ++v) {
    Vec3 sum = Vec3::Zero();
    const VecX row =
        weights.row(static_cast<Eigen::Index>(v)).transpose() / weights.row(static_cast<Eigen::Index>(v)).sum();
    for (std::size_t h = 0; h < maps.size(); ++h) sum += row[static_cast<Eigen::Index>(h)] * (maps[h] * points[v]);
    moved.push_back(sum);
  }
  return moved;
}

/// The largest distance from each of the points to the nearest of the others, as a share of their size.
double farthest_from(const std::vector<Vec3>& points, const std::vector<Vec3>& others) {
  double worst = 0;
  for (const Vec3& x : points) {
    double nearest = 1e300;
    for (const Vec3& y : others) nearest = std::min(nearest, (x - y).squaredNorm());
    worst = std::max(worst, nearest);
  }
  return std::sqrt(worst) / bounds_of(others).diagonal();
}

class ResearchHandles : public testing::TestWithParam<const char*> {};

TEST_P(ResearchHandles, MoveAsTheirFilesSay) {
  const std::string name = GetParam();
  const std::filesystem::path folder = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets/handles" / ("cd_" + name);
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the shared assets aren't there";
  Recipe recipe;
  recipe.input = name + ".mesh";
  const std::string weights = name == "frog" ? "frog_weight.dmat" : name + ".dmat";
  recipe.handles = {name + ".tgf", weights, {name + "_anim.txt"}, 100};
  const Result<CharacterSource> source = load_source(recipe, folder);
  ASSERT_TRUE(source.ok()) << source.error().message;
  const HandleRig rig = load_tgf(folder / (name + ".tgf")).value();
  const HandleMotion motion = load_handle_motion(folder / (name + "_anim.txt"), rig).value();
  const TetMesh mesh = std::get<TetMesh>(load_mesh(folder / recipe.input).value().mesh);
  const MatX given = load_dmat(folder / weights).value();
  double travel = 0;
  for (const std::size_t frame : {motion.frames.size() / 3, motion.frames.size() - 2}) {
    const std::vector<Vec3> truth = blended(mesh.vertices, given, motion.frames[frame]);
    CharacterPose pose = source->rig.neutral();
    source->rig.sample(source->character.clips.at(0), static_cast<double>(frame) / 100, ClipWrap::hold, pose);
    std::vector<Vec3> skin = evaluate_all(*source->rig.rig(), pose.p);
    for (Vec3& x : skin) x = pose.placement * x;
    EXPECT_LT(farthest_from(skin, truth), 2e-3) << frame;
    travel = std::max(travel, (truth[0] - mesh.vertices[0]).norm() / bounds_of(mesh.vertices).diagonal());
  }
  EXPECT_GT(travel, 1e-3);  // otherwise nothing was compared
}

INSTANTIATE_TEST_SUITE_P(ComplementaryDynamics, ResearchHandles, testing::Values("elephant", "fish", "frog", "sphere"),
                         [](const auto& info) { return std::string(info.param); });

class ResearchRigs : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(ResearchRigs, MoveAsTheirFilesSay) {
  const auto [name, clip] = GetParam();
  const std::filesystem::path folder =
      std::filesystem::path(SUPPLE_SHARED_DIR) / "assets/handles" / (std::string("fc_") + name);
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "the shared assets aren't there";
  Recipe recipe;
  recipe.input = std::string(name) + ".msh";
  recipe.handles = {"skeleton_rig.json", "", {clip}, 24};
  const Result<CharacterSource> source = load_source(recipe, folder);
  ASSERT_TRUE(source.ok()) << source.error().message;
  const std::string text = read_file(folder / "skeleton_rig.json").value();
  const JsonRig rig = std::get<JsonRig>(parse_handle_json(text, "rig").value());
  const HandleMotion motion = parse_handle_frames(read_file(folder / clip).value(), "motion", rig.rig).value();
  EXPECT_EQ(motion.frames.size(), 241u);
  EXPECT_NEAR(source->character.clips.at(0).duration, 10, 1e-5);
  const std::vector<Vec3> truth = blended(rig.surface.vertices, rig.weights, motion.frames[100]);
  CharacterPose pose = source->rig.neutral();
  source->rig.sample(source->character.clips[0], 100.0 / 24, ClipWrap::hold, pose);
  std::vector<Vec3> skin = evaluate_all(*source->rig.rig(), pose.p);
  for (Vec3& x : skin) x = pose.placement * x;
  EXPECT_LT(farthest_from(skin, truth), 5e-3);
}

INSTANTIATE_TEST_SUITE_P(FastComplementaryDynamics, ResearchRigs,
                         testing::Values(std::pair{"dolphin", "anim_swim.json"},
                                         std::pair{"pufferfish", "anim_inflate.json"},
                                         std::pair{"giant_squid", "anim_swim.json"}),
                         [](const auto& info) { return std::string(info.param.first); });

}  // namespace
}  // namespace supple::handle_character_test
