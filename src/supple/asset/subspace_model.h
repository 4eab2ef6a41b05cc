// SPDX-License-Identifier: Apache-2.0
// SubspaceModel: a deformable object in r coordinates, u = U q, with exact St. Venant-Kirchhoff forces.
//
// The elastic energy is a quartic polynomial of q, so the reduced stiffness K̃(q) is a quadratic one:
//   K̃(q) = K0 + K1(q) + K2(q, q)
// and its homogeneous parts also give force and energy (Euler's identity):
//   R̃(q) = (K0 + K1/2 + K2/3) q        V(q) = qᵀ (K0/2 + K1/6 + K2/12) q
// Only the stiffness is stored. Entries of symmetric matrices are numbered by pairs a ≤ b, p = b(b+1)/2 + a: the pairs
// of the first r' coordinates are the first r'(r'+1)/2, so a smaller model is a leading block of a larger one.
#pragma once

#include "supple/base/result.h"
#include "supple/base/types.h"
#include "supple/mesh/surface.h"
#include "supple/mesh/volume_mesh.h"

#include <vector>

namespace supple {

constexpr Index pair_count(Index r) { return r * (r + 1) / 2; }
constexpr Index pair_index(Index a, Index b) { return a <= b ? b * (b + 1) / 2 + a : a * (a + 1) / 2 + b; }

/// K̃(q) in the numbering above. For pairs p = (a,b) and s = (i,j):
///   K1_p = Σ_i linear(p, i) q_i          K2_p = Σ_s quadratic(p, s) m_s q_i q_j,  m = 1 for i = j, else 2
/// `quadratic` is symmetric, and the tensor behind it is symmetric in all four indices.
struct StiffnessPolynomial {
  VecX constant;   ///< pairs
  MatX linear;     ///< pairs × r
  MatX quadratic;  ///< pairs × pairs

  Index size() const { return static_cast<Index>(linear.cols()); }
  static StiffnessPolynomial zero(Index r);
  /// Adds scale · other to this, coefficient by coefficient.
  void add(double scale, const StiffnessPolynomial& other);
};

/// Integrals over the volume of a group for unit density, of the fields φ_0 = X (rest positions) and φ_1 … φ_r (basis
/// vectors). They are all that the inertia of the body in a moving frame needs, and gravity (docs/theory.md).
struct MassMoments {
  double volume = 0.0;  ///< ∫ 1
  MatX first;           ///< 3 × (r+1): ∫ φ_a
  MatX second;          ///< 3(r+1) × 3(r+1), symmetric: block (a, b) is ∫ φ_a φ_bᵀ

  Index size() const { return static_cast<Index>(first.cols()) - 1; }
  /// UᵀMU: entry (a, b) is the trace of block (a, b).
  MatX reduced_mass() const;
  /// Adds scale · other to this, coefficient by coefficient.
  void add(double scale, const MassMoments& other);
  static MassMoments zero(Index r);
};

/// Elements with one material. Forces are linear in λ and μ, mass in ρ: each can change at run time without
/// recomputation (2005 paper, section 6.5).
struct MaterialGroup {
  ElasticMaterial material;
  StiffnessPolynomial lambda;  ///< for λ = 1, μ = 0
  StiffnessPolynomial mu;      ///< for λ = 0, μ = 1
  MassMoments moments;         ///< for ρ = 1
};

/// The surface that is looked at and touched. It rides on the simulation mesh.
struct DisplaySurface {
  std::vector<Vec3> rest_positions;  ///< [m]
  std::vector<Triangle> triangles;
  MatX basis;  ///< A U, three rows per vertex: displacements are basis · q

  Index vertex_count() const { return static_cast<Index>(rest_positions.size()); }
};

struct SubspaceModel {
  std::vector<Vec3> rest_positions;   ///< of the simulation mesh [m]
  MatX basis;                         ///< U, 3n × r, mass-orthonormal for the materials it was built with
  std::vector<MaterialGroup> groups;  ///< at least one
  int nodes_per_element = 4;          ///< 4: tetrahedra, 8: bricks
  std::vector<Index> elements;        ///< vertices of the simulation mesh, nodes_per_element for each element
  std::vector<Index> element_group;   ///< which of the groups each element belongs to
  std::vector<Index> fixed_vertices;  ///< none: the object is free, and the basis has no rigid motions in it
  DisplaySurface surface;             ///< the boundary of the simulation mesh unless another was embedded

  Index size() const { return static_cast<Index>(basis.cols()); }
  Index vertex_count() const { return static_cast<Index>(rest_positions.size()); }
  Index element_count() const { return static_cast<Index>(elements.size()) / nodes_per_element; }
  bool anchored() const { return !fixed_vertices.empty(); }
};

/// Gives the mass moments of the whole body: those of all groups, times their densities.
MassMoments mass_moments(const SubspaceModel& model);
/// Checks that a model has coordinates, and materials that a simulation can run with.
Status check_subspace_model(const SubspaceModel& model);

/// Uᵀ M g: the weight of the body in its coordinates.
VecX reduced_gravity(const SubspaceModel& model, const Vec3& gravity);

/// Gives the same object with only some of its coordinates, in the given order. Nothing is recomputed.
SubspaceModel select_coordinates(const SubspaceModel& model, const std::vector<Index>& coordinates);

}  // namespace supple
