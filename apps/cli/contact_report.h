// SPDX-License-Identifier: Apache-2.0
// What `[flesh] contact` did about skin that the rig puts into skin: a line for people, and the same for --json.
#pragma once

#include "command.h"
#include "supple/pipeline/character/character_source.h"

namespace supple {

/// Nothing where contact wasn't asked for.
void tell_contacts(const CharacterSource& source, Session& session, Json& out);

}  // namespace supple
