// SPDX-License-Identifier: Apache-2.0
// The written file plays what was baked, through our own reader and rig; what was in the file before stays.
#include "supple/export/write_soft_glb.h"

#include "io/gltf_builder.h"
#include "io/io_tools.h"
#include "supple/io/file.h"
#include "supple/io/gltf/gltf_accessor.h"
#include "supple/io/gltf/write_character.h"
#include "support/rigs.h"
#include "support/soft_motions.h"

#include <fmt/format.h>

namespace supple::write_soft_glb_test {
namespace {

using test::GltfBuilder;
using test::Json;

const std::filesystem::path rigged = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets/rigged";

/// Bakes a wobble into some clips of a file and plays it back at frames and between them.
void expect_plays(const std::filesystem::path& file, std::vector<Index> chosen, const std::filesystem::path& target) {
  const GltfDocument source = load_gltf(file).value();
  const RawCharacter character = read_character(source, {.require_skin = false}).value();
  std::vector<SoftClip> clips;
  for (const Index clip : chosen) clips.push_back(even_frames(character, clip, 61));
  PosedMeshes posed(character, {});
  const double height = character_height(posed);
  const auto wobble = world_wobble(character, 0.02 * height);
  FormulaFrames frames(clips, wobble);
  const Result<SoftGlbReport> report = write_soft_glb(target, source, {&character, {}, clips, &frames});
  ASSERT_TRUE(report.ok()) << report.error().message;
  const CompressionReport& figures = report->compression;
  fmt::print(
      "{:<28} {:>5} vertices {:>3} targets, error {:.3f} % of the height, rms {:.4f} %, unreachable {:.4f} %, "
      "normals rms {:.2f}° 99 % {:.1f}°, {} keys of {}, {} kB\n",
      file.filename().string(), posed.vertex_count(), figures.targets, 100 * figures.largest_error / height,
      100 * figures.rms_error / height, 100 * figures.unreachable / height, figures.normal_rms, figures.normal_99,
      figures.keys, figures.frames, report->bytes / 1000);
  EXPECT_TRUE(figures.within_tolerance()) << file;
  const RawCharacter played = read_character(load_gltf(target).value(), {.require_skin = false}).value();
  for (const SoftClip& clip : clips) {
    for (const double share : {0.0, 0.1, 0.35, 0.501, 0.7777, 1.0}) {
      const double time = share * clip.times.back();
      const double error = playback_error(character, clip.clip, played, clip.clip, time,
                                          [&](std::size_t v) { return wobble(clip.clip, time, v); });
      // Between frames matrices turn while weights run straight.
      EXPECT_LT(error, 1.5 * figures.tolerance + figures.unreachable) << file << " clip " << clip.clip << " " << share;
    }
  }
}

TEST(WriteSoftGlb, CharactersOfAllKindsPlay) {
  if (!std::filesystem::exists(rigged)) GTEST_SKIP() << "no asset collection at " << rigged;
  const ScratchFolder folder;
  expect_plays(rigged / "khr_fox/Fox.glb", {0, 1}, folder / "fox.glb");
  expect_plays(rigged / "khr_cesiumman_draco/CesiumMan.gltf", {0}, folder / "draco.glb");
  expect_plays(rigged / "khr_morphcube_quantized/AnimatedMorphCube.gltf", {0}, folder / "quantized.glb");
  expect_plays(rigged / "three_robotexpressive/RobotExpressive.glb", {0, 2}, folder / "robot.glb");
  expect_plays(rigged / "khr_meshoptcube/MeshoptCubeTest.gltf", {0}, folder / "meshopt.glb");
  expect_plays(rigged / "bab_alien_morph/Alien.gltf", {0}, folder / "alien.glb");
}

/// Two nodes that show one morphing mesh, moved by one sampler.
GltfBuilder shared_morphs(const std::string& interpolation) {
  GltfBuilder b;
  b.root["nodes"] = Json::parse(R"([{"name": "left"}, {"name": "right", "translation": [3, 0, 0]}])");
  b.root["scenes"][0]["nodes"] = {0, 1};
  Json& primitive = b.primitive({0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0});
  primitive["attributes"]["NORMAL"] = b.vectors({0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1});
  primitive["targets"] =
      Json::array({{{"POSITION", b.vectors({0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5, 0, 0, 0})}}});
  b.root["meshes"][0]["weights"] = {0.25};
  b.root["nodes"][1]["mesh"] = 0;
  const bool cubic = interpolation == "CUBICSPLINE";
  const std::size_t input = b.floats({0, 0.5, 1}, "SCALAR", 1);
  b.root["accessors"][input]["min"] = {0};
  b.root["accessors"][input]["max"] = {1};
  const std::size_t output =
      cubic ? b.floats({0, 0, 2, -1, 1, 1, 0, 0.3f, 0}, "SCALAR", 1) : b.floats({0, 1, 0.3f}, "SCALAR", 1);
  b.root["animations"] = Json::array(
      {{{"samplers", Json::array({{{"input", input}, {"output", output}, {"interpolation", interpolation}}})},
        {"channels", Json::array({{{"sampler", 0}, {"target", {{"node", 0}, {"path", "weights"}}}},
                                  {{"sampler", 0}, {"target", {{"node", 1}, {"path", "weights"}}}}})}}});
  return b;
}

TEST(WriteSoftGlb, ExistingMorphsGoOnPlaying) {
  for (const std::string interpolation : {"LINEAR", "STEP", "CUBICSPLINE"}) {
    const GltfDocument source = parse_gltf(shared_morphs(interpolation).glb(), "morphs.glb", {}).value();
    const RawCharacter character = read_character(source, {.require_skin = false}).value();
    ASSERT_EQ(character.meshes.size(), 2u);
    const std::vector<SoftClip> clips = {even_frames(character, 0, 41)};
    // Only the second place moves softly: the first keeps its mesh.
    const auto formula = [](Index, double time, std::size_t v) {
      return Vec3(v < 4 ? Vec3(Vec3::Zero()) : Vec3(0.1 * time, 0.05 * static_cast<double>(v), 0.1 * time * time));
    };
    FormulaFrames frames(clips, formula);
    const SoftMotion motion{&character, {}, clips, &frames};
    const CompressedMotion compressed = compress_motion(motion, {.tolerance = 1e-3}).value();
    EXPECT_EQ(compressed.meshes[0].target_count(), 0);
    EXPECT_GT(compressed.meshes[1].target_count(), 0);
    GltfDocument document = source;
    ASSERT_TRUE(add_soft_targets(document, motion, compressed).ok());
    const Result<GltfDocument> back = parse_gltf(encode_glb(document), "back.glb", {});
    ASSERT_TRUE(back.ok()) << back.error().message;
    const RawCharacter played = read_character(*back, {.require_skin = false}).value();
    EXPECT_EQ(played.meshes[0].targets.size(), 1u);
    EXPECT_EQ(played.meshes[1].targets.size(), 1u + to_size(compressed.meshes[1].target_count()));
    EXPECT_EQ(played.meshes[1].default_target_weights[0], 0.25);
    for (const double time : {0.0, 0.2, 0.49, 0.5, 0.51, 0.77, 1.0}) {
      const double error =
          playback_error(character, 0, played, 0, time, [&](std::size_t v) { return formula(0, time, v); });
      // eight lines for a cubic
      EXPECT_LT(error, interpolation == "CUBICSPLINE" ? 0.006 : 0.0011) << interpolation << " " << time;
    }
  }
}

TEST(WriteSoftGlb, HardEdgesKeepTheirNormals) {
  // Two squares that share an edge, folded by a right angle, each with its own normals along it.
  GltfBuilder b;
  Json& primitive =
      b.primitive({0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, /* the wall */ 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1});
  primitive["indices"] = b.indices({0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7});
  primitive["attributes"]["NORMAL"] =
      b.vectors({0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0});
  const std::size_t input = b.floats({0, 1}, "SCALAR", 1);
  b.root["accessors"][input]["min"] = {0};
  b.root["accessors"][input]["max"] = {1};
  b.root["animations"] = Json::array(
      {{{"samplers", Json::array({{{"input", input}, {"output", b.vectors({0, 0, 0, 0, 0, 0})}}})},
        {"channels", Json::array({{{"sampler", 0}, {"target", {{"node", 0}, {"path", "translation"}}}}})}}});
  const GltfDocument source = parse_gltf(b.glb(), "corner.glb", {}).value();
  const RawCharacter character = read_character(source, {.require_skin = false}).value();
  const std::vector<Vec3>& rest = character.meshes[0].surface.vertices;
  // The whole corner turns by five degrees about the shared edge: all normals turn with it.
  const std::vector<SoftClip> clips = {even_frames(character, 0, 30)};
  const auto angle = [](double time) { return time * 5 * std::numbers::pi / 180; };
  FormulaFrames frames(clips, [&](Index, double time, std::size_t v) {
    return Vec3(Eigen::AngleAxisd(angle(time), Vec3::UnitY()) * rest[v] - rest[v]);
  });
  const SoftMotion motion{&character, {}, clips, &frames};
  const CompressedMotion compressed = compress_motion(motion, {.tolerance = 1e-3}).value();
  ASSERT_GT(compressed.report.targets, 0);
  EXPECT_LT(compressed.report.normal_largest, 0.3);
  GltfDocument document = source;
  ASSERT_TRUE(add_soft_targets(document, motion, compressed).ok());
  const GltfJson& written = document.content().root["meshes"][0]["primitives"][0];
  std::vector<double> weights(to_size(compressed.report.targets));
  compressed.meshes[0].curves[0].sample(1.0, weights);
  std::vector<double> normals = accessor_numbers(document.content(), written["attributes"]["NORMAL"]);
  for (std::size_t t = 0; t < weights.size(); ++t) {
    const std::vector<double> change = accessor_numbers(document.content(), written["targets"][t]["NORMAL"]);
    for (std::size_t i = 0; i < normals.size(); ++i) normals[i] += weights[t] * change[i];
  }
  const auto turned = Eigen::AngleAxisd(angle(1.0), Vec3::UnitY());
  for (std::size_t v = 0; v < 8; ++v) {
    const Vec3 played = Vec3(normals[3 * v], normals[3 * v + 1], normals[3 * v + 2]).normalized();
    EXPECT_LT((played - turned * (v < 4 ? Vec3::UnitZ() : Vec3::UnitX())).norm(), 0.005) << v;
  }
}

TEST(WriteSoftGlb, ClipsOfOtherFilesBecomeAnimations) {
  const std::filesystem::path file = rigged / "sumerian_cristine/cristine.gltf";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no asset collection at " << rigged;
  const GltfDocument source = load_gltf(file).value();
  RawCharacter character = read_character(source).value();
  std::vector<std::string> warnings;
  const GltfDocument other = load_gltf(file.parent_path() / "anim_stand_idle.glb").value();
  const std::vector<Clip> more = read_clips(other, character, warnings).value();
  const auto first = static_cast<Index>(character.clips.size());
  character.clips.insert(character.clips.end(), more.begin(), more.end());
  const std::vector<SoftClip> clips = {even_frames(character, first, 24)};
  const auto wobble = world_wobble(character, 0.02);
  FormulaFrames frames(clips, wobble);
  const ScratchFolder folder;
  const Result<SoftGlbReport> report = write_soft_glb(folder / "a.glb", source, {&character, {}, clips, &frames},
                                                      {.compression = {.share_of_height = 2e-3}});
  ASSERT_TRUE(report.ok()) << report.error().message;
  const RawCharacter played = read_character(load_gltf(folder / "a.glb").value()).value();
  ASSERT_EQ(played.clips.size(), to_size(first) + 1);
  EXPECT_EQ(played.clips.back().name, more[0].name);
  for (const std::size_t f : {0u, 11u, 23u}) {
    const double time = clips[0].times[f];
    EXPECT_LT(
        playback_error(character, first, played, first, time, [&](std::size_t v) { return wobble(first, time, v); }),
        report->compression.tolerance + 1e-5)
        << f;
  }
}

/// A small mesh that moves in more ways than a small file has room for: the fewest bits are not enough.
TEST(WriteSoftGlb, PackedFilesOfSmallCharactersStaySmall) {
  RawCharacter tube = make_tube(3, 12, 8, 2.0, 0.3, 2);
  tube.clips = {
      {"still", 1.2, {{1, ChannelTarget::translation, Interpolation::linear, 3, {0, 1.2}, {0, 0.5, 0, 0, 0.5, 0}}}}};
  const GltfDocument source = character_document(tube).value();
  const RawCharacter character = read_character(source).value();
  const std::vector<Vec3> rest = rest_positions(character);
  const std::vector<SoftClip> clips = {even_frames(character, 0, 37)};
  FormulaFrames frames(clips, [&](Index, double time, std::size_t v) {
    Vec3 u = Vec3::Zero();
    for (int k = 1; k <= 40; ++k) {
      const double field =
          std::sin((1 + 0.37 * k) * rest[v].y() + 2.1 * k + (1 + k % 5) * std::atan2(rest[v].z(), rest[v].x()));
      u += 0.02 * field * std::sin(2 * std::numbers::pi * (1 + 0.43 * k) * time + k) * Vec3(1, k % 3 - 1, k % 2);
    }
    return u;
  });
  const ScratchFolder folder;
  SoftOutput output;
  output.compression = {.share_of_height = 1e-3, .most_targets = 24};
  output.packing = GltfPacking::meshopt;
  const SoftGlbReport report =
      write_soft_glb(folder / "packed.glb", source, {&character, {}, clips, &frames}, output).value();
  const double times = static_cast<double>(report.bytes) / static_cast<double>(encode_glb(source).size());
  fmt::print("packed: {:.2f} times the source, {} targets\n", times, report.compression.targets);
  EXPECT_LT(times, 1.5);
  EXPECT_LT(report.compression.targets, 24);
  EXPECT_GE(report.compression.targets, 4);
}

TEST(WriteSoftGlb, AFailedBakeLeavesTheOldFile) {
  const ScratchFolder folder;
  const auto path = folder.write("soft.glb", "old");
  const GltfDocument source = parse_gltf(shared_morphs("LINEAR").glb(), "morphs.glb", {}).value();
  const RawCharacter character = read_character(source, {.require_skin = false}).value();
  const std::vector<SoftClip> clips = {even_frames(character, 0, 5)};
  FormulaFrames frames(clips, [](Index, double, std::size_t) { return Vec3(Vec3::Constant(std::nan(""))); });
  EXPECT_FALSE(write_soft_glb(path, source, {&character, {}, clips, &frames}).ok());
  EXPECT_EQ(read_file(path).value(), "old");
  EXPECT_EQ(folder.file_count(), 1u);
}

}  // namespace
}  // namespace supple::write_soft_glb_test
