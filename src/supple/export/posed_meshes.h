// SPDX-License-Identifier: Apache-2.0
// PosedMeshes: the meshes of a character at a moment of a clip, as glTF players pose them.
//
//   skinned:  B(v) = Σ_k w_k world(joint_k) inverse_bind_k        otherwise: B(v) = world(node)
//   x(v) = B(v) (rest(v) + Σ_t weight_t displacement_t(v))
//
// Why not CharacterRig: it gives positions only, and what soft motion is taken into bind space with is B.
#pragma once

#include "supple/base/result.h"
#include "supple/export/soft_motion.h"
#include "supple/rig/pose.h"
#include "supple/rig/raw_character.h"

namespace supple {

class PosedMeshes {
 public:
  /// `meshes` of the character, or all when empty. The character must outlive this.
  PosedMeshes(const RawCharacter& character, std::span<const Index> meshes);

  const std::vector<Index>& meshes() const { return meshes_; }
  /// First vertex of each mesh, and the vertex count at the end.
  const std::vector<Index>& first_vertex() const { return first_vertex_; }
  Index vertex_count() const { return first_vertex_.back(); }
  const CharacterMesh& mesh(std::size_t m) const;

  void pose_at_rest();
  void pose(const Clip& clip, double time);

  /// Gives B of each vertex in the last pose.
  const std::vector<Affine>& matrices() const { return matrices_; }
  /// Gives the world matrices of all joints in the last pose.
  const std::vector<Affine>& joints() const { return world_; }
  /// Writes where the vertices are in the last pose without soft motion, in the world.
  void positions(std::span<Vec3> out) const;

 private:
  void read_weights(const Clip* clip, double time);
  void blend();

  const RawCharacter& character_;
  std::vector<Index> meshes_;
  std::vector<Index> first_vertex_;
  Pose locals_;
  std::vector<Affine> world_;
  std::vector<Affine> bones_;
  std::vector<Affine> matrices_;
  std::vector<std::vector<double>> morph_weights_;  ///< of each mesh
};

/// Checks that the parts of a motion fit together; the error says which don't.
Status check_motion(const SoftMotion& motion);

/// A motion that passed check_motion, with the meshes to pose; frames know their clip.
class SoftPlayer {
 public:
  explicit SoftPlayer(const SoftMotion& motion);

  Index frame_count() const { return static_cast<Index>(clip_of_.size()); }
  PosedMeshes& meshes() { return meshes_; }
  const PosedMeshes& meshes() const { return meshes_; }
  const RawCharacter& character() const { return *motion_.character; }
  const std::vector<SoftClip>& clips() const { return motion_.clips; }
  /// The clip's number in `clips` of a frame, and where that clip's frames begin.
  Index clip_of(Index frame) const { return clip_of_[to_size(frame)]; }
  Index first_frame(Index clip) const { return first_frame_[to_size(clip)]; }
  bool is_written(Index frame) const {
    const Index c = clip_of(frame);
    return clips()[to_size(c)].is_written(to_size(frame - first_frame(c)));
  }

  /// Poses the meshes at a frame.
  void pose(Index frame);
  /// Poses the meshes at a frame and gives its displacements.
  std::span<const Vec3> play(Index frame);

 private:
  SoftMotion motion_;
  PosedMeshes meshes_;
  std::vector<Index> clip_of_;
  std::vector<Index> first_frame_;
  std::vector<Vec3> displacement_;
};

/// Gives the height of the character at rest [m]: its extent upwards, or a third of its largest extent where it lies
/// flat.
double character_height(PosedMeshes& meshes);

}  // namespace supple
