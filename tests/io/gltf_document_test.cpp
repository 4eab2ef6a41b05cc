// SPDX-License-Identifier: Apache-2.0
// Documents: what isn't ours survives, edits keep the file consistent, references lead where they may.
#include "io/gltf_builder.h"
#include "io/io_tools.h"
#include "supple/io/file.h"
#include "supple/io/gltf/gltf_editor.h"
#include "supple/io/gltf/gltf_uri.h"
#include "supple/io/gltf/read_character.h"

#include <gtest/gtest.h>
#include <meshoptimizer.h>

namespace supple::gltf_document_test {
namespace {

using test::GltfBuilder;
using test::Json;

const std::string png("\x89PNG\r\n\x1a\n rest", 13);

// The JSON chunk of a GLB, found by the format's rules.
Json json_of(const std::string& glb) {
  std::uint32_t length = 0;
  std::memcpy(&length, glb.data() + 12, 4);
  return Json::parse(glb.substr(20, length));
}

GltfDocument parsed(const std::string& bytes, ResourceReader read = nullptr) {
  Result<GltfDocument> document = parse_gltf(bytes, "made.glb", std::move(read));
  EXPECT_TRUE(document.ok()) << document.error().message;
  return document.ok() ? std::move(*document) : GltfDocument();
}

TEST(GltfDocument, WhatIsNotOursSurvives) {
  GltfBuilder b = GltfBuilder::skinned_triangle();
  b.root["asset"]["minVersion"] = "2.0";
  b.root["cameras"] = Json::parse(R"([{"type": "perspective", "perspective": {"yfov": 0.7, "znear": 0.1}}])");
  b.root["materials"] = Json::parse(R"([{"name": "skin", "extensions": {"KHR_materials_sheen": {"a": 0.1}}}])");
  b.root["extensionsUsed"] = {"KHR_materials_sheen"};
  b.root["studio"] = {{"shot", 12345678901234567}, {"tags", {"a", nullptr, 0.1}}};
  b.root["nodes"][1]["extras"] = {{"mood", "grim"}};
  const Json before = Json::parse(b.json_text());
  Json after = json_of(encode_glb(parsed(b.glb())));
  EXPECT_EQ(after["buffers"][0]["byteLength"], b.binary.size());
  // Positions get the range that glTF wants of them.
  EXPECT_EQ(after["accessors"][0]["max"], Json({1.0, 1.0, 0.0}));
  for (const char* added : {"min", "max"}) after["accessors"][0].erase(added);
  EXPECT_EQ(after, before);
}

TEST(GltfDocument, SecondWritingChangesNothing) {
  GltfBuilder b = GltfBuilder::skinned_triangle();
  const std::string once = encode_glb(parsed(b.glb()));
  EXPECT_EQ(encode_glb(parsed(once)), once);
  EXPECT_EQ(encode_glb(parsed(encode_gltf(parsed(once)))), once);
}

TEST(GltfDocument, BuffersInOtherFilesAndInside) {
  const ScratchFolder folder;
  GltfBuilder b;
  b.primitive({0, 0, 0, 1, 0, 0, 0, 1, 0});
  Json root = b.root;
  root["buffers"] = Json::array({{{"uri", "my%20data.bin"}, {"byteLength", b.binary.size()}},
                                 {{"uri", encode_data_uri("application/octet-stream", "abcd")}, {"byteLength", 4}}});
  root["bufferViews"].push_back({{"buffer", 1}, {"byteLength", 4}});
  const auto path = folder.write("a.gltf", root.dump());
  const Result<GltfDocument> missing = load_gltf(path);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("my data.bin"), std::string::npos) << missing.error().message;
  folder.write("my data.bin", b.binary);
  Result<GltfDocument> document = load_gltf(path);
  ASSERT_TRUE(document.ok()) << document.error().message;
  ASSERT_TRUE(save_gltf(*document, folder / "b.glb").ok());
  const Result<LoadedMesh> mesh = load_mesh(folder / "b.glb");
  ASSERT_TRUE(mesh.ok()) << mesh.error().message;
  EXPECT_EQ(std::get<Surface>(mesh->mesh).vertices[1], Vec3(1, 0, 0));
  EXPECT_EQ(json_of(*read_file(folder / "b.glb"))["buffers"].size(), 1u);
}

TEST(GltfDocument, ReferencesStayInTheFolder) {
  EXPECT_EQ(relative_path("a/../b%2Fc.bin"), "b/c.bin");
  EXPECT_EQ(relative_path("a\\b.png"), "a/b.png");
  EXPECT_EQ(relative_path("100%.png"), "100%.png");
  for (const char* bad :
       {"/etc/passwd", "../a.bin", "a/../../b", "http://a/b", "file:///a", "C:\\a", "%2e%2e/a", "%2Fetc", ""})
    EXPECT_FALSE(relative_path(bad).has_value()) << bad;
  GltfBuilder b;
  b.primitive({0, 0, 0, 1, 0, 0, 0, 1, 0});
  Json root = b.root;
  root["buffers"] = Json::array({{{"uri", "../../etc/passwd"}, {"byteLength", 36}}});
  bool asked = false;
  const auto read = [&](const std::string&) -> Result<std::string> {
    asked = true;
    return std::string(100, 'x');
  };
  expect_refused(parse_gltf(root.dump(), "a.gltf", read), "outside the file's folder");
  EXPECT_FALSE(asked);
}

TEST(GltfDocument, ImagesAreTakenIn) {
  const ScratchFolder folder;
  folder.write("skin.png", png);
  GltfBuilder b;
  b.primitive({0, 0, 0, 1, 0, 0, 0, 1, 0});
  b.root["images"] = Json::array({{{"uri", "skin.png"}, {"name", "skin"}},
                                  {{"uri", "gone.png"}},
                                  {{"uri", encode_data_uri("image/png", png)}},
                                  {{"uri", "skin.png"}}});
  Result<GltfDocument> document = load_gltf(folder.write("a.glb", b.glb()));
  ASSERT_TRUE(document.ok());
  ASSERT_TRUE(save_gltf(*document, folder / "b.glb").ok());
  const std::string written = *read_file(folder / "b.glb");
  const Json json = json_of(written);
  EXPECT_EQ(json["images"][0]["mimeType"], "image/png");
  EXPECT_EQ(json["images"][0]["name"], "skin");
  EXPECT_FALSE(json["images"][0].contains("uri"));
  EXPECT_EQ(json["images"][1]["uri"], "gone.png");
  EXPECT_EQ(json["images"][0]["bufferView"], json["images"][3]["bufferView"]);
  EXPECT_TRUE(json["images"][2].contains("bufferView"));
  EXPECT_NE(written.find(png), std::string::npos);
  ASSERT_FALSE(document->warnings().empty());
  EXPECT_NE(document->warnings().back().find("gone.png"), std::string::npos);
}

TEST(GltfDocument, SkinsThatNameAWrongRootAreRepaired) {
  GltfBuilder b = GltfBuilder::skinned_triangle();
  b.root["skins"][0]["skeleton"] = 0;
  const GltfDocument document = parsed(b.glb());
  EXPECT_EQ(document.warnings().size(), 1u);
  EXPECT_EQ(json_of(encode_glb(document))["skins"][0]["skeleton"], 1);
  b.root["skins"][0]["skeleton"] = 1;
  EXPECT_TRUE(parsed(b.glb()).warnings().empty());
  b.root["nodes"][1].erase("children");  // now nothing is above both joints
  b.root["scenes"][0]["nodes"] = {0, 1, 2};
  const GltfDocument apart = parsed(b.glb());
  EXPECT_EQ(apart.warnings().size(), 1u);
  EXPECT_FALSE(json_of(encode_glb(apart))["skins"][0].contains("skeleton"));
}

// The library's own encoder makes the data; both names of the extension lead to it.
TEST(GltfDocument, MeshoptDataIsDecodedAndLeavesNoTrace) {
  const std::vector<float> positions = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
  std::vector<unsigned char> packed(meshopt_encodeVertexBufferBound(4, 12));
  packed.resize(meshopt_encodeVertexBuffer(packed.data(), packed.size(), positions.data(), 4, 12));
  for (const char* name : {"EXT_meshopt_compression", "KHR_meshopt_compression"}) {
    GltfBuilder b;
    b.primitive(positions)["mode"] = 5;
    b.binary.clear();
    b.root["bufferViews"] = Json::array();
    (void)b.view(packed);
    const Json extension = {
        {"buffer", 0}, {"byteLength", packed.size()}, {"byteStride", 12}, {"count", 4}, {"mode", "ATTRIBUTES"}};
    b.root["bufferViews"][0] = {{"buffer", 1}, {"byteLength", 48}, {"extensions", {{name, extension}}}};
    b.root["extensionsUsed"] = {name};
    b.root["buffers"] = Json::array(
        {{{"byteLength", packed.size()}, {"uri", encode_data_uri("", std::string(packed.begin(), packed.end()))}},
         {{"byteLength", 48}, {"extensions", {{name, {{"fallback", true}}}}}}});
    const GltfDocument document = parsed(b.root.dump());
    const Json json = json_of(encode_glb(document));
    EXPECT_EQ(json.dump().find("meshopt"), std::string::npos);
    EXPECT_LE(json["buffers"][0]["byteLength"].get<int>(), 48 + 4);  // the compressed bytes are gone
    const Result<RawCharacter> character = read_character(document, {.require_skin = false});
    ASSERT_TRUE(character.ok()) << character.error().message;
    EXPECT_EQ(character->meshes[0].surface.vertices[3], Vec3(1, 1, 0));
  }
}

TEST(GltfEditor, NewMorphTargetsKeepTheOldOnesMoving) {
  GltfBuilder b;
  b.primitive({0, 0, 0, 1, 0, 0, 0, 1, 0})["targets"] =
      Json::array({{{"POSITION", b.vectors({0, 0, 1, 0, 0, 1, 0, 0, 1})}}});
  Json points = {{"mode", 0}, {"attributes", b.attributes()}, {"targets", Json::array({{{"POSITION", 1}}})}};
  b.root["meshes"][0]["primitives"].push_back(points);
  b.root["nodes"].push_back({{"mesh", 0}});
  b.root["scenes"][0]["nodes"] = {0, 1};
  b.root["animations"] = Json::array(
      {{{"name", "old"},
        {"samplers",
         Json::array({{{"input", b.floats({0, 1}, "SCALAR", 1)}, {"output", b.floats({0, 1}, "SCALAR", 1)}}})},
        {"channels", Json::array({{{"sampler", 0}, {"target", {{"node", 0}, {"path", "weights"}}}}})}}});
  GltfDocument document = parsed(b.glb());
  const Result<Index> own = own_mesh(document, 0);
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(*own, 1);  // node 1 keeps the old one
  const NewMorphTarget jiggle{"jiggle", {{{2, 0, 0}, {0, 0, 0}, {0, 0, 0}}}, {}};
  const Result<Index> first = add_morph_targets(document, *own, {jiggle});
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(*first, 1);
  const Index clip = add_animation(document, "soft");
  EXPECT_FALSE(set_weight_channel(document, clip, 0, {0, 1}, {1, 2}).ok());        // two targets need four numbers
  EXPECT_FALSE(set_weight_channel(document, clip, 0, {1, 1}, {1, 2, 3, 4}).ok());  // time stands still
  ASSERT_TRUE(set_weight_channel(document, clip, 0, {0, 1}, {9, 9, 9, 9}).ok());
  ASSERT_TRUE(set_weight_channel(document, clip, 0, {0, 1}, {0, 0.5, 0, 1}).ok());

  const Result<RawCharacter> character = read_character(parsed(encode_glb(document)), {.require_skin = false});
  ASSERT_TRUE(character.ok()) << character.error().message;
  ASSERT_EQ(character->meshes.size(), 2u);
  const CharacterMesh& mesh = character->meshes[0];
  ASSERT_EQ(mesh.targets.size(), 2u);
  EXPECT_EQ(mesh.targets[1].name, "jiggle");
  EXPECT_EQ(mesh.targets[0].displacements[0], Vec3(0, 0, 1));
  EXPECT_EQ(mesh.targets[1].displacements[0], Vec3(2, 0, 0));
  EXPECT_EQ(character->meshes[1].targets.size(), 1u);
  ASSERT_EQ(character->clips.size(), 2u);
  EXPECT_EQ(character->clips[0].channels.at(0).values, (std::vector<double>{0, 0, 1, 0}));
  ASSERT_EQ(character->clips[1].channels.size(), 1u);
  EXPECT_EQ(character->clips[1].channels[0].values, (std::vector<double>{0, 0.5, 0, 1}));
}

TEST(GltfEditor, SmallMorphTargetsHaveFewBytesAndTheSameMotion) {
  constexpr int count = 201;
  std::vector<float> grid;
  for (int v = 0; v < count; ++v)
    for (const float x : {0.1f * static_cast<float>(v % 20),
                          0.1f * static_cast<float>(v / 20) + 0.03f * static_cast<float>(v % 3), 0.0f})
      grid.push_back(x);
  const auto file_with = [&](const NewMorphTarget& target, MorphStorage storage) {
    GltfBuilder b;
    b.primitive(grid);
    GltfDocument document = parsed(b.glb());
    const Result<Index> added = add_morph_targets(document, 0, {target}, storage);
    EXPECT_TRUE(added.ok());
    return encode_glb(document);
  };
  NewMorphTarget wave{"wave", {std::vector<Vec3>(count)}, {}}, bump = wave, long_way = wave;
  for (int v = 0; v < count; ++v) {
    wave.displacements[0][to_size(v)] = Vec3(0.03 * std::sin(0.1 * v), 0.02 * std::cos(0.3 * v), 0.01);
    bump.displacements[0][to_size(v)] = v / 10 == 7 ? Vec3(0, 0.05, 0.01 * v) : Vec3(0, 0, 0);
    long_way.displacements[0][to_size(v)] = Vec3(0, 30, 0);
  }
  const auto smaller_by = [&](const NewMorphTarget& target) {
    return std::ssize(file_with(target, MorphStorage::plain)) - std::ssize(file_with(target, MorphStorage::small));
  };
  const auto required = [&](const NewMorphTarget& target) {
    return file_with(target, MorphStorage::small).find("KHR_mesh_quantization") != std::string::npos;
  };
  EXPECT_GT(smaller_by(wave), count * 4 - 400);   // 8 bytes in place of 12, less what the header says of them
  EXPECT_GT(smaller_by(bump), count * 12 - 700);  // ten vertices
  EXPECT_TRUE(required(wave));
  EXPECT_FALSE(required(long_way));  // whole numbers reach to one unit of the file
  for (const NewMorphTarget* target : {&wave, &bump, &long_way}) {
    const Result<RawCharacter> read =
        read_character(parsed(file_with(*target, MorphStorage::small)), {.require_skin = false});
    ASSERT_TRUE(read.ok()) << read.error().message;
    const CharacterMesh& mesh = read->meshes.at(0);
    ASSERT_EQ(mesh.targets.size(), 1);
    for (int v = 0; v < count; ++v) {
      const Vec3 found = mesh.targets[0].displacements[to_size(mesh.welded_vertex[0][to_size(v)])];
      EXPECT_LT((found - target->displacements[0][to_size(v)]).lpNorm<Eigen::Infinity>(),
                0.03 / 400 + 0.51 / 32767);  // specks are left out
    }
  }
}

}  // namespace
}  // namespace supple::gltf_document_test
