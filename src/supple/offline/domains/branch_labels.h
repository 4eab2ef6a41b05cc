// SPDX-License-Identifier: Apache-2.0
// Branches of a body in one piece. Seen from where it is held, elements in the same range of distance (along the body)
// that hang together are a slice, and slices that touch form a graph: its forks are where branches begin. A loop of
// slices becomes one, so that what is left is a tree.
//
// A fork begins new domains where two or more of its arms are long enough to move by themselves. The thickest arm
// continues what it grew out of, unless another is nearly as large.
#pragma once

#include "supple/mesh/volume_mesh.h"

#include <span>

namespace supple {

struct BranchSettings {
  double shortest = 0.12;    ///< of a branch, as a share of the way from the root to the farthest vertex
  int fewest_elements = 40;  ///< of a branch
  int most_branches = 60;    ///< short ones stay with what they grow out of until there are no more than these
};

struct BranchLabels {
  std::vector<Index> label;  ///< of each element; 0 is where the body is held
  Index count = 1;
  Index loops = 0;  ///< that became one slice
};

/// `held`: vertices that the ground or the parent holds; none: slices begin at an end of the mesh. The mesh hangs
/// together by faces. `covered`, one for each element or none at all: what is inside another piece, such as a crown,
/// where a branch can't move by itself.
BranchLabels label_branches(const TetMesh& mesh, std::span<const Index> held, std::span<const char> covered = {},
                            const BranchSettings& settings = {});
BranchLabels label_branches(const HexMesh& mesh, std::span<const Index> held, std::span<const char> covered = {},
                            const BranchSettings& settings = {});

/// The largest piece of a mesh that hangs together by faces; bodies that only share edges or corners fall apart.
TetMesh largest_solid(const TetMesh& mesh);

}  // namespace supple
