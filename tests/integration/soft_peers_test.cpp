// SPDX-License-Identifier: Apache-2.0
// Soft motion as other people's programs play it: three.js moves the vertices of the written file to where skin plus
// displacement is, reads the textures, and the Khronos validator finds no error.
#include "integration/peers.h"
#include "integration/pose_file.h"
#include "supple/export/write_soft_glb.h"
#include "supple/io/bytes.h"
#include "supple/io/file.h"
#include "supple/io/image/exr.h"
#include "support/soft_motions.h"

#include <map>

namespace supple::soft_peers_test {
namespace {

struct Baked {
  GltfDocument source;
  RawCharacter character;
  std::vector<SoftClip> clips;
  FormulaFrames::Formula wobble;
  SoftGlbReport report;
};

Baked bake(const fs::path& file, const fs::path& target, std::size_t most_clips, int frames_per_clip,
           const SoftOutput& output) {
  Baked baked;
  baked.source = load_gltf(file).value();
  baked.character = read_character(baked.source, {.require_skin = false}).value();
  for (std::size_t c = 0; c < std::min(most_clips, baked.character.clips.size()); ++c)
    baked.clips.push_back(even_frames(baked.character, static_cast<Index>(c), frames_per_clip));
  PosedMeshes posed(baked.character, {});
  baked.wobble = world_wobble(baked.character, 0.02 * character_height(posed));
  FormulaFrames frames(baked.clips, baked.wobble);
  baked.report = write_soft_glb(target, baked.source, {&baked.character, {}, baked.clips, &frames}, output).value();
  return baked;
}

/// The largest distance between three.js's vertices and skin plus displacement.
double error_of(const Baked& baked, const ThreePose& pose) {
  const CharacterRig rig = CharacterRig::create(baked.character).value();
  const auto clip = static_cast<Index>(pose.clip);
  const std::vector<Vec3> skinned = rig_positions(baked.character, rig, clip, pose.time);
  std::map<Index, std::size_t> mesh_of_node;
  for (std::size_t m = 0; m < baked.character.meshes.size(); ++m)
    mesh_of_node[baked.character.file_node[to_size(baked.character.meshes[m].node)]] = m;
  double largest = 0;
  for (const ThreeMesh& mesh : pose.meshes) {
    const std::size_t m = mesh_of_node.at(static_cast<Index>(mesh.node));
    const std::vector<Index>& welded = baked.character.meshes[m].welded_vertex.at(mesh.primitive);
    EXPECT_EQ(welded.size(), mesh.positions.size());
    for (std::size_t i = 0; i < welded.size(); ++i) {
      const auto v = to_size(rig.first_vertex()[m] + welded[i]);
      largest = std::max(largest, (skinned[v] + baked.wobble(clip, pose.time, v) - mesh.positions[i]).norm());
    }
  }
  return largest;
}

TEST_F(GltfPeers, SoftMotionPlaysInThreeJs) {
  const std::vector<std::pair<const char*, std::size_t>> files = {{"khr_fox/Fox.glb", 3},
                                                                  {"khr_cesiumman_draco/CesiumMan.gltf", 1},
                                                                  {"khr_morphcube_quantized/AnimatedMorphCube.gltf", 1},
                                                                  {"bab_alien_morph/Alien.gltf", 1},
                                                                  {"farm_cow/Cow.gltf", 2},
                                                                  {"three_robotexpressive/RobotExpressive.glb", 3}};
  for (const auto& [name, clips] : files) {
    if (!fs::exists(rigged / name)) continue;
    const fs::path target = folder / "soft.glb", out = folder / "poses.bin";
    const Baked baked = bake(rigged / name, target, clips, 121, {});
    const Ran valid = node("validate.mjs", target.string());
    EXPECT_EQ(valid.code, 0) << name << "\n" << valid.output;
    const Ran ran = node("three_positions.mjs", fmt::format("{} {} 10", target.string(), out.string()));
    ASSERT_EQ(ran.code, 0) << name << "\n" << ran.output;
    double largest = 0;
    for (const ThreePose& pose : read_poses(*read_file(out)))
      if (pose.clip < clips) largest = std::max(largest, error_of(baked, pose));
    const CompressionReport& report = baked.report.compression;
    EXPECT_TRUE(report.within_tolerance()) << name;
    // between the frames matrices turn while weights run straight
    EXPECT_LT(largest, 1.1 * report.tolerance) << name;
    fmt::print("{:<48} {:>3} targets, largest distance {:.3f} % of the height, {} kB\n", name, report.targets,
               100 * largest / report.height, baked.report.bytes / 1000);
  }
}

TEST_F(GltfPeers, HelperBonesPlayInThreeJs) {
  for (const char* name : {"khr_fox/Fox.glb", "khr_cesiumman_draco/CesiumMan.gltf", "quat_trex/Trex.glb"}) {
    if (!fs::exists(rigged / name)) continue;
    const fs::path target = folder / "bones.glb", out = folder / "poses.bin";
    // three.js is asked at odd twentieths of the clip, which are frames.
    const Baked baked = bake(rigged / name, target, 1, 21, {.helper_bones = true});
    const Ran valid = node("validate.mjs", target.string());
    EXPECT_EQ(valid.code, 0) << name << "\n" << valid.output;
    const Ran ran = node("three_positions.mjs", fmt::format("{} {} 10", target.string(), out.string()));
    ASSERT_EQ(ran.code, 0) << name << "\n" << ran.output;
    double largest = 0;
    for (const ThreePose& pose : read_poses(*read_file(out)))
      if (pose.clip == 0) largest = std::max(largest, error_of(baked, pose));
    const HelperBoneReport& report = baked.report.bones;
    EXPECT_LT(largest, 1.02 * report.largest_error + 1e-4 * report.height) << name;
    fmt::print("{:<40} {:>3} bones, largest distance {:.2f} %, reported {:.2f} %, rms {:.3f} % of the height\n", name,
               report.bones, 100 * largest / report.height, 100 * report.largest_error / report.height,
               100 * report.rms_error / report.height);
  }
}

TEST_F(GltfPeers, ThreeJsReadsOurExr) {
  for (const ExrPrecision precision : {ExrPrecision::half, ExrPrecision::single}) {
    const fs::path file = folder / "a.exr", out = folder / "pixels.bin";
    const auto pixel = [](std::uint32_t x, std::uint32_t y) { return Vec3(x, -0.5 * y, 0.25 * (x + y)); };
    ExrWriter writer = ExrWriter::open(file, 37, 11, precision).value();
    for (std::uint32_t y = 0; y < 11; ++y) {
      std::vector<Vec3> row;
      for (std::uint32_t x = 0; x < 37; ++x) row.push_back(pixel(x, y));
      ASSERT_TRUE(writer.add_row(row).ok());
    }
    ASSERT_TRUE(writer.finish().ok());
    const Ran ran = node("three_exr.mjs", fmt::format("{} {}", file.string(), out.string()));
    ASSERT_EQ(ran.code, 0) << ran.output;
    const std::string bytes = read_file(out).value();
    ByteReader reader(bytes);
    std::uint32_t width = 0, height = 0;
    ASSERT_TRUE(reader.read(width) && reader.read(height));
    ASSERT_EQ(width, 37u);
    ASSERT_EQ(height, 11u);
    for (std::uint32_t y = 0; y < height; ++y) {
      for (std::uint32_t x = 0; x < width; ++x) {
        float r = 0, g = 0, b = 0;
        ASSERT_TRUE(reader.read(r) && reader.read(g) && reader.read(b));
        ASSERT_EQ(Vec3(r, g, b), pixel(x, y)) << x << " " << y;
      }
    }
  }
}

}  // namespace
}  // namespace supple::soft_peers_test
