// SPDX-License-Identifier: Apache-2.0
// What a bake can be told on the command line, for `supple bake` and `supple farm bake`.
#pragma once

#include "character_options.h"
#include "supple/pipeline/character/bake.h"

namespace supple {

struct BakeOptions : CharacterOptions {
  std::vector<std::string> inputs;
  std::string output, asset;
  std::vector<std::string> clips, motions;
  std::string frames;
  std::optional<double> from, to, tolerance;
  int most_morphs = 24;
  std::string loop = "auto", format, gravity, wind;
  std::optional<double> drag;
  double rate = 0, preroll = 2;
  int helper_bones = 0;
  bool pack = false, preroll_given = false;
  StageStore* parts = &StageStore::none();  ///< where parts of clips are found that were solved before
};

/// All but the inputs, the output and --asset.
void add_bake_options(CLI::App& app, BakeOptions& options);
Status check_frames(const BakeOptions& options);
Result<BakeSettings> bake_settings(const BakeOptions& options, const Recipe& recipe);
/// "x,y,z"; nothing is no wind and no pull.
Result<Vec3> vector_of(const std::string& option, const std::string& text);

/// The character that the options name, with their flesh.
Result<CharacterSource> read_source(const BakeOptions& options, const std::string& input, Session& session);
/// Bakes one character, or plant, and tells of it.
Status bake_one(const BakeOptions& options, const std::string& input, const std::filesystem::path& output,
                Session& session, Json& out);

bool writes_caches(const BakeOptions& options);
/// Where the result of an input goes, when there are several.
std::filesystem::path output_for(const BakeOptions& options, const std::string& input);

}  // namespace supple
