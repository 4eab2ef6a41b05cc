// SPDX-License-Identifier: Apache-2.0
// Every rigged character of the asset collection against other people's programs: three.js puts its vertices where we
// do, and the Khronos validator finds no error in what we write. Both come from npm; without it the tests are skipped.
#include "integration/pose_file.h"
#include "supple/io/file.h"
#include "supple/io/gltf/read_character.h"
#include "supple/rig/character_rig.h"
#include "supple/rig/rig.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include <unistd.h>

namespace supple {
namespace {

namespace fs = std::filesystem;

const fs::path rigged = fs::path(SUPPLE_SHARED_DIR) / "assets/rigged";

std::vector<fs::path> character_files() {
  std::vector<fs::path> files;
  if (!fs::exists(rigged)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(rigged))
    if (entry.path().extension() == ".glb" || entry.path().extension() == ".gltf") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

struct Ran {
  int code = -1;
  std::string output;
};

Ran run(const std::string& command) {
  Ran ran;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ran;
  char buffer[4096];
  while (std::fgets(buffer, sizeof(buffer), pipe) != nullptr) ran.output += buffer;
  ran.code = ::pclose(pipe);
  while (ran.output.ends_with('\n')) ran.output.pop_back();
  return ran;
}

class GltfPeers : public testing::Test {
 protected:
  void SetUp() override {
    if (character_files().empty()) GTEST_SKIP() << "there are no shared assets";
    const Ran tools = run(std::string(SUPPLE_INTEGRATION_DIR) + "/npm_tools.sh");
    if (tools.code != 0) GTEST_SKIP() << tools.output;
    modules = tools.output;
    folder = fs::temp_directory_path() / fmt::format("supple_peers_{}", ::getpid());
    fs::create_directories(folder);
  }
  void TearDown() override {
    std::error_code ignored;
    if (!folder.empty()) fs::remove_all(folder, ignored);
  }

  Ran node(const std::string& script, const std::string& arguments) const {
    return run(fmt::format("node {}/{} {} {}", SUPPLE_INTEGRATION_DIR, script, modules, arguments));
  }

  /// The file as we write it, images and all.
  fs::path rewritten(const fs::path& file) const {
    Result<GltfDocument> document = load_gltf(file);
    EXPECT_TRUE(document.ok()) << document.error().message;
    if (!document.ok()) return {};
    fs::path target = folder / file.filename();
    target.replace_extension(".glb");
    const Status saved = save_gltf(*document, target);
    EXPECT_TRUE(saved.ok()) << saved.error().message;
    return target;
  }

  std::string modules;
  fs::path folder;
};

TEST_F(GltfPeers, TheValidatorFindsNoErrorInWhatWeWrite) {
  for (const fs::path& file : character_files()) {
    const fs::path target = rewritten(file);
    const Ran ran = node("validate.mjs", target.string());
    EXPECT_EQ(ran.code, 0) << file << "\n" << ran.output;
  }
}

double height_of(const ThreePose& pose) {
  Vec3 low = Vec3::Constant(1e300), high = -low;
  for (const ThreeMesh& mesh : pose.meshes) {
    for (const Vec3& x : mesh.positions) {
      low = low.cwiseMin(x);
      high = high.cwiseMax(x);
    }
  }
  // Of what lies flat, such as a lone triangle, the height says nothing.
  return std::max((high - low).y(), 0.01 * (high - low).maxCoeff());
}

/// The largest distance between our vertices and three.js's, as a part of the character's height.
class Comparison {
 public:
  explicit Comparison(const RawCharacter& character, const CharacterRig& rig) : character_(character), rig_(rig) {
    for (std::size_t m = 0; m < character.meshes.size(); ++m)
      mesh_of_node_[character.file_node[static_cast<std::size_t>(character.meshes[m].node)]] = m;
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
        const Vec3 ours = pose.placement * positions[static_cast<std::size_t>(first + welded[v])];
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
}  // namespace supple
