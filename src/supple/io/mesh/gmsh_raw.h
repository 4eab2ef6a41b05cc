// SPDX-License-Identifier: Apache-2.0
// What a .msh file says before we make sense of it: numbered nodes, elements by kind, physical groups.
#pragma once

#include "supple/io/mesh/loaded_mesh.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace supple {

/// What Gmsh's number of an element type stands for.
struct GmshType {
  int number = 0;
  int dimension = 0;
  int nodes = 0;
  const char* plural = "";
};

enum : int { gmsh_triangle = 2, gmsh_quad = 3, gmsh_tetrahedron = 4, gmsh_brick = 5 };

/// Finds the type that a number stands for, or null where we have never heard of it.
const GmshType* find_gmsh_type(std::int64_t number);

/// Elements of one type: node tags one after the other, and one label per element, which is the physical group in
/// version 2.2 and the entity in 4.1.
struct GmshElements {
  std::vector<std::int64_t> node_tags;
  std::vector<std::int64_t> labels;
};

using DimensionAndTag = std::pair<int, std::int64_t>;

struct GmshRaw {
  bool is_version_2 = false;
  std::string format;  ///< such as "Gmsh 4.1 binary"
  std::vector<std::int64_t> node_tags;
  std::vector<Vec3> nodes;
  GmshElements triangles, quads, tetrahedra, bricks;
  const GmshType* unsupported_solid = nullptr;  ///< the first kind of solid element we can't hold
  const GmshType* unsupported_face = nullptr;
  std::map<DimensionAndTag, std::string> physical_names;
  std::map<DimensionAndTag, std::vector<std::int64_t>> entity_groups;  ///< version 4.1: physical groups of an entity

  /// Gives the list that elements of this type go into, or null for types that are left out.
  GmshElements* elements_of(const GmshType& type);
};

/// Makes a mesh of it: numbers to indices, groups to sets, solids before faces.
Result<LoadedMesh> build_from_gmsh(GmshRaw& raw, const std::string& name);

}  // namespace supple
