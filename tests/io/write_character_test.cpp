// SPDX-License-Identifier: Apache-2.0
// A character made by code comes back from its file as it was.
#include "supple/io/gltf/write_character.h"

#include "supple/io/gltf/gltf_content.h"
#include "supple/io/gltf/read_character.h"

#include <gtest/gtest.h>

#include <limits>

namespace supple::write_character_test {
namespace {

// Two joints, a tetrahedron that hangs on both, one correction, a clip that turns a joint and moves the correction.
RawCharacter small_character() {
  RawCharacter character;
  character.name = "small";
  character.skeleton.joints.resize(3);
  character.skeleton.joints[0].name = "root";
  character.skeleton.joints[1].name = "tip";
  character.skeleton.joints[1].parent = 0;
  character.skeleton.joints[1].rest.translation = Vec3(0, 1, 0);
  character.skeleton.joints[2].name = "mesh";
  Skin skin;
  skin.name = "skin";
  skin.joints = {0, 1};
  skin.inverse_bind.assign(2, Affine::Identity());
  skin.inverse_bind[1].translation() = Vec3(0, -1, 0);
  character.skins.push_back(skin);
  CharacterMesh mesh;
  mesh.name = "body";
  mesh.node = 2;
  mesh.skin = 0;
  mesh.surface.vertices = {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 2, 0), Vec3(0, 0, 1)};
  mesh.surface.triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  mesh.surface.attributes = {{"COLOR_0", 3, {1, 0, 0, 0, 1, 0, 0, 0, 1, 0.5f, 0.5f, 0.5f}}};
  mesh.weights.first = {0, 1, 3, 4, 6};
  mesh.weights.joint = {0, 0, 1, 1, 0, 1};
  mesh.weights.weight = {1, 0.25, 0.75, 1, 0.5, 0.5};
  mesh.targets = {{"bent", {Vec3(0, 0, 0), Vec3(0.5, 0, 0), Vec3(0, 0, 0), Vec3(0, 0.25, 0)}}};
  mesh.default_target_weights = {0};
  character.meshes.push_back(mesh);
  Clip clip;
  clip.name = "turn";
  clip.duration = 1;
  clip.channels.push_back({1, ChannelTarget::rotation, Interpolation::linear, 4, {0, 1}, {0, 0, 0, 1, 1, 0, 0, 0}});
  clip.channels.push_back({2, ChannelTarget::weights, Interpolation::linear, 1, {0, 0.5, 1}, {0, 1, 0}});
  character.clips.push_back(clip);
  return character;
}

void expect_same_mesh(const CharacterMesh& read, const CharacterMesh& written) {
  EXPECT_EQ(read.node, written.node);
  EXPECT_EQ(read.skin, written.skin);
  EXPECT_EQ(read.surface.vertices, written.surface.vertices);
  EXPECT_EQ(read.surface.triangles, written.surface.triangles);
  EXPECT_EQ(read.weights.first, written.weights.first);
  EXPECT_EQ(read.weights.joint, written.weights.joint);
  EXPECT_EQ(read.weights.weight, written.weights.weight);
  ASSERT_EQ(read.targets.size(), written.targets.size());
  EXPECT_EQ(read.targets[0].name, written.targets[0].name);
  EXPECT_EQ(read.targets[0].displacements, written.targets[0].displacements);
  ASSERT_EQ(read.surface.attributes.size(), 1u);
}

TEST(WriteCharacter, ComesBackTheSame) {
  const RawCharacter character = small_character();
  const Result<GltfDocument> document = character_document(character);
  ASSERT_TRUE(document.ok());
  const Result<GltfDocument> parsed = parse_gltf(encode_glb(*document), "small.glb", nullptr);
  ASSERT_TRUE(parsed.ok());
  const Result<RawCharacter> read = read_character(*parsed);
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->warnings.empty());
  ASSERT_EQ(read->skeleton.size(), character.skeleton.size());
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_EQ(read->skeleton.joints[j].name, character.skeleton.joints[j].name);
    EXPECT_EQ(read->skeleton.joints[j].parent, character.skeleton.joints[j].parent);
    EXPECT_EQ(read->skeleton.joints[j].rest.translation, character.skeleton.joints[j].rest.translation);
  }
  ASSERT_EQ(read->skins.size(), 1u);
  EXPECT_EQ(read->skins[0].joints, character.skins[0].joints);
  EXPECT_EQ(read->skins[0].inverse_bind[1].translation(), Vec3(0, -1, 0));
  ASSERT_EQ(read->meshes.size(), 1u);
  expect_same_mesh(read->meshes[0], character.meshes[0]);
  ASSERT_EQ(read->clips.size(), 1u);
  ASSERT_EQ(read->clips[0].channels.size(), 2u);
  for (std::size_t c = 0; c < 2; ++c) {
    EXPECT_EQ(read->clips[0].channels[c].target, character.clips[0].channels[c].target);
    EXPECT_EQ(read->clips[0].channels[c].times, character.clips[0].channels[c].times);
    EXPECT_EQ(read->clips[0].channels[c].values, character.clips[0].channels[c].values);
  }
}

TEST(WriteCharacter, NamesPosesInExtras) {
  CharacterLook look;
  look.poses = {{"straight", {}, false}, {"bent", {{1, Quat(0, 1, 0, 0)}}, true}};
  const Result<GltfDocument> document = character_document(small_character(), look);
  ASSERT_TRUE(document.ok());
  const GltfJson& extras = document->content().root["meshes"][0]["extras"];
  EXPECT_EQ(extras["targetNames"], GltfJson({"bent"}));
  ASSERT_EQ(extras["poses"].size(), 2u);
  EXPECT_EQ(extras["poses"][0]["corrected"], false);
  EXPECT_EQ(extras["poses"][1]["rotations"]["tip"], GltfJson({1.0, 0.0, 0.0, 0.0}));
}

TEST(WriteCharacter, RefusesWhatDoesNotFit) {
  RawCharacter character = small_character();
  character.meshes[0].weights.first.pop_back();
  EXPECT_FALSE(character_document(character).ok());
  character = small_character();
  character.meshes[0].targets[0].displacements.pop_back();
  EXPECT_FALSE(character_document(character).ok());
  character = small_character();
  character.meshes[0].surface.vertices[0].x() = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(character_document(character).ok());
  character = small_character();
  character.meshes[0].surface.triangles.clear();
  EXPECT_FALSE(character_document(character).ok());
}

}  // namespace
}  // namespace supple::write_character_test
