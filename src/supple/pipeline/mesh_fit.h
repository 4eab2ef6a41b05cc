// SPDX-License-Identifier: Apache-2.0
// MeshFit: the numerics behind compress_motion.h for one mesh. Frames are shown to it three times: to learn directions,
// to find how many are needed, and to fit the weights.
//
// Everything is scaled by s(v), the usual scale of B(v), so that a unit means a metre in the world wherever the mesh's
// own units differ. Rows hold x of all vertices, then y, then z.
#pragma once

#include "supple/math/streaming_pca.h"
#include "supple/rig/raw_character.h"

#include <array>

namespace supple {

struct MeshFitSettings {
  Index most_directions = 80;
  Index block = 64;
  double cutoff = 0;  ///< [m] of singular values
};

/// One frame approximated.
struct FrameFit {
  VecX weights;
  double largest_error = 0;      ///< [m] in the pose
  double squared_error = 0;      ///< sum over the vertices [m²]
  double largest_reachless = 0;  ///< [m] of the displacement that no morph target could give
};

class MeshFit {
 public:
  /// `matrices` of the mesh's vertices in a usual pose.
  MeshFit(const CharacterMesh& mesh, std::span<const Affine> matrices, const MeshFitSettings& settings);

  Index vertex_count() const { return static_cast<Index>(scale_.size()); }
  /// The frame that the next call is about: matrices and displacements of this mesh's vertices.
  void load(std::span<const Affine> matrices, std::span<const Vec3> displacements);

  void learn() { pca_.add({sample_.data(), static_cast<std::size_t>(sample_.size())}); }
  void finish_learning();

  /// Measures the frame with every number of directions.
  void profile();
  Index direction_count() const { return pca_.direction_count(); }
  /// [m] with k directions, the largest of all frames profiled.
  double profiled_error(Index k) const { return profile_[static_cast<std::size_t>(k)]; }
  /// The smallest number of directions within the tolerance, or all.
  Index sufficient(double tolerance) const;

  /// Makes morph targets of the first k directions.
  void take(Index k);
  Index target_count() const { return static_cast<Index>(targets_.cols()); }
  /// Weights for the frame by least squares in the pose.
  FrameFit fit();
  /// [m]: how far a unit weight of each target moves a vertex at most, in the frames fitted so far.
  const VecX& reach() const { return reach_; }

  /// In the mesh's own units, single precision: 3 n × k.
  const Eigen::MatrixXf& targets() const { return targets_; }
  Eigen::MatrixXf take_targets() { return std::move(targets_); }
  /// The frame's displacement in the mesh's own units.
  std::vector<Vec3> bind_displacements() const;

 private:
  void profile_range(Index begin, Index end, const Eigen::VectorXf& weights, float* largest) const;
  void pose_targets(Index begin, Index end);
  /// Normal equations over a range of vertices, and how far each target moves one of them at most.
  struct Equations {
    MatX left;
    VecX right, reach;
  };
  Equations equations(Index begin, Index end);
  VecX solve();

  Eigen::VectorXf scale_;
  StreamingPca pca_;
  std::array<Eigen::VectorXf, 9> matrix_;  ///< B / s, row by row
  Eigen::VectorXf sample_;                 ///< s d
  double reachless_ = 0;
  std::vector<double> profile_;
  Eigen::VectorXf largest_weight_;  ///< of each direction
  Eigen::MatrixXf targets_;
  Eigen::VectorXf unit_;
  Eigen::VectorXf goal_;   ///< the displacement in the pose
  Eigen::MatrixXf posed_;  ///< what a unit weight of each target does in the pose
  VecX reach_;
};

}  // namespace supple
