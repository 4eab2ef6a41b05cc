// SPDX-License-Identifier: Apache-2.0
// The part of `supple build` that makes characters.
#pragma once

#include "character_options.h"

namespace supple {

/// A recipe, or a glTF file with a skin.
bool is_character(const std::string& input);

Status build_character_asset(const std::string& input, const std::string& output, const CharacterOptions& options,
                             Session& session);

}  // namespace supple
