// SPDX-License-Identifier: Apache-2.0
// The comparisons of the 2016 paper, each against the same full simulation:
//   one pose whose modes are turned along with the limbs, or not at all (Fig. 4), against all poses, blended in
//   rotating directions or in those of the world; local against global bases (Fig. 11, pose_ringing.h); without and
//   with contact (Fig. 5: the truth knows none, so contact adds error by holding what touches); a basis for all poses
//   by PCA of theirs, as dynamics (Fig. 14); a coarse mesh in full (Fig. 15); reassembly in every step (Hahn et al.
//   2014); and, at a pose between those that are known, the interpolated basis against the one found there (Fig. 10).
#pragma once

#include "bench/pose_creatures.h"
#include "supple/pipeline/character/compare_full.h"

namespace supple::bench {

/// A character, what it was built from, and its truth.
struct FigureInput {
  CreatureFolder& folder;
  const Recipe& recipe;
  const PublishedCreature& published;
  const BuiltCharacter& built;
  const FullComparison& comparison;
  const CompareReport& full;
  const CompareRow& row;
};

/// A second in steps of 1/90 s.
CompareSettings figure_settings(bool quick);

void add_figures(Report& report, const Options& options, const FigureInput& input);

}  // namespace supple::bench
