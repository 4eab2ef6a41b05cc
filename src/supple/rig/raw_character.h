// SPDX-License-Identifier: Apache-2.0
// RawCharacter: a rigged, animated character as its file describes it, in our terms. First of the product's road:
//   RawCharacter → EmbeddedBody → ReducedBody → CharacterAsset → CharacterState
#pragma once

#include "supple/mesh/morph_target.h"
#include "supple/mesh/surface.h"
#include "supple/rig/clip.h"
#include "supple/rig/skin.h"

namespace supple {

/// One mesh in one place of the scene. Files split vertices along seams of texture and shading; here they are welded:
/// vertices of the file that agree in position, weights and morph targets are one.
struct CharacterMesh {
  std::string name;
  Index node = 0;       ///< joint of the skeleton that carries it
  Index file_mesh = 0;  ///< its number in the file; several places may share it
  Index skin = -1;      ///< -1: no skin, it moves rigidly with its node
  Surface surface;      ///< before skinning and morphing; one part per primitive of the file
  SkinWeights weights;
  std::vector<MorphTarget> targets;
  std::vector<double> default_target_weights;
  /// The welded vertex of each vertex of the file, for each primitive: what output is scattered through. Empty for
  /// primitives of points or lines, which aren't ours.
  std::vector<std::vector<Index>> welded_vertex;
};

struct RawCharacter {
  std::string name;
  Skeleton skeleton;
  std::vector<Index> file_node;  ///< of each joint: its number in the file
  std::vector<Skin> skins;
  std::vector<CharacterMesh> meshes;
  std::vector<Clip> clips;
  std::vector<std::string> warnings;  ///< each a sentence: what was repaired or left out
};

}  // namespace supple
