// SPDX-License-Identifier: Apache-2.0
// Soft motion as helper bones, for engines without morph targets: extra joints that hang on real ones and take over a
// part of the skin.
//
//   x(v, f) = Σ_k w_vk G_k(f) q_vk,   w ≥ 0, Σ_k w_vk = 1, at most four of them above zero
//
// over the character's own joints k, whose motion G_k is given, and helpers, whose motion is affine: flesh bulges and
// shears. Motions and weights are fitted in turn to where skinning and soft motion put the vertices (as in B. H. Le,
// Z. Deng, Smooth Skinning Decomposition with Rigid Bones, 2012, with bones that aren't rigid). A vertex may give up
// joints of its own for helpers, since players blend four: a helper that follows a patch of skin replaces the blend of
// joints there, too. At rest all of them agree, so that weights don't matter. Helpers are added where the error is
// largest, until there are as many as allowed.
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
  Index joint = 0;                ///< parent: of the skeleton
  Index slot = 0;                 ///< the parent's number in the skin
  Vec3 centre = Vec3::Zero();     ///< in the parent's space
  std::vector<Transform> motion;  ///< within the parent, at each frame of the motion
  std::vector<Quat> turn;         ///< likewise, within `motion` (stretched_motion.h)
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
