// SPDX-License-Identifier: Apache-2.0
// The model of the full simulation (asset/full_model.h) from an embedded body: stiffness tuned as for the reduced
// engines (fitting/flesh_stiffness.h), loose pieces held, the rest shape carried by the skin, and frames for damping.
#pragma once

#include "supple/asset/full_model.h"
#include "supple/base/progress.h"
#include "supple/offline/fitting/embedded_body.h"
#include "supple/offline/fitting/frame_sites.h"
#include "supple/rig/character_rig.h"

#include <functional>

namespace supple {

struct FullSettings {
  MaterialModel material = MaterialModel::flesh;
  /// [Hz] that unpainted flesh shall sway with. Absent: stiffness as it is.
  std::optional<double> frequency = 4.0;
  double base_young = default_material().young;  ///< of what isn't painted [Pa]
  double bearable_share = 1;                     ///< see bearable_acceleration(); 0: violent moments aren't limited
  /// Poses in which the rest shape is fitted to the skin (2016 paper, Eq. 3); none: the skin carries it everywhere.
  std::vector<std::vector<double>> fitted_poses;
  /// Poses besides the neutral one in which materials differ, and what they are there on the tuned mesh.
  std::vector<std::vector<double>> material_poses = {};
  std::function<std::vector<ElasticMaterial>(const TetMesh& tuned, std::size_t pose)> materials_in_pose = {};
  FrameSiteSettings frames;
  StageStore* store = &StageStore::none();  ///< that may know fits of the same body
};

/// `character` with its clips, which tell how vigorously it moves. Fails when nothing is free to move.
Result<FullModel> build_full(const EmbeddedBody& body, const RawCharacter& character, const CharacterRig& rig,
                             const FullSettings& settings = {}, Progress& progress = Progress::silent());

}  // namespace supple
