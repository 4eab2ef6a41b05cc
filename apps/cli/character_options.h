// SPDX-License-Identifier: Apache-2.0
// Options of commands that build a character, and the cache that they build with.
#pragma once

#include "command.h"
#include "supple/pipeline/bake_file.h"
#include "supple/pipeline/character/build_cache.h"
#include "supple/pipeline/character/recipe.h"

#include <memory>
#include <optional>

namespace supple {

/// What the library's own entry points are asked, and the cache that follows from it.
struct CharacterOptions : FleshSettings {
  /// Null where nothing shall be kept.
  std::unique_ptr<BuildCache> open_cache() const { return cache ? default_cache() : nullptr; }
};

/// --engine, --quality, --frequency, --damping, --tets; --no-cache is left to add_cache_option().
void add_character_options(CLI::App& app, CharacterOptions& options);
void add_cache_option(CLI::App& app, CharacterOptions& options);
/// "posespace (what it does), full (what it does)"
std::string list_engines();

/// Which stages were found in the cache and which were made.
void tell_cache(const BuildCache* cache, Session& session);
Json cache_json(const BuildCache* cache);

}  // namespace supple
