// SPDX-License-Identifier: Apache-2.0
// PoseSpaceModel: the soft tissue of one character in r coordinates, around a rest shape that follows its rig (2016
// paper, sections 4.2 to 8). Immutable, shared by all instances of the character.
//
// Reduced models are known at m poses p_i; between them all is interpolated by the weights w(p) of pose-space
// deformation (Eq. 2). In pose p vertex k of the simulation mesh rests at Φ_k(p) and is displaced by
//   u_k = R_k(p) Û_k(p) Υ(p) q,   Û = Σ_i w_i Û_i,   Υ = diag(1/v),  v_c the mass norm of column c of Û   (Eq. 14–16)
// R_k is the rotation that the rest shape has made at that vertex since the neutral pose, so that modes stay attached
// to turning limbs: Û_i is the basis of pose i, turned back by R_k(p_i). R is blended from few tetrahedra, the frame
// sites, by quaternions; any smooth field would serve, since R only says in which directions the basis points. With
// directions of the world R = 1 throughout, as the paper has it.
//
// Strain comes in two kinds. Where it is exact, an element's corners turn each by its own R_k: F is that of the
// displacements above, in any pose, however R bends. Otherwise an element turns as a whole, by its own rotation: exact
// in the known poses, and without the gradient of R between them (runtime/posespace/cubature_forces.h).
//
// Forces are sums over few elements, inertia over few vertices (offline/cubature). `points` are all the vertices that
// either of them needs; nothing else of the mesh is looked at while time runs. Local bases (section 7) are zero outside
// their patch: sites that the same coordinates move stand in one block, which holds these columns only.
#pragma once

#include "supple/asset/frame_sites.h"
#include "supple/base/types.h"
#include "supple/fem/material.h"
#include "supple/rig/deform/pose_space.h"

#include <Eigen/Core>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace supple {

/// The directions in which a basis is interpolated between poses: those that turn with the flesh, or those of the
/// world.
enum class BasisDirections { rotating, world };

/// A set of cubature elements that are all moved by the same coordinates.
struct ElementBlock {
  std::vector<Index> columns;  ///< these coordinates, ascending
  std::vector<PosedTet> tets;
  MatX weights;     ///< cubature weight times neutral volume [m³], element × pose
  MatX mu, lambda;  ///< Lamé's coefficients [Pa], element × pose
  /// For each pose, nine rows per element: D_e with vec(∂u/∂X) = D_e q, turned back by the element's own rotation in
  /// that pose. Row 3j+i is ∂u_i/∂X_j. With exact strain twelve rows: Û of the corners, as (Û_1 − Û_0, Û_2 − Û_0,
  /// Û_3 − Û_0, Û_0), which halves keep with the precision of a gradient.
  std::vector<MatX> gradients;
  std::vector<std::array<FrameBlend, 4>> corners;  ///< how each element's corners turn; with exact strain only
};

/// A set of vertices of the simulation mesh that are all moved by the same coordinates.
struct VertexBlock {
  std::vector<Index> columns;      ///< ascending
  std::vector<FrameBlend> frames;  ///< of each vertex
  std::vector<MatX> basis;         ///< Û_i for each pose, three rows per vertex

  Index vertex_count() const { return static_cast<Index>(frames.size()); }
};

/// A set of vertices at which inertial forces are evaluated (2016 paper, 5.4).
struct InertialBlock {
  VertexBlock vertices;
  std::vector<Index> points;  ///< places in PoseSpaceModel::points
  VecX weights;               ///< cubature weight times mass [kg]
};

/// The surface that is shown, every vertex of the rig: ū = A u (Eq. 4), A holding up to four weights for each.
struct SoftSurface {
  static constexpr int nodes = 4;
  std::vector<VertexBlock> blocks;                ///< vertices of the mesh that the surface hangs on, numbered through
  std::vector<std::array<Index, nodes>> vertex;   ///< for each vertex of the surface, four of these vertices
  std::vector<std::array<double, nodes>> weight;  ///< their weights, whose sum is one

  Index vertex_count() const { return static_cast<Index>(vertex.size()); }
};

/// Which poses share columns. A pose that leaves a patch as another pose has it takes that pose's columns over.
/// poses[i][c] is the pose that owns column c of pose i: i itself, or one whose column c is its own. Where it is empty,
/// all poses own all of their columns.
struct ColumnSources {
  std::vector<std::vector<Index>> poses;

  Index of(Index pose, Index coordinate) const {
    return poses.empty() ? pose : poses[to_size(pose)][to_size(coordinate)];
  }
};

struct PoseSpaceModel {
  std::shared_ptr<const Rig> rest;  ///< Φ over all vertices of the simulation mesh
  MaterialModel material = MaterialModel::flesh;
  BasisDirections directions = BasisDirections::rotating;
  bool exact_strain = false;
  std::optional<PoseSpaceWeights> poses;  ///< p_i, the neutral pose first; absent: the neutral pose alone
  ColumnSources sources;                  ///< which poses share columns of their bases …
  ColumnSources gradient_sources;         ///< … and of gradients, which may differ where bases don't: R bends
  VecX stiffness;  ///< diagonal of Û_iᵀ K Û_i in the neutral pose at rest [1/s²], where it is a diagonal matrix
  /// Û_iᵀ K_i Û_i at rest, for each pose, r × r [1/s²]; empty: the diagonal above in all. What a step's equations look
  /// like when the flesh is near rest, and what damping is made of. With exact strain it is known at all of
  /// `correction_poses`, and damping is made of the elements' own stiffness at rest, which follows the pose.
  std::vector<MatX> linear;
  /// Cubature's weights fit the forces as well as they can. What they lack of the linear response is known, and added:
  /// C_i = Û_iᵀ K_i Û_i − Σ_e w_e D_eᵀ (∂P/∂F) D_e at rest, r × r [1/s²]; none: no corrections. Their energy s = ½ qᵀ C
  /// q may fall below zero, by no more than s₀: flesh that loses stiffness by itself would else have energy without a
  /// lower bound. It is s where s ≥ 0, and s/(1 − s/s₀) elsewhere.
  std::vector<MatX> corrections;
  /// Corrections vary faster between poses than bases do, and cost little: they may be known at more poses. Those of
  /// `poses` first; absent: no others. Matrices there are of Σ_i w_i Û_i as it is, not yet of unit mass.
  std::optional<PoseSpaceWeights> correction_poses;
  double correction_limit = 1.0;  ///< s₀ [J]
  /// Far from all poses where they are known, corrections tell nothing, and may tell what is wrong: correction_share()
  /// of them counts. ρ, in the layout's distance; 0: all of them everywhere.
  double correction_reach = 0;
  std::vector<MatX> mass;     ///< Û_iᵀ M Û_j for j ≤ i, row by row: 00, 10, 11, 20, …; identity where i = j
  std::vector<Index> points;  ///< vertices of the simulation mesh
  std::vector<PosedTet> sites;
  std::vector<ElementBlock> elements;
  std::vector<InertialBlock> inertia;
  SoftSurface surface;
  double height = 1.0;  ///< largest extent of the character [m]: what cuts and gaps of loops are compared with

  Index size() const { return static_cast<Index>(stiffness.size()); }
  Index pose_count() const { return poses ? poses->pose_count() : 1; }
  /// Rows that ElementBlock::gradients have for each element.
  Index element_rows() const { return exact_strain ? 12 : 9; }
  Index correction_pose_count() const { return correction_poses ? correction_poses->pose_count() : pose_count(); }
  Index element_count() const;
  Index inertial_vertex_count() const;
};

/// 1 − Π_i (1 − exp(−d_i²/ρ²)) of the distances d_i to the poses whose corrections are known: 1 at each of them, 0 far
/// from all. 1 where ρ = 0.
double correction_share(std::span<const double> distances, double reach);

/// A column of a block in one of the poses, which owns it.
struct PoseColumn {
  Index pose, column;
};
/// Lists the (pose, column) pairs of a block that poses own, pose by pose.
std::vector<PoseColumn> own_columns(const ColumnSources& sources, Index poses, std::span<const Index> columns);

/// Displacements of the surface in one of the model's poses, not turned, three rows per vertex; q may have many
/// columns.
MatX surface_shape(const PoseSpaceModel& model, Index pose, const MatX& q);
/// The farthest that q moves a vertex of the surface, in whichever of the model's poses [m].
double largest_displacement(const PoseSpaceModel& model, const VecX& q);

}  // namespace supple
