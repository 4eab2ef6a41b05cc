// SPDX-License-Identifier: Apache-2.0
// What tells one character from another for an asset that was built of one of them (asset/made_for.h). Clips, materials
// and settings don't count: an asset is for all clips of its character.
#pragma once

#include "supple/asset/made_for.h"
#include "supple/base/content_hash.h"
#include "supple/pipeline/character/character_source.h"

namespace supple {

MadeFor fingerprint_of(const CharacterSource& source);

/// Refuses an asset that was built for another character, and says what differs.
Status check_made_for(const MadeFor& asset, const CharacterSource& source);

void add_content(ContentHash& content, const Transform& t);
void add_content(ContentHash& content, const Clip& clip);
/// Adds joints, clips, and which joints hold the skin, to the last bit: what stages of a build read of a character
/// besides its surface and its rig.
void add_content(ContentHash& content, const RawCharacter& character);

}  // namespace supple
