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

#include "supple/base/types.h"
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
  /// this += scale · other
  void add(double scale, const StiffnessPolynomial& other);
};

/// Elements with one material. Forces are linear in λ and μ, mass in ρ: each can change at run time without
/// recomputation (2005 paper, section 6.5).
struct MaterialGroup {
  ElasticMaterial material;
  StiffnessPolynomial lambda;  ///< for λ = 1, μ = 0
  StiffnessPolynomial mu;      ///< for λ = 0, μ = 1
  MatX mass;                   ///< UᵀMU for ρ = 1
};

struct SubspaceModel {
  std::vector<Vec3> rest_positions;   ///< of the simulation mesh [m]
  MatX basis;                         ///< U, 3n × r, mass-orthonormal for the materials it was built with
  std::vector<MaterialGroup> groups;  ///< at least one

  Index size() const { return static_cast<Index>(basis.cols()); }
  Index vertex_count() const { return static_cast<Index>(rest_positions.size()); }
};

/// The same object with only some of its coordinates, in the given order; nothing is recomputed.
SubspaceModel select_coordinates(const SubspaceModel& model, const std::vector<Index>& coordinates);

}  // namespace supple
