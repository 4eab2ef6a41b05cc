// SPDX-License-Identifier: Apache-2.0
// The quasistatic engine (2014 paper): flesh that is at rest in every frame, on meshes as fine as one likes, without
// lag or jiggle, and without any part entering another. The skin goes where the flesh is, so that joints keep their
// volume and creases fold, however the file's own skinning would collapse them.
//
// Frames lie eight time steps apart, a thirtieth of a second with the usual step. They don't depend on each other but
// within groups that begin at fixed frames of the clip, so that a part of a clip comes out with the bits of the whole.
// Morph targets move the skin on top of that. Gravity acts; wind, drag and gain have nothing to act on.
#pragma once

#include "supple/pipeline/character/engine.h"

namespace supple {

const CharacterEngine& quasistatic_engine();

}  // namespace supple
