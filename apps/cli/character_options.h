// SPDX-License-Identifier: Apache-2.0
// Options of commands that build a character, and the cache that they build with.
#pragma once

#include "command.h"
#include "supple/pipeline/character/build_cache.h"
#include "supple/pipeline/character/recipe.h"

#include <memory>
#include <optional>

namespace supple {

struct CharacterOptions {
  std::string engine = "posespace";
  std::string quality;  ///< empty: as the recipe says
  std::optional<double> frequency, damping;
  std::optional<int> size, tets;
  bool no_cache = false;

  /// What was asked for goes before what the recipe says.
  void apply(Recipe& recipe) const;
  /// Null where nothing shall be kept.
  std::unique_ptr<BuildCache> cache() const;
};

/// --engine, --frequency, --damping, --tets; --no-cache is left to add_cache_option().
void add_character_options(CLI::App& app, CharacterOptions& options);
void add_cache_option(CLI::App& app, CharacterOptions& options);
/// "posespace (what it does), full (what it does)"
std::string list_engines();

/// Which stages were found in the cache and which were made.
void tell_cache(const BuildCache* cache, Session& session);
Json cache_json(const BuildCache* cache);

}  // namespace supple
