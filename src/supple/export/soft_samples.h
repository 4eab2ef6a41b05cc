// SPDX-License-Identifier: Apache-2.0
// The frames of a soft motion as samples of each mesh (mesh_fit.h). They are kept where memory allows, so that each
// frame is asked for once; otherwise they are made anew whenever they are wanted.
#pragma once

#include "supple/base/result.h"
#include "supple/export/mesh_fit.h"
#include "supple/export/posed_meshes.h"

namespace supple {

class SoftSamples {
 public:
  /// `memory` [bytes] for what is kept. Player and fits, one for each mesh, must outlive this.
  SoftSamples(SoftPlayer& player, std::vector<MeshFit*> fits, std::size_t memory);

  /// Makes the samples of some frames: for each mesh a matrix with a column for each of them. Refuses what isn't
  /// finite.
  Status gather(std::span<const Index> frames, std::vector<Eigen::MatrixXf>& samples);

  double peak_displacement() const { return peak_; }  ///< [m] of the frames seen

 private:
  Status make(Index f);

  SoftPlayer& player_;
  std::vector<MeshFit*> fits_;
  bool keeps_;
  std::vector<bool> made_;
  std::vector<Eigen::MatrixXf> kept_;  ///< of each mesh: a column for every frame, or for the last
  double peak_ = 0;
};

}  // namespace supple
