// SPDX-License-Identifier: Apache-2.0
#include "character_options.h"

#include "supple/pipeline/character/engine.h"

namespace supple {

std::string list_engines() {
  std::string text;
  for (const CharacterEngine* engine : all_engines())
    text += fmt::format("{}{}: {}", text.empty() ? "" : ",\n", engine->name(), engine->brief());
  return text;
}

void add_character_options(CLI::App& app, CharacterOptions& options) {
  app.add_option("--engine", options.engine, "What moves the flesh [posespace]:\n" + list_engines())->type_name("NAME");
  app.add_option("--quality", options.quality,
                 "How near to the simulation of every vertex [good]: draft is quickly built, good is for games, final\n"
                 "takes minutes; a bake of that quality has every vertex free, as with --engine full")
      ->check(CLI::IsMember({"draft", "good", "final"}).description(""))
      ->type_name("draft|good|final");
  app.add_option("--frequency", options.frequency, "How often flesh sways a second: low is soft [4]")
      ->check(positive())
      ->type_name("HZ");
  app.add_option("--damping", options.damping, "Damping ratio: 0 rings for ever, 1 hardly overshoots [0.2]")
      ->check(between(0.0, 10.0))
      ->type_name("RATIO");
  app.add_option("--tets", options.tets, "About how many tetrahedra")
      ->check(between(TetMeshingOptions::min_tets, TetMeshingOptions::max_tets))
      ->type_name("N");
}

void add_cache_option(CLI::App& app, CharacterOptions& options) {
  app.add_flag_callback(
      "--no-cache", [&options] { options.cache = false; },
      "Build everything anew and keep nothing. Otherwise what was built before is found in the folder\n"
      "SUPPLE_CACHE_DIR [~/.cache/supple/build], of at most SUPPLE_CACHE_MB megabytes [2147]");
}

void tell_cache(const BuildCache* cache, Session& session) {
  if (cache == nullptr || cache->found().empty()) return;
  session.line("cache         {} found in {}", fmt::join(cache->found(), ", "), cache->folder().string());
}

Json cache_json(const BuildCache* cache) {
  if (cache == nullptr) return nullptr;
  return {{"folder", cache->folder().string()}, {"found", cache->found()}, {"made", cache->made()}};
}

}  // namespace supple
