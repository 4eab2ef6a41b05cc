// SPDX-License-Identifier: Apache-2.0
// Rigs of handles as JSON. Three kinds of file are told apart by what is in them:
//
//   {"pI": parents, "p0": [3×4 …], "W": rows of weights, "lengths": […], "V": places, "F": triangles}
//       a rig of bones, as Fast Complementary Dynamics has it (Benchekroun, Zhang, Chaudhuri, Grinspun, Zhou & Jacobson
//       2023). p0 is where each bone is at rest, in the world: its y axis runs along the bone, whose length is that of
//       the file times the axis. The weights are those of the surface V, F.
//   {"P": [frames of [3×4 …]]}
//       its motion: where each bone is in each frame, in the world. M = P p0⁻¹.
//   {"mesh_file": …, "handle_file": …, "weight_file": …, "anim_file": …, "dt": seconds}
//       an example of Complementary Dynamics: names of its parts, in the same folder (tgf.h, dmat.h, handle_motion.h).
//       What it says of materials and of its solver isn't read: there the body is scaled to a size of one.
#pragma once

#include "supple/io/motion/handle_rig.h"
#include "supple/mesh/surface.h"

#include <string_view>
#include <variant>

namespace supple {

/// A rig with the weights of the surface that it was made for.
struct JsonRig {
  HandleRig rig;
  Surface surface;
  MatX weights;  ///< rows: vertices of the surface; columns: handles
};

/// Names of files, as the example has them; empty where it has none.
struct HandleExample {
  std::string mesh, handles, weights, motion;
  double frame_time = 0;  ///< [s]; 0: not said
};

Result<std::variant<JsonRig, HandleExample>> parse_handle_json(std::string_view text, const std::string& name);

/// Frames of world matrices, for the bones of `rig`.
Result<HandleMotion> parse_handle_frames(std::string_view text, const std::string& name, const HandleRig& rig);

}  // namespace supple
