// SPDX-License-Identifier: Apache-2.0
// ClipMotion: a clip as the simulation sees it: a placement and a pose at any time, before, within and beyond its keys.
//
// A clip starts with its first key; what comes before is held, and no motion. A loop runs on: where the last frame has
// carried the root away from the first, the next round continues from there.
// Cuts are found by speed: a root that crosses more than the character's height in the twentieth of a second, or turns
// by more than a quarter in that time, or a limb that does so many times faster than that, was put elsewhere.
// Lesser jumps (keys that step, or lie so close together that they mean to) are motion, but one in no time at all: its
// acceleration would be whatever the time step makes of it. So what moves the flesh takes a fifteenth of a second for
// them, or the time to the next key if that is less: stepped keys at the rate of frames are the motion they sample.
// Corners where straight lines between keys meet are rounded (round_corners.h). Keys that say nothing new, because the
// lines between their neighbours pass through them, are left out before all this (lean_keys.h).
// How far a root moves is asked where it is: about a far origin, the least turn would carry it far.
#pragma once

#include "supple/rig/character_rig.h"

#include <span>
#include <utility>
#include <vector>

namespace supple {

class ClipMotion {
 public:
  ClipMotion(const CharacterRig& rig, const Clip& clip, bool loop, double height);

  const Clip& clip() const { return *clip_; }
  bool loops() const { return loop_; }
  double start() const { return start_; }  ///< [s]

  /// Overwrites `pose`, which comes from CharacterRig::neutral(). Allocates nothing but where rounds of a loop meet.
  void sample(double time, CharacterPose& pose) const;
  /// Tells whether the character is put elsewhere, rather than moved, between two moments that are one simulation step
  /// apart.
  bool is_cut(double from, double to) const;

 private:
  void sample_round(const Clip& clip, double time, CharacterPose& pose) const;
  void sample_seam(double time, CharacterPose& pose) const;

  const CharacterRig* rig_;
  const Clip* clip_;
  Clip lean_;  ///< without keys that say nothing new
  bool loop_;
  double start_;
  Clip eased_;                                   ///< without jumps other than cuts …
  Clip rounded_;                                 ///< … and without corners
  double seam_ = 0;                              ///< [s] to either side, in which rounds of a loop are joined
  RigidTransform round_;                         ///< what one round adds to the placement
  std::vector<std::pair<double, double>> cuts_;  ///< intervals of time, ascending
};

/// The clip with its jumps spread over a fifteenth of a second, but for those that are `cuts`.
Clip ease_jumps(const Clip& clip, std::span<const std::pair<double, double>> cuts);

/// Gives the time of the first key of any channel that moves [s].
double first_key(const Clip& clip);

/// Whether a clip repeats itself: the last pose is the first one again, to what the eye can tell, and reached with the
/// speed that the first one is left with.
bool closes(const CharacterRig& rig, const Clip& clip);

}  // namespace supple
