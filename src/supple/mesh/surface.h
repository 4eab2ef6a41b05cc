// SPDX-License-Identifier: Apache-2.0
// Surface: a triangle soup as it came from a file. Nothing is promised about it: it may be open, flipped, overlapping.
#pragma once

#include "supple/base/types.h"

#include <array>
#include <string>
#include <vector>

namespace supple {

using Triangle = std::array<Index, 3>;

/// A named run of consecutive triangles: an OBJ group or object, a glTF primitive, an STL solid.
struct SurfacePart {
  std::string name;
  Index first_triangle = 0;
  Index triangle_count = 0;
};

/// Values on the vertices: `components` numbers per vertex, vertex after vertex (colours, texture coordinates, paint).
struct VertexAttribute {
  std::string name;
  int components = 1;
  std::vector<float> values;
};

struct Surface {
  std::vector<Vec3> vertices;
  std::vector<Triangle> triangles;  ///< counter-clockwise seen from outside, where the file says so
  std::vector<SurfacePart> parts;   ///< in order of first_triangle; together they cover all triangles, or none exist
  std::vector<VertexAttribute> attributes;
};

}  // namespace supple
