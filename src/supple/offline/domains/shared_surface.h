// SPDX-License-Identifier: Apache-2.0
// The surface of a mesh that was cut into domains: the mesh's own boundary, or one that rides on it (2011 paper,
// section 5). Every vertex is a weighted sum of vertices of the domains' solid meshes:
//   C0   what lies at an interface is the mean of its copies, and within elements their corners are weighted as always
//   C1   near interfaces, moving least squares (Kaufmann, Martin, Botsch, Grinspun, Gross 2009) over all copies i
//        within a radius ρ of the vertex X, with linear polynomials p around X:
//          x(X) = Σ_i N_i x_i      N_i = w_i p(X_i)ᵀ M⁻¹ p(X)      M = Σ_i w_i p(X_i) p(X_i)ᵀ     w_i = (1 − d_i²/ρ²)³
//        which is as smooth in X as w is, whatever the copies do, and exact where they move linearly. It fades into C0
//        at the distance ρ from the interfaces.
// What a joint parts is never blended.
#pragma once

#include "supple/mesh/embedding.h"
#include "supple/offline/domains/build_domains.h"

#include <map>
#include <span>

namespace supple {

/// A surface that rides on the whole mesh.
struct RidingSurface {
  const Surface& surface;
  const Embedding& embedding;
};

/// A mesh and its domains.
template <int Nodes>
struct CutMesh {
  const VolumeMesh<Nodes>& mesh;
  std::span<const Index> domain;                          ///< of each element, as in the plan
  const std::vector<std::map<Index, Index>>& own_vertex;  ///< of each domain: vertex of the mesh → of its part
  std::vector<Index> cluster;                             ///< of each domain: those that no joint parts
};

/// Gives the plan its surface, and its parts the points of it. `rides`: null for the boundary of the mesh. `smooth`: ρ
/// [m]; 0 for C0.
void share_surface(const CutMesh<4>& cut, const RidingSurface* rides, double smooth, TreePlan& plan);
void share_surface(const CutMesh<8>& cut, const RidingSurface* rides, double smooth, TreePlan& plan);

}  // namespace supple
