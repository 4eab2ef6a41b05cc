// SPDX-License-Identifier: Apache-2.0
// How flesh turns with the pose (2014 paper, section 4): the rotations of turning sites (asset/quasistatic_model.h),
// each relative to the neutral pose, blended with the weights of the vertices as quaternions: the rotational part of
// dual quaternion skinning.
#pragma once

#include "supple/asset/quasistatic_model.h"
#include "supple/offline/fitting/embedded_body.h"

namespace supple {

/// The sites of a skinned rig are its bones, and a vertex of the mesh hangs on them as the skin that carries it does.
/// Of other rigs they are places in the flesh (fitting/frame_sites.h), told by `poses` of all vertices. `biharmonic`:
/// bones hold what they cross, and have a share in flesh between them by bounded biharmonic weights
/// (patches/bounded_biharmonic.h), as the paper has it; a rig without bones gets a warning.
void choose_turns(const EmbeddedBody& body, const CharacterRig& rig, std::span<const std::vector<Vec3>> poses,
                  bool biharmonic, QuasistaticModel& model);

class FleshTurns {
 public:
  /// `model` must outlive it.
  explicit FleshTurns(const QuasistaticModel& model);

  /// Quaternions x y z w for each vertex of the mesh, of any length. Allocates nothing.
  void evaluate(std::span<const double> p, std::span<Eigen::Vector4d> rotations);

 private:
  const QuasistaticModel* model_;
  std::vector<Index> points_;
  std::vector<Vec3> positions_;
  std::vector<Mat3> inverse_edges_;  ///< of the sites in the neutral pose
  std::vector<Eigen::Vector4d> sites_;
  std::unique_ptr<RigWorkspace> workspace_;
};

}  // namespace supple
