// SPDX-License-Identifier: Apache-2.0
// HandleRig: what research on skinning rigs a body with. A handle is a point or a bone that moves as an affine map; the
// skin is their blend (linear blend skinning; Jacobson, Baran, Popović & Sorkine 2011),
//
//   x = Σ_h w_h(x0) M_h x0
//
// Three families of files hold such rigs:
//   .tgf    points and bones as a graph, as libigl reads it (tgf.h); weights are a matrix beside it (dmat.h)
//   .json   bones with their weights and the surface they are for, as Fast Complementary Dynamics has them
//           (handle_json.h)
//   .txt    motion of the former, .json of the latter: M_h(t) frame by frame (handle_motion.h)
// Handles have no names in any of them; here they are "handle1", "handle2", … in the order of the weights' columns.
// Lengths are in the file's unit.
#pragma once

#include "supple/base/result.h"
#include "supple/rig/skeleton.h"

#include <string>
#include <vector>

namespace supple {

struct Handle {
  std::string name;
  Index parent = -1;  ///< of the handles; -1: none. It may come after its children.
  bool bone = false;  ///< otherwise a point
  Vec3 head = Vec3::Zero();
  Vec3 tail = Vec3::Zero();          ///< of a bone; a point's is its head
  Affine rest = Affine::Identity();  ///< where the handle is at rest, in the world
};

struct HandleRig {
  std::vector<Handle> handles;  ///< in the order of the weights' columns

  Index size() const { return static_cast<Index>(handles.size()); }
  /// Tells whether there are bones; files have either kind alone, or both.
  bool has_bones() const;
};

/// M_h of each handle, frame by frame.
struct HandleMotion {
  std::vector<std::vector<Affine>> frames;  ///< for each frame one map per handle, in the world
  std::vector<Affine> root;                 ///< for each frame the map of all of it; empty: the file knows none
};

/// "handle1" for column 0.
std::string handle_name(std::size_t column);

/// Orders handles so that parents come before their children, and fails where one is above itself.
Result<std::vector<Index>> parents_first(const HandleRig& rig, const std::string& file);

}  // namespace supple
