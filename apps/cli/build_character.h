// SPDX-License-Identifier: Apache-2.0
// The part of `supple build` that makes characters.
#pragma once

#include "character_options.h"
#include "supple/pipeline/character/character_source.h"

namespace supple {

/// The character that a recipe, or a glTF file with a skin, is; none where the input is something else. Fails on
/// recipes that can't be followed.
Result<std::optional<CharacterSource>> character_in(const std::string& input);

/// Builds the source's model with the engine that the options name, and writes it.
Status build_character_asset(CharacterSource source, const std::string& input, const std::string& output,
                             const CharacterOptions& options, Session& session);

}  // namespace supple
