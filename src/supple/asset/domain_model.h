// SPDX-License-Identifier: Apache-2.0
// DomainModel: a body made of many parts, each reduced by itself (2011 paper, section 3).
//
// The domains form a tree. Each is one copy of a part, a SubspaceModel in coordinates of its own that was reduced with
// the interface to its parent held; copies of a part share all that was computed for it. In the frame F_i = (c_i, R_i)
// of its domain a point of the part is at
//   x = c_i + s_i R_i (X + U(X) q_i)
// with the scale s_i of the copy. The frame of the root is the world's (or flies, where nothing holds the root's part);
// that of a child follows the interface on its parent: its centroid moves by â q, and it turns by the rotation Q of the
// polar decomposition of the best linear fit A(q) = 1 + Σ_l A_l q_l (Eq. 1 to 5).
//
// A loop of domains is a tree whose last two ends are held together: each carries a site, a domain without a body or
// coordinates that hangs on it as any child would, and a closure keeps the two sites in one place (extension of the
// paper, which has trees only).
//
// Uniform scale: displacement gradients stay as they are, so elastic energy goes with s³ and, in the part's own q,
// kinetic energy with s⁵: frequencies go with 1/s, and nothing is computed anew.
#pragma once

#include "supple/asset/subspace_model.h"
#include "supple/fem/material.h"

#include <array>
#include <string>

namespace supple {

/// Where a child sits on its parent, in the coordinates of the parent's part.
struct DomainInterface {
  Vec3 centre = Vec3::Zero();  ///< x̂: the origin of the child's frame at rest
  MatX move;                   ///< â, 3 × r of the parent
  MatX turn;                   ///< A_l by rows, 9 × r of the parent
};

struct Domain {
  Index part = 0;
  Index parent = -1;       ///< an earlier domain; −1 for the first one, the root
  double scale = 1.0;      ///< s
  double stiffness = 1.0;  ///< of this copy, as a factor: frequencies go with its root
  Mat3 rotation = Mat3::Identity();
  Vec3 position = Vec3::Zero();  ///< c and R at rest, in the world
  DomainInterface interface;     ///< empty for the root
};

/// The surface that is looked at: every vertex is the mean of one or more vertices of the parts' surfaces, or a
/// weighted sum of them. Where parts were cut from one mesh, the copies on either side of an interface become one
/// vertex (the paper's C0 continuity), or are blended over some distance (C1).
struct DomainSurface {
  std::vector<Index> first;    ///< one more than there are vertices: where the sources of each begin
  std::vector<Index> domain;   ///< of each source
  std::vector<Index> vertex;   ///< of the surface of that domain's part
  std::vector<double> weight;  ///< of each source, adding up to one for each vertex; none: all count the same
  std::vector<Triangle> triangles;
  /// Copies of one place on either side of an interface, as domain, vertex, domain, vertex. None: the sources of each
  /// vertex are such copies.
  std::vector<std::array<Index, 4>> seams;

  Index vertex_count() const { return first.empty() ? 0 : static_cast<Index>(first.size()) - 1; }
  /// What source k counts, one of those of vertex v.
  double weight_of(std::size_t v, std::size_t k) const {
    return weight.empty() ? 1.0 / (first[v + 1] - first[v]) : weight[k];
  }
};

/// Elastic forces of a part whose material has no polynomial, from few points of its mesh: with F = 1 + D q,
///   V(q) = ½ qᵀC q + Σ w Ψ(F)
struct PartCubature {
  MaterialModel material = MaterialModel::stvk;
  VecX weight;      ///< w of each point [m³]; none: the polynomial of the part counts
  MatX lame;        ///< μ and λ of each [Pa]
  MatX gradients;   ///< D: nine rows for each, down the columns of ∂u/∂X, by r
  MatX correction;  ///< C, r × r
};

/// What closes a loop. Where it gives way it is a spring of 1/give [N/m], and of radius²/give [N m] for each radian.
struct DomainClosure {
  Index first = 0;    ///< a site
  Index second = -1;  ///< another; −1: the place of the first at rest, carried by the root's frame
  double give = 0;    ///< [m/N]; 0: none, the sites are one
  double radius = 0;  ///< of the interface: turning is held as its points at this distance are [m]; 0: free to turn
};

struct DomainModel {
  std::vector<std::string> part_names;
  std::vector<SubspaceModel> parts;    ///< some may have no coordinates: rigid parts
  std::vector<PartCubature> cubature;  ///< beside the parts; or none at all
  std::vector<Domain> domains;         ///< parents before their children
  DomainSurface surface;
  std::vector<DomainClosure> closures;  ///< loops; none in a tree

  Index domain_count() const { return static_cast<Index>(domains.size()); }
  /// Where the forces of a part come from; null: its polynomial.
  const PartCubature* cubature_of(std::size_t part) const {
    return part < cubature.size() && cubature[part].weight.size() > 0 ? &cubature[part] : nullptr;
  }
  const SubspaceModel& part_of(Index domain) const { return parts[to_size(domains[to_size(domain)].part)]; }
  /// r̂: coordinates of all domains together.
  Index size() const;
  /// Levels of the tree below the root.
  Index depth() const;
  /// Whether something holds the root.
  bool anchored() const { return part_of(0).anchored(); }
  double mass() const;
};

/// Where a vertex of the surface is undeformed, in the world.
std::vector<Vec3> rest_positions(const DomainModel& model);
/// Makes the surfaces of all domains, one after the other, the one that is looked at.
void show_all_parts(DomainModel& model);
/// Checks that the tree, its interfaces and its surface fit together, and that materials and scales are in range.
Status check_domain_model(const DomainModel& model);

}  // namespace supple
