// SPDX-License-Identifier: Apache-2.0
// PoseSpaceModel: the soft tissue of one character in r coordinates, around a rest shape that follows its rig (2016
// paper, sections 4.2 and 5). Immutable, shared by all instances of the character.
//
// In pose p vertex i of the simulation mesh rests at Φ_i(p) and is displaced by
//   u_i = R_i(p) U_i q
// R_i is the rotation that the rest shape has made at that vertex since the neutral pose, so that modes stay attached
// to turning limbs. It is blended from few tetrahedra, the frame sites, by quaternions; any smooth field would serve,
// since R only says in which directions the basis points.
//
// Forces are sums over few elements, inertia over few vertices (offline/cubature). Few elements need not know the
// linear answer of the flesh, which is known exactly: with Λ = UᵀKU of the neutral pose and K_c what the elements make
// of it,
//   f̃(q) = (Λ − K_c) q + Σ_e w_e f_e(q)
// is right to first order for any weights, and the elements only have to tell where the flesh departs from that.
//
// `points` are all the vertices that either of them needs; nothing else of the mesh is looked at while time runs.
#pragma once

#include "supple/base/types.h"
#include "supple/fem/material.h"
#include "supple/rig/rig.h"

#include <array>
#include <memory>
#include <vector>

namespace supple {

/// A tetrahedron of the simulation mesh: corners as places in PoseSpaceModel::points.
struct PosedTet {
  std::array<Index, 4> points{};
  Mat3 inverse_edges = Mat3::Identity();  ///< (X1−X0 X2−X0 X3−X0)⁻¹ in the neutral pose [1/m]
};

struct CubatureElement {
  PosedTet tet;
  double weight = 0.0;  ///< cubature weight times neutral volume [m³]
  Lame<double> lame{};
};

struct CubatureVertex {
  Index point = 0;
  double weight = 0.0;  ///< cubature weight times mass [kg]
};

/// Rotation of a point: that of up to four frame sites, blended.
struct FrameBlend {
  static constexpr int most = 4;
  std::array<Index, most> site{};
  std::array<double, most> weight{};  ///< sum one, largest first
};

/// What is shown: every vertex of the rig's surface.
struct SoftSurface {
  MatX basis;  ///< A U, three rows per vertex
  std::vector<FrameBlend> frames;

  Index vertex_count() const { return static_cast<Index>(frames.size()); }
};

struct PoseSpaceModel {
  std::shared_ptr<const Rig> rest;  ///< Φ over all vertices of the simulation mesh
  MaterialModel material = MaterialModel::flesh;
  VecX stiffness;             ///< Λ = UᵀKU of the neutral pose at rest, diagonal [1/s²]; UᵀMU = I
  MatX correction;            ///< Λ − K_c, symmetric, limited where it softens [1/s²]; empty: none
  std::vector<Index> points;  ///< vertices of the simulation mesh
  std::vector<FrameBlend> point_frames;
  MatX basis;  ///< U at the points, three rows each
  std::vector<PosedTet> sites;
  std::vector<CubatureElement> elements;
  std::vector<CubatureVertex> vertices;
  SoftSurface surface;
  double height = 1.0;  ///< of the character [m]: what displacements are compared with

  Index size() const { return static_cast<Index>(stiffness.size()); }
};

}  // namespace supple
