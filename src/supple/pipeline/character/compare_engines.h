// SPDX-License-Identifier: Apache-2.0
// Any two engines over the same clip of the same character, by the displacements of the skin alone:
//
//   error  √(Σ |u − u_other|² / Σ |u_other|²) over vertices and moments, in the character's own frame
#pragma once

#include "supple/pipeline/character/engine.h"

namespace supple {

/// What one of the two did.
struct ComparedRun {
  std::string engine;
  double peak = 0;       ///< largest displacement of a vertex, share of the height
  double peak_time = 0;  ///< [s] of the clip
  double build_seconds = 0, simulate_seconds = 0;
  ClipRunReport report;
};

struct EngineComparison {
  std::string clip;
  double from = 0, to = 0;  ///< [s] of the clip
  Index moments = 0;        ///< that were compared
  double error = 0;
  ComparedRun run, against;
};

/// Runs both over one clip and compares `rate` moments a second. The two are of the same source.
Result<EngineComparison> compare_engines(const SoftCharacter& soft, const SoftCharacter& against, const Clip& clip,
                                         const SimulateSettings& settings, double rate = 60,
                                         Progress& progress = Progress::silent());

/// The clip of that name, or the first one where the name is empty. Fails where there is none.
Result<Index> clip_to_compare(const CharacterSource& source, const std::string& name);

}  // namespace supple
