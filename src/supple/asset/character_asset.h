// SPDX-License-Identifier: Apache-2.0
// CharacterAsset: a character's soft tissue as it is shipped: the model that runs, what its settings are derived from,
// and what is worth knowing of how it was made. Fourth of the product's road:
//   RawCharacter → EmbeddedBody → ReducedBody → CharacterAsset → CharacterState
#pragma once

#include "supple/asset/character_drive.h"
#include "supple/asset/made_for.h"
#include "supple/asset/pose_space_model.h"

#include <string>

namespace supple {

/// One pose of the model.
struct PoseFacts {
  std::string name;
  int parent = -1;           ///< the pose whose basis this one's is aligned with; −1: none
  double angle = 0;          ///< between the two bases, all directions together [rad], see subspace_angle()
  double largest_angle = 0;  ///< of their directions [rad]
  int inverted_before = 0, inverted = 0;  ///< elements, before and after the rest shape was fitted to the skin
  double fit_error = 0;                   ///< mean distance to the skin, as a share of the body's diagonal
};

/// Of the build; nothing of it is needed to run.
struct CharacterFacts {
  Index tets = 0, vertices = 0;  ///< of the simulation mesh
  Index held_vertices = 0;       ///< that follow the rig
  double young = 0;              ///< of the softest element [Pa]
  double elastic_error = 0;      ///< of cubature, on samples that weren't trained with, in the model's poses …
  double posed_error = 0;        ///< … and in others
  double inertial_error = 0;     ///< likewise
  VecX frequencies;              ///< of the linear modes [Hz]
  std::vector<std::string> warnings;
  std::vector<PoseFacts> poses = {};           ///< of the model, the neutral one first
  std::optional<double> estimated_error = {};  ///< of the skin against the full simulation, on motion not learnt from
};

struct CharacterAsset {
  std::string name;
  std::shared_ptr<const PoseSpaceModel> model;
  double flesh_frequency = 0;    ///< [Hz]
  double damping = 0.2;          ///< ratio, at that frequency
  double most_acceleration = 0;  ///< of the rig as it drives flesh [m/s²]: see runtime/flesh_drive.h; 0: any
  double gain = 1;               ///< of what drives the flesh
  double exaggeration = 1;       ///< likewise, found by the character's clips (pipeline/character/exaggeration.h)
  CharacterFacts facts;
  MadeFor made_for = {};
  /// What moves the model, and what it moves; null in archives of earlier versions, which can be baked but not played.
  std::shared_ptr<const CharacterDrive> drive = {};
};

}  // namespace supple
