// SPDX-License-Identifier: Apache-2.0
// ElasticBody: a solid mesh with its material, ready to be asked for energies, forces and matrices.
//
// Constant after creation and shared freely; displacements, velocities and matrices belong to the caller. Vectors stack
// x, y, z of all vertices: u is the displacement from rest [m], forces are in newtons, energies in joules.
#pragma once

#include "supple/base/result.h"
#include "supple/fem/material.h"
#include "supple/math/sparse/block_matrix.h"
#include "supple/mesh/volume_mesh.h"

#include <memory>
#include <span>

namespace supple {

enum class HessianProjection { none, positive_semidefinite };

class ElasticBody {
 public:
  /// Fails on an empty mesh, an index out of range, an element without volume, or a material out of range.
  static Result<ElasticBody> create(const TetMesh& mesh, MaterialModel model);
  static Result<ElasticBody> create(const HexMesh& mesh, MaterialModel model);

  /// The same matter in another shape of rest: strain is measured from `positions`, mass stays as it is. Elements that
  /// are crushed or inverted there count as squeezed to a limit (fem/posed_rest.h).
  ElasticBody posed(const VecX& positions) const;

  /// The same body with Lamé's coefficients Σ_i w_i of those that bodies of the same mesh have (2016 paper, Eq. 36).
  ElasticBody with_blended_materials(std::span<const ElasticBody> bodies, std::span<const double> weights) const;

  Index vertex_count() const;
  Index dof_count() const { return 3 * vertex_count(); }
  Index element_count() const;
  MaterialModel material() const;
  const VecX& rest_positions() const;
  double volume() const;

  /// Elastic energy; infinite where it is undefined.
  double energy(const VecX& u) const;
  /// Internal force f(u) = ∂energy/∂u; at equilibrium f(u) equals the external force.
  void internal_force(const VecX& u, VecX& f) const;
  /// f(u) and the tangent stiffness K(u) = ∂f/∂u. K must come from make_matrix().
  void internal_force_and_stiffness(const VecX& u, VecX& f, BlockMatrix& K,
                                    HessianProjection projection = HessianProjection::none) const;
  /// (H : a) b with the Hessian stiffness tensor H = ∂K/∂u: the rate of change of K(u) b as u moves along a.
  VecX hessian_product(const VecX& u, const VecX& a, const VecX& b) const;
  /// The smallest det F over all quadrature points; not positive when an element is inverted.
  double smallest_volume_ratio(const VecX& u) const;

  /// A zero matrix with the pattern of this body.
  BlockMatrix make_matrix() const;
  const BlockMatrix& consistent_mass() const;  ///< ∫ ρ N_a N_b dV
  const VecX& lumped_mass() const;             ///< row sums of the consistent mass, one entry per degree of freedom

 private:
  struct Data;
  template <int Nodes>
  static Result<ElasticBody> create_from(const VolumeMesh<Nodes>& mesh, MaterialModel model);
  std::shared_ptr<const Data> data_;
};

}  // namespace supple
