// SPDX-License-Identifier: Apache-2.0
// Surfaces from formulas: boxes, beams, lofts, trusses and implicit shapes, the parts of which the scenes are built.
#pragma once

#include "supple/mesh/surface.h"

#include <functional>

namespace supple {

/// Adds one surface to another, as further vertices and triangles.
void append(Surface& to, const Surface& part);

/// A box with its axes in the columns of `half_axes`: 8 vertices, 12 triangles.
void add_box(Surface& to, const Vec3& center, const Mat3& half_axes);

/// A straight beam between two points; `up` gives the direction of its height, roughly.
void add_beam(Surface& to, const Vec3& from, const Vec3& end, double width, double height, const Vec3& up);

/// The same as an I: two flanges and a web, each a box.
void add_i_beam(Surface& to, const Vec3& from, const Vec3& end, double width, double height, const Vec3& up);

/// Skin over rings of equally many points, closed by a fan from the two poles.
void add_loft(Surface& to, const std::vector<std::vector<Vec3>>& rings, const Vec3& first_pole, const Vec3& last_pole);

/// A curved beam of rectangular section along a path.
void add_swept_beam(Surface& to, const std::vector<Vec3>& path, double width, double height, const Vec3& up);

/// A lattice: bars of the given width along the diagonals and borders of a grid of `rows` × `columns` four-sided cells
/// on the sheet `place(s, t)`, s along the columns and t along the rows, both in [0, 1]. Bars share their corners.
void add_truss(Surface& to, int columns, int rows, double bar_width, double thickness,
               const std::function<Vec3(double s, double t)>& place);

/// Where `value` is zero, on a grid of cells of the given size over a box (dual method: one vertex for each sheet of
/// the surface through a cell), the vertices drawn onto the surface. Inside is where the value is negative.
/// `steepness`: the most that the value changes per length, which saves evaluating it far from the surface; 0: not
/// known.
Surface implicit_surface(const std::function<double(const Vec3&)>& value, const Vec3& low, const Vec3& high,
                         double cell_size, double steepness = 0);

/// Whether to cut a quad from corner 0 to 2: along the shorter diagonal, or the one with the highest corner where they
/// are as long as each other, so that a quad mirrored in x is cut the mirrored way.
bool cut_from_first(const std::array<Vec3, 4>& quad);

/// From a capsule between two points, whose radius goes from `ra` to `rb`.
double tapered_distance(const Vec3& p, const Vec3& a, const Vec3& b, double ra, double rb);

/// The smaller of two distances, rounded off where they are within `reach` of each other.
double melted(double a, double b, double reach);

/// Drops vertices that no triangle uses.
void drop_unused_vertices(Surface& surface);

}  // namespace supple
