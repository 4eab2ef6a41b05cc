// SPDX-License-Identifier: Apache-2.0
// Which tetrahedra tell how the rest shape turns (asset/frame_sites.h), and how vertices blend their rotations.
//
// A site is not an element of the mesh but four of its vertices that span as much as they can within half the distance
// to the next site: single elements turn unevenly where a rig creases, and a rotation of four distant corners is
// smooth. Sites spread over the flesh by farthest points, measured through the flesh; more are put where the blend
// misses the true local rotations most, in poses taken from the character's motion. A vertex blends its nearest sites
// with
//   w_k ∝ (1/d_k − 1/d_5)²,  d_k the distance of the k-th nearest
// which fades out where another site takes over, so that the field is continuous.
#pragma once

#include "supple/asset/frame_sites.h"
#include "supple/mesh/volume_mesh.h"

#include <span>

namespace supple {

struct FrameSiteSettings {
  int least = 32;
  int most = 64;
  double tolerance = 0.1;  ///< [rad], of the worst twentieth of the flesh
};

/// `poses`: positions of all vertices of the mesh, one entry per pose; `free`: those that flesh can move.
FrameSites choose_frame_sites(const TetMesh& mesh, std::span<const Index> free,
                              std::span<const std::vector<Vec3>> poses, const FrameSiteSettings& settings = {});

/// R of every vertex as a running model blends it.
std::vector<Mat3> blended_rotations(const TetMesh& mesh, const FrameSites& frames, std::span<const Vec3> posed);

/// Rotation at every vertex: the mean of its elements' rotations by volume (2016 paper, 5.1).
std::vector<Eigen::Vector4d> vertex_rotations(const TetMesh& mesh, std::span<const Vec3> posed);

}  // namespace supple
