// SPDX-License-Identifier: Apache-2.0
// Training samples for cubature: elastic forces under random coordinates, inertial forces under random motion.
#pragma once

#include "supple/fem/elastic_body.h"
#include "supple/mesh/volume_mesh.h"
#include "supple/offline/cubature/cubature.h"
#include "supple/offline/posespace/bases/pose_basis.h"
#include "supple/rig/rig.h"

#include <random>

namespace supple {

/// What elastic samples are drawn from, in one pose of a model.
struct ElasticSampling {
  const TetMesh& mesh;  ///< neutral pose
  MaterialModel material = MaterialModel::flesh;
  const PoseBasis& pose;
  BasisDirections directions = BasisDirections::rotating;
  const MatX& stiffness;                           ///< Λ = ÛᵀKÛ in the pose
  const MatX& spread;                              ///< q = spread · g, g a vector of standard normal numbers
  std::span<const Index> candidates;               ///< elements that may become sites, ascending
  std::span<const std::vector<Vec3>> shapes;       ///< rest shapes that samples take in turn; none: that of the pose
  std::function<MatX(std::size_t)> gradient = {};  ///< D of an element; none: element_gradient() of the pose
};

/// Elastic forces under random coordinates; a whole sample is stretched by 1/8 to 2, so that flesh is right when it
/// barely moves and when it swings far. Samples that are all large teach little about small strain: a few crushed
/// elements rule them.
///
/// What is to be fitted is how forces differ from Λ q, the linear answer of the pose, because they grow with strain and
/// because the rest shape isn't that of the pose. With F and B as in runtime/posespace/cubature_forces.h, J = det F_Φ
/// and H_0 = J (B ⊗ 1) (∂P/∂F)(1) (Bᵀ ⊗ 1) in the pose itself:
///   s_e = V_e [J vec(P(F) Bᵀ) − H_0 D_e q],     b = f − Λ q
/// `linear` samples more, of a tenth of the weight, ask for the linear answer itself, K_c q ≈ Λ q with the same force
/// for each coordinate: where the others leave K_c free it stays near Λ, and what they fit isn't the difference of
/// large weights. They don't count for errors.
CubatureSamples elastic_samples(const ElasticSampling& sampling, int count, std::mt19937_64& random, int linear = 0);

/// cubature_residual() of samples whose bases were dropped: they are found again for the sites alone. Bases of all
/// candidates are large, and there may be samples of many poses.
MatX cubature_residual(const ElasticSampling& sampling, const CubatureSamples& samples, const Cubature& cubature);

/// Σ w_e V_e D_eᵀ H_0 D_e: what the elements of a cubature make of Λ.
MatX cubature_stiffness(const ElasticSampling& sampling, const Cubature& cubature);

/// Every joint turned by up to `angle` [rad] from pose p.
std::vector<std::vector<double>> random_poses(const PoseLayout& layout, std::span<const double> p, double angle,
                                              int count, std::mt19937_64& random);

/// Accelerations of all vertices in a random motion around a pose, one moment per column: `count` + 2 random
/// perturbations of p, of at most one degree and a two-thousandth of the height, and of the character's placement, are
/// taken for frames (2016 paper, 5.4). The unit of time is a frame.
MatX random_accelerations(const Rig& rest, std::span<const double> p, double height, int count,
                          std::mt19937_64& random);

/// Ū = L⁻¹ M U, the basis averaged over the neighbours of each vertex, M the consistent and L the lumped mass. A site
/// of inertial cubature sees the body with it: Uᵀ M a = Σ_v l_v Ū_vᵀ a_v is exact when all vertices are sites, also on
/// coarse meshes. With U itself masses would be lumped, and forces off by up to a tenth (measured at 1,500 tetrahedra).
/// Vertices that bones hold count as well: flesh beside them shares its mass with them.
MatX mass_averaged(const ElasticBody& body, const MatX& basis);

/// Inertial forces around a pose under random accelerations; `basis` points in the directions of the world. Sites are
/// all vertices; each contributes its lumped mass times its acceleration, as Ū sees it, to Uᵀ M a.
CubatureSamples inertial_samples(const ElasticBody& body, const MatX& basis, const Rig& rest, std::span<const double> p,
                                 double height, int count, std::mt19937_64& random);
/// Draws samples under given accelerations, one moment per column.
CubatureSamples inertial_samples(const ElasticBody& body, const MatX& basis, const MatX& accelerations);

}  // namespace supple
