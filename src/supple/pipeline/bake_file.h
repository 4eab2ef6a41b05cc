// SPDX-License-Identifier: Apache-2.0
// What `supple bake` and `supple build` do, for programs: from a character's file to a file, in one call.
//
//   supple::Result<supple::BakedFile> baked = supple::bake_file("hero.glb", "hero_soft.glb");
//   if (!baked.ok()) std::puts(baked.error().message.c_str());
//
// `input` is a character (.glb, .gltf) or a recipe for one (.toml, docs/recipe.md). Nothing is written unless all of it
// works. Lengths are in metres, times in seconds.
#pragma once

#include "supple/base/progress.h"
#include "supple/base/result.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace supple {

/// What goes before the recipe; what isn't set stays as the recipe, or the default, has it.
struct FleshSettings {
  std::string engine;               ///< by name; empty: "posespace" for an asset, for a bake as baking_engine() chooses
  std::string quality;              ///< "draft", "good" or "final"; empty: as the recipe says
  std::string feel;                 ///< "subtle", "natural", "bouncy" or "jelly"; empty: as the recipe says
  std::string amount;               ///< how far: a gain, "1.5", or the share of the height, "5 %"; empty: likewise
  bool limit = true;                ///< violent moments of clips are limited to what flesh can bear
  std::optional<double> frequency;  ///< how often flesh sways [Hz]
  std::optional<double> damping;    ///< damping ratio
  std::optional<int> coordinates;   ///< r
  std::optional<int> tets;          ///< of the body, about
  bool cache = true;                ///< what was built before is found again (docs/formats.md)
};

struct BakeFileSettings : FleshSettings {
  std::vector<std::string> motions;  ///< files with more clips (.glb, .gltf, .bvh)
  std::vector<std::string> clips;    ///< by name; none: all
  double rate = 0;                   ///< frames per second; 0: as many as the motion needs
  double tolerance = 0.1;            ///< of the written motion [% of the height]
  bool helper_bones = false;         ///< joints in place of morph targets
};

struct BakedFileClip {
  std::string name;
  double duration = 0;      ///< [s]
  double peak = 0;          ///< largest displacement of a vertex [m]
  double peak_percent = 0;  ///< the same [% of the height]
  bool loop = false;        ///< it repeats without a seam
  int recovered_steps = 0;  ///< steps that broke down and were put right
};

struct BakedFile {
  std::vector<BakedFileClip> clips;
  double height = 0;  ///< of the character [m]
  std::vector<std::string> warnings;
};

/// Bakes soft tissue into all clips of a character and writes a .glb or .gltf that plays in any viewer.
Result<BakedFile> bake_file(const std::filesystem::path& input, const std::filesystem::path& output,
                            const BakeFileSettings& settings = {}, Progress& progress = Progress::silent());

/// Builds the asset (.supple) that runtime/character.h plays. Returns warnings, one sentence each.
Result<std::vector<std::string>> build_file(const std::filesystem::path& input, const std::filesystem::path& output,
                                            const FleshSettings& settings = {},
                                            Progress& progress = Progress::silent());

}  // namespace supple
