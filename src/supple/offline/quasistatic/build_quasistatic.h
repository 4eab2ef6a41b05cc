// SPDX-License-Identifier: Apache-2.0
// The model of quasistatic flesh (asset/quasistatic_model.h) from an embedded body: stiffness tuned as for the other
// engines (fitting/flesh_stiffness.h), loose pieces held, and how the flesh turns with the bones.
#pragma once

#include "supple/asset/quasistatic_model.h"
#include "supple/base/progress.h"
#include "supple/offline/fitting/embedded_body.h"
#include "supple/rig/character_rig.h"

namespace supple {

struct QuasistaticBuildSettings {
  /// [Hz] that unpainted flesh would sway with, which says how far it hangs under gravity. Absent: stiffness as it is.
  std::optional<double> frequency = 4.0;
  double base_young = default_material().young;  ///< of what isn't painted [Pa]
  bool biharmonic = false;                       ///< flesh turns by weights of its own (flesh_turns.h)
};

/// `character` with its clips, which tell how it turns. Fails when nothing is free to move.
Result<QuasistaticModel> build_quasistatic(const EmbeddedBody& body, const RawCharacter& character,
                                           const CharacterRig& rig, const QuasistaticBuildSettings& settings = {},
                                           Progress& progress = Progress::silent());

}  // namespace supple
