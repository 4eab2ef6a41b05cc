// SPDX-License-Identifier: Apache-2.0
// Soft motion as few morph targets with weight curves, which every glTF player can play:
//
//   x(v, t) = B(v, t) (rest(v) + morphs(v, t) + Σ_k w_k(t) T_k(v))
//
// Displacements are taken into bind space (bind_space.h). The strongest principal directions of all frames become the
// targets T_k, as many as bring the largest error, over all frames and vertices and measured in the pose, under the
// tolerance. Weights are the products with the directions.
// Keys are left out where a line replaces them within what remains of the tolerance, and the errors stated are those of
// what is left. All clips share the targets; each mesh has its own, as glTF wants it, and one that hardly moves has
// none. In the end weights are brought into [0, 1] (unit_weights.h).
//
// Players interpolate weights in straight lines and the skeleton in its own way, so that between two keys the error may
// be larger than at either. Frames that aren't to be written (SoftClip::written_every) show it: they are part of the
// errors stated.
//
// Normals follow to first order: weight w_k turns the normal at v by w_k ω_k(v) (mesh/normal_turn.h).
#pragma once

#include "supple/base/progress.h"
#include "supple/base/result.h"
#include "supple/export/soft_motion.h"
#include "supple/export/weight_curve.h"

#include <algorithm>
#include <cmath>

namespace supple {

struct CompressionSettings {
  double tolerance = 0;  ///< [m] in the world; 0: share_of_height
  double share_of_height = 1e-3;
  Index most_targets = 96;                      ///< of one mesh
  std::size_t memory = std::size_t{512} << 20;  ///< bytes for frames, which otherwise are asked for up to three times
  bool keep_all_keys = false;
};

/// What was written, and how far the played motion is from the baked one.
struct CompressionReport {
  double height = 0;             ///< of the character at rest [m]
  double tolerance = 0;          ///< [m]
  double peak_displacement = 0;  ///< [m]
  double largest_error = 0;      ///< [m] at any frame and vertex
  double rms_error = 0;          ///< [m] over frames and vertices
  double unreachable = 0;        ///< [m]: the largest displacement that skinning scaled to nothing
  double normal_rms = 0;         ///< [deg] between played normals and those of the deformed surface, at some frames
  double normal_99 = 0;          ///< [deg]: 99 of 100 are closer
  double normal_largest = 0;     ///< [deg]
  Index frames = 0;
  Index targets = 0;  ///< of all meshes together
  Index keys = 0;     ///< likewise

  bool within_tolerance() const { return largest_error <= tolerance; }
};

/// The targets of one mesh: 3 n × k, x of all welded vertices, then y, then z, in the mesh's own units.
struct MeshTargets {
  Index mesh = 0;  ///< of the character
  Eigen::MatrixXf displacements;
  Eigen::MatrixXf turns;            ///< ω [rad]
  double unit = 1;                  ///< [m] that a unit of the mesh is long in the world
  std::vector<WeightCurve> curves;  ///< one for each clip of the motion

  Index target_count() const { return static_cast<Index>(displacements.cols()); }
  Index vertex_count() const { return static_cast<Index>(displacements.rows() / 3); }
  Vec3 displacement(Index target, Index vertex) const { return at(displacements, target, vertex); }
  Vec3 turn(Index target, Index vertex) const { return at(turns, target, vertex); }
  /// Over all curves.
  double largest_weight(Index target) const {
    double most = 0;
    for (const WeightCurve& curve : curves)
      for (std::size_t i = to_size(target); i < curve.values.size(); i += curve.width())
        most = std::max(most, std::abs(curve.values[i]));
    return most;
  }

 private:
  static Vec3 at(const Eigen::MatrixXf& m, Index target, Index vertex) {
    const Eigen::Index n = m.rows() / 3;
    return {m(vertex, target), m(n + vertex, target), m(2 * n + vertex, target)};
  }
};

struct CompressedMotion {
  std::vector<MeshTargets> meshes;  ///< in the order of the motion's
  CompressionReport report;
};

Result<CompressedMotion> compress_motion(const SoftMotion& motion, const CompressionSettings& settings = {},
                                         Progress& progress = Progress::silent());

}  // namespace supple
