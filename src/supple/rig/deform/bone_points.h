// SPDX-License-Identifier: Apache-2.0
// BonePoints: the bones of a skinned rig as points that a rig with the same parameters moves, four for each bone: where
// they are tells how the bone has turned, without asking what kind of rig it is.
#pragma once

#include "supple/rig/deform/skin_deformer.h"

#include <memory>
#include <optional>

namespace supple {

struct BonePoints {
  std::shared_ptr<const Rig> rig;            ///< points 4 b … 4 b + 3 move with bone b
  std::shared_ptr<const SkinDeformer> skin;  ///< whose influences say how vertices hang on bones
};

/// Finds the skin of a rig of morph targets, a skin and corrections. Gives nothing for rigs of other kinds.
std::optional<BonePoints> bone_points(const Rig& rig);

}  // namespace supple
