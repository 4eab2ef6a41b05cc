// SPDX-License-Identifier: Apache-2.0
// TetMesh and HexMesh: solid meshes with named element sets, materials and regions.
//
// Node order. Tetrahedron: (x1 - x0) · ((x2 - x0) × (x3 - x0)) > 0. Brick: nodes 0-3 run counter-clockwise around the
// bottom face seen from inside the brick, 4-7 are above them; node k sits at the corner of [-1, 1]³
// (-,-,-) (+,-,-) (+,+,-) (-,+,-) (-,-,+) (+,-,+) (+,+,+) (-,+,+).
#pragma once

#include "supple/base/types.h"

#include <array>
#include <string>
#include <vector>

namespace supple {

/// An isotropic elastic material, in SI units.
struct ElasticMaterial {
  std::string name;
  double young = 1e5;       ///< Young's modulus E [Pa]
  double poisson = 0.45;    ///< Poisson's ratio ν, -1 < ν < 0.5
  double density = 1000.0;  ///< ρ [kg/m³]
};

/// A named list of elements, ascending and without repetitions.
struct ElementSet {
  std::string name;
  std::vector<Index> elements;
};

/// A set of elements and the material it is made of, by index. Later regions win where sets overlap.
struct Region {
  Index set = 0;
  Index material = 0;
};

template <int Nodes>
struct VolumeMesh {
  static constexpr int nodes_per_element = Nodes;
  using Element = std::array<Index, Nodes>;

  std::vector<Vec3> vertices;
  std::vector<Element> elements;
  std::vector<ElementSet> sets;
  std::vector<ElasticMaterial> materials;
  std::vector<Region> regions;
  /// Index into `materials` for each element. Empty: every element has material 0, or the default where none exists.
  std::vector<Index> element_material;

  const ElasticMaterial& material_of(std::size_t element) const;
};

using TetMesh = VolumeMesh<4>;
using HexMesh = VolumeMesh<8>;

/// The material of elements whose file names none.
const ElasticMaterial& default_material();

template <int Nodes>
const ElasticMaterial& VolumeMesh<Nodes>::material_of(std::size_t element) const {
  if (materials.empty()) return default_material();
  return materials[element_material.empty() ? 0 : to_size(element_material[element])];
}

/// Fills element_material from the regions; elements outside every region get the default material, added if needed.
template <int Nodes>
void assign_materials_from_regions(VolumeMesh<Nodes>& mesh);

/// Gives every element a material of its own.
template <int Nodes>
void set_element_materials(VolumeMesh<Nodes>& mesh, std::vector<ElasticMaterial> materials);

/// Gives the whole mesh one material.
template <int Nodes>
void set_uniform_material(VolumeMesh<Nodes>& mesh, const ElasticMaterial& material);

}  // namespace supple
