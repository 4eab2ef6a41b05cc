// SPDX-License-Identifier: Apache-2.0
// Quality: sizes, volumes and angles, element by element and over a whole mesh.
//
// Thin or flat elements make stiffness matrices ill-conditioned and explicit time steps tiny, so the report leads with
// what a user would want to repair: inverted and degenerate elements, then the extreme dihedral angles.
#pragma once

#include "supple/mesh/bounds.h"
#include "supple/mesh/surface.h"
#include "supple/mesh/volume_mesh.h"

namespace supple {

/// Smallest, largest and mean of some numbers; all zero if there were none.
struct Spread {
  double min = 0;
  double max = 0;
  double mean = 0;
};

/// Angles in degrees, lengths in the mesh's unit, mass from the materials' densities.
struct QualityReport {
  Index vertices = 0;
  Index elements = 0;
  Bounds bounds;
  double volume = 0;     ///< sum of signed volumes
  double mass = 0;       ///< [kg] if the mesh is in metres
  Index inverted = 0;    ///< negative volume; a brick also if its Jacobian is negative at a corner
  Index degenerate = 0;  ///< no volume to speak of: |V| <= 1e-12 (longest edge)³, or not a number
  Spread element_volume;
  Spread edge_length;  ///< every element's edges count, so that shared edges count repeatedly
  Spread dihedral;     ///< a tetrahedron has six; a brick has 24, one at either end of each edge
  std::array<Index, 18> dihedral_histogram{};  ///< bins of 10 degrees
  Index slivers = 0;                           ///< elements with a dihedral angle below 5 degrees
  /// How well shaped, 1 best. Tetrahedron: 3 inradius / circumradius. Brick: the smallest over its corners of the
  /// determinant of the three unit edge vectors (scaled Jacobian), negative where inverted.
  Spread shape;
  /// Bricks only: smallest determinant of the Jacobian of the map from [-1, 1]³, at the corners.
  double min_jacobian = 0;
};

struct SurfaceQualityReport {
  Index vertices = 0;
  Index triangles = 0;
  Bounds bounds;
  double area = 0;
  double enclosed_volume = 0;  ///< by the divergence theorem; means something for closed, outward oriented surfaces
  Index degenerate = 0;        ///< no area to speak of: A <= 1e-12 (longest edge)², or not a number
  Spread edge_length;
  Spread angle;  ///< corner angles in degrees, of triangles that aren't degenerate
};

/// Signed volume of a tetrahedron: (b - a) · ((c - a) × (d - a)) / 6.
double tet_volume(const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& d);

/// Signed volume of a trilinear brick by 2×2×2 Gauss points, which is exact.
double brick_volume(const std::array<Vec3, 8>& corners);

/// The smallest determinant of the Jacobian of the map from [-1, 1]³ over the brick's corners.
double min_corner_jacobian(const std::array<Vec3, 8>& corners);

/// Gives the signed volumes of all elements [m³].
std::vector<double> element_volumes(const TetMesh& mesh);
std::vector<double> element_volumes(const HexMesh& mesh);

QualityReport quality(const TetMesh& mesh);
QualityReport quality(const HexMesh& mesh);
SurfaceQualityReport quality(const Surface& surface);

}  // namespace supple
