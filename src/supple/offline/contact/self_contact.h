// SPDX-License-Identifier: Apache-2.0
// Where a posed body of tetrahedra touches itself, and the constraints that keep it so (2016 paper, section 6).
//
// Each vertex of the boundary looks for the nearest triangle that faces it (normals opposed), is not its neighbour
// along the neutral surface, and either lies ahead within the tolerance, or has the vertex behind it while flesh
// surrounds the vertex: there it is inside another part. Both sides of a contact find each other. With the point b of
// the triangle nearest to vertex i,
//
//   fixed:    u_i − Σ_k b_k u_k = 0           sliding:   Nᵀ(u_i − Σ_k b_k u_k) = 0
//
// against the opposite side, which lets both sides swing together; or against the world, as in the paper: u_i = 0 and
// Nᵀu_i = 0, which nails them to where the rig puts them.
#pragma once

#include "supple/base/result.h"
#include "supple/mesh/volume_mesh.h"
#include "supple/offline/modes/constraint_rows.h"

#include <span>

namespace supple {

struct SelfContactSettings {
  double tolerance = 0.25;   ///< largest gap, in mean edges of the posed boundary; 0: what touches or overlaps
  double neighbourhood = 3;  ///< what is nearer along the neutral boundary, in its mean edges, is no contact
  double facing = 0.2;       ///< normals n of the vertex and N of the triangle with n·N < −facing face each other
};

struct SelfContact {
  Index vertex = 0;                    ///< of the mesh
  std::array<Index, 3> triangle = {};  ///< of the boundary, on the other side
  Vec3 weights = Vec3::Zero();         ///< b: the triangle's point nearest to the vertex
  Vec3 normal = Vec3::Zero();          ///< N: outward from the triangle
  double gap = 0;                      ///< [m] negative where the vertex is inside

  /// u_i − Σ b_k u_k for displacements u of all vertices.
  Vec3 relative(const VecX& u) const;
};

/// In the order of the vertices, at most one for each. `positions`: of all vertices in the pose; fails when they are
/// not as many as the mesh has.
Result<std::vector<SelfContact>> find_self_contacts(const TetMesh& mesh, std::span<const Vec3> positions,
                                                    const SelfContactSettings& settings = {});

enum class ContactKind { fixed, sliding };
enum class ContactAgainst { opposite, world };

/// C over 3 `vertex_count` degrees of freedom: three rows per contact, or one.
SparseConstraints contact_constraints(std::span<const SelfContact> contacts, Index vertex_count,
                                      ContactKind kind = ContactKind::sliding,
                                      ContactAgainst against = ContactAgainst::opposite);

}  // namespace supple
