// SPDX-License-Identifier: Apache-2.0
// What engines begin with that keep the whole mesh of a body instead of reducing it.
#pragma once

#include "supple/asset/whole_mesh_model.h"
#include "supple/base/progress.h"
#include "supple/fem/material.h"
#include "supple/offline/fitting/embedded_body.h"
#include "supple/rig/character_rig.h"

#include <optional>

namespace supple {

/// Takes over the body's mesh, what bones hold and the skin; the rest shape is left to the engine. Where a frequency
/// [Hz] is given, unpainted flesh, which has `base_young` [Pa], becomes so stiff that it sways with it
/// (flesh_stiffness.h). Fails when nothing is left to be soft.
Status take_mesh(const EmbeddedBody& body, MaterialModel material, std::optional<double> frequency, double base_young,
                 Progress& progress, WholeMeshModel& model);

/// Where the rest shape is in typical moments of the character's clips.
std::vector<std::vector<Vec3>> typical_shapes(const Rig& rest, const RawCharacter& character, const CharacterRig& rig);

}  // namespace supple
