// SPDX-License-Identifier: Apache-2.0
// Which of a character's clips shake its flesh most, before anything is simulated: every vertex of the skin carries a
// mass on a spring of the flesh's frequency (SpringMass in runtime/flesh_drive.h), and the farther these sway, the
// livelier the clip.
#pragma once

#include "supple/rig/character_rig.h"

namespace supple {

/// At most `most` of the clips, the liveliest first. `frequency` [Hz], `height` [m].
std::vector<Index> liveliest_clips(const RawCharacter& character, const CharacterRig& rig, double frequency,
                                   double height, std::size_t most);

}  // namespace supple
