// SPDX-License-Identifier: Apache-2.0
// Points of a part's mesh that stand for all of its elastic forces, for materials whose forces are no polynomial:
// chosen by hard thresholding pursuit (offline/cubature/cubature.h) on random shapes of the part, of equal energy in
// all vibrations of the basis, that bend it by up to a third of its length. What they lack of the stiffness at rest,
//   C = Λ − Σ w Dᵀ H₀ D,
// is kept beside them, so that small motion is exact.
#pragma once

#include "supple/asset/domain_model.h"
#include "supple/base/progress.h"
#include "supple/offline/domains/build_domains.h"

namespace supple {

/// `stiffness`: Λ of the basis, at rest. `error`, of shapes that weren't trained with, is a share of the force.
PartCubature train_part_cubature(const PartMesh& mesh, const MatX& basis, MaterialModel material, const MatX& stiffness,
                                 double tolerance, double& error, Progress& progress = Progress::silent());
/// All points of the mesh with their own volume: exact for any material, and slow.
PartCubature all_points(const PartMesh& mesh, const MatX& basis, MaterialModel material);

}  // namespace supple
