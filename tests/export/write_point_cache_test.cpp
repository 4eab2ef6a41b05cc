// SPDX-License-Identifier: Apache-2.0
// Point caches and textures hold skin plus displacement, in the order of the file's vertices.
#include "supple/export/write_point_cache.h"

#include "io/io_tools.h"
#include "supple/io/gltf/read_character.h"
#include "supple/io/motion/mdd.h"
#include "supple/io/motion/pc2.h"
#include "supple/mesh/normals.h"
#include "support/exr_reader.h"
#include "support/png_reader.h"
#include "support/soft_motions.h"

#include <nlohmann/json.hpp>

namespace supple::write_point_cache_test {
namespace {

const std::filesystem::path fox = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets/rigged/khr_fox/Fox.glb";

class PointCaches : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(fox)) GTEST_SKIP() << "no asset collection at " << fox;
    character = read_character(load_gltf(fox).value()).value();
    clips = {even_frames(character, 1, 9)};
    wobble = world_wobble(character, 2.0);
    frames = std::make_unique<FormulaFrames>(clips, wobble);
  }
  SoftMotion motion() const { return {&character, {}, clips, frames.get()}; }

  /// By the rig, in file order.
  std::vector<Vec3> expected(std::size_t f) const {
    const CharacterRig rig = CharacterRig::create(character).value();
    const std::vector<Vec3> skinned = rig_positions(character, rig, 1, clips[0].times[f]);
    std::vector<Vec3> result;
    for (const Index v : character.meshes[0].welded_vertex[0])
      result.push_back(skinned[to_size(v)] + wobble(1, clips[0].times[f], to_size(v)));
    return result;
  }
  static double largest(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
    EXPECT_EQ(a.size(), b.size());
    double most = 0;
    for (std::size_t v = 0; v < std::min(a.size(), b.size()); ++v) most = std::max(most, (a[v] - b[v]).norm());
    return most;
  }

  ScratchFolder folder;
  RawCharacter character;
  std::vector<SoftClip> clips;
  FormulaFrames::Formula wobble;
  std::unique_ptr<FormulaFrames> frames;
};

TEST_F(PointCaches, Pc2AndMddHoldTheFinalPositions) {
  const auto files = write_point_caches(folder.path(), motion(), {CacheFormat::pc2, 24}).value();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].filename(), "Walk.fox1.pc2");
  const PointCache cache = load_pc2(files[0]).value();
  ASSERT_EQ(cache.samples.size(), 9u);
  EXPECT_NEAR(cache.header.frames_per_sample, 24 * clips[0].times[1], 1e-5);
  const auto mdd = write_point_caches(folder.path(), motion(), {CacheFormat::mdd}).value();
  const MddCache other = load_mdd(mdd.at(0)).value();
  for (const std::size_t f : {0u, 4u, 8u}) {
    EXPECT_LT(largest(cache.samples[f], expected(f)), 1e-4);  // the fox is 79 units tall
    EXPECT_LT(largest(other.frames[f], expected(f)), 1e-4);
    EXPECT_NEAR(other.times[f], clips[0].times[f], 1e-6);
  }
}

TEST_F(PointCaches, FramesThatOnlyCheckAreLeftOut) {
  clips[0].written_every = 3;  // of nine frames: the first, fourth, seventh, and the last
  const auto files = write_point_caches(folder.path(), motion(), {CacheFormat::mdd}).value();
  const MddCache cache = load_mdd(files.at(0)).value();
  ASSERT_EQ(cache.frames.size(), 4u);
  EXPECT_LT(largest(cache.frames[1], expected(3)), 1e-4);
  EXPECT_LT(largest(cache.frames[3], expected(8)), 1e-4);
  EXPECT_NEAR(cache.times[3], clips[0].times[8], 1e-6);
}

TEST_F(PointCaches, TheTextureIsWhatItsDescriptionSays) {
  const auto files = write_point_caches(folder.path(), motion(), {CacheFormat::texture}).value();
  ASSERT_EQ(files.size(), 3u);
  const auto json = nlohmann::json::parse(read_file(files[2]).value());
  const ExrImage position = decode_exr(read_file(folder / json["position"].get<std::string>()).value());
  const ExrImage normal = decode_exr(read_file(folder / json["normal"].get<std::string>()).value());
  EXPECT_EQ(json["width"], position.width);
  EXPECT_EQ(json["height"], position.height);
  EXPECT_EQ(json["clip"], "Walk");
  const int width = json["width"], rows = json["rows_per_frame"], count = json["vertices"];
  EXPECT_EQ(json["primitives"][0]["vertices"], count);
  EXPECT_EQ(position.height, 9 * rows);
  EXPECT_NEAR(json["frame_rate"].get<double>(), 1 / clips[0].times[1], 1e-6);
  for (const std::size_t f : {0u, 5u}) {
    std::vector<Vec3> positions, normals;
    for (int v = 0; v < count; ++v) {
      const int x = v % width, y = static_cast<int>(f) * rows + v / width;
      positions.push_back(position.at(x, y));
      normals.push_back(normal.at(x, y));
    }
    EXPECT_LT(largest(positions, expected(f)), 1e-4);
    // Normals: those of the surface in the texture itself, seams welded.
    std::vector<Vec3> welded(character.meshes[0].surface.vertices.size());
    const std::vector<Index>& welding = character.meshes[0].welded_vertex[0];
    for (std::size_t i = 0; i < positions.size(); ++i) welded[to_size(welding[i])] = positions[i];
    const std::vector<Vec3> smooth = vertex_normals(character.meshes[0].surface.triangles, welded);
    for (std::size_t i = 0; i < normals.size(); ++i) ASSERT_LT((normals[i] - smooth[to_size(welding[i])]).norm(), 2e-3);
    for (const Vec3& p : positions)
      for (int i = 0; i < 3; ++i) {
        ASSERT_GE(p[i], json["bounds"]["min"][to_size(i)].get<double>() - 1e-4);
        ASSERT_LE(p[i], json["bounds"]["max"][to_size(i)].get<double>() + 1e-4);
      }
  }
}

TEST_F(PointCaches, ThePngTextureHasTheSameWithinARangeSixteenBitsCover) {
  const auto files = write_point_caches(folder.path(), motion(), {CacheFormat::texture_png}).value();
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[0].filename(), "Walk.fox1.position.png");
  const auto json = nlohmann::json::parse(read_file(files[2]).value());
  const DeepPng position = decode_deep_png(read_file(folder / json["position"].get<std::string>()).value());
  const DeepPng normal = decode_deep_png(read_file(folder / json["normal"].get<std::string>()).value());
  const auto number = [&](const char* image, const char* end, int i) {
    return json["range"][image][end][to_size(i)].get<double>();
  };
  const auto value = [&](const DeepPng& from, const char* image, std::size_t x, std::size_t y) {
    Vec3 result;
    for (int i = 0; i < 3; ++i)
      result[i] =
          number(image, "min", i) + from.at(x, y)[i] / 65535 * (number(image, "max", i) - number(image, "min", i));
    return result;
  };
  ASSERT_EQ(position.width, json["width"].get<std::size_t>());
  ASSERT_EQ(position.height, json["height"].get<std::size_t>());
  double half_step = 0;
  for (int i = 0; i < 3; ++i)
    half_step += std::pow((number("position", "max", i) - number("position", "min", i)) / (2 * 65535), 2);
  const std::size_t width = position.width, rows = json["rows_per_frame"].get<std::size_t>();
  const std::vector<Index>& welding = character.meshes[0].welded_vertex[0];
  for (const std::size_t f : {0u, 5u, 8u}) {
    const std::vector<Vec3> wanted = expected(f);
    std::vector<Vec3> positions, welded(character.meshes[0].surface.vertices.size());
    for (std::size_t v = 0; v < wanted.size(); ++v) {
      positions.push_back(value(position, "position", v % width, f * rows + v / width));
      welded[to_size(welding[v])] = wanted[v];
    }
    EXPECT_LT(largest(positions, wanted), std::sqrt(half_step) + 1e-6);
    const std::vector<Vec3> smooth = vertex_normals(character.meshes[0].surface.triangles, welded);
    for (std::size_t v = 0; v < wanted.size(); ++v)
      ASSERT_LT((value(normal, "normal", v % width, f * rows + v / width) - smooth[to_size(welding[v])]).norm(), 5e-5);
  }
}

TEST_F(PointCaches, AStoppedWriteLeavesNothing) {
  struct Stop final : Progress {
    void stage(std::string_view) override {}
    void update(double fraction) override { far = fraction > 0.4; }
    bool cancelled() const override { return far; }
    bool far = false;
  } stop;
  for (const CacheFormat format : {CacheFormat::texture, CacheFormat::texture_png}) {
    stop.far = false;
    EXPECT_FALSE(write_point_caches(folder.path(), motion(), {format}, stop).ok());
    EXPECT_EQ(folder.file_count(), 0u);
  }
}

}  // namespace
}  // namespace supple::write_point_cache_test
