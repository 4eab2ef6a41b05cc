// SPDX-License-Identifier: Apache-2.0
// ReducedBody: an embedded body brought down to r coordinates around its neutral pose, with all that its running copies
// need (2016 paper, section 5). Third of the product's road:
//   RawCharacter → EmbeddedBody → ReducedBody → CharacterAsset → CharacterState
#pragma once

#include "supple/asset/pose_space_model.h"
#include "supple/base/progress.h"
#include "supple/offline/cubature/cubature.h"
#include "supple/offline/fitting/embedded_body.h"
#include "supple/offline/posespace/frame_sites.h"

namespace supple {

struct ReduceSettings {
  MaterialModel material = MaterialModel::flesh;
  /// [Hz]; scales the stiffness of all elements so that flesh_frequency() is this. Absent: stiffness as it is.
  std::optional<double> frequency = 4.0;
  int size = 45;  ///< r
  double cubature_tolerance = 0.02;
  int cubature_elements = 0;  ///< 0: as the tolerance asks
  int cubature_vertices = 0;  ///< likewise
  FrameSiteSettings frames;
  std::uint64_t seed = 1;
};

struct ReducedBody {
  std::shared_ptr<const PoseSpaceModel> model;
  TetMesh mesh;                ///< with the materials that were simulated
  std::vector<Index> fixed;    ///< vertices that follow the rig, with those of pieces that no bone holds
  MatX basis;                  ///< U over all vertices, mass-orthonormal; UᵀKU is diagonal
  VecX frequencies;            ///< of the linear modes [Hz]
  double flesh_frequency = 0;  ///< [Hz]
  double young = 0;            ///< of the softest element [Pa]
  double elastic_error = 0;    ///< of cubature, on samples that weren't trained with
  double inertial_error = 0;   ///< likewise, of the displacements that the forces would hold
  double elastic_training_error = 0;
  double inertial_training_error = 0;
  double frame_error = 0;  ///< [rad], see FrameSites
  double modes_seconds = 0, cubature_seconds = 0;
  std::vector<std::string> warnings;
};

/// What is known of how the character moves; all of it may be empty.
struct KnownMotion {
  std::vector<std::vector<double>> poses;  ///< some that it takes, to choose frame sites by
  MatX accelerations;  ///< of all vertices, turned back by their rotation since the neutral pose; one moment per column
  std::vector<std::vector<double>> moments;  ///< the pose of each column
};

/// `rest`: Φ over the body's mesh. Fails when nothing is free to move.
Result<ReducedBody> reduce_body(const EmbeddedBody& body, std::shared_ptr<const Rig> rest, const KnownMotion& motion,
                                const ReduceSettings& settings = {}, Progress& progress = Progress::silent());

}  // namespace supple
