// SPDX-License-Identifier: Apache-2.0
// Where and how far soft tissue moves the skin in a clip, as a viewer of the written file would measure it: lengths of
// the difference between the soft and the rigid character in the world, over the frames that are written and over all
// vertices as the file has them (one that a seam doubles counts twice).
#pragma once

#include "supple/pipeline/character/clip_frames.h"

#include <string>
#include <vector>

namespace supple {

/// What hangs on one joint, or a mesh without a skin.
struct MovingPart {
  std::string name;
  double rms = 0;    ///< [m]
  double peak = 0;   ///< [m]
  double share = 0;  ///< of the skin's vertices
};

struct MotionMeasure {
  double rms = 0;        ///< [m]
  double peak = 0;       ///< [m]
  double peak_time = 0;  ///< [s]
  std::string peak_part;
  std::vector<MovingPart> parts;  ///< the one with the largest rms first
};

/// Measures one clip whose frames are known.
MotionMeasure measure_motion(const RawCharacter& character, const FramedClip& clip);

}  // namespace supple
