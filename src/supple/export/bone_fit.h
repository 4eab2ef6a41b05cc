// SPDX-License-Identifier: Apache-2.0
// BoneFit: the numerics behind helper_bones.h for one mesh. Motions and weights are fitted in turn to frames that are
// kept for it; at the end every frame gets its motions.
//
// A frame's motions. With weights fixed, E = Σ_v |Σ_h w_vh G_h q_vh − r_v|² is a quadratic form in the 3 × 4 matrices
// G_h of the helpers (q_vh = (p, 1) in the helper's space, r_v what the other joints leave):
//   E = Σ_hk tr(G_h N_hk G_kᵀ) − 2 Σ_h tr(G_h C_hᵀ) + …,   N_hk = Σ_v w_vh w_vk q_vh q_vkᵀ,   C_h = Σ_v w_vh r_v q_vhᵀ
// Its minimum is G N = C over all helpers at once. N is the same for all frames, so that it is factorised once, and C
// takes one pass over the vertices. (One helper after the other, in turns, hardly gets anywhere: helpers that share
// their vertices have to move together.)
#pragma once

#include "supple/export/helper_bones.h"
#include "supple/math/dense/decompositions.h"
#include "supple/rig/raw_character.h"

#include <span>

namespace supple {

class BoneFit {
  /// A joint of the skin or, from their number on, a helper.
  struct Share {
    Index bone;
    double weight;
  };
  struct Bone {
    HelperBone helper;
    Vec3 place;                                      ///< in the world at rest: the middle of what it carries
    std::vector<Eigen::Matrix<double, 3, 4>> world;  ///< of each kept frame
  };

 public:
  using Matrix34 = Eigen::Matrix<double, 3, 4>;
  using Moments = Eigen::Matrix<double, 4, 4>;

  /// `rest`: positions of the mesh's vertices in the world at rest.
  BoneFit(const RawCharacter& character, const CharacterMesh& mesh, std::span<const Vec3> rest);

  /// Keeps a frame to fit to. `joints`: world matrices of the skeleton; displacements of the mesh's vertices.
  void keep(std::span<const Affine> joints, std::span<const Vec3> displacements);
  std::size_t frame_count() const { return kept_.size(); }

  /// A new helper at each of the places with the largest error. Each follows the vertices within `radius` [m] at first.
  void add_bones(Index count, double radius);
  Index bone_count() const { return static_cast<Index>(found_.bones.size()); }

  /// Fits motions, or weights, to the kept frames.
  void fit_motions();
  void fit_weights();
  /// Of the kept frames, as fit_weights() has left it [m²].
  double squared_error() const { return found_.squared_error; }

  /// Helpers and weights, to come back to.
  struct Found {
    std::vector<Bone> bones;
    std::vector<std::vector<Share>> shares;  ///< of each vertex
    std::vector<double> energy;              ///< likewise: squared error over the kept frames
    double squared_error = 0;
  };
  const Found& found() const { return found_; }
  void go_back(Found found) { found_ = std::move(found); }

  /// Appends a frame to the motions of all helpers, and gives what they leave of the displacements.
  void add_frame(std::span<const Affine> joints, std::span<const Vec3> displacements, std::span<Vec3> left);
  MeshBones result() const;

 private:
  struct Kept {
    std::vector<Affine> joints;  ///< of the skin, world
    std::vector<Vec3> places;    ///< where the vertices shall be
  };
  Index joint_count() const { return static_cast<Index>(skin_->joints.size()); }
  Vec3 in_bone(std::size_t bone, std::size_t vertex) const;
  Kept frame_of(std::span<const Affine> joints, std::span<const Vec3> displacements) const;
  Matrix34 at_rest(const Bone& bone) const;
  void seed(double radius, std::vector<double>& energy);
  void follow_patch(Bone& bone, std::span<const double> nearness) const;
  void update_moments();
  void update_places();
  /// In the world; as update_moments() has left N.
  std::vector<Matrix34> best_motions(const Kept& frame) const;
  Vec3 carried_by_joints(const Kept& frame, std::size_t vertex) const;
  std::vector<Index> candidates(std::size_t vertex) const;
  void fit_vertex(std::size_t vertex);

  const CharacterMesh* mesh_;
  const Skin* skin_;
  std::vector<Vec3> rest_;
  std::vector<Kept> kept_;
  Found found_;
  PositiveFactor factor_;  ///< of N, with what holds helpers to their parents
  VecX hold_;              ///< that: the weight of a helper's motion at rest, by unknowns
};

}  // namespace supple
