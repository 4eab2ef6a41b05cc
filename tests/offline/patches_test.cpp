// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/patches/patches.h"

#include "supple/mesh/box.h"
#include "support/rigs.h"

#include <gtest/gtest.h>

#include <numeric>

namespace supple::patches_test {
namespace {

TetMesh bar() { return make_tet_box(Vec3(3.0, 0.3, 0.3), {30, 3, 3}); }

PatchHandle point(const std::string& name, double x) { return {name, {Vec3(x, 0.15, 0.15)}, {}}; }

TEST(Patches, RemapsWeightsAndCoversEverything) {
  const TetMesh mesh = bar();
  const std::vector<PatchHandle> handles = {
      point("a", 0.1), {"b", {}, {{Vec3(1.2, 0.15, 0.15), Vec3(1.8, 0.15, 0.15)}}}, point("c", 2.9)};
  const Result<Patches> made = make_patches(mesh, handles);
  ASSERT_TRUE(made.ok());
  const MatX plain = bounded_biharmonic_weights(mesh, handle_vertices(mesh, handles), 3).weights;
  VecX best = VecX::Zero(plain.rows());
  for (Eigen::Index h = 0; h < 3; ++h) {
    const Patch& patch = made->patches[to_size(h)];
    EXPECT_EQ(patch.name, handles[to_size(h)].name);
    std::vector<Index> inside;
    for (Eigen::Index v = 0; v < plain.rows(); ++v) {
      const double w = plain(v, h);
      EXPECT_NEAR(patch.weights[v], w > 0.1 ? std::sqrt((w - 0.1) / 0.9) : 0.0, 1e-12);
      if (w > 0.1) inside.push_back(static_cast<Index>(v));
    }
    EXPECT_EQ(patch.vertices, inside);
    EXPECT_LT(inside.size(), mesh.vertices.size());
    best = best.cwiseMax(patch.weights);
  }
  EXPECT_GT(best.minCoeff(), 0.3);
}

TEST(Patches, ManyPatchesLeaveNobodyOut) {
  std::vector<PatchHandle> handles;
  for (int k = 0; k < 14; ++k) handles.push_back(point(std::to_string(k), 0.1 + 0.2 * k));
  const Result<Patches> made = make_patches(bar(), handles, {0.5, 0.5, {}});
  ASSERT_TRUE(made.ok());
  VecX best = VecX::Zero(made->patches[0].weights.size());
  for (const Patch& patch : made->patches) best = best.cwiseMax(patch.weights);
  EXPECT_GT(best.minCoeff(), 0.0);
}

TEST(Patches, OnePatchIsTheWholeBody) {
  const Result<Patches> made = make_patches(bar(), std::vector{point("all", 1.0)});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->patches[0].weights.minCoeff(), 1.0);
}

TEST(Patches, RefusesHandlesThatCannotBe) {
  const std::vector<PatchHandle> twice = {point("a", 0.5), point("b", 0.5)};
  const Result<Patches> made = make_patches(bar(), twice);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind, ErrorKind::input);
  EXPECT_NE(made.error().message.find("\"b\""), std::string::npos);
  const std::vector<PatchHandle> nowhere = {point("a", 0.5), {"empty", {}, {}}};
  EXPECT_NE(make_patches(bar(), nowhere).error().message.find("\"empty\""), std::string::npos);
}

TEST(Patches, AHandleOutsideTakesTheNearestVertex) {
  const TetMesh mesh = bar();
  const std::vector<Index> held = handle_vertices(mesh, std::vector<PatchHandle>{{"out", {Vec3(-1, -1, -1)}, {}}});
  EXPECT_EQ(std::count(held.begin(), held.end(), 0), 1);
  EXPECT_EQ(held[0], 0);
}

TEST(Patches, SharesModes) {
  const auto shared = [](std::vector<double> importance, int total, int least = 4) {
    const std::vector<int> modes = share_modes(importance, total, least);
    EXPECT_EQ(std::accumulate(modes.begin(), modes.end(), 0), total);
    return modes;
  };
  EXPECT_EQ(shared({2, 1, 1}, 100), (std::vector{50, 25, 25}));
  EXPECT_EQ(shared({1000, 1, 1}, 50), (std::vector{42, 4, 4}));
  EXPECT_EQ(shared({1, 1, 1}, 10), (std::vector{4, 3, 3}));
  EXPECT_EQ(shared({0, 0}, 10), (std::vector{5, 5}));
  EXPECT_EQ(shared({1, 5, 2}, 2), (std::vector{0, 1, 1}));
  // Twins stay alike, and the odd one goes to whoever has none.
  const std::vector<int> modes = shared({4.1, 2, 1.99, 1, 1}, 45);
  EXPECT_EQ(modes[1], modes[2]);
  EXPECT_EQ(modes[3], modes[4]);
}

TEST(Patches, SoftAndLargePatchesMatterMore) {
  const TetMesh mesh = bar();
  const Result<Patches> made =
      make_patches(mesh, std::vector{point("left end", 0.1), point("middle", 1.5), point("right end", 2.9)});
  ASSERT_TRUE(made.ok());
  const std::vector<double> even = patch_importance(mesh, {}, made->patches);
  EXPECT_GT(even[1], even[0]);
  EXPECT_EQ(even[0], even[2]);
  VecX compliance(std::ssize(mesh.vertices));
  for (Eigen::Index v = 0; v < compliance.size(); ++v)
    compliance[v] = mesh.vertices[to_size(v)].x() > 1.2 && mesh.vertices[to_size(v)].x() < 1.8 ? 0.01 : 1.0;
  const std::vector<double> uneven = patch_importance(mesh, {}, made->patches, compliance);
  EXPECT_LT(uneven[1] / uneven[0], even[1] / even[0]);
}

TEST(Patches, HandlesOfJointsLeaveRoom) {
  const RawCharacter character = make_tube(4, 21, 12, 2.0, 0.1);
  const Result<CharacterRig> rig = CharacterRig::create(character);
  ASSERT_TRUE(rig.ok());
  EmbedSettings settings;
  settings.meshing.tets = 1500;
  const Result<EmbeddedBody> body = embed_character(character, *rig, settings);
  ASSERT_TRUE(body.ok()) << body.error().message;
  const std::vector<double> flesh = flesh_on_joints(character, *rig, *body);
  double free = tet_laplacian(body->mesh).volume.sum();
  for (const Index v : body->fixed_vertices) free -= tet_laplacian(body->mesh).volume[v];
  EXPECT_NEAR(std::accumulate(flesh.begin(), flesh.end(), 0.0), free, 1e-12);
  const std::vector<JointGroup> groups = {{"lower", {0, 1}, 0}, {"upper", {2, 3}, 0}};
  const std::vector<PatchHandle> handles = handles_of_groups(*rig, *body, groups);
  double low = 0, high = 2;
  for (const auto& s : handles[0].segments) low = std::max({low, s[0].y(), s[1].y()});
  for (const auto& s : handles[1].segments) high = std::min({high, s[0].y(), s[1].y()});
  EXPECT_LT(low, 0.75);
  EXPECT_GT(low, 0.5);
  EXPECT_GT(high, 1.15);
  // Twenty times as long as thick: several patches, cut across.
  EXPECT_GE(automatic_handles(character, *rig, *body).size(), 2u);
}

}  // namespace
}  // namespace supple::patches_test
