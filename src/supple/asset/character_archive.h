// SPDX-License-Identifier: Apache-2.0
// CharacterAsset in a `.supple` archive of kind "character".
//
// What a step reads is stored in the single precision that steps compute in, so a loaded character steps with the same
// bits. The basis of the surface, by far the most numbers of what is left, is stored in 16 bits per number,
//   Û_kc = s_c n_kc,  −32767 ≤ n ≤ 32767,
// with a scale s for each column of each block and pose: a displacement is off by less than 1e-4 of the largest. Of the
// rig only what the model's points need is stored (rig_archive.h). Saving what was loaded gives the same bytes.
#pragma once

#include "supple/asset/archive.h"
#include "supple/asset/character_asset.h"

namespace supple {

/// The bytes of the file; write them with write_file_atomically(). Fails for rigs that are more than data.
Result<std::string> encode_character(const CharacterAsset& asset);

/// Fails on an archive of another kind, or one whose arrays do not fit each other.
Result<CharacterAsset> decode_character(const Archive& archive);

/// Opens, checks and decodes.
Result<CharacterAsset> load_character_asset(const std::filesystem::path& path);

}  // namespace supple
