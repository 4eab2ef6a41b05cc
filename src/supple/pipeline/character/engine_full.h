// SPDX-License-Identifier: Apache-2.0
// The full engine: the same mesh, materials, bones, rest shape, damping and step as the reduced engines start from,
// with every vertex free (offline/full). What they are measured by; and, for characters with some seconds of clips,
// done before a reduced body has learnt how its flesh moves, so that such are baked by it (baking_engine()).
//
// A loop is run until the gap between its end and its start is too small to be seen; what is left fades out over the
// round. Gravity and wind act on all vertices. A run that breaks down, or moves the skin by more than ten times the
// character's extent, is an error and never a result. Contact is not simulated.
#pragma once

#include "supple/pipeline/character/engine.h"

namespace supple {

const CharacterEngine& full_engine();

}  // namespace supple
