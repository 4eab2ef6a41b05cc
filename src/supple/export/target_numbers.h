// SPDX-License-Identifier: Apache-2.0
// How many bits the numbers of morph targets need. What a target adds at its full weight is known to no more than a
// share of the tolerance, so it is written in steps of that size: whole numbers of 8 bits where the largest
// displacement has at most 127 of them, else of 16 (KHR_mesh_quantization); or, for files that are packed, floats whose
// last bits are zero.
//
// Whole numbers of glTF reach to one unit of the file, or count units. A target is multiplied with some S ≥ 1, and its
// weights are divided by it, so that the longest displacement uses that range: S d ≤ 1 (or 127, 32767), and S |ω| ≤ 1,
// since changes of normals have 8 bits.
#pragma once

#include "supple/export/compress_motion.h"
#include "supple/io/gltf/gltf_editor.h"

namespace supple {

/// [rad], a degree: a target that turns no normal by more, at its largest weight, leaves them as they are.
inline constexpr double unseen_turn = 0.0175;

struct TargetNumbers {
  double least_turn = 0;   ///< changes of normals below are none
  double normal_step = 0;  ///< that they are rounded to; 0: by whoever writes them
  std::size_t bytes = 2;   ///< of a position's number, where whole ones are wanted; 4: a float
  bool normalized = true;
};

/// Rounds or multiplies the targets of a mesh, with their weights, for the storage. `step`: of rounded floats, as a
/// share of the tolerance. Gives the numbers of each.
std::vector<TargetNumbers> prepare_targets(MeshTargets& targets, MorphStorage storage, double tolerance,
                                           bool has_normals, double step);

}  // namespace supple
