// SPDX-License-Identifier: Apache-2.0
// Every rigged character of the asset collection against other people's programs: three.js puts its vertices where we
// do, and the Khronos validator finds no error in what we write. Both come from npm; without it the tests are skipped.
// What is drawn is looked at in headless Chromium.
#include "integration/peers.h"
#include "integration/pose_file.h"
#include "integration/wobble.h"
#include "supple/io/file.h"
#include "supple/io/gltf/read_character.h"
#include "supple/io/motion/pc2.h"
#include "supple/rig/character_rig.h"
#include "supple/rig/rig.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

namespace supple::gltf_peers_test {
namespace {

TEST_F(GltfPeers, TheValidatorFindsNoErrorInWhatWeWrite) {
  for (const fs::path& file : character_files()) {
    const fs::path target = rewritten(file);
    const Ran ran = node("validate.mjs", target.string());
    EXPECT_EQ(ran.code, 0) << file << "\n" << ran.output;
  }
}

/// The largest distance between our vertices and three.js's, as a part of the character's height.
class Comparison {
 public:
  explicit Comparison(const RawCharacter& character, const CharacterRig& rig) : character_(character), rig_(rig) {
    for (std::size_t m = 0; m < character.meshes.size(); ++m)
      mesh_of_node_[character.file_node[to_size(character.meshes[m].node)]] = m;
  }

  double error(const ThreePose& theirs, const std::vector<Clip>& clips) {
    CharacterPose pose = rig_.neutral();
    if (theirs.clip < clips.size()) rig_.sample(clips[theirs.clip], theirs.time, ClipWrap::hold, pose);
    const std::vector<Vec3> positions = evaluate_all(*rig_.rig(), pose.p);
    double worst = 0;
    for (const ThreeMesh& mesh : theirs.meshes) {
      const auto found = mesh_of_node_.find(static_cast<Index>(mesh.node));
      if (found == mesh_of_node_.end()) return 1e300;
      const std::vector<Index>& welded = character_.meshes[found->second].welded_vertex.at(mesh.primitive);
      if (welded.size() != mesh.positions.size()) return 1e300;
      const Index first = rig_.first_vertex()[found->second];
      for (std::size_t v = 0; v < welded.size(); ++v) {
        const Vec3 ours = pose.placement * positions[to_size(first + welded[v])];
        worst = std::max(worst, (ours - mesh.positions[v]).norm());
        ++vertices;
      }
    }
    return worst / height_of(theirs);
  }

  std::size_t vertices = 0;

 private:
  const RawCharacter& character_;
  const CharacterRig& rig_;
  std::map<Index, std::size_t> mesh_of_node_;
};

// Draco needs a browser in three.js, so that it reads our decoded copy of such files; all others it reads as they are.
bool uses_draco(const GltfDocument& document) {
  const std::vector<std::string> names = summarize(document).extensions;
  return std::find(names.begin(), names.end(), "KHR_draco_mesh_compression") != names.end();
}

TEST_F(GltfPeers, SkinnedPositionsEqualThoseOfThreeJs) {
  for (const fs::path& file : character_files()) {
    const Result<GltfDocument> document = load_gltf(file);
    ASSERT_TRUE(document.ok()) << document.error().message;
    const Result<RawCharacter> character = read_character(*document, {.require_skin = false});
    ASSERT_TRUE(character.ok()) << character.error().message;
    const Result<CharacterRig> rig = CharacterRig::create(*character);
    ASSERT_TRUE(rig.ok()) << rig.error().message;
    const fs::path shown = uses_draco(*document) ? rewritten(file) : file;
    const fs::path out = folder / "poses.bin";
    const Ran ran = node("three_positions.mjs", fmt::format("{} {} 10", shown.string(), out.string()));
    ASSERT_EQ(ran.code, 0) << file << "\n" << ran.output;
    const std::vector<ThreePose> poses = read_poses(*read_file(out));
    ASSERT_EQ(poses.size(), std::max<std::size_t>(1, 10 * character->clips.size())) << file;
    Comparison comparison(*character, *rig);
    double worst = 0;
    for (const ThreePose& pose : poses) worst = std::max(worst, comparison.error(pose, character->clips));
    EXPECT_LT(worst, 1e-4) << file;
    EXPECT_GT(comparison.vertices, 0u) << file;
    fmt::print("{:<40} {:>4} poses, largest distance {:.2e} of the height\n", fs::relative(file, rigged).string(),
               poses.size(), worst);
  }
}

constexpr std::array<const char*, 4> moved_twice = {"khr_cesiumman/CesiumMan.glb",
                                                    "three_robotexpressive/RobotExpressive.glb",
                                                    "bab_alien_morph/Alien.gltf", "quat_wolf/Wolf.glb"};

/// The largest distance between us and a script that plays the file, over ten times of every clip.
double distance_from(const std::function<Ran(const std::string& arguments)>& script, const fs::path& file,
                     const fs::path& out) {
  const Result<GltfDocument> document = load_gltf(file);
  const Result<RawCharacter> character = read_character(*document);
  const Result<CharacterRig> rig = CharacterRig::create(*character);
  const Ran ran = script(fmt::format("{} {} 10", file.string(), out.string()));
  EXPECT_EQ(ran.code, 0) << file << "\n" << ran.output;
  const std::vector<ThreePose> poses = ran.code == 0 ? read_poses(*read_file(out)) : std::vector<ThreePose>();
  EXPECT_EQ(poses.size(), 10 * character->clips.size()) << file;
  Comparison comparison(*character, *rig);
  double worst = 0;
  for (const ThreePose& pose : poses) worst = std::max(worst, comparison.error(pose, character->clips));
  fmt::print("{:<24} {:>4} poses, largest distance {:.2e} of the height\n", file.filename().string(), poses.size(),
             worst);
  return worst;
}

// As baked files are: morph targets that we added move together with skins, and with morph targets that were there.
TEST_F(GltfPeers, AddedMorphTargetsMoveWithSkinsAsInThreeJs) {
  for (const char* name : moved_twice) {
    const fs::path soft = (folder / fs::path(name).filename()).replace_extension(".glb");
    const Status written = test::write_wobble(rigged / name, soft);
    ASSERT_TRUE(written.ok()) << written.error().message;
    const Ran valid = node("validate.mjs", soft.string());
    EXPECT_EQ(valid.code, 0) << name << "\n" << valid.output;
    const auto three = [&](const std::string& arguments) { return node("three_positions.mjs", arguments); };
    EXPECT_LT(distance_from(three, soft, folder / "poses.bin"), 1e-4) << name;
  }
}

// The same out of the vertex shader of a browser, in the single precision of graphics cards.
TEST_F(GltfPeers, ChromiumDrawsAddedMorphTargetsWhereWePutThem) {
  if (run("chromium --version").code != 0) GTEST_SKIP() << "Chromium is not installed; ./go integration does it";
  for (const char* name : moved_twice) {
    const fs::path soft = (folder / fs::path(name).filename()).replace_extension(".glb");
    const Status written = test::write_wobble(rigged / name, soft);
    ASSERT_TRUE(written.ok()) << written.error().message;
    const auto chromium = [&](const std::string& arguments) { return node("chromium_positions.mjs", arguments); };
    EXPECT_LT(distance_from(chromium, soft, folder / "poses.bin"), 1e-4) << name;
  }
}

#ifdef SUPPLE_CLI
/// Where a point cache of one mesh has its vertices at a moment, between samples along straight lines.
std::vector<Vec3> cached_positions(const PointCache& cache, double time, double rate) {
  const double place = std::clamp(time * rate, 0.0, static_cast<double>(cache.samples.size() - 1));
  const auto k = std::min(to_size(place), cache.samples.size() - 2);
  const double s = place - static_cast<double>(k);
  std::vector<Vec3> positions;
  for (std::size_t v = 0; v < cache.samples[k].size(); ++v)
    positions.push_back((1 - s) * cache.samples[k][v] + s * cache.samples[k + 1][v]);
  return positions;
}

// The simulation itself, as a point cache holds it, beside what a browser draws of the baked file.
TEST_F(GltfPeers, ChromiumDrawsTheSimulation) {
  if (run("chromium --version").code != 0) GTEST_SKIP() << "Chromium is not installed; ./go integration does it";
  const fs::path file = rigged / "khr_cesiumman/CesiumMan.glb", soft = folder / "soft.glb", out = folder / "poses.bin";
  constexpr double rate = 240, stated = 1e-3;
  const std::string bake = fmt::format("{} bake {} --tets 6000 --quality draft --no-cache", SUPPLE_CLI, file.string());
  ASSERT_EQ(run(fmt::format("{} -o {} --tolerance {} --max-morphs 200", bake, soft.string(), 100 * stated)).code, 0);
  const fs::path caches = folder / "caches";
  ASSERT_EQ(run(fmt::format("{} -o {} --format pc2 --rate {}", bake, caches.string(), rate)).code, 0);
  const Result<PointCache> cache = load_pc2(fs::directory_iterator(caches)->path());
  ASSERT_TRUE(cache.ok()) << cache.error().message;
  const Ran ran = node("chromium_positions.mjs", fmt::format("{} {} 10", soft.string(), out.string()));
  ASSERT_EQ(ran.code, 0) << ran.output;
  // A cache begins with the first key of its clip.
  const double end = read_character(*load_gltf(file)).value().clips[0].duration;
  const double start = end - static_cast<double>(cache->samples.size() - 1) / rate;
  double worst = 0;
  for (const ThreePose& pose : read_poses(*read_file(out))) {
    const std::vector<Vec3> simulated = cached_positions(*cache, pose.time - start, rate);
    std::size_t v = 0;
    for (const ThreeMesh& mesh : pose.meshes)
      for (const Vec3& x : mesh.positions) worst = std::max(worst, (x - simulated.at(v++)).norm() / height_of(pose));
    EXPECT_EQ(v, simulated.size());
  }
  fmt::print("largest distance from the simulation {:.3f} % of the height\n", 100 * worst);
  // Straight lines between keys of the animation and of the cache add a little.
  EXPECT_LT(worst, 1.05 * stated);
  EXPECT_GT(worst, 1e-6);
}

TEST_F(GltfPeers, ChromiumDrawsWhatWeBake) {
  if (run("chromium --version").code != 0) GTEST_SKIP() << "Chromium is not installed; ./go integration does it";
  for (const fs::path& soft : baked()) {
    const Ran valid = node("validate.mjs", soft.string());
    EXPECT_EQ(valid.code, 0) << soft << "\n" << valid.output;
    const auto chromium = [&](const std::string& arguments) { return node("chromium_positions.mjs", arguments); };
    EXPECT_LT(distance_from(chromium, soft, folder / "poses.bin"), 1e-4) << soft;
  }
}
#endif

TEST_F(GltfPeers, ClipsOfAnotherFileMoveTheCharacterAsInThreeJs) {
  const fs::path file = rigged / "sumerian_cristine/cristine.gltf";
  const Result<GltfDocument> document = load_gltf(file);
  ASSERT_TRUE(document.ok()) << document.error().message;
  const Result<RawCharacter> character = read_character(*document);
  ASSERT_TRUE(character.ok()) << character.error().message;
  for (const char* clip_file : {"anim_stand_idle.glb", "anim_emote.glb"}) {
    const fs::path other = file.parent_path() / clip_file;
    const Result<GltfDocument> animations = load_gltf(other);
    ASSERT_TRUE(animations.ok()) << animations.error().message;
    std::vector<std::string> warnings;
    RawCharacter moved = *character;
    const Result<std::vector<Clip>> clips = read_clips(*animations, *character, warnings);
    ASSERT_TRUE(clips.ok()) << clips.error().message;
    moved.clips = *clips;
    const Result<CharacterRig> rig = CharacterRig::create(moved);
    ASSERT_TRUE(rig.ok()) << rig.error().message;
    const fs::path out = folder / "poses.bin";
    const Ran ran =
        node("three_positions.mjs", fmt::format("{} {} 10 {}", file.string(), out.string(), other.string()));
    ASSERT_EQ(ran.code, 0) << ran.output;
    const std::vector<ThreePose> poses = read_poses(*read_file(out));
    ASSERT_EQ(poses.size(), 10 * clips->size());
    Comparison comparison(moved, *rig);
    for (const ThreePose& pose : poses) EXPECT_LT(comparison.error(pose, *clips), 1e-4) << clip_file;
  }
}

}  // namespace
}  // namespace supple::gltf_peers_test
