// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/quasistatic/build_quasistatic.h"

#include "supple/offline/fitting/whole_mesh.h"
#include "supple/offline/quasistatic/flesh_turns.h"

namespace supple {

Result<QuasistaticModel> build_quasistatic(const EmbeddedBody& body, const RawCharacter& character,
                                           const CharacterRig& rig, const QuasistaticBuildSettings& settings,
                                           Progress& progress) {
  QuasistaticModel model;
  SUPPLE_RETURN_IF_ERROR(
      take_mesh(body, MaterialModel::corotational, settings.frequency, settings.base_young, progress, model));
  model.rest = carry_rig(rig.rig(), body.carry, body.mesh.vertices);
  progress.stage("following the pose");
  choose_turns(body, rig, typical_shapes(*model.rest, character, rig), settings.biharmonic, model);
  return model;
}

}  // namespace supple
