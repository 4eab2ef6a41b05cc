// SPDX-License-Identifier: Apache-2.0
#include "samples/subspace_samples.h"

#include "samples/subspace_sample_parts.h"
#include "supple/offline/meshing/voxelize.h"

namespace supple {

SubspaceSample finish_sample(std::string name, Surface surface, const SampleBody& body) {
  VoxelOptions options;
  options.resolution = body.resolution;
  options.fill_interior = body.fill_interior;
  SubspaceSample scene;
  scene.name = std::move(name);
  scene.surface = std::move(surface);
  scene.resolution = body.resolution;
  scene.bricks = voxelize(scene.surface, options).value().mesh;
  set_uniform_material(scene.bricks, body.material);
  for (std::size_t v = 0; v < scene.bricks.vertices.size(); ++v) {
    if (body.fixed(scene.bricks.vertices[v])) scene.fixed_vertices.push_back(static_cast<Index>(v));
  }
  scene.embedding = embed(scene.bricks, scene.surface.vertices).value();
  scene.view_direction = body.view_direction;
  return scene;
}

std::vector<SubspaceSample> make_subspace_samples() {
  std::vector<SubspaceSample> scenes;
  scenes.push_back(make_spoon());
  scenes.push_back(make_bridge());
  scenes.push_back(make_tower());
  scenes.push_back(make_heart());
  return scenes;
}

}  // namespace supple
