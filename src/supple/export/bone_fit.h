// SPDX-License-Identifier: Apache-2.0
// BoneFit: the numerics behind helper_bones.h for one mesh. A round shows it every frame once.
#pragma once

#include "supple/export/helper_bones.h"
#include "supple/rig/raw_character.h"

#include <span>

namespace supple {

class BoneFit {
 public:
  /// `rest`: positions of the mesh's vertices in the world at rest.
  BoneFit(const RawCharacter& character, const CharacterMesh& mesh, std::span<const Vec3> rest, Index frames);

  /// A new helper at each of the vertices with the largest error, not two at one place. `radius` [m] of their first
  /// influence.
  void add_bones(Index count, double radius);
  Index bone_count() const { return static_cast<Index>(bones_.size()); }

  void begin_round();
  /// Fits the motions of frame f; `joints`: world matrices of the skeleton; displacements of the mesh's vertices. The
  /// regions of bones overlap, so that each is fitted several times.
  void fit_frame(Index f, std::span<const Affine> joints, std::span<const Vec3> displacements, int sweeps);
  /// Fits the weights to the motions.
  void fit_weights();

  double largest_error() const { return largest_error_; }
  double squared_error() const { return squared_error_; }
  MeshBones result() const;

 private:
  struct Share {
    Index bone;
    double alpha;
  };
  /// Sums over frames for the weights of one vertex, over the bones that may carry it.
  struct Sums {
    std::vector<Index> bones;
    MatX left;
    VecX right;
  };
  /// A vertex that a bone carries a share of, in the space of the bone's parent.
  struct Carried {
    std::size_t vertex;
    double alpha;
    Vec3 p;
  };
  double parent_weight(std::size_t vertex, Index slot) const;
  void give_share(std::size_t vertex, double part);
  void update_candidates();
  void update_carried();
  void add_motion(std::size_t bone, Index f, const Mat3& linear, double sign);
  void fit_motion(std::size_t bone, Index f, const Mat3& linear);
  Vec3 moved(std::size_t vertex, const HelperBone& bone, Index f, const Mat3& linear) const;
  std::vector<Share> best_shares(std::size_t vertex, const Sums& sums) const;
  std::vector<Share> best_replacement(std::size_t vertex, const Sums& sums) const;

  const CharacterMesh* mesh_;
  const Skin* skin_;
  std::vector<Vec3> rest_;
  Index frames_;
  std::vector<HelperBone> bones_;
  std::vector<Vec3> bone_rest_;                ///< where each sits in the world at rest
  std::vector<std::vector<Share>> shares_;     ///< of each vertex
  std::vector<std::vector<Carried>> carried_;  ///< by each bone: the same, the other way round
  std::vector<Sums> sums_;
  std::vector<double> energy_;  ///< of each vertex: squared error of the last round
  std::vector<Vec3> left_;      ///< what a frame's displacements lack
  double largest_error_ = 0, squared_error_ = 0;
};

}  // namespace supple
