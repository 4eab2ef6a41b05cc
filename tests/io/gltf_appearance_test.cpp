// SPDX-License-Identifier: Apache-2.0
// The looks of a file, against files put together by hand.
#include "io/gltf_builder.h"
#include "supple/io/gltf/read_appearance.h"
#include "supple/io/gltf/read_character.h"

#include <gtest/gtest.h>

namespace supple::gltf_appearance_test {
namespace {

using test::GltfBuilder;

struct Looked {
  RawCharacter character;
  Appearance appearance;
};

Looked look(const GltfBuilder& builder) {
  const GltfDocument document = parse_gltf(builder.glb(), "test.glb", {}).value();
  RawCharacter character = read_character(document).value();
  Appearance appearance = read_appearance(document, character).value();
  return {std::move(character), std::move(appearance)};
}

TEST(GltfAppearance, HasTheMaterialAndTheVerticesOfTheFile) {
  GltfBuilder b = GltfBuilder::skinned_triangle();
  b.attributes()["NORMAL"] = b.vectors({0, 0, 1, 0, 0, 1, 0, 1, 0});
  b.attributes()["TEXCOORD_0"] = b.floats({0, 0, 1, 0, 0, 0.5f}, "VEC2", 2);
  b.attributes()["COLOR_0"] = b.floats({1, 0, 0, 0, 1, 0, 0, 0, 0.25f}, "VEC3", 3);
  b.root["meshes"][0]["primitives"][0]["material"] = 0;
  const std::vector<std::uint8_t> png = {0x89, 'P', 'N', 'G', 1, 2, 3};
  b.root["images"] = test::Json::array({{{"bufferView", b.view(png)}, {"mimeType", "image/png"}}});
  b.root["textures"] = test::Json::parse(R"([{"source": 0}])");
  b.root["materials"] = test::Json::parse(R"([{"alphaMode": "MASK", "alphaCutoff": 0.25, "pbrMetallicRoughness":
      {"baseColorFactor": [0.5, 0.25, 1, 1], "baseColorTexture": {"index": 0}}}])");
  const Looked looked = look(b);
  ASSERT_EQ(looked.appearance.meshes.size(), looked.character.meshes.size());
  ASSERT_EQ(looked.appearance.meshes[0].size(), 1u);
  const PrimitiveAppearance& primitive = looked.appearance.meshes[0][0];
  EXPECT_EQ(primitive.triangles, (std::vector<Triangle>{{0, 1, 2}}));
  ASSERT_EQ(primitive.normals.size(), 3u);
  EXPECT_EQ(primitive.normals[2], Vec3::UnitY());
  ASSERT_EQ(primitive.texcoords.size(), 3u);
  EXPECT_EQ(primitive.texcoords[2], Eigen::Vector2f(0, 0.5f));
  ASSERT_EQ(primitive.colors.size(), 3u);
  EXPECT_EQ(primitive.colors[2], Color(0, 0, 0.25f));
  EXPECT_EQ(primitive.material.factor, Color(0.5f, 0.25f, 1));
  EXPECT_EQ(primitive.material.image, 0u);
  EXPECT_EQ(primitive.material.alpha_cutoff, 0.25);
  ASSERT_EQ(looked.appearance.images.size(), 1u);
  EXPECT_EQ(looked.appearance.images[0], std::string(png.begin(), png.end()));
}

TEST(GltfAppearance, LeavesOutWhatTheFileDoesNotSay) {
  const Looked looked = look(GltfBuilder::skinned_triangle());
  const PrimitiveAppearance& primitive = looked.appearance.meshes[0][0];
  EXPECT_TRUE(primitive.normals.empty() && primitive.texcoords.empty() && primitive.colors.empty());
  EXPECT_EQ(primitive.material.factor, Color(1, 1, 1));
  EXPECT_FALSE(primitive.material.image.has_value());
  EXPECT_EQ(primitive.material.alpha_cutoff, 0);
}

}  // namespace
}  // namespace supple::gltf_appearance_test
