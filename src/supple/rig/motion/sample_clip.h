// SPDX-License-Identifier: Apache-2.0
// Clips sampled at any time, as glTF defines it: step, linear (shortest arc for rotations), cubic Hermite.
#pragma once

#include "supple/rig/clip.h"
#include "supple/rig/pose.h"

namespace supple {

enum class ClipWrap {
  hold,  ///< before the first and after the last key the pose stays
  loop,  ///< time runs modulo the clip's duration
};

/// Overwrites what the clip moves in `pose` (one transform per joint); the rest is left as it is. Allocates nothing.
void sample_clip(const Clip& clip, double time, ClipWrap wrap, std::span<Transform> pose);

/// Overwrites the morph weights of the mesh that `node` carries, where the clip moves them.
void sample_weights(const Clip& clip, double time, ClipWrap wrap, Index node, std::span<double> weights);

/// Values of one channel at a time, `out` has its width; rotations come out unit.
void sample_channel(const Channel& channel, double time, std::span<double> out);

/// Time within the clip that `time` stands for.
double wrapped_time(const Clip& clip, double time, ClipWrap wrap);

/// Gives the time of the last key of any channel [s].
double last_key(const Clip& clip);

}  // namespace supple
