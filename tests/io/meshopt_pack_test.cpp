// SPDX-License-Identifier: Apache-2.0
// Files that are written packed come back as they were: every number to its bits, triangles with their sense.
#include "io/gltf_builder.h"
#include "supple/io/gltf/gltf_editor.h"
#include "supple/io/gltf/gltf_rounding.h"
#include "supple/io/gltf/read_character.h"

#include <gtest/gtest.h>

#include <cmath>

namespace supple::meshopt_pack_test {
namespace {

using test::GltfBuilder;

/// A strip of many triangles with skin, and a clip of many keys.
std::string strip() {
  constexpr int count = 600;
  GltfBuilder b = GltfBuilder::skinned_triangle();
  std::vector<float> places, weights, times, turns;
  std::vector<std::uint8_t> joints;
  std::vector<std::uint16_t> corners;
  for (int k = 0; k < count; ++k) {
    const auto x = static_cast<float>(k);
    places.insert(places.end(), {0.01f * x, k % 2 == 0 ? 0.0f : 1.0f, std::sin(0.01f * x)});
    weights.insert(weights.end(), {x / count, 1 - x / count, 0, 0});
    joints.insert(joints.end(), {0, 1, 0, 0});
    times.push_back(0.01f * x);
    turns.insert(turns.end(), {0, 0, std::sin(0.001f * x), std::cos(0.001f * x)});
    if (k + 2 < count)
      for (const int corner : {k, k + 1 + k % 2, k + 2 - k % 2}) corners.push_back(static_cast<std::uint16_t>(corner));
  }
  b.primitive(places);
  b.attributes()["JOINTS_0"] = b.array(joints, "VEC4", 5121, 4);
  b.attributes()["WEIGHTS_0"] = b.floats(weights, "VEC4", 4);
  b.root["meshes"][0]["primitives"][0]["indices"] = b.array(corners, "SCALAR", 5123, 1);
  const std::size_t input = b.floats(times, "SCALAR", 1), output = b.floats(turns, "VEC4", 4);
  b.root["accessors"][input]["min"] = {0};
  b.root["accessors"][input]["max"] = {times.back()};
  b.root["animations"] = test::Json::array(
      {{{"name", "bend"},
        {"samplers", test::Json::array({{{"input", input}, {"output", output}}})},
        {"channels", test::Json::parse(R"([{"sampler": 0, "target": {"node": 2, "path": "rotation"}}])")}}});
  return b.glb();
}

TEST(MeshoptPack, ComesBackAsItWasAndSmaller) {
  const Result<GltfDocument> document = parse_gltf(strip(), "strip.glb", {});
  ASSERT_TRUE(document.ok()) << document.error().message;
  const std::string plain = encode_glb(*document), packed = encode_glb(*document, GltfPacking::meshopt);
  EXPECT_LT(packed.size(), 0.8 * static_cast<double>(plain.size()));
  EXPECT_NE(packed.find("EXT_meshopt_compression"), packed.npos);
  const Result<GltfDocument> back = parse_gltf(packed, "packed.glb", {});
  ASSERT_TRUE(back.ok()) << back.error().message;
  const RawCharacter a = read_character(*document).value(), b = read_character(*back).value();
  ASSERT_EQ(a.meshes.size(), b.meshes.size());
  EXPECT_EQ(a.meshes[0].surface.vertices, b.meshes[0].surface.vertices);
  EXPECT_EQ(a.meshes[0].weights.weight, b.meshes[0].weights.weight);
  EXPECT_EQ(a.clips.at(0).channels.at(0).times, b.clips.at(0).channels.at(0).times);
  EXPECT_EQ(a.clips.at(0).channels.at(0).values, b.clips.at(0).channels.at(0).values);
  ASSERT_EQ(a.meshes[0].surface.triangles.size(), b.meshes[0].surface.triangles.size());
  for (std::size_t k = 0; k < a.meshes[0].surface.triangles.size(); ++k) {
    Triangle found = b.meshes[0].surface.triangles[k];
    const Triangle& wanted = a.meshes[0].surface.triangles[k];
    for (int turn = 0; turn < 2 && found[0] != wanted[0]; ++turn) found = {found[1], found[2], found[0]};
    EXPECT_EQ(found, wanted) << k;
  }
}

/// Rounded numbers are whole multiples of powers of two, which the codec's filter stores without loss in few bytes.
TEST(MeshoptPack, RoundedNumbersTakeFarLessAndComeBackAsTheyAre) {
  const GltfDocument exact = parse_gltf(strip(), "strip.glb", {}).value();
  GltfDocument rounded = exact;
  ASSERT_TRUE(round_numbers(rounded).ok());
  const std::string packed = encode_glb(rounded, GltfPacking::meshopt);
  EXPECT_NE(packed.find("EXPONENTIAL"), packed.npos);
  // A third of the file is JSON, which stays.
  EXPECT_LT(packed.size(), 0.65 * static_cast<double>(encode_glb(exact, GltfPacking::meshopt).size()));
  const RawCharacter a = read_character(exact).value(), b = read_character(rounded).value(),
                     c = read_character(parse_gltf(packed, "packed.glb", {}).value()).value();
  EXPECT_EQ(b.meshes[0].surface.vertices, c.meshes[0].surface.vertices);
  EXPECT_EQ(b.meshes[0].weights.weight, c.meshes[0].weights.weight);
  EXPECT_EQ(b.clips.at(0).channels.at(0).values, c.clips.at(0).channels.at(0).values);
  // Half a step: the strip is 6 long, so that a step is 2^-14.
  for (std::size_t v = 0; v < a.meshes[0].surface.vertices.size(); ++v)
    EXPECT_LE((a.meshes[0].surface.vertices[v] - b.meshes[0].surface.vertices[v]).cwiseAbs().maxCoeff(), 0x1p-15);
  for (std::size_t v = 0; v + 1 < b.meshes[0].weights.first.size(); ++v) {
    double sum = 0;
    for (Index e = b.meshes[0].weights.first[v]; e < b.meshes[0].weights.first[v + 1]; ++e)
      sum += b.meshes[0].weights.weight[to_size(e)];
    EXPECT_EQ(sum, 1.0) << v;
  }
  const std::vector<double>&turns = a.clips.at(0).channels.at(0).values, &after = b.clips.at(0).channels.at(0).values;
  for (std::size_t k = 0; k < turns.size(); ++k) EXPECT_NEAR(turns[k], after[k], 0x1p-17);
}

/// Arrays of one kind share a view, equal ones their bytes.
TEST(MeshoptPack, ManyArraysTakeFewViews) {
  GltfDocument document = parse_gltf(strip(), "strip.glb", {}).value();
  NewMorphTarget target{"again", {std::vector<Vec3>(600, Vec3(0.25, 0, 0))}, {}};
  for (std::size_t v = 0; v < 600; ++v) target.displacements[0][v].y() = std::sin(0.1 * static_cast<double>(v));
  const std::vector<NewMorphTarget> targets(20, target);
  ASSERT_TRUE(add_morph_targets(document, 0, targets).ok());
  const std::string packed = encode_glb(document, GltfPacking::meshopt);
  std::size_t views = 0;
  for (std::size_t at = packed.find("\"byteStride\""); at != packed.npos; at = packed.find("\"byteStride\"", at + 1))
    ++views;
  EXPECT_LT(views, 16u);
  EXPECT_LT(packed.size(), 30000u);
  const RawCharacter back = read_character(parse_gltf(packed, "packed.glb", {}).value()).value();
  ASSERT_EQ(back.meshes[0].targets.size(), 20u);
  for (std::size_t v = 0; v < back.meshes[0].targets[19].displacements.size(); ++v)
    EXPECT_EQ(back.meshes[0].targets[19].displacements[v], back.meshes[0].targets[0].displacements[v]);
}

TEST(MeshoptPack, LeavesSmallFilesAsTheyAre) {
  const Result<GltfDocument> document = parse_gltf(GltfBuilder::skinned_triangle().glb(), "small.glb", {});
  ASSERT_TRUE(document.ok()) << document.error().message;
  EXPECT_EQ(encode_glb(*document, GltfPacking::meshopt), encode_glb(*document));
}

}  // namespace
}  // namespace supple::meshopt_pack_test
