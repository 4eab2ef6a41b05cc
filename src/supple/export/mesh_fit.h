// SPDX-License-Identifier: Apache-2.0
// MeshFit: the numerics behind compress_motion.h for one mesh. A frame is a sample, a column of 3 n numbers: x of all
// vertices, then y, then z.
//
// Samples are scaled by s(v), the usual scale of B(v), so that a unit means a metre in the world wherever the mesh's
// own units differ. Directions are columns D with Dᵀ Ω D = 1, weights of a sample x are Dᵀ Ω x. Ω is how much each
// vertex counts: all the same at first. Since the largest error is what is promised, and principal directions care for
// the sum of squares, vertices that are left too far off are made to count more (reweight).
#pragma once

#include "supple/math/dense/streaming_pca.h"
#include "supple/rig/raw_character.h"

namespace supple {

struct MeshFitSettings {
  Index most_directions = 80;
  double cutoff = 0;  ///< [m] of singular values
};

/// How far a frame, as it is played, is from what was baked; measured in the pose.
struct FrameError {
  double largest = 0;  ///< [m]
  double squares = 0;  ///< sum over the vertices [m²]
};

class MeshFit {
 public:
  using Samples = Eigen::Ref<const Eigen::MatrixXf>;

  /// Takes the matrices B of the mesh's vertices in a usual pose, which set the scale of each.
  MeshFit(std::span<const Affine> matrices, const MeshFitSettings& settings);

  Index vertex_count() const { return static_cast<Index>(scale_.size()); }
  /// [m] that a unit of the mesh is long in the world, of the middle vertex.
  double usual_scale() const;
  /// The sample of a frame with these matrices and displacements of the mesh's vertices.
  void make_sample(std::span<const Affine> matrices, std::span<const Vec3> displacements, std::span<float> sample);
  /// The largest part of a displacement that no morph target could give, over all samples made so far [m]: skinning has
  /// collapsed there (bind_space.h).
  double unreachable_error() const { return unreachable_error_; }

  /// Finds the principal directions of samples together with those found before.
  void learn(const Samples& samples);
  Index direction_count() const { return static_cast<Index>(directions_.cols()); }
  /// The smallest number of directions with which the frame is within the tolerance, or all.
  Index sufficient(std::span<const float> sample, std::span<const Affine> matrices, double tolerance) const;

  /// Raises `worst`, one for each vertex, to the frame's squared errors with k directions [m²].
  void find_worst(std::span<const float> sample, std::span<const Affine> matrices, Index k,
                  Eigen::VectorXf& worst) const;
  /// Multiplies the importance Ω of each vertex by its factor, and finds the principal directions anew within the span
  /// of those known: with C = D Σ² Dᵀ for what was learned, G = Σ Dᵀ Ω D Σ = V Λ Vᵀ gives D ← D Σ V Λ^-½.
  void reweight(const Eigen::VectorXf& factors);

  /// Weights of the first k directions for each sample, and what they leave.
  Eigen::MatrixXf weights(const Samples& samples, Index k) const;
  Eigen::MatrixXf residuals(const Samples& samples, const Eigen::MatrixXf& weights) const;
  FrameError error(std::span<const float> residual, std::span<const Affine> matrices) const;

  /// [m]: how far a unit weight of each of the first k directions moves a vertex at most, in the frames seen so far.
  VecX reach(Index k) const;
  /// The first k directions in the mesh's own units.
  Eigen::MatrixXf targets(Index k) const;
  /// Gives the displacements of a sample in the mesh's own units.
  std::vector<Vec3> bind_displacements(std::span<const float> sample) const;

 private:
  Index sufficient_range(std::span<const float> sample, std::span<const Affine> matrices,
                         const Eigen::VectorXf& weights, Index begin, Index end, double tolerance) const;

  MeshFitSettings settings_;
  Eigen::VectorXf scale_;
  Eigen::VectorXf importance_;  ///< Ω, one for each number of a sample
  Eigen::VectorXf growth_;      ///< of each vertex: what (|B| / s)² is at most
  double unreachable_error_ = 0;
  Eigen::MatrixXf directions_;
  std::vector<double> singular_values_;
};

}  // namespace supple
