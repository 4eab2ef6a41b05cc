// SPDX-License-Identifier: Apache-2.0
// Exact strain: with every element in the cubature, energy, force and stiffness of u = R Û q are those of the whole
// body (fem/elastic_body.h) in any pose, however the frames R bend; and a step of the shipped kind agrees with the
// simulation of every vertex in the same basis.
#include "supple/fem/elastic_body.h"
#include "supple/offline/fitting/frame_sites.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/offline/posespace/model_builder.h"
#include "supple/runtime/posespace/cubature_forces.h"
#include "support/bodies.h"
#include "support/padded.h"
#include "support/soft_limb.h"

#include <numeric>

namespace supple::exact_strain_test {
namespace {

/// The limb with all elements of weight one and a few columns at random, its strain exact.
struct Exact {
  static constexpr Eigen::Index columns = 11;
  SoftLimb limb = make_soft_limb({.cells = {2, 4, 2}});
  FrameSites frames;
  MatX basis;
  std::shared_ptr<const PoseSpaceModel> model;

  explicit Exact(MaterialModel material) {
    const TetMesh& mesh = limb.body.mesh;
    std::vector<Index> all(mesh.vertices.size()), every(mesh.elements.size());
    std::iota(all.begin(), all.end(), 0);
    std::iota(every.begin(), every.end(), 0);
    const std::vector<std::vector<Vec3>> poses = {positions(0.9)};
    frames = choose_frame_sites(mesh, all, poses, {.least = 6, .most = 8});
    basis = random_vector(3 * std::ssize(all) * columns, 3).reshaped(3 * std::ssize(all), columns);
    const std::vector<PoseBasis> known = {
        {limb.rig.neutral().p, mesh.vertices, std::vector<Mat3>(all.size(), Mat3::Identity()), basis, {}}};
    const std::vector<Cubature> elements = {{every, VecX::Ones(std::ssize(every)), 0}};
    const Cubature vertices{all, VecX::Ones(std::ssize(all)), 0};
    const VecX mass = VecX::Ones(3 * std::ssize(all));
    const std::vector<MatX> inertial = {basis};
    PoseSpaceModel made = build_model({.mesh = mesh,
                                       .embedding = limb.body.embedding,
                                       .frames = frames,
                                       .poses = known,
                                       .patch_sizes = {},
                                       .elements = elements,
                                       .vertices = vertices,
                                       .inertial = inertial,
                                       .vertex_mass = mass,
                                       .exact_strain = true});
    made.material = material;
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

}  // namespace
}  // namespace supple::exact_strain_test
