// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/bake_file.h"

#include "supple/io/file.h"
#include "supple/pipeline/character/bake.h"
#include "supple/pipeline/character/build_cache.h"

namespace supple {
namespace {

using EngineChoice = Result<const CharacterEngine*> (*)(std::string_view name, const CharacterSource& source);

Result<const CharacterEngine*> engine_of_asset(std::string_view name, const CharacterSource& /*source*/) {
  return find_engine(name);
}

Result<std::unique_ptr<SoftCharacter>> build_soft(const std::filesystem::path& input, const FleshSettings& settings,
                                                  EngineChoice choose, Progress& progress,
                                                  std::span<const std::string> motions = {}) {
  Result<CharacterSource> source = load_source(input, motions);
  SUPPLE_RETURN_IF_ERROR(source);
  source->recipe.apply(settings);
  const Result<const CharacterEngine*> engine = choose(settings.engine, *source);
  SUPPLE_RETURN_IF_ERROR(engine);
  const std::unique_ptr<BuildCache> cache = settings.cache ? default_cache() : nullptr;
  return (*engine)->build(std::make_shared<const CharacterSource>(std::move(*source)), progress,
                          cache ? *cache : StageStore::none());
}

std::vector<std::string> warnings_of(const SoftCharacter& soft) {
  std::vector<std::string> warnings = soft.character().warnings;
  for (std::string& warning : soft.warnings()) warnings.push_back(std::move(warning));
  return warnings;
}

BakeSettings bake_settings(const BakeFileSettings& settings, const Recipe& recipe) {
  BakeSettings result;
  result.clips = settings.clips;
  result.rate = settings.rate;
  result.simulate.damping_ratio = wanted_damping(recipe);
  result.output.helper_bones = settings.helper_bones;
  result.output.compression.share_of_height = settings.tolerance / 100;
  result.output.bones.share_of_height = settings.tolerance / 100;
  result.output.storage = MorphStorage::small;
  return result;
}

BakedFile summary_of(const BakeReport& report) {
  BakedFile baked;
  baked.height = report.height;
  for (const BakedClipReport& clip : report.clips)
    baked.clips.push_back(
        {clip.name, clip.duration, clip.peak, 100 * clip.peak / report.height, clip.loop, clip.recovered});
  return baked;
}

}  // namespace

Result<BakedFile> bake_file(const std::filesystem::path& input, const std::filesystem::path& output,
                            const BakeFileSettings& settings, Progress& progress) {
  if (output.extension() != ".glb" && output.extension() != ".gltf")
    return usage_error(output.string() + ": a character's file ends in .glb or .gltf");
  const Result<std::unique_ptr<SoftCharacter>> soft =
      build_soft(input, settings, find_baking_engine, progress, settings.motions);
  SUPPLE_RETURN_IF_ERROR(soft);
  const Result<BakeReport> report =
      bake_character(**soft, output, bake_settings(settings, (*soft)->source().recipe), progress);
  SUPPLE_RETURN_IF_ERROR(report);
  BakedFile baked = summary_of(*report);
  baked.warnings = warnings_of(**soft);
  return baked;
}

Result<std::vector<std::string>> build_file(const std::filesystem::path& input, const std::filesystem::path& output,
                                            const FleshSettings& settings, Progress& progress) {
  const Result<std::unique_ptr<SoftCharacter>> soft = build_soft(input, settings, engine_of_asset, progress);
  SUPPLE_RETURN_IF_ERROR(soft);
  const Result<std::string> bytes = encode_asset((*soft)->asset());
  SUPPLE_RETURN_IF_ERROR(bytes);
  SUPPLE_RETURN_IF_ERROR(write_file_atomically(output, *bytes));
  return warnings_of(**soft);
}

}  // namespace supple
