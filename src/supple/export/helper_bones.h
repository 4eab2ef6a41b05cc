// SPDX-License-Identifier: Apache-2.0
// Soft motion as helper bones, for engines without morph targets: extra joints that hang on real ones and take over a
// part of their weight.
//
// A helper h with parent joint j and rigid motion D_h(f) = (R, t) in j's space moves a vertex by
//   α W_j(f) (R p + t − p),   p = inverse_bind_j rest,
// where α ≤ w_j is the weight that goes over from j to h; at R = 1, t = 0 nothing changes. Motions and weights are
// fitted in turn (alternating least squares, as in B. H. Le, Z. Deng, Smooth Skinning Decomposition with Rigid Bones,
// 2012): given α each frame's motion is a weighted Procrustes problem in j's space; given the motions each vertex has a
// small problem with bounds. Helpers are added where the error is largest, until it is small enough or there are as
// many as allowed. No vertex gets more influences than four, or than it had.
#pragma once

#include "supple/base/progress.h"
#include "supple/base/result.h"
#include "supple/export/soft_motion.h"
#include "supple/rig/pose.h"
#include "supple/rig/skin.h"

#include <algorithm>

namespace supple {

struct HelperBoneSettings {
  double tolerance = 0;  ///< [m]; 0: share_of_height
  double share_of_height = 1e-3;
  Index most_bones = 32;  ///< of one mesh
  int rounds = 20;        ///< of fitting after helpers were added, at most
};

struct HelperBone {
  Index joint = 0;                     ///< parent: of the skeleton
  Index slot = 0;                      ///< the parent's number in the skin
  Vec3 centre = Vec3::Zero();          ///< in the parent's space
  std::vector<RigidTransform> motion;  ///< D of each frame of the motion
};

struct MeshBones {
  Index mesh = 0;  ///< of the character
  std::vector<HelperBone> bones;
  SkinWeights weights;  ///< new ones; joints beyond those of the skin are the bones, in order
};

struct HelperBoneReport {
  double height = 0, tolerance = 0;  ///< [m]
  double peak_displacement = 0;      ///< [m]
  double largest_error = 0;          ///< [m] at any written frame and vertex
  double rms_error = 0;              ///< [m] over frames and vertices
  double rms_displacement = 0;       ///< [m] likewise: what there was to show
  Index bones = 0;
  Index rigid_meshes = 0;  ///< without a skin: these stay as they were

  bool within_tolerance() const { return largest_error <= tolerance; }
  /// The share of the motion that is shown, in the mean of squares.
  double kept() const { return rms_displacement > 0 ? std::max(0.0, 1 - rms_error / rms_displacement) : 1; }
};

struct FittedBones {
  std::vector<MeshBones> meshes;
  HelperBoneReport report;
};

Result<FittedBones> fit_helper_bones(const SoftMotion& motion, const HelperBoneSettings& settings = {},
                                     Progress& progress = Progress::silent());

}  // namespace supple
