// SPDX-License-Identifier: Apache-2.0
#include "supple/io/gltf/glb.h"

#include "supple/mesh/box.h"
#include "supple/mesh/topology.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <limits>

namespace supple::glb_test {
namespace {

using Json = nlohmann::json;

struct Parsed {
  Json json;
  std::string binary;
};

std::uint32_t word(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, 4);
  return value;
}

Parsed parse(const std::string& glb) {
  EXPECT_EQ(glb.substr(0, 4), "glTF");
  EXPECT_EQ(word(glb, 4), 2u);
  EXPECT_EQ(word(glb, 8), glb.size());
  const std::size_t json_size = word(glb, 12);
  EXPECT_EQ(glb.substr(16, 4), "JSON");
  EXPECT_EQ(json_size % 4, 0u);
  const std::size_t binary_size = word(glb, 20 + json_size);
  EXPECT_EQ(glb.substr(24 + json_size, 4), std::string("BIN\0", 4));
  EXPECT_EQ(28 + json_size + binary_size, glb.size());
  return {Json::parse(glb.substr(20, json_size)), glb.substr(28 + json_size)};
}

std::vector<float> floats(const Parsed& file, const Json& accessor_index) {
  const Json& accessor = file.json["accessors"][accessor_index.get<std::size_t>()];
  const Json& view = file.json["bufferViews"][accessor["bufferView"].get<std::size_t>()];
  const std::size_t offset = view["byteOffset"], size = view["byteLength"];
  EXPECT_EQ(offset % 4, 0u);
  EXPECT_LE(offset + size, file.binary.size());
  std::vector<float> values(size / 4);
  std::memcpy(values.data(), file.binary.data() + offset, size);
  return values;
}

GlbModel swaying_box() {
  GlbModel model;
  GlbObject& box = model.objects.emplace_back();
  box.name = "box";
  box.surface = boundary_surface(make_hex_box(Vec3(1, 2, 1), {1, 2, 1})).surface;
  MorphTarget sway{"sway", {}};
  for (const Vec3& p : box.surface.vertices) {
    sway.displacements.push_back(Vec3(0.1 * p.y() * p.y(), 0, 0));
    box.colors.push_back(color_map(p.y() / 2));
  }
  box.targets = {sway};
  model.clips = {{"sway", {{0, {0, 0.5, 1}, {0, 1, 0}}}}};
  return model;
}

TEST(Glb, AccessorsStateTheirExactRangeAndAreAligned) {
  const Parsed file = parse(*glb_bytes(swaying_box()));
  const Json& primitive = file.json["meshes"][0]["primitives"][0];
  for (const Json& index : {primitive["attributes"]["POSITION"], primitive["targets"][0]["POSITION"]}) {
    const std::vector<float> values = floats(file, index);
    const Json& accessor = file.json["accessors"][index.get<std::size_t>()];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      float low = values[axis], high = values[axis];
      for (std::size_t i = axis; i < values.size(); i += 3)
        low = std::min(low, values[i]), high = std::max(high, values[i]);
      EXPECT_EQ(accessor["min"][axis].get<float>(), low);
      EXPECT_EQ(accessor["max"][axis].get<float>(), high);
    }
  }
  EXPECT_EQ(file.json["buffers"][0]["byteLength"], file.binary.size());
}

TEST(Glb, MorphedNormalsAreThoseOfTheMorphedSurface) {
  const Parsed file = parse(*glb_bytes(swaying_box()));
  const Json& primitive = file.json["meshes"][0]["primitives"][0];
  const auto normals = floats(file, primitive["attributes"]["NORMAL"]);
  const auto changes = floats(file, primitive["targets"][0]["NORMAL"]);
  ASSERT_EQ(normals.size(), changes.size());
  bool turned = false;
  for (std::size_t i = 0; i < normals.size(); i += 3) {
    const Eigen::Vector3f rest(normals[i], normals[i + 1], normals[i + 2]);
    const Eigen::Vector3f moved = rest + Eigen::Vector3f(changes[i], changes[i + 1], changes[i + 2]);
    EXPECT_NEAR(rest.norm(), 1, 1e-6);
    EXPECT_NEAR(moved.norm(), 1, 1e-5);
    turned = turned || (moved - rest).norm() > 0.1;
    if (std::abs(rest.z()) > 0.5f) {
      EXPECT_NEAR(moved.z(), rest.z(), 1e-6);  // shearing in x-y keeps the z faces
    }
  }
  EXPECT_TRUE(turned);
}

TEST(Glb, ClipHoldsTimesAndWeights) {
  const Parsed file = parse(*glb_bytes(swaying_box()));
  const Json& animation = file.json["animations"][0];
  EXPECT_EQ(animation["channels"][0]["target"]["path"], "weights");
  EXPECT_EQ(animation["samplers"][0]["interpolation"], "LINEAR");
  EXPECT_EQ(floats(file, animation["samplers"][0]["input"]), (std::vector<float>{0, 0.5f, 1}));
  EXPECT_EQ(floats(file, animation["samplers"][0]["output"]), (std::vector<float>{0, 1, 0}));
  EXPECT_EQ(file.json["meshes"][0]["extras"]["targetNames"][0], "sway");
}

TEST(Glb, FramesBecomeTargetsThatAreOnAtTheirTime) {
  GlbModel model;
  model.objects.emplace_back();
  model.objects[0].surface = boundary_surface(make_hex_box(Vec3(1, 1, 1), {1, 1, 1})).surface;
  std::vector<std::vector<Vec3>> frames(3, model.objects[0].surface.vertices);
  for (Vec3& p : frames[2]) p += Vec3(0, 3, 0);
  const WeightTrack track = add_frames(model.objects[0], frames, 2);
  EXPECT_EQ(track.times, (std::vector<double>{0, 0.5, 1}));
  EXPECT_EQ(track.weights, (std::vector<double>{0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(model.objects[0].targets[1].displacements[0], Vec3(0, 3, 0));
  model.clips = {{"frames", {track}}};
  EXPECT_TRUE(glb_bytes(model).ok());
}

TEST(Glb, LargeMeshesUseWideIndices) {
  GlbModel model;
  model.objects.emplace_back().surface = boundary_surface(make_hex_box(Vec3(1, 1, 1), {120, 120, 120})).surface;
  const Parsed file = parse(*glb_bytes(model));
  const std::size_t indices = file.json["meshes"][0]["primitives"][0]["indices"];
  EXPECT_EQ(file.json["accessors"][indices]["componentType"], 5125);
}

TEST(Glb, RefusesWhatDoesNotFit) {
  const auto refused = [](auto change) {
    GlbModel model = swaying_box();
    change(model);
    return !glb_bytes(model).ok();
  };
  EXPECT_TRUE(refused([](GlbModel& s) { s.objects.clear(); }));
  EXPECT_TRUE(refused([](GlbModel& s) { s.objects[0].colors.pop_back(); }));
  EXPECT_TRUE(refused([](GlbModel& s) { s.objects[0].targets[0].displacements.pop_back(); }));
  EXPECT_TRUE(refused([](GlbModel& s) { s.objects[0].surface.triangles[0][0] = 1000; }));
  EXPECT_TRUE(
      refused([](GlbModel& s) { s.objects[0].surface.vertices[0][0] = std::numeric_limits<double>::quiet_NaN(); }));
  EXPECT_TRUE(refused([](GlbModel& s) { s.clips[0].tracks[0].times[1] = 0; }));
  EXPECT_TRUE(refused([](GlbModel& s) { s.clips[0].tracks[0].weights.pop_back(); }));
  EXPECT_TRUE(refused([](GlbModel& s) { s.clips[0].tracks[0].object = 7; }));
  EXPECT_TRUE(refused([](GlbModel& s) { s.objects[0].surface.triangles.clear(); }));
}

}  // namespace
}  // namespace supple::glb_test
