// SPDX-License-Identifier: Apache-2.0
// What stands behind the door for characters (character.h); not for users.
#pragma once

#include "supple/asset/character_asset.h"
#include "supple/runtime/character.h"
#include "supple/runtime/posespace/pose_space_dynamics.h"

namespace supple {

struct CharacterData {
  struct Morph {
    std::string name;
    Index place;         ///< in p of the engine's rig
    double neutral = 0;  ///< weight
    int follower = -1;   ///< of PoseMorphs; -1: it follows nothing
  };
  struct Primitive {
    int mesh;
    const std::vector<Index>* vertices;
  };
  struct Node {
    std::size_t block;
    Index vertex;  ///< of the block
  };

  explicit CharacterData(CharacterAsset loaded);

  CharacterAsset asset;
  std::shared_ptr<const PreparedModel<float>> prepared;
  std::vector<Morph> morphs;
  std::vector<Primitive> primitives;
  std::vector<Index> first_primitive;  ///< of each mesh
  std::vector<Index> triangles;
  std::vector<Node> nodes;         ///< that the surface hangs on
  std::vector<double> bind_scale;  ///< of each vertex: by what skinning scales it at rest
  std::vector<Index> all_vertices;

  const CharacterDrive& drive() const { return *asset.drive; }
  const PoseSpaceModel& model() const { return *asset.model; }

 private:
  void find_morphs();
  void find_bind_scales();
};

/// Matrices of all bones of a skin: world(joint) inverse_bind.
void find_bone_matrices(const SurfaceSkin& skin, std::span<const Affine> world, std::span<Affine> bones);
/// B of one vertex, without its translation.
Mat3 skin_matrix(const SurfaceSkin& skin, std::span<const Affine> bones, std::size_t vertex);

}  // namespace supple
