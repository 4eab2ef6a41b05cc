// SPDX-License-Identifier: Apache-2.0
// Where and how far soft tissue moves the skin in a clip, measured as a viewer of a file would: lengths of the
// difference between the soft and the rigid character in the world, over the frames that are written and over all
// vertices as the file has them (one that a seam doubles counts twice). What was simulated and what is left of it in a
// file (export/played_frames.h) are measured alike.
#pragma once

#include "supple/pipeline/character/clip_frames.h"

#include <functional>
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

/// Measures one clip whose frames are known, as it was simulated.
MotionMeasure measure_motion(const RawCharacter& character, const FramedClip& clip);
/// Measures frames of any source: at `times` [s], `displace` overwrites how far each vertex of the rig is moved [m].
MotionMeasure measure_motion(const RawCharacter& character, std::span<const double> times,
                             const std::function<void(std::size_t frame, std::span<Vec3>)>& displace);

}  // namespace supple
