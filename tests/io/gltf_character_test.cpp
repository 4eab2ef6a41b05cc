// SPDX-License-Identifier: Apache-2.0
// What a character's file may hold, each kind in a file made by hand.
#include "io/gltf_builder.h"
#include "supple/io/gltf/read_character.h"
#include "supple/io/gltf/rest_surface.h"

#include <gtest/gtest.h>

namespace supple::gltf_character_test {
namespace {

using test::GltfBuilder;
using test::Json;

RawCharacter read(const GltfBuilder& builder, bool require_skin = false) {
  const Result<GltfDocument> document = parse_gltf(builder.glb(), "made.glb", nullptr);
  EXPECT_TRUE(document.ok()) << document.error().message;
  if (!document.ok()) return {};
  Result<RawCharacter> character = read_character(*document, {require_skin});
  EXPECT_TRUE(character.ok()) << character.error().message;
  return character.ok() ? std::move(*character) : RawCharacter{};
}

TEST(GltfCharacter, SeamsAreWeldedWhereVerticesMoveAlike) {
  GltfBuilder b = GltfBuilder::skinned_triangle();
  // Two triangles; vertices 3 and 4 repeat 1 and 2, but 4 hangs on another joint.
  b.attributes()["POSITION"] = b.vectors({0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0});
  b.attributes()["JOINTS_0"] = b.array(std::vector<std::uint16_t>{0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0,  //
                                                                  1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                       "VEC4", 5123, 4);
  b.attributes()["WEIGHTS_0"] =
      b.floats({1, 0, 0, 0, .5f, .5f, 0, 0, 1, 0, 0, 0, .5f, .5f, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0}, "VEC4", 4);
  b.attributes()["COLOR_0"] = b.array(
      std::vector<std::uint8_t>{0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 51, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255},
      "VEC4", 5121, 4, true);
  const CharacterMesh mesh = read(b).meshes.at(0);
  EXPECT_EQ(mesh.welded_vertex.at(0), (std::vector<Index>{0, 1, 2, 1, 3, 4}));
  EXPECT_EQ(mesh.surface.vertices.size(), 5u);
  EXPECT_EQ(mesh.surface.triangles.at(1), (Triangle{1, 3, 4}));
  // The seam's colour is the mean of its two vertices.
  ASSERT_EQ(mesh.surface.attributes.size(), 1u);
  EXPECT_EQ(mesh.surface.attributes[0].name, "color");
  EXPECT_FLOAT_EQ(mesh.surface.attributes[0].values[4], 0.5f);
  EXPECT_FLOAT_EQ(mesh.surface.attributes[0].values[5], 0.1f);
}

TEST(GltfCharacter, WeightsAreNormalisedAndRepairsAreNamed) {
  GltfBuilder b = GltfBuilder::skinned_triangle();
  b.attributes()["WEIGHTS_0"] = b.floats({2, 2, 0, 0, 0, 0, 0, 0, -1, 3, 0, 0}, "VEC4", 4);
  b.attributes()["JOINTS_0"] = b.array(std::vector<std::uint8_t>{0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0}, "VEC4", 5121, 4);
  const RawCharacter character = read(b, true);
  const SkinWeights& w = character.meshes.at(0).weights;
  EXPECT_EQ(w.first, (std::vector<Index>{0, 2, 3, 4}));
  EXPECT_EQ(w.joint, (std::vector<Index>{0, 1, 1, 1}));  // without weight: the first joint it names
  EXPECT_EQ(w.weight, (std::vector<double>{0.5, 0.5, 1, 1}));
  EXPECT_FALSE(character.warnings.empty());
}

TEST(GltfCharacter, EightInfluencesAndNormalisedIntegers) {
  GltfBuilder b = GltfBuilder::skinned_triangle();
  const std::vector<std::uint16_t> half = {32767, 0, 0, 0, 32767, 0, 0, 0, 32767, 0, 0, 0};
  const std::vector<std::uint16_t> rest = {32768, 0, 0, 0, 32768, 0, 0, 0, 32768, 0, 0, 0};
  b.attributes()["WEIGHTS_0"] = b.array(half, "VEC4", 5123, 4, true);
  b.attributes()["WEIGHTS_1"] = b.array(rest, "VEC4", 5123, 4, true);
  b.attributes()["JOINTS_0"] = b.array(std::vector<std::uint8_t>(12, 0), "VEC4", 5121, 4);
  b.attributes()["JOINTS_1"] = b.array(std::vector<std::uint8_t>(12, 1), "VEC4", 5121, 4);
  const SkinWeights w = read(b).meshes.at(0).weights;
  EXPECT_EQ(w.joint, (std::vector<Index>{0, 1, 0, 1, 0, 1}));
  EXPECT_NEAR(w.weight[0], 32767.0 / 65535.0, 1e-7);
}

TEST(GltfCharacter, AJointOutsideTheSkinIsRefused) {
  GltfBuilder b = GltfBuilder::skinned_triangle();
  b.attributes()["JOINTS_0"] = b.array(std::vector<std::uint8_t>(12, 7), "VEC4", 5121, 4);
  const Result<GltfDocument> document = parse_gltf(b.glb(), "made.glb", nullptr);
  ASSERT_TRUE(document.ok());
  const Result<RawCharacter> character = read_character(*document);
  ASSERT_FALSE(character.ok());
  EXPECT_NE(character.error().message.find("joint 7"), std::string::npos);
}

TEST(GltfCharacter, WithoutBindMatricesTheyAreIdentities) {
  const RawCharacter character = read(GltfBuilder::skinned_triangle());
  ASSERT_EQ(character.skins.at(0).inverse_bind.size(), 2u);
  EXPECT_TRUE(character.skins[0].inverse_bind[1].isApprox(Affine::Identity()));
  // Vertex 2 hangs on the knee, one above the hip: at rest it is carried up by one.
  const Result<Surface> surface = rest_surface(character);
  ASSERT_TRUE(surface.ok());
  EXPECT_TRUE(surface->vertices[2].isApprox(Vec3(0, 2, 0)));
  EXPECT_TRUE(surface->vertices[1].isApprox(Vec3(1, 0.5, 0)));
}

TEST(GltfCharacter, ParentsComeBeforeChildrenWhateverTheFileDoes) {
  GltfBuilder b = GltfBuilder::skinned_triangle();
  b.root["nodes"] = Json::parse(R"([{"mesh": 0, "skin": 0}, {"name": "knee", "translation": [0, 1, 0]},
                                    {"name": "hip", "children": [1], "scale": [2, 3, 4]}])");
  b.root["scenes"][0]["nodes"] = {0, 2};
  const RawCharacter character = read(b);
  EXPECT_EQ(character.file_node, (std::vector<Index>{0, 2, 1}));
  EXPECT_EQ(character.skeleton.joints[2].name, "knee");
  EXPECT_EQ(character.skeleton.joints[2].parent, 1);
  EXPECT_EQ(character.skins[0].joints, (std::vector<Index>{2, 1}));
  EXPECT_EQ(character.skeleton.joints[1].rest.scale, Vec3(2, 3, 4));
}

TEST(GltfCharacter, MatricesBecomeTransformsUnlessTheyShear) {
  GltfBuilder b = GltfBuilder::skinned_triangle();
  b.root["nodes"][1]["matrix"] = {0, 2, 0, 0, -3, 0, 0, 0, 0, 0, 4, 0, 5, 6, 7, 1};
  b.root["nodes"][2].erase("translation");
  b.root["nodes"][2]["matrix"] = {1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  b.root["animations"] = Json::array(
      {{{"samplers",
         Json::array({{{"input", b.floats({0, 1}, "SCALAR", 1)}, {"output", b.vectors({0, 0, 0, 1, 1, 1})}}})},
        {"channels", Json::array({{{"sampler", 0}, {"target", {{"node", 2}, {"path", "translation"}}}}})}}});
  const RawCharacter character = read(b);
  const Joint& hip = character.skeleton.joints[1];
  EXPECT_FALSE(hip.matrix.has_value());
  EXPECT_TRUE(hip.rest.scale.isApprox(Vec3(2, 3, 4)));
  EXPECT_TRUE((hip.rest.matrix() * Vec3(1, 0, 0)).isApprox(Vec3(5, 8, 7)));
  ASSERT_TRUE(character.skeleton.joints[2].matrix.has_value());
  EXPECT_TRUE((*character.skeleton.joints[2].matrix * Vec3(0, 1, 0)).isApprox(Vec3(0.5, 1, 0)));
  EXPECT_TRUE(character.clips.at(0).channels.empty());  // it can't move a sheared joint, and says so
  EXPECT_NE(character.warnings.back().find("shear"), std::string::npos);
}

TEST(GltfCharacter, StripsFansAndPlainTriangles) {
  const std::vector<float> square = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
  GltfBuilder strip;
  strip.primitive(square)["mode"] = 5;
  EXPECT_EQ(read(strip).meshes.at(0).surface.triangles, (std::vector<Triangle>{{0, 1, 2}, {1, 3, 2}}));
  GltfBuilder fan;
  fan.primitive(square)["mode"] = 6;
  EXPECT_EQ(read(fan).meshes.at(0).surface.triangles, (std::vector<Triangle>{{1, 2, 0}, {2, 3, 0}}));
  GltfBuilder indexed;
  indexed.primitive(square)["indices"] = indexed.indices({3, 2, 1});
  EXPECT_EQ(read(indexed).meshes.at(0).surface.triangles, (std::vector<Triangle>{{3, 2, 1}}));
}

TEST(GltfCharacter, PointsStayInTheFileAndOutOfTheCharacter) {
  GltfBuilder b;
  b.primitive({0, 0, 0, 1, 0, 0, 0, 1, 0});
  Json points = b.root["meshes"][0]["primitives"][0];
  points["mode"] = 0;
  b.root["meshes"][0]["primitives"].insert(b.root["meshes"][0]["primitives"].begin(), points);
  const CharacterMesh mesh = read(b).meshes.at(0);
  ASSERT_EQ(mesh.welded_vertex.size(), 2u);
  EXPECT_TRUE(mesh.welded_vertex[0].empty());
  EXPECT_EQ(mesh.welded_vertex[1].size(), 3u);
}

TEST(GltfCharacter, SparseAndInterleavedAndQuantised) {
  GltfBuilder b;
  b.primitive({0, 0, 0, 1, 0, 0, 0, 1, 0});
  const std::size_t replaced = b.view(std::vector<std::uint16_t>{2});
  const std::size_t values = b.view(std::vector<float>{0, 5, 0});
  b.root["accessors"][0]["sparse"] = {{"count", 1},
                                      {"indices", {{"bufferView", replaced}, {"componentType", 5123}}},
                                      {"values", {{"bufferView", values}}}};
  EXPECT_EQ(read(b).meshes.at(0).surface.vertices[2], Vec3(0, 5, 0));

  GltfBuilder zeros = b;  // sparse over nothing
  zeros.root["accessors"][0].erase("bufferView");
  EXPECT_EQ(read(zeros).meshes.at(0).surface.vertices.size(), 2u);

  GltfBuilder quantised;
  quantised.primitive({});
  const std::vector<std::int16_t> shorts = {0, 0, 0, 99, 32767, 0, 0, 99, 0, -32768, 0, 99};  // a stride of 8
  const std::size_t view = quantised.view(shorts);
  quantised.root["bufferViews"][view]["byteStride"] = 8;
  quantised.attributes()["POSITION"] = quantised.accessor(
      {{"bufferView", view}, {"componentType", 5122}, {"normalized", true}, {"count", 3}, {"type", "VEC3"}});
  const CharacterMesh mesh = read(quantised).meshes.at(0);
  EXPECT_EQ(mesh.surface.vertices[1], Vec3(1, 0, 0));
  EXPECT_EQ(mesh.surface.vertices[2], Vec3(0, -1, 0));
}

TEST(GltfCharacter, MorphTargetsOnSeveralPrimitives) {
  GltfBuilder b;
  b.primitive({0, 0, 0, 1, 0, 0, 0, 1, 0});
  Json second = b.root["meshes"][0]["primitives"][0];
  b.root["meshes"][0]["primitives"][0]["targets"] =
      Json::array({{{"POSITION", b.vectors({0, 0, 1, 0, 0, 1, 0, 0, 1})}}, {{"NORMAL", 0}}});
  b.root["meshes"][0]["primitives"].push_back(second);  // the same place, but it doesn't move: not welded
  b.root["meshes"][0]["extras"] = {{"targetNames", {"smile"}}};
  b.root["meshes"][0]["weights"] = {0.5, 0};
  b.root["nodes"][0]["weights"] = {0.25, 0};
  const RawCharacter character = read(b);
  const CharacterMesh& mesh = character.meshes.at(0);
  EXPECT_EQ(mesh.surface.vertices.size(), 6u);
  ASSERT_EQ(mesh.targets.size(), 2u);
  EXPECT_EQ(mesh.targets[0].name, "smile");
  EXPECT_EQ(mesh.targets[0].displacements[0], Vec3(0, 0, 1));
  EXPECT_EQ(mesh.targets[0].displacements[3], Vec3(0, 0, 0));
  EXPECT_EQ(mesh.default_target_weights, (std::vector<double>{0.25, 0}));
}

GltfBuilder with_clip(const char* interpolation, const std::vector<float>& times, const std::vector<float>& values) {
  GltfBuilder b = GltfBuilder::skinned_triangle();
  b.root["animations"] = Json::array(
      {{{"name", "nod"},
        {"samplers", Json::array({{{"input", b.floats(times, "SCALAR", 1)},
                                   {"output", b.vectors(values)},
                                   {"interpolation", interpolation}}})},
        {"channels", Json::array({{{"sampler", 0}, {"target", {{"node", 2}, {"path", "translation"}}}}})}}});
  return b;
}

TEST(GltfCharacter, ClipsInAllThreeInterpolations) {
  const RawCharacter step = read(with_clip("STEP", {0, 2}, {0, 0, 0, 1, 2, 3}));
  ASSERT_EQ(step.clips.size(), 1u);
  EXPECT_EQ(step.clips[0].name, "nod");
  EXPECT_EQ(step.clips[0].duration, 2);
  EXPECT_EQ(step.clips[0].channels.at(0).interpolation, Interpolation::step);
  EXPECT_EQ(step.clips[0].channels[0].joint, 2);
  const RawCharacter cubic = read(with_clip("CUBICSPLINE", {1}, {1, 1, 1, 2, 2, 2, 3, 3, 3}));
  EXPECT_EQ(cubic.clips.at(0).channels.at(0).interpolation, Interpolation::cubic);
  EXPECT_EQ(cubic.clips[0].channels[0].values.size(), 9u);
  const RawCharacter disordered = read(with_clip("LINEAR", {0, 2, 1}, {0, 0, 0, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(disordered.clips.at(0).channels.at(0).times, (std::vector<double>{0, 2}));
  EXPECT_EQ(disordered.warnings.size(), 1u);
}

TEST(GltfCharacter, ClipsOfAnotherFileGoByNames) {
  const RawCharacter character = read(GltfBuilder::skinned_triangle());
  GltfBuilder other = with_clip("LINEAR", {0, 1}, {0, 0, 0, 1, 1, 1});
  other.root["nodes"].push_back({{"name", "tail"}});
  Json tail = other.root["animations"][0]["channels"][0];
  tail["target"]["node"] = 3;
  other.root["animations"][0]["channels"].push_back(tail);
  std::swap(other.root["nodes"][1]["name"], other.root["nodes"][2]["name"]);  // its node 2 is called hip
  std::vector<std::string> warnings;
  const Result<std::vector<Clip>> clips =
      read_clips(*parse_gltf(other.glb(), "other.glb", nullptr), character, warnings);
  ASSERT_TRUE(clips.ok()) << clips.error().message;
  ASSERT_EQ(clips->at(0).channels.size(), 1u);
  EXPECT_EQ(clips->at(0).channels[0].joint, 1);
  EXPECT_EQ(warnings.size(), 1u);
  for (auto& node : other.root["nodes"]) node["name"] = "stranger";
  EXPECT_FALSE(read_clips(*parse_gltf(other.glb(), "other.glb", nullptr), character, warnings).ok());
}

}  // namespace
}  // namespace supple::gltf_character_test
