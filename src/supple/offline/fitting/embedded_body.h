// SPDX-License-Identifier: Apache-2.0
// EmbeddedBody: a body of tetrahedra around a character's rig, whose rest shape follows any pose (2016 paper, 4.1).
// Second of the product's road: RawCharacter → EmbeddedBody → ReducedBody → CharacterAsset → CharacterState.
#pragma once

#include "supple/base/progress.h"
#include "supple/base/stage_store.h"
#include "supple/offline/fitting/bones.h"
#include "supple/offline/fitting/fit_rest_shape.h"
#include "supple/offline/fitting/own_axes.h"
#include "supple/offline/meshing/tetrahedralize.h"
#include "supple/rig/deform/pose_space.h"

namespace supple {

/// Tetrahedra that somebody brings, in the rig's space [m].
struct OwnTetrahedra {
  TetMesh mesh;
  std::string name;  ///< of the file they come from, for messages
};

struct EmbedSettings {
  TetMeshingOptions meshing;
  std::optional<OwnTetrahedra> own;  ///< in place of the mesher's
  BoneSettings bones;
  FitSettings fit;
  StageStore* store = &StageStore::none();  ///< that may know the tetrahedra of the same skin
};

struct EmbeddedBody {
  TetMesh mesh;                  ///< neutral pose, the rig's space [m]
  Surface skin;                  ///< all vertices of the rig, neutral pose
  Quat axes = Quat::Identity();  ///< of the rig
  Embedding embedding;           ///< what the skin's displacements hang on (calm_skin.h): fits need embed()
  SurfaceCarry carry;            ///< of the mesh by the skin
  std::vector<BoneSegment> bones;
  std::vector<char> hard;             ///< for each vertex of the skin
  std::vector<Index> fixed_vertices;  ///< of the mesh: they follow the rig exactly
  TetMeshingReport meshing;
  std::vector<std::string> warnings;

  /// The largest side of the skin's box along its own axes [m].
  double extent() const { return extent_along(axes, skin.vertices); }
};

/// Fails when nothing can be meshed, when tetrahedra of the settings don't surround the skin (own_tetrahedra.h), or
/// when a joint of the settings doesn't exist.
Result<EmbeddedBody> embed_character(const RawCharacter& character, const CharacterRig& rig,
                                     const EmbedSettings& settings = {}, Progress& progress = Progress::silent());

/// The given vertices, and all of every piece that none of them holds: it can only follow the rig. Ascending.
std::vector<Index> hold_loose_pieces(const TetMesh& mesh, const std::vector<Index>& fixed);

/// The rest shapes of some poses, and the rig of the mesh that reproduces them.
struct FittedPoses {
  std::shared_ptr<const Rig> rig;  ///< Φ: positions of the mesh's vertices, exact in the fitted poses
  std::vector<FitReport> reports;  ///< one per pose
  std::vector<PoseCorrection> corrections;
};

/// Fits each pose p (Eq. 3) and stores its difference to the carried rig as that pose's correction. `known`: what was
/// found for the first of the poses before; `store` may know fits of the same body.
Result<FittedPoses> fit_poses(const EmbeddedBody& body, std::shared_ptr<const Rig> surface_rig,
                              const std::vector<std::vector<double>>& poses, const FitSettings& settings = {},
                              Progress& progress = Progress::silent(), FittedPoses known = {},
                              StageStore& store = StageStore::none());

}  // namespace supple
