// SPDX-License-Identifier: Apache-2.0
// Training samples for cubature: elastic forces under random coordinates, inertial forces under random motion.
#pragma once

#include "supple/fem/elastic_body.h"
#include "supple/mesh/volume_mesh.h"
#include "supple/offline/cubature/cubature.h"
#include "supple/rig/rig.h"

#include <random>

namespace supple {

/// Standard deviations of coordinates that get the same force each, σ_j ∝ 1/λ_j (2016 paper, Eq. 18); `amplitude` is
/// the largest displacement of a vertex under one deviation of the softest coordinate [m].
VecX equal_force_deviations(const MatX& basis, const VecX& stiffness, double amplitude);

/// Elastic forces around the rest shape `mesh.vertices`: q_j is normal with deviation σ_j, and a whole sample is
/// stretched by 1/8 to 2, so that flesh is right when it barely moves and when it swings far. Samples that are all
/// large teach little about small strain: a few crushed elements rule them. Sites are `candidates` (elements,
/// ascending).
CubatureSamples elastic_samples(const TetMesh& mesh, MaterialModel model, const MatX& basis, const VecX& deviations,
                                std::span<const Index> candidates, int count, std::mt19937_64& random);

/// Accelerations of all vertices in a random motion around a pose, one moment per column: `count` + 2 random
/// perturbations of p, of at most one degree and a two-thousandth of the height, and of the character's placement, are
/// taken for frames (2016 paper, 5.4). The unit of time is a frame.
MatX random_accelerations(const Rig& rest, std::span<const double> p, double height, int count,
                          std::mt19937_64& random);

/// Inertial forces around a pose under random accelerations. Sites are all vertices; each contributes its lumped mass
/// times its acceleration to the true Uᵀ M a.
CubatureSamples inertial_samples(const ElasticBody& body, const MatX& basis, const Rig& rest, std::span<const double> p,
                                 double height, int count, std::mt19937_64& random);

}  // namespace supple
