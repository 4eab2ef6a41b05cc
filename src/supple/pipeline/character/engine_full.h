// SPDX-License-Identifier: Apache-2.0
// The full engine: the same mesh, materials, bones, rest shape, damping and step as the reduced engines start from,
// with every vertex free (offline/full). Minutes where they take seconds: for a last bake, and for what they are
// measured by.
//
// A loop is run for two rounds, which is enough for flesh with the usual damping, and the gap that is left fades out
// over the round. Gravity and wind act on all vertices. A run that breaks down, or moves the skin by more than ten
// times the character's extent, is an error and never a result. Paint of single poses and contact are not simulated.
#pragma once

#include "supple/pipeline/character/engine.h"

namespace supple {

const CharacterEngine& full_engine();

}  // namespace supple
