// SPDX-License-Identifier: Apache-2.0
// Ex-rotated elasticity (2014 paper, section 4): corotational elasticity whose rotations R̂ come from the rig instead of
// the deformation, so that forces are affine in the positions x,
//
//   Ψ(F; q) = μ ‖F − R̂(q)‖² + λ/2 tr²(R̂(q)ᵀ F − 1)                                                         (Eq. 5)
//   f(x; q) = b(q) − K(q) x,   K_ab = Σ_e V (2μ ∇N_a·∇N_b 1 + λ R̂∇N_a (R̂∇N_b)ᵀ),   b_a = Σ_e V (2μ + 3λ) R̂∇N_a
//
// which is Eq. 4 with the sign that makes K positive definite. The first term of K doesn't depend on the pose. Each row
// gathers from the elements around its vertex, so that rows are assembled in parallel with the same bits for any number
// of threads.
//
// Vertices are renumbered: interior, boundary, then those that bones hold, which have columns but no rows.
#pragma once

#include "supple/base/result.h"
#include "supple/math/sparse/block_matrix.h"
#include "supple/mesh/topology.h"
#include "supple/mesh/volume_mesh.h"
#include "supple/rig/skeleton.h"

namespace supple {

class ExRotatedBody {
 public:
  /// A range of our numbers.
  struct Range {
    Index begin = 0, end = 0;
    Index count() const { return end - begin; }
  };

  /// `fixed`: what bones hold; every piece needs some. Fails on an empty mesh, an element without volume, a material
  /// out of range, when nothing is held, or nothing free.
  static Result<ExRotatedBody> create(const TetMesh& mesh, std::span<const Index> fixed);

  Index vertex_count() const { return static_cast<Index>(vertex_of_.size()); }
  Range interior() const { return {0, interior_}; }
  Range boundary() const { return {interior_, free_}; }
  Range free() const { return {0, free_}; }
  Range held() const { return {free_, vertex_count()}; }
  /// The mesh's vertex of each of our numbers, and back.
  const std::vector<Index>& vertex_of() const { return vertex_of_; }
  const std::vector<Index>& number_of() const { return number_of_; }
  /// In our numbers, at rest.
  const std::vector<Vec3>& rest() const { return rest_; }
  /// The mesh's skin, with its vertices in the mesh's numbers in `volume_vertex`.
  const BoundarySurface& skin() const { return skin_; }
  /// Corners of the elements, in our numbers.
  const std::vector<TetMesh::Element>& elements() const { return elements_; }
  double mean_edge() const { return mean_edge_; }

  /// Takes a rotation for each vertex, in our numbers, as a quaternion of any length and either sign; those of an
  /// element's corners are averaged. Assembles K and b.
  void pose(std::span<const Eigen::Vector4d> rotations);
  /// The same with a rotation R̂ for each element.
  void pose_elements(std::span<const Mat3> rotations);
  /// The rotation R of F = R S of each element at positions x: with these, forces are those of corotational elasticity.
  std::vector<Mat3> rotations_of(const VecX& x) const;
  const BlockMatrix& stiffness() const { return K_; }
  const VecX& load() const { return b_; }
  /// Mass times the acceleration of gravity for unit gravity along each axis: lumped masses, in our numbers [kg].
  const VecX& mass() const { return mass_; }
  /// From the next pose on K is K + s M, with lumped masses: one step of implicit time integration, s ~ 1/h² [1/s²].
  /// b isn't changed: who steps adds s M x̂ to it.
  void set_inertia(double rate) { inertia_ = rate; }
  double inertia() const { return inertia_; }

  /// f(x) = b − K x of the rows of a range; other entries of `f` are left alone.
  void force(const VecX& x, Range rows, VecX& f) const;
  /// y = K_rc x, rows of one range and columns of another.
  void multiply(Range rows, Range columns, const VecX& x, VecX& y) const;
  double energy(const VecX& x) const;

 private:
  struct Visit {
    Index element;
    std::array<std::uint16_t, 4> place;  ///< of the blocks in their row, for each corner of the element
    std::uint16_t corner;
  };

  void number_vertices(const TetMesh& mesh, std::span<const Index> fixed);
  Status prepare_elements(const TetMesh& mesh);
  void prepare_rows();
  void assemble();
  Mat3 deformation(std::size_t element, const VecX& x) const;

  Index interior_ = 0, free_ = 0;
  std::vector<Index> vertex_of_, number_of_;
  std::vector<Vec3> rest_;
  BoundarySurface skin_;
  std::vector<TetMesh::Element> elements_;
  std::vector<Eigen::Matrix<double, 3, 4>> gradient_;  ///< ∇N of each element
  std::vector<Eigen::Matrix<double, 3, 4>> turned_;    ///< R̂ ∇N
  std::vector<Mat3> turn_;                             ///< R̂
  std::vector<double> mu_, lambda_;                    ///< times the volume
  std::vector<Index> visit_begin_;
  std::vector<Visit> visits_;
  std::vector<double> constant_;                    ///< 2μ ∇N_a·∇N_b for each block
  std::vector<Index> first_boundary_, first_held_;  ///< positions in K where the columns of a row change kind
  std::vector<Index> diagonal_;                     ///< likewise where a row's own column is
  BlockMatrix K_;
  VecX b_, mass_;
  double mean_edge_ = 0;
  double inertia_ = 0;
};

}  // namespace supple
