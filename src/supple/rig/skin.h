// SPDX-License-Identifier: Apache-2.0
// Skin: how vertices hang on joints. Linear blend skinning: x = Σ_k w_k world(joint_k) inverse_bind_k x0.
#pragma once

#include "supple/rig/skeleton.h"

namespace supple {

struct Skin {
  std::string name;
  std::vector<Index> joints;         ///< of the skeleton
  std::vector<Affine> inverse_bind;  ///< one per joint
};

/// Any number of influences per vertex: those of vertex v are entries first[v] … first[v + 1] − 1. Positive, and their
/// sum is one.
struct SkinWeights {
  std::vector<Index> first;    ///< vertices + 1 entries
  std::vector<Index> joint;    ///< index into Skin::joints
  std::vector<double> weight;  ///< beside it

  Index vertex_count() const { return first.empty() ? 0 : static_cast<Index>(first.size()) - 1; }
};

}  // namespace supple
