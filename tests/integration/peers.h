// SPDX-License-Identifier: Apache-2.0
// What all tests against other people's programs share: the files, a way to run a program, and its answer.
#pragma once

#include "integration/pose_file.h"
#include "supple/io/gltf/gltf_document.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

namespace supple {

namespace fs = std::filesystem;

inline const fs::path rigged = fs::path(SUPPLE_SHARED_DIR) / "assets/rigged";

inline std::vector<fs::path> character_files() {
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

inline Ran run(const std::string& command) {
  Ran ran;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return ran;
  char buffer[4096];
  while (std::fgets(buffer, sizeof(buffer), pipe) != nullptr) ran.output += buffer;
  ran.code = ::pclose(pipe);
  while (ran.output.ends_with('\n')) ran.output.pop_back();
  return ran;
}

/// A test that writes files, into a folder of its own that goes when it is done.
class PeerTest : public testing::Test {
 protected:
  void make_folder() {
    folder = fs::temp_directory_path() / fmt::format("supple_peers_{}", ::getpid());
    fs::create_directories(folder);
  }
  void TearDown() override {
    std::error_code ignored;
    if (!folder.empty()) fs::remove_all(folder, ignored);
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

#ifdef SUPPLE_CLI
  /// An example of ours and a character of somebody else's, baked as quickly as may be; fewer where one can't be had.
  std::vector<fs::path> baked() const {
    const Ran example = run(fmt::format("{} example mascot -o {}", SUPPLE_CLI, folder.string()));
    EXPECT_EQ(example.code, 0) << example.output;
    std::vector<fs::path> files;
    for (const fs::path& file : {folder / "mascot.glb", rigged / "khr_cesiumman/CesiumMan.glb"}) {
      if (!fs::exists(file)) continue;
      const fs::path soft = folder / fmt::format("{}_soft.glb", file.stem().string());
      const Ran ran =
          run(fmt::format("{} bake {} -o {} --quality draft --no-cache", SUPPLE_CLI, file.string(), soft.string()));
      EXPECT_EQ(ran.code, 0) << ran.output;
      if (ran.code == 0) files.push_back(soft);
    }
    return files;
  }
#endif

  fs::path folder;
};

/// Tests against programs from npm.
class GltfPeers : public PeerTest {
 protected:
  void SetUp() override {
    if (character_files().empty()) GTEST_SKIP() << "there are no shared assets";
    const Ran tools = run(fmt::format("{}/npm_tools.sh", SUPPLE_INTEGRATION_DIR));
    if (tools.code != 0) GTEST_SKIP() << tools.output;
    modules = tools.output;
    make_folder();
  }

  Ran node(const std::string& script, const std::string& arguments) const {
    return run(fmt::format("node {}/{} {} {}", SUPPLE_INTEGRATION_DIR, script, modules, arguments));
  }

  std::string modules;
};

inline double height_of(const ThreePose& pose) {
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

}  // namespace supple
