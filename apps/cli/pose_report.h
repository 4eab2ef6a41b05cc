// SPDX-License-Identifier: Apache-2.0
// The poses that a character's model knows, for a person and for --json.
#pragma once

#include "command.h"
#include "supple/asset/character_asset.h"

namespace supple {

/// A line for each pose but the neutral one; nothing where there is no other.
std::vector<std::string> pose_lines(const CharacterFacts& facts);
/// Names, parents and angles of all.
Json poses_json(const CharacterFacts& facts);

}  // namespace supple
