// SPDX-License-Identifier: Apache-2.0
// Coefficients of the reduced St. Venant-Kirchhoff forces (2005 paper, section 4 and appendix B), by matrix products.
//
// With G_i the displacement gradient of basis vector i at a quadrature point, G = Σ q_i G_i and Green's strain is
//   E = e + ½ GᵀG,   e = Σ q_i e_i,  e_i = sym(G_i),   GᵀG = Σ q_i q_j E_ij,  E_ij = sym(G_iᵀ G_j)
// The energy density μ E:E + λ/2 tr²E splits by degree; with <A,B> = 2μ A:B + λ tr A tr B:
//   degree 2:  ½ <e, e>          K0_ab  = <e_a, e_b>
//   degree 3:  ½ <e, GᵀG>        K1_ab  = Σ_i q_i  (<e_a, E_bi> + <e_b, E_ai> + <e_i, E_ab>)
//   degree 4:  ⅛ <GᵀG, GᵀG>      K2_ab  = Σ_ij q_i q_j ½ (<E_ab, E_ij> + <E_ai, E_bj> + <E_aj, E_bi>)
// All of it follows from Gram matrices of the strains [e_a | E_ab] over the quadrature points: one symmetric rank
// update per block of points instead of the paper's loop over all quadruples of vertices.
#pragma once

#include "supple/asset/subspace_model.h"
#include "supple/base/progress.h"
#include "supple/base/result.h"
#include "supple/mesh/embedding.h"

namespace supple {

/// The model of a mesh in the basis U (3n × r): one material group for each material that the mesh uses.
/// Fails when the basis does not fit the mesh, is not finite, or the mesh is broken.
Result<SubspaceModel> build_subspace_model(const TetMesh& mesh, const MatX& basis,
                                           Progress& progress = Progress::silent());
Result<SubspaceModel> build_subspace_model(const HexMesh& mesh, const MatX& basis,
                                           Progress& progress = Progress::silent());

/// The model of a body that doesn't deform: no coordinates, its mass moments and its surface.
Result<SubspaceModel> build_rigid_model(const TetMesh& mesh);
Result<SubspaceModel> build_rigid_model(const HexMesh& mesh);

/// Makes the embedded surface the one that is looked at and touched, instead of the mesh's own boundary.
void embed_surface(SubspaceModel& model, const Surface& surface, const Embedding& embedding);

}  // namespace supple
