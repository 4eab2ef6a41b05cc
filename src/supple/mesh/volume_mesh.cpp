// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/volume_mesh.h"

#include <algorithm>
#include <numeric>

namespace supple {

const ElasticMaterial& default_material() {
  static const ElasticMaterial material{.name = "default"};
  return material;
}

template <int Nodes>
void assign_materials_from_regions(VolumeMesh<Nodes>& mesh) {
  constexpr Index none = -1;
  mesh.element_material.assign(mesh.elements.size(), none);
  for (const Region& region : mesh.regions) {
    for (const Index element : mesh.sets[to_size(region.set)].elements) {
      mesh.element_material[to_size(element)] = region.material;
    }
  }
  if (std::find(mesh.element_material.begin(), mesh.element_material.end(), none) == mesh.element_material.end())
    return;
  const auto fallback = static_cast<Index>(mesh.materials.size());
  mesh.materials.push_back(default_material());
  std::replace(mesh.element_material.begin(), mesh.element_material.end(), none, fallback);
}

template <int Nodes>
void set_element_materials(VolumeMesh<Nodes>& mesh, std::vector<ElasticMaterial> materials) {
  mesh.materials = std::move(materials);
  mesh.element_material.resize(mesh.elements.size());
  std::iota(mesh.element_material.begin(), mesh.element_material.end(), 0);
  mesh.regions.clear();
}

template <int Nodes>
void set_uniform_material(VolumeMesh<Nodes>& mesh, const ElasticMaterial& material) {
  mesh.materials = {material};
  mesh.element_material.clear();
  mesh.regions.clear();
}

template void assign_materials_from_regions(TetMesh&);
template void assign_materials_from_regions(HexMesh&);
template void set_element_materials(TetMesh&, std::vector<ElasticMaterial>);
template void set_element_materials(HexMesh&, std::vector<ElasticMaterial>);
template void set_uniform_material(TetMesh&, const ElasticMaterial&);
template void set_uniform_material(HexMesh&, const ElasticMaterial&);

}  // namespace supple
