// SPDX-License-Identifier: Apache-2.0
// What the four subspace scenes share: from a surface to voxels, fixed vertices and the embedding.
#pragma once

#include "scenes/subspace_scenes.h"

#include <functional>

namespace supple {

struct SceneBody {
  int resolution = 0;
  bool fill_interior = true;
  ElasticMaterial material;
  std::function<bool(const Vec3&)> fixed;  ///< of the bricks' vertices
  Vec3 view_direction = Vec3::Ones();
};

/// The surface must be sound: its faults are faults of our own formulas.
SubspaceScene finish_scene(std::string name, Surface surface, const SceneBody& body);

}  // namespace supple
