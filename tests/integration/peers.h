// SPDX-License-Identifier: Apache-2.0
// What tests against programs from npm share: the asset collection, running node, a folder that disappears.
#pragma once

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

class GltfPeers : public testing::Test {
 protected:
  void SetUp() override {
    if (character_files().empty()) GTEST_SKIP() << "there are no shared assets";
    const Ran tools = run(fmt::format("{}/npm_tools.sh", SUPPLE_INTEGRATION_DIR));
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

}  // namespace supple
