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
  app.add_option("--engine", options.engine,
                 "What moves the flesh [posespace; full where a bake takes less time so]:\n" + list_engines())
      ->type_name("NAME");
  app.add_option(
         "--quality", options.quality,
         "How near to the simulation of every vertex [good]: draft is quickly built, good is for games, final\n"
         "takes minutes. Bakes of final quality have every vertex free, as with --engine full, and so have good\n"
         "ones of characters with some seconds of clips, since that takes less time than to teach a model")
      ->check(CLI::IsMember({"draft", "good", "final"}).description(""))
      ->type_name("draft|good|final");
  app.add_option("--feel", options.feel,
                 "How soft [natural]: subtle, natural, bouncy or jelly; sets frequency and damping")
      ->check(CLI::IsMember({"subtle", "natural", "bouncy", "jelly"}).description(""))
      ->type_name("FEEL");
  app.add_option("--amount", options.amount,
                 "How far flesh moves: a gain such as 1.5 on top of what its feel says [1], or as 5% the share of the "
                 "height that the skin moves by at\n"
                 "most in the liveliest clip of a bake")
      ->check([](const std::string& text) {
        RecipeFlesh flesh;
        return set_amount(text, flesh) ? std::string()
                                       : "is a gain from 0 to 20, or a share of the height such as 5%, up to 50%";
      })
      ->type_name("GAIN|N%");
  app.add_flag_callback(
      "--no-limit", [&options] { options.limit = false; },
      "Violent moments of a clip move flesh as far as they may. Otherwise their acceleration is limited to what flesh\n"
      "of this softness and thickness can bear");
  app.add_option("--frequency", options.frequency, "How often flesh sways a second: low is soft [as the feel says]")
      ->check(positive())
      ->type_name("HZ");
  app.add_option("--damping", options.damping,
                 "Damping ratio: 0 rings for ever, 1 hardly overshoots [as the feel says]")
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
