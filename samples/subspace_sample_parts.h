// SPDX-License-Identifier: Apache-2.0
// What the four subspace scenes share: from a surface to voxels, fixed vertices and the embedding.
#pragma once

#include "samples/subspace_samples.h"

#include <functional>

namespace supple {

struct SampleBody {
  int resolution = 0;
  bool fill_interior = true;
  ElasticMaterial material;
  std::function<bool(const Vec3&)> fixed;  ///< of the bricks' vertices
  Vec3 view_direction = Vec3::Ones();
};

/// The surface must be sound: its faults are faults of our own formulas.
SubspaceSample finish_sample(std::string name, Surface surface, const SampleBody& body);

}  // namespace supple
