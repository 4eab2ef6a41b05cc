// SPDX-License-Identifier: Apache-2.0
// How far flesh moves where nobody has said so: far enough to be seen, near enough to be believed. One character
// strolls and nothing of its flesh would be noticed; another one's leaps would carry its belly away. Animators draw
// both within a range. So the liveliest clips are simulated as they are, and what drives the flesh is turned up or down
// until the skin moves within the range of the character's feel (feel.h); up more where it moves least
// (runtime/flesh_drive.h).
#pragma once

#include "supple/pipeline/character/engine.h"

#include <functional>
#include <optional>

namespace supple {

/// How far the skin moves, as shares of the height.
struct ShownMotion {
  double rms = 0, peak = 0;
};

struct ShownRange;

/// What the drive is to be multiplied with for motion to come into the range; 1 where it is.
double towards_range(const ShownMotion& shown, const ShownRange& range);

/// Turns the drive up or down, from `first` on and at most so many times, until what `show` sees of a gain is in the
/// range. Where it sees nothing, the last gain is taken with which it did.
double seek_gain(double first, int most_tries, const ShownRange& range,
                 const std::function<std::optional<ShownMotion>(double gain)>& show);

/// The gain of what drives a character's flesh, by its liveliest clips; 1 where it has none, where their motion isn't
/// limited (--no-limit: flesh as physics has it), and where the recipe says by how much of the height it shall move.
/// Nothing is simulated where the store knows it.
double find_exaggeration(const SoftCharacter& soft, Progress& progress = Progress::silent(),
                         StageStore& store = StageStore::none());

/// A clip that was simulated within the range.
struct TonedRun {
  std::unique_ptr<ClipRun> run;
  double tone = 1;  ///< what its drive was multiplied with
  double peak =
      0;  ///< the largest displacement, of the whole clip where that is bounded and else of what was asked [m]
};

/// Simulates a clip and, where its peak is beyond the range of the character's feel times the recipe's amount, a few
/// times more with less drive: some clip may be wilder than those that the exaggeration was found by. The whole clip
/// says how much less, so that a part of it moves as it does in the whole. Nothing is toned down where the recipe says
/// that nothing is limited, or how far the skin shall move.
Result<TonedRun> simulate_in_range(const SoftCharacter& soft, const Clip& clip, SimulateSettings settings,
                                   Progress& progress = Progress::silent());

}  // namespace supple
