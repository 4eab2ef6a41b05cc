// SPDX-License-Identifier: Apache-2.0
// A triangle whose corner is lifted by a morph target, halfway through a clip: how far and when is known exactly.
#include "gallery/gallery.h"
#include "gallery/preview.h"
#include "io/gltf_builder.h"
#include "supple/io/file.h"
#include "supple/io/gltf/gltf_content.h"
#include "supple/io/gltf/gltf_editor.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace supple::comparison_test {
namespace {

namespace fs = std::filesystem;
using test::GltfBuilder;

class ComparisonTest : public testing::Test {
 protected:
  void SetUp() override {
    folder = fs::temp_directory_path() / ("supple_comparison_" + std::to_string(::getpid()));
    fs::create_directories(folder);
    // The knee turns about z; the first corner hangs on the hip alone and stays.
    GltfBuilder b = GltfBuilder::skinned_triangle();
    const std::size_t times = b.floats({0, 1}, "SCALAR", 1);
    b.root["accessors"][times]["min"] = {0};
    b.root["accessors"][times]["max"] = {1};
    const std::size_t turns = b.floats({0, 0, 0, 1, 0, 0, 0.6f, 0.8f}, "VEC4", 4);
    b.root["animations"] = test::Json::array(
        {{{"name", "bend"},
          {"samplers", test::Json::array({{{"input", times}, {"output", turns}}})},
          {"channels", test::Json::parse(R"([{"sampler": 0, "target": {"node": 2, "path": "rotation"}}])")}}});
    ASSERT_TRUE(write_file_atomically(rigid(), b.glb()).ok());
    GltfDocument document = load_gltf(rigid()).value();
    const NewMorphTarget lift{"lift", {{Vec3(0, 0, 0.1), Vec3::Zero(), Vec3::Zero()}}, {}};
    ASSERT_TRUE(add_morph_targets(document, 0, {lift}).ok());
    ASSERT_TRUE(set_weight_channel(document, 0, 0, {0, 0.5, 1}, {0, 1, 0}).ok());
    ASSERT_TRUE(save_gltf(document, soft()).ok());
  }
  void TearDown() override { fs::remove_all(folder); }

  fs::path rigid() const { return folder / "rigid.glb"; }
  fs::path soft() const { return folder / "soft.glb"; }
  static Result<Comparison> compared(const fs::path& a, const fs::path& b) {
    return Comparison::create(PlayedCharacter::load(a).value(), PlayedCharacter::load(b).value());
  }

  fs::path folder;
};

TEST_F(ComparisonTest, FindsTheMomentAndTheSizeOfTheLargestDisplacement) {
  const Result<Comparison> both = compared(rigid(), soft());
  ASSERT_TRUE(both.ok()) << both.error().message;
  EXPECT_DOUBLE_EQ(both->rigid().height(), 2.0);  // the third corner stands one above the knee, which is at one
  const Result<Comparison::Moment> moment = both->most_displaced(20);
  ASSERT_TRUE(moment.ok()) << moment.error().message;
  EXPECT_NEAR(moment->largest, 0.1 / 2, 1e-7);  // the file holds single precision
  EXPECT_DOUBLE_EQ(moment->time, 0.5);
  EXPECT_EQ(both->clips()[moment->clip].name, "bend");
  const std::vector<double> distances = Comparison::displacement(both->at(0, 0.25));
  ASSERT_EQ(distances.size(), 3u);
  EXPECT_NEAR(distances[0], 0.05, 1e-7);
  EXPECT_NEAR(distances[1] + distances[2], 0, 1e-12);
}

TEST_F(ComparisonTest, AFileBesideItselfIsNotDisplaced) {
  const Result<Comparison> both = compared(rigid(), rigid());
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->most_displaced(10)->largest, 0);
}

TEST_F(ComparisonTest, FilesOfOtherMeshesAreRefused) {
  GltfBuilder b = GltfBuilder::skinned_triangle();
  b.root["nodes"][0].erase("skin");
  b.root.erase("skins");
  b.primitive({0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1});
  ASSERT_TRUE(write_file_atomically(folder / "other.glb", b.glb()).ok());
  const Result<Comparison> both = compared(rigid(), folder / "other.glb");
  ASSERT_FALSE(both.ok());
  EXPECT_EQ(both.error().kind, ErrorKind::input);
}

/// Helpers have taken weights from joints: without their motion skin is where no character has it.
TEST_F(ComparisonTest, TheRigidTwinOfHelperBonesIsAskedFor) {
  GltfDocument document = load_gltf(rigid()).value();
  document.content().root["nodes"][2]["name"] = "soft_knee_00";
  ASSERT_TRUE(save_gltf(document, soft()).ok());
  const Result<PlayedCharacter> twin = PlayedCharacter::load_rigid(soft());
  ASSERT_FALSE(twin.ok());
  EXPECT_EQ(twin.error().kind, ErrorKind::input);
  EXPECT_NE(twin.error().message.find("helper bones"), std::string::npos);
}

TEST_F(ComparisonTest, DrawsASheetAndAFilm) {
  Result<Offscreen> offscreen = Offscreen::create();
  if (!offscreen.ok()) GTEST_SKIP() << offscreen.error().message;
  const std::vector<GalleryPair> pairs = {{"one", rigid(), soft()}, {"two", rigid(), folder / "none.glb"}};
  GallerySettings settings;
  settings.width = 64;
  settings.height = 48;
  const Result<Gallery> gallery = make_gallery(*offscreen, pairs, settings, [](const GalleryRow&) {});
  ASSERT_TRUE(gallery.ok()) << gallery.error().message;
  ASSERT_EQ(gallery->rows.size(), 2u);
  EXPECT_TRUE(gallery->rows[0].fault.empty());
  EXPECT_NEAR(gallery->rows[0].largest, 0.1 / 2 * 14 / 15, 1e-7);  // 7/15 s is the nearest to the peak at 1/2 s
  EXPECT_EQ(gallery->rows[1].fault, "not baked");
  EXPECT_GT(gallery->sheet.width, 6 * 64);

  PreviewSettings film;
  film.width = film.height = 48;
  film.frame_rate = 10;
  const Result<Preview> preview =
      make_preview(*offscreen, *compared(rigid(), soft()), film, [](std::size_t, std::size_t) {});
  ASSERT_TRUE(preview.ok()) << preview.error().message;
  ASSERT_EQ(preview->frames.size(), 10u);
  EXPECT_EQ(preview->frames[0].width, 3 * 48);  // rigid, soft, and the map
  EXPECT_NE(preview->frames[0].rgba, preview->frames[5].rgba);
  film.clip = "bent";
  EXPECT_EQ(make_preview(*offscreen, *compared(rigid(), soft()), film, {}).error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace supple::comparison_test
