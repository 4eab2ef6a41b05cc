// SPDX-License-Identifier: Apache-2.0
// A character's own place. Scenes put characters anywhere, a hundred kilometres from the origin too; there the least
// turn about the origin is a leap, and single precision, which the flesh is stepped in, doesn't tell a hand from a
// finger. Soft motion is the same wherever a character stands, so one that stands far away is brought near the origin
// before anything is made of it. Displacements, which are all that comes out, don't know the difference.
#pragma once

#include "supple/rig/raw_character.h"

namespace supple {

/// How far the character at rest stands from the origin [m], in whole steps of about its size; zero where it stands
/// within ten times its size.
Vec3 far_place(const RawCharacter& character);

/// Moves the character by −place: its joints without parents, at rest and in all clips.
void bring_home(const Vec3& place, RawCharacter& character);

}  // namespace supple
