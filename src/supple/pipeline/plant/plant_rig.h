// SPDX-License-Identifier: Apache-2.0
// A moving plant as glTF: frames of domains become joints with an animation, which carry the meshes; how parts bend
// beyond that is soft motion, which the writers of characters take (export/write_soft_glb.h).
//
// A mesh whose vertices all follow one joint hangs on it as a node; others get a skin. A player that knows neither
// skins nor morph targets still shows such meshes move.
#pragma once

#include "supple/export/soft_motion.h"
#include "supple/pipeline/plant/plant_source.h"
#include "supple/pipeline/plant/sway_plant.h"

#include <memory>

namespace supple {

struct PlantRigSettings {
  Index most_joints = 250;  ///< domains beyond these, the smallest, follow their parents' joints
};

struct PlantRig {
  GltfDocument document;   ///< the source's, with joints, skins and the animation "wind"
  RawCharacter character;  ///< read from it again
  std::unique_ptr<SoftFrames> frames;
  SoftMotion motion;  ///< of the character; its pointers are to the two above
  Index joints = 0;
};

/// `plan`, `model` and `sway` must outlive what comes back.
Result<std::unique_ptr<PlantRig>> rig_plant(const PlantSource& source, const PlantPlan& plan, const DomainModel& model,
                                            const PlantSway& sway, const PlantRigSettings& settings = {});

}  // namespace supple
