// SPDX-License-Identifier: Apache-2.0
// How hard flesh will be driven, told before there is a model of it. Bases and elements are learnt from flesh in
// motion, and flesh that is driven e times as hard bends and stiffens in other ways. The exaggeration e is found with
// the model (exaggeration.h); so the liveliest clips are rehearsed first, by all vertices with steps as long as those
// that are learnt from, and e of the rehearsal is what the model is taught at, and where the search for its own begins.
#pragma once

#include "supple/mesh/embedding.h"
#include "supple/offline/dynamics/motion_runs.h"
#include "supple/pipeline/character/character_source.h"

namespace supple {

/// `body`: of the source, whatever its exaggeration; its skin hangs on it by `skin`. `steps`: of all stretches that are
/// rehearsed, together. 1 where nothing moves it, and where its motion isn't limited.
double rehearsed_exaggeration(const CharacterSource& source, const TaughtBody& body, const Embedding& skin, int steps,
                              Progress& progress = Progress::silent());

}  // namespace supple
