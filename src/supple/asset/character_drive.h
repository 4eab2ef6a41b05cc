// SPDX-License-Identifier: Apache-2.0
// CharacterDrive: all that turns the joints and morph weights of an engine into what a character's soft tissue wants,
// and what it answers into the vertices that the engine draws. The pose-space model knows a parameter p and vertices of
// one welded surface; an engine knows joints by name, and vertices of primitives that are split along seams.
//
//   joints, morph weights  →  placement, p        CharacterRig
//   p  →  positions of the surface                CharacterRig::rig()
//   surface  →  vertices of the file              SurfaceMesh::file_vertices
//   world  →  before skinning                     SurfaceSkin: B(v) = Σ_k w_k world(joint_k) inverse_bind_k
#pragma once

#include "supple/mesh/surface.h"
#include "supple/rig/pose_morphs.h"

#include <memory>

namespace supple {

/// One mesh of the character's file, as a run of vertices of the surface.
struct SurfaceMesh {
  std::string name;
  Index node = 0;       ///< joint that carries it
  Index file_mesh = 0;  ///< its number in the file
  Index first_vertex = 0, vertex_count = 0;
  /// For each primitive of the file and each of its vertices the vertex of the surface that it is, counted over all
  /// meshes. Empty for primitives of points or lines, which don't take part.
  std::vector<std::vector<Index>> file_vertices;
};

/// How an engine skins the surface: linearly.
struct SurfaceSkin {
  std::vector<Bone> bones;
  SkinWeights weights;  ///< `joint` counts bones
};

struct CharacterDrive {
  CharacterRig rig;
  /// The rig that the file describes and engines play: linear skinning after morph targets. Absent where `rig` is that.
  std::optional<CharacterRig> played = {};
  std::optional<PoseMorphs> pose_morphs = {};  ///< of the rig that is played
  std::vector<SurfaceMesh> meshes = {};
  std::vector<Triangle> triangles = {};  ///< of the surface
  SurfaceSkin skin = {};
  double metres_per_unit = 1;  ///< what lengths of the character's file were multiplied with

  /// What engines play.
  const CharacterRig& engine_rig() const { return played ? *played : rig; }
};

/// `rig` is of all meshes of the character. `poses`: examples that the file knows, corrected by morph targets or right
/// without. Fails where they leave the interpolation of morph weights undecided.
Result<std::shared_ptr<const CharacterDrive>> make_character_drive(const RawCharacter& character,
                                                                   const CharacterRig& rig,
                                                                   std::span<const NamedPose> poses = {},
                                                                   double metres_per_unit = 1);

}  // namespace supple
