// SPDX-License-Identifier: Apache-2.0
// PoseBasis: what reduction knows of one pose of a character.
#pragma once

#include "supple/asset/pose_space_model.h"
#include "supple/mesh/volume_mesh.h"

namespace supple {

/// The reduced model of one pose, over the whole mesh.
struct PoseBasis {
  std::vector<double> p;
  std::vector<Vec3> positions;             ///< Φ(p)
  std::vector<Mat3> turns;                 ///< R(p), of every vertex
  MatX basis;                              ///< Û: the basis, turned back
  std::vector<ElasticMaterial> materials;  ///< of each element; empty: those of the mesh
  /// For each column, the pose that it is taken over from, and the pose that its gradients are from (align_bases.h).
  /// Where these are empty, all are its own.
  std::vector<Index> sources = {}, gradient_sources = {};
};

/// Gives D_e of an element, nine rows as in ElementBlock::gradients. With directions of the world the basis isn't
/// turned back.
MatX element_gradient(const TetMesh& mesh, std::size_t element, const PoseBasis& pose, BasisDirections directions);
/// Gives D_e for `count` columns, from the `first` on.
MatX column_gradient(const TetMesh& mesh, std::size_t element, const PoseBasis& pose, BasisDirections directions,
                     Eigen::Index first, Eigen::Index count);
/// Gives D_e of one of several poses. Gradients that it has taken over are those of the pose that they are from.
MatX element_gradient(const TetMesh& mesh, std::size_t element, std::span<const PoseBasis> poses, std::size_t pose,
                      BasisDirections directions);

/// Gives the twelve rows of an element with exact strain, as in ElementBlock::gradients.
MatX corner_rows(const TetMesh& mesh, std::size_t element, const MatX& basis);

/// Û in the directions of the world: every vertex's rows turned by its R.
MatX turned(const PoseBasis& pose);

}  // namespace supple
