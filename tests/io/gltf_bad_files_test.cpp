// SPDX-License-Identifier: Apache-2.0
// Characters' files as they shouldn't be: one sentence each, soon.
#include "io/gltf_builder.h"
#include "io/io_tools.h"
#include "supple/io/gltf/read_character.h"

#include <gtest/gtest.h>

#include <ctime>
#include <limits>

namespace supple::gltf_bad_files_test {
namespace {

using test::GltfBuilder;
using test::Json;

Result<RawCharacter> read(const std::string& bytes) {
  const std::clock_t start = std::clock();
  const Result<GltfDocument> document = parse_gltf(bytes, "bad.glb", nullptr);
  Result<RawCharacter> character = document.ok() ? read_character(*document) : document.error();
  EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC);  // of this process, whatever else the machine does
  return character;
}

void expect_refusal(const GltfBuilder& builder, const std::string& words) {
  expect_refused(read(builder.glb()), words);
}

TEST(BadGltf, TheSampleItselfIsGood) { EXPECT_TRUE(read(GltfBuilder::skinned_triangle().glb()).ok()); }

TEST(BadGltf, NoSkinAndNoMesh) {
  GltfBuilder plain;
  plain.primitive({0, 0, 0, 1, 0, 0, 0, 1, 0});
  expect_refusal(plain, "no mesh has a skin");
  GltfBuilder empty;
  expect_refusal(empty, "no triangles");
  GltfBuilder none = GltfBuilder::skinned_triangle();
  none.root["meshes"][0]["primitives"] = Json::array();
  expect_refusal(none, "no triangles");
  GltfBuilder no_vertices = GltfBuilder::skinned_triangle();
  for (auto& accessor : no_vertices.root["accessors"]) accessor["count"] = 0;
  expect_refusal(no_vertices, "no triangles");
}

TEST(BadGltf, CutAnywhere) {
  const std::string bytes = GltfBuilder::skinned_triangle().glb();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const Result<RawCharacter> cut = read(bytes.substr(0, length));
    ASSERT_FALSE(cut.ok()) << length;
    ASSERT_TRUE(cut.error().message.ends_with('.')) << cut.error().message;
  }
}

TEST(BadGltf, NodesInCircles) {
  GltfBuilder b = GltfBuilder::skinned_triangle();
  b.root["nodes"][2]["children"] = {1};
  expect_refusal(b, "its own ancestor");
  b.root["nodes"][2]["children"] = {2};
  expect_refusal(b, "two parents");
  b.root["nodes"][2].erase("children");
  b.root["nodes"][0]["children"] = {2};
  expect_refusal(b, "two parents");
}

TEST(BadGltf, NumbersThatAreNone) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  GltfBuilder weights = GltfBuilder::skinned_triangle();
  weights.attributes()["WEIGHTS_0"] = weights.floats(std::vector<float>(12, nan), "VEC4", 4);
  expect_refusal(weights, "weights");
  GltfBuilder positions = GltfBuilder::skinned_triangle();
  positions.attributes()["POSITION"] = positions.vectors({0, 0, nan, 0, 0, 0, 0, 0, 0});
  expect_refusal(positions, "finite");
}

TEST(BadGltf, TooManyJoints) {
  GltfBuilder b = GltfBuilder::skinned_triangle();
  Json joints = Json::array();
  for (int i = 0; i < 100000; ++i) {
    b.root["nodes"].push_back(Json::object());
    joints.push_back(i + 3);
  }
  b.root["skins"][0]["joints"] = joints;
  expect_refusal(b, "100000 joints");
}

TEST(BadGltf, AHundredThousandNodesInARowAreFine) {
  GltfBuilder b = GltfBuilder::skinned_triangle();
  for (int i = 3; i < 100000; ++i) b.root["nodes"].push_back({{"children", {i + 1}}});
  b.root["nodes"].push_back(Json::object());
  EXPECT_TRUE(read(b.glb()).ok());
}

TEST(BadGltf, ClaimsWithoutDataBehindThem) {
  GltfBuilder view = GltfBuilder::skinned_triangle();
  view.root["bufferViews"][0]["byteLength"] = 2147483648u;
  expect_refusal(view, "beyond its buffer");
  GltfBuilder count = GltfBuilder::skinned_triangle();
  count.root["accessors"][0]["count"] = 2147483648u;
  expect_refusal(count, "2147483648 elements");
  GltfBuilder zeros = GltfBuilder::skinned_triangle();
  zeros.root["accessors"][0].erase("bufferView");
  zeros.root["accessors"][0]["count"] = 400000000;
  expect_refusal(zeros, "400000000 elements");
  GltfBuilder buffer = GltfBuilder::skinned_triangle();
  Json root = Json::parse(buffer.json_text());
  root["buffers"][0]["byteLength"] = 2147483648u;
  expect_refused(read(root.dump()), "2147483648 bytes");
  std::string header = GltfBuilder::skinned_triangle().glb();
  const std::uint32_t huge = 2147483648u;
  std::memcpy(header.data() + 8, &huge, 4);
  expect_refused(read(header), "2147483648 bytes");
  GltfBuilder meshopt = GltfBuilder::skinned_triangle();
  meshopt.root["bufferViews"][0]["extensions"]["EXT_meshopt_compression"] = {
      {"buffer", 0}, {"byteLength", 36}, {"byteStride", 256}, {"count", 8388608}, {"mode", "ATTRIBUTES"}};
  expect_refusal(meshopt, "impossible");
}

TEST(BadGltf, IndicesThatNameNothing) {
  const auto broken = [](const auto& change) {
    GltfBuilder b = GltfBuilder::skinned_triangle();
    change(b.root);
    return b;
  };
  expect_refusal(broken([](Json& r) { r["nodes"][0]["mesh"] = 5; }), "mesh");
  expect_refusal(broken([](Json& r) { r["nodes"][0]["skin"] = 5; }), "skin");
  expect_refusal(broken([](Json& r) { r["skins"][0]["joints"] = {9}; }), "skin 0");
  expect_refusal(broken([](Json& r) { r["skins"][0]["joints"] = Json::array(); }), "no joints");
  expect_refusal(broken([](Json& r) { r["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = -1; }), "POSITION");
  expect_refusal(broken([](Json& r) { r["accessors"][0]["type"] = "VEC5"; }), "type");
  expect_refusal(broken([](Json& r) { r["accessors"][0]["componentType"] = 5124; }), "5124");
  expect_refusal(broken([](Json& r) { r["accessors"][1]["count"] = 2; }), "disagree");
  expect_refusal(broken([](Json& r) { r["nodes"] = 3; }), "nodes");
  expect_refusal(broken([](Json& r) { r["nodes"][1]["translation"] = {1, 2}; }), "translation");
  expect_refusal(broken([](Json& r) { r["asset"]["version"] = "1.0"; }), "1.0");
}

TEST(BadGltf, JsonThatIsNone) {
  expect_refused(read("{\"asset\": "), "JSON");
  expect_refused(read("[]"), "glTF");
  expect_refused(read("{}"), "2.0");
  std::string deep = "{\"asset\": {\"version\": \"2.0\"}, \"extras\": ";
  deep += std::string(1000000, '[') + std::string(1000000, ']') + "}";
  expect_refused(read(deep), "nested");
}

TEST(BadGltf, OtherFormatsGetASentence) {
  const ScratchFolder folder;
  expect_refused(load_gltf(folder.write("a.fbx", "Kaydara FBX Binary  ")), "export glTF");
  expect_refused(load_gltf(folder.write("b.glb", "Kaydara FBX Binary  ")), "FBX");
  expect_refused(load_gltf(folder.write("a.vrm", GltfBuilder::skinned_triangle().glb())), "rename it to .glb");
  expect_refused(load_mesh(folder.write("b.vrm", GltfBuilder::skinned_triangle().glb())), "rename it to .glb");
  expect_refused(load_gltf(folder.write("a.usdz", "PK")), "USD");
  expect_refused(load_gltf(folder.write("a.dae", "<xml>")), "glTF");
  expect_refused(load_gltf(folder.write("a.blend", "BLENDER")), "Blender");
  expect_refused(load_gltf(folder.write("a.obj", "v 0 0 0\n")), "without a skeleton");
}

}  // namespace
}  // namespace supple::gltf_bad_files_test
