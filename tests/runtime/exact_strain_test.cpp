// SPDX-License-Identifier: Apache-2.0
// Exact strain: with every element in the cubature, energy, force and stiffness of u = R Û q are those of the whole
// body (fem/elastic_body.h) in any pose, however the frames R bend; and a step of the shipped kind agrees with the
// simulation of every vertex in the same basis.
#include "supple/fem/elastic_body.h"
#include "supple/math/dense/decompositions.h"
#include "supple/offline/cubature/cubature_samples.h"
#include "supple/offline/dynamics/full_pose_dynamics.h"
#include "supple/offline/fitting/frame_sites.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/offline/posespace/model_builder.h"
#include "supple/runtime/posespace/cubature_forces.h"
#include "supple/runtime/posespace/pose_space_dynamics.h"
#include "support/bodies.h"
#include "support/padded.h"
#include "support/soft_limb.h"

#include <numeric>

namespace supple::exact_strain_test {
namespace {

/// A model of a limb whose elements and vertices all count as they are, with these directions; its strain is exact.
PoseSpaceModel whole_model(const SoftLimb& limb, const FrameSites& frames, const MatX& basis, const MatX& inertial,
                           const VecX& mass, MaterialModel material) {
  const TetMesh& mesh = limb.body.mesh;
  std::vector<Index> all(mesh.vertices.size()), every(mesh.elements.size());
  std::iota(all.begin(), all.end(), 0);
  std::iota(every.begin(), every.end(), 0);
  const std::vector<PoseBasis> known = {
      {limb.rig.neutral().p, mesh.vertices, std::vector<Mat3>(all.size(), Mat3::Identity()), basis, {}}};
  const std::vector<Cubature> elements = {{every, VecX::Ones(std::ssize(every)), 0}};
  const Cubature vertices{all, VecX::Ones(std::ssize(all)), 0};
  PoseSpaceModel model = build_model({.mesh = mesh,
                                      .embedding = limb.body.embedding,
                                      .frames = frames,
                                      .poses = known,
                                      .patch_sizes = {},
                                      .elements = elements,
                                      .vertices = vertices,
                                      .inertial = std::span(&inertial, 1),
                                      .vertex_mass = mass,
                                      .exact_strain = true});
  model.material = material;
  return model;
}

/// The limb with all elements of weight one and a few columns at random, its strain exact.
struct Exact {
  static constexpr Eigen::Index columns = 11;
  SoftLimb limb = make_soft_limb({.cells = {2, 4, 2}});
  FrameSites frames;
  MatX basis;
  std::shared_ptr<const PoseSpaceModel> model;

  explicit Exact(MaterialModel material) {
    const TetMesh& mesh = limb.body.mesh;
    std::vector<Index> all(mesh.vertices.size());
    std::iota(all.begin(), all.end(), 0);
    const std::vector<std::vector<Vec3>> poses = {positions(0.9)};
    frames = choose_frame_sites(mesh, all, poses, {.least = 6, .most = 8});
    basis = random_vector(3 * std::ssize(all) * columns, 3).reshaped(3 * std::ssize(all), columns);
    PoseSpaceModel made = whole_model(limb, frames, basis, basis, VecX::Ones(basis.rows()), material);
    made.stiffness = VecX::Ones(columns);
    model = std::make_shared<const PoseSpaceModel>(std::move(made));
  }

  std::vector<Vec3> positions(double bend) const {
    return evaluate_all(*limb.rig.rig(), limb_pose(limb, {{}, bend, -bend / 2}).p);
  }
  /// R Û in a pose.
  MatX turned_basis(std::span<const Vec3> x) const {
    MatX U = basis;
    const std::vector<Mat3> turns = blended_rotations(limb.body.mesh, frames, x);
    for (std::size_t v = 0; v < turns.size(); ++v) {
      auto rows = U.middleRows<3>(3 * static_cast<Eigen::Index>(v));
      rows = (turns[v] * rows).eval();
    }
    return U;
  }
};

/// How far energy, force, stiffness and stiffness at rest are from the whole body's, each as a share of itself.
template <class T>
VecX differences(const Exact& exact, double bend) {
  CubatureForces<T> forces(std::make_shared<const PreparedModel<T>>(exact.model));
  const std::vector<Vec3> x = exact.positions(bend);
  std::vector<Vec3> points;
  for (const Index v : exact.model->points) points.push_back(x[to_size(v)]);
  FrameField<T> frames(exact.model->sites);
  frames.update(points);
  forces.set_pose({}, points, &frames);
  const ElasticBody body = ElasticBody::create(exact.limb.body.mesh, exact.model->material)
                               ->posed(Eigen::Map<const VecX>(x.front().data(), 3 * std::ssize(x)));
  const MatX U = exact.turned_basis(x);
  const VecX q = 0.01 * random_vector(Exact::columns, 5), along = random_vector(Exact::columns, 6);
  const auto truth = [&](const VecX& at) {
    VecX f(U.rows());
    BlockMatrix K = body.make_matrix();
    body.internal_force_and_stiffness(at, f, K);
    return std::pair(VecX(U.transpose() * f), VecX(U.transpose() * (K * VecX(U * along))));
  };
  const auto [f, Kx] = truth(U * q);
  const VecX K0x = truth(VecX::Zero(U.rows())).second;
  const auto numbers = [](const std::vector<T>& values) {
    return VecX(
        Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>(values.data(), Exact::columns).template cast<double>());
  };
  std::vector<T> force(to_size(forces.stride()), T(0)), product = force, rest = force;
  const double energy = static_cast<double>(forces.evaluate(padded(forces, q).data()));
  forces.add_force(force.data());
  forces.multiply_stiffness(padded(forces, along).data(), product.data());
  forces.multiply_rest(T(1), padded(forces, along).data(), rest.data());
  VecX result(4);
  result << std::abs(energy - body.energy(U * q)) / body.energy(U * q), (numbers(force) - f).norm() / f.norm(),
      (numbers(product) - Kx).norm() / Kx.norm(), (numbers(rest) - K0x).norm() / K0x.norm();
  return result;
}

class ExactStrainOf : public testing::TestWithParam<MaterialModel> {};

TEST_P(ExactStrainOf, IsThatOfTheWholeBody) {
  const Exact exact(GetParam());
  for (const double bend : {0.0, 0.6, 1.1}) {
    EXPECT_LT(differences<double>(exact, bend).maxCoeff(), 1e-10) << bend;
    // Halves have eleven bits.
    EXPECT_LT(differences<float>(exact, bend).maxCoeff(), 3e-3) << bend;
  }
}

INSTANTIATE_TEST_SUITE_P(ExactStrain, ExactStrainOf,
                         testing::Values(MaterialModel::corotational, MaterialModel::stvk,
                                         MaterialModel::stable_neo_hookean, MaterialModel::flesh));

TEST(ExactStrain, DampingJoinsTheEquationsAndThePath) {
  const Exact exact(MaterialModel::flesh);
  CubatureForces<double> forces(std::make_shared<const PreparedModel<double>>(exact.model));
  const std::vector<Vec3> x = exact.positions(0.8);
  std::vector<Vec3> points;
  for (const Index v : exact.model->points) points.push_back(x[to_size(v)]);
  FrameField<double> frames(exact.model->sites);
  frames.update(points);
  forces.set_pose({}, points, &frames);
  forces.evaluate(padded(forces, 0.01 * random_vector(Exact::columns, 5)).data());
  const std::vector<double> along = padded(forces, random_vector(Exact::columns, 6));
  std::vector<double> plain(along.size(), 0.0), damped = plain, rest = plain;
  forces.multiply_changing(along.data(), plain.data());
  forces.set_damping(0.7);
  forces.start_path();
  forces.multiply_changing(along.data(), damped.data());
  forces.go_on(2);
  forces.multiply_rest(1, along.data(), rest.data());
  double work = 0;
  for (std::size_t c = 0; c < along.size(); ++c) {
    EXPECT_NEAR(damped[c], plain[c] + 0.7 * rest[c], 1e-9 * (1 + std::abs(damped[c])));
    work += along[c] * rest[c];
  }
  EXPECT_NEAR(forces.damping_along_path(), 0.7 * 4 * work, 1e-9 * std::abs(work));
}

// ---- the first rung: nothing reduced ----

/// The limb with every unknown as a coordinate, every element and every vertex: the shipped model reduces nothing.
struct Complete {
  SoftLimb limb = make_soft_limb({.cells = {2, 5, 2}});
  FrameSites frames;
  std::shared_ptr<const PoseSpaceModel> model;

  /// `lumped`: each vertex has its mass for itself.
  explicit Complete(bool lumped) {
    const TetMesh& mesh = limb.body.mesh;
    const ElasticBody body = ElasticBody::create(mesh, MaterialModel::flesh).value();
    std::vector<Index> all(mesh.vertices.size()), free;
    std::iota(all.begin(), all.end(), 0);
    std::set_difference(all.begin(), all.end(), limb.body.fixed_vertices.begin(), limb.body.fixed_vertices.end(),
                        std::back_inserter(free));
    const std::vector<std::vector<Vec3>> bent = {evaluate_all(*limb.rig.rig(), limb_pose(limb, {{}, 0.5, 0.4}).p)};
    frames = choose_frame_sites(mesh, free, bent, {.least = 6, .most = 8});
    const MatX U = all_directions(body, free, lumped);
    PoseSpaceModel made =
        whole_model(limb, frames, U, lumped ? U : mass_averaged(body, U), body.lumped_mass(), MaterialModel::flesh);
    made.rest = limb.rig.rig();
    made.stiffness = (U.transpose() * multiply_columns(stiffness(body), U)).diagonal();
    made.mass = {MatX::Identity(U.cols(), U.cols())};
    model = std::make_shared<const PoseSpaceModel>(std::move(made));
  }

  static BlockMatrix stiffness(const ElasticBody& body) {
    BlockMatrix K = body.make_matrix();
    VecX f(body.dof_count());
    body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), f, K);
    return K;
  }
  /// As many columns as unknowns, with a diagonal UᵀKU and UᵀMU = 1.
  static MatX all_directions(const ElasticBody& body, const std::vector<Index>& free, bool lumped) {
    MatX U = MatX::Zero(body.dof_count(), 3 * std::ssize(free));
    for (Eigen::Index k = 0; k < U.cols(); ++k) U(3 * free[to_size(k / 3)] + k % 3, k) = 1;
    const MatX K = U.transpose() * multiply_columns(stiffness(body), U);
    const MatX MU = lumped ? MatX(body.lumped_mass().asDiagonal() * U) : multiply_columns(body.consistent_mass(), U);
    const MatX M = U.transpose() * MU;
    const auto mass = symmetric_eigen(M);
    const MatX root = mass.vectors * mass.values.cwiseSqrt().cwiseInverse().asDiagonal() * mass.vectors.transpose();
    return U * root * symmetric_eigen(root * K * root).vectors;
  }
};

/// √(Σ |ū_reduced − ū_full|² / Σ |ū_full|²) over a second in which the knees swing and the root does as asked.
template <class T>
double error_of_run(bool lumped, int iterations) {
  const Complete complete(lumped);
  const auto root = [](double time) {
    RigidTransform place;
    place.translation = Vec3(0.15 * std::sin(5 * time), 0.1 * (1 - std::cos(7 * time)), 0);
    place.rotation = Quat(Eigen::AngleAxisd(0.8 * std::sin(3 * time), Vec3::UnitX()));
    return place;
  };
  SoftStepSettings settings;
  settings.stiffness_damping = 0.005;
  settings.mass_damping = 0.5;
  settings.iterations = iterations;
  PoseSpaceDynamics<T> reduced = PoseSpaceDynamics<T>::create(complete.model, settings).value();
  const SoftLimb& limb = complete.limb;
  FullPoseDynamics full = FullPoseDynamics::create(limb.body.mesh, MaterialModel::flesh, limb.body.fixed_vertices,
                                                   limb.rig.rig(), settings, &complete.frames)
                              .value();
  full.set_surprise(1e-9);
  if (lumped) full.lump_mass();
  std::vector<Vec3> shown(limb.body.mesh.vertices.size());
  double difference = 0, total = 0;
  for (int k = 0; k < 240; ++k) {
    const CharacterPose pose = limb_pose(limb, lively(k * settings.time_step, root));
    EXPECT_FALSE(full.step(pose.placement, pose.p).recovered);
    EXPECT_FALSE(reduced.step(pose.placement, pose.p).recovered);
    reduced.surface_displacements({}, pose.p, reduced.coordinates(), shown);
    const Eigen::Map<const VecX> ours(shown.front().data(), 3 * std::ssize(shown));
    difference += (ours - full.displacements()).squaredNorm();
    total += full.displacements().squaredNorm();
  }
  EXPECT_GT(std::sqrt(total / 240 / static_cast<double>(shown.size())), 0.003) << "[m] of 1 m: too little to tell";
  return std::sqrt(difference / total);
}

TEST(ExactStrain, WithNothingReducedTheShippedModelIsTheFullSimulation) {
  EXPECT_LT(error_of_run<double>(true, 8), 1e-6);
}

// What is taken away first: the mass that couples vertices which turn differently, precision, iterations. On these
// few elements the mass costs most; it falls with the square of their size.
TEST(ExactStrain, TellsWhatTheFirstRungsCost) {
  const double mass = error_of_run<double>(false, 8), single = error_of_run<float>(true, 8),
               once = error_of_run<double>(true, 1);
  std::printf("[ measured ] mass of the neutral pose %.2g, halves and floats %.2g, one iteration %.2g\n", mass, single,
              once);
  EXPECT_LT(mass, 0.05);
  EXPECT_LT(single, 3e-3);
  EXPECT_LT(once, 0.01);
}

}  // namespace
}  // namespace supple::exact_strain_test
