// SPDX-License-Identifier: Apache-2.0
// Reduced forces of cubature elements: gradients of their energy, stiffness the gradient of the force, for every
// material, in a neutral and in a bent pose; single precision against double; and against the whole body.
#include "supple/runtime/posespace/cubature_forces.h"

#include "supple/fem/element.h"
#include "supple/offline/posespace/model_builder.h"
#include "support/bodies.h"
#include "support/padded.h"
#include "support/soft_limb.h"

#include <Eigen/LU>
#include <Eigen/SparseCore>

namespace supple::cubature_forces_test {
namespace {

/// The limb with every element as a cubature element of weight one, in a basis of a few columns.
struct Complete {
  SoftLimb limb = make_soft_limb({.cells = {2, 4, 2}});
  PoseSpaceModel model;

  Complete(MaterialModel material, const MatX& basis) {
    const TetMesh& mesh = limb.body.mesh;
    model.material = material;
    model.stiffness = VecX::Ones(basis.cols());
    for (std::size_t v = 0; v < mesh.vertices.size(); ++v) model.points.push_back(static_cast<Index>(v));
    ElementBlock block;
    for (Index c = 0; c < basis.cols(); ++c) block.columns.push_back(c);
    const auto count = std::ssize(mesh.elements);
    block.weights = block.mu = block.lambda = MatX(count, 1);
    block.gradients.assign(1, MatX(9 * count, basis.cols()));
    const PoseBasis neutral{{}, mesh.vertices, std::vector<Mat3>(mesh.vertices.size(), Mat3::Identity()), basis, {}};
    for (Eigen::Index k = 0; k < count; ++k) {
      const auto e = to_size(k);
      const auto x = element_nodes(mesh, e);
      Mat3 edges;
      for (std::size_t n = 1; n < 4; ++n) edges.col(static_cast<int>(n) - 1) = x[n] - x[0];
      const Lame<double> lame = lame_from(mesh.material_of(e).young, mesh.material_of(e).poisson);
      block.tets.push_back({mesh.elements[e], edges.inverse()});
      block.weights(k, 0) = edges.determinant() / 6;
      block.mu(k, 0) = lame.mu;
      block.lambda(k, 0) = lame.lambda;
      block.gradients[0].middleRows<9>(9 * k) = element_gradient(mesh, e, neutral, BasisDirections::rotating);
    }
    model.elements.push_back(block);
  }

  template <class T>
  CubatureForces<T> forces() const {
    return CubatureForces<T>(std::make_shared<const PreparedModel<T>>(std::make_shared<const PoseSpaceModel>(model)));
  }
};

MatX some_basis(const SoftLimb& limb, Eigen::Index columns) {
  const auto rows = 3 * static_cast<Eigen::Index>(limb.body.mesh.vertices.size());
  return random_vector(rows * columns, 3).reshaped(rows, columns);
}

template <class T>
struct Evaluated {
  VecX force;
  MatX stiffness;  ///< both triangles
};

template <class T>
Evaluated<T> evaluate(CubatureForces<T>& forces, const VecX& q) {
  const int r = forces.size();
  forces.evaluate(padded(forces, q).data());
  std::vector<T> f(to_size(forces.stride()), T(0));
  forces.add_force(f.data());
  std::vector<T> matrix(to_size(r * forces.stride()), T(0));
  for (int j = 0; j < r; ++j)
    forces.multiply_stiffness(padded(forces, VecX(VecX::Unit(r, j))).data(), matrix.data() + j * forces.stride());
  Evaluated<T> result{VecX(r), MatX(r, r)};
  for (int j = 0; j < r; ++j) {
    result.force[j] = static_cast<double>(f[to_size(j)]);
    for (int i = j; i < r; ++i)
      result.stiffness(i, j) = result.stiffness(j, i) = static_cast<double>(matrix[to_size(j * forces.stride() + i)]);
  }
  return result;
}

double energy(CubatureForces<double>& forces, const VecX& q) { return forces.energy(padded(forces, q).data()); }

class EveryMaterial : public testing::TestWithParam<MaterialModel> {};

void expect_gradients(MaterialModel material, const MatX& correction) {
  // Seven coordinates don't fill a vector, and 96 elements fill all batches; 95 don't.
  Complete c(material, some_basis(make_soft_limb({.cells = {2, 4, 2}}), 7));
  c.model.corrections = {correction};
  c.model.correction_limit = 1e-2;
  ElementBlock& block = c.model.elements.front();
  block.tets.pop_back();
  const auto left = std::ssize(block.tets);
  for (MatX* values : {&block.weights, &block.mu, &block.lambda}) values->conservativeResize(left, 1);
  block.gradients[0].conservativeResize(9 * left, 7);
  CubatureForces<double> forces = c.forces<double>();
  const VecX zero = VecX::Zero(7);
  const VecX q = 0.01 * random_vector(7, 5);
  for (const double bend : {0.0, 0.9}) {
    forces.set_pose({}, evaluate_all(*c.limb.rig.rig(), limb_pose(c.limb, {{}, bend, -bend / 2}).p));
    const auto at_rest = evaluate(forces, zero);
    EXPECT_NEAR(energy(forces, zero), 0, 1e-12 * std::abs(energy(forces, q)));
    const auto at = evaluate(forces, q);
    EXPECT_LT(at_rest.force.norm(), 1e-12 * at.force.norm());
    MatX differences(7, 7);
    VecX gradient(7);
    for (Eigen::Index k = 0; k < 7; ++k) {
      const VecX along = VecX::Unit(7, k);
      gradient[k] = derivative_at_zero([&](double h) { return energy(forces, q + h * along); }, 1e-4);
      differences.col(k) = derivative_at_zero([&](double h) { return evaluate(forces, q + h * along).force; }, 1e-5);
    }
    EXPECT_LT((gradient - at.force).norm(), 1e-7 * at.force.norm()) << bend;
    EXPECT_LT((differences - at.stiffness).norm(), 1e-7 * at.stiffness.norm()) << bend;
    const VecX v = random_vector(7, 8);
    evaluate(forces, q);
    std::vector<double> product(to_size(forces.stride()), 0.0);
    forces.multiply_stiffness(padded(forces, v).data(), product.data());
    const Eigen::Map<const VecX> Kv(product.data(), 7);
    EXPECT_LT((Kv - at.stiffness * v).norm(), 1e-11 * Kv.norm());
  }
}

TEST_P(EveryMaterial, ForceAndStiffnessAreGradients) {
  MatX correction = random_vector(49, 4).reshaped(7, 7);
  correction = (1e3 * (correction + correction.transpose())).eval();
  expect_gradients(GetParam(), 1e-3 * correction * correction);
  expect_gradients(GetParam(), -1e-3 * correction * correction);  // fades: it would take more than it may
}

TEST(CubatureForces, CorrectionsTakeNoMoreThanTheirLimit) {
  Complete c(MaterialModel::flesh, some_basis(make_soft_limb({.cells = {2, 4, 2}}), 7));
  CubatureForces<double> plain = c.forces<double>();
  c.model.corrections = {MatX(-1e9 * MatX::Identity(7, 7))};
  c.model.correction_limit = 1e-2;
  CubatureForces<double> corrected = c.forces<double>();
  const auto posed = evaluate_all(*c.limb.rig.rig(), limb_pose(c.limb, {{}, 0.7, 0.3}).p);
  plain.set_pose({}, posed);
  corrected.set_pose({}, posed);
  const VecX q = random_vector(7, 5);
  for (const double size : {1e-6, 1e-4, 1e-2, 1.0}) {
    const double taken = energy(plain, size * q) - energy(corrected, size * q);
    const double s = 0.5e9 * size * size * q.squaredNorm();
    EXPECT_NEAR(taken, s / (1 + s / 1e-2), 1e-9 * std::max(energy(plain, size * q), 1e-2)) << size;
    EXPECT_LT(taken, 1e-2);
  }
}

// At poses where they are known corrections count in full, between and beyond them as far as they are near.
TEST(CubatureForces, CorrectionsCountNearTheirPoses) {
  Complete c(MaterialModel::flesh, some_basis(make_soft_limb({.cells = {2, 4, 2}}), 7));
  CubatureForces<double> plain = c.forces<double>();
  const auto pose = [&](double knee) { return limb_pose(c.limb, {{}, knee, 0}).p; };
  const PoseLayout& layout = c.limb.rig.rig()->layout();
  c.model.corrections.assign(2, MatX(1e3 * MatX::Identity(7, 7)));
  c.model.correction_poses = PoseSpaceWeights::create(layout, {layout.neutral, pose(0.8)}).value();
  c.model.correction_reach = 0.3;
  CubatureForces<double> corrected = c.forces<double>();
  const VecX q = 1e-3 * random_vector(7, 5);
  const double whole = 0.5e3 * q.squaredNorm();
  for (const double knee : {0.0, 0.8, 0.4, 0.95, 2.5}) {
    const std::vector<double> p = pose(knee);
    const auto posed = evaluate_all(*c.limb.rig.rig(), p);
    plain.set_pose(p, posed);
    corrected.set_pose(p, posed);
    double far = 1;
    for (const double known : {0.0, 0.8})
      far *= 1 - std::exp(-std::pow(pose_distance(layout, p, pose(known)) / 0.3, 2));
    EXPECT_NEAR(energy(corrected, q) - energy(plain, q), (1 - far) * whole, 1e-9 * whole) << knee;
    EXPECT_EQ(far < 1e-12, knee == 0 || knee == 0.8);
  }
}

TEST_P(EveryMaterial, SinglePrecisionFollowsDouble) {
  Complete c(GetParam(), some_basis(make_soft_limb({.cells = {2, 4, 2}}), 13));
  c.model.corrections = {MatX(1e3 * VecX::LinSpaced(13, -1, 1).asDiagonal().toDenseMatrix())};
  c.model.correction_limit = 1e-2;
  CubatureForces<double> exact = c.forces<double>();
  CubatureForces<float> single = c.forces<float>();
  const VecX q = 0.01 * random_vector(13, 5);
  const auto posed = evaluate_all(*c.limb.rig.rig(), limb_pose(c.limb, {{}, 0.7, 0.3}).p);
  exact.set_pose({}, posed);
  single.set_pose({}, posed);
  const auto a = evaluate(exact, q);
  const auto b = evaluate(single, q);
  // Gradients are stored in eleven bits.
  EXPECT_LT((a.force - b.force).norm(), 0x1p-12 * a.force.norm());
  EXPECT_LT((a.stiffness - b.stiffness).norm(), 0x1p-12 * a.stiffness.norm());
  const float e = single.energy(padded(single, q).data());
  EXPECT_NEAR(e, energy(exact, q), 1e-4 * energy(exact, q));
}

TEST_P(EveryMaterial, AllElementsTogetherAreTheWholeBody) {
  // At the neutral pose, turned as a whole or not, the sum over all elements is that of the finite-element body.
  const MatX U = some_basis(make_soft_limb({.cells = {2, 4, 2}}), 5);
  Complete c(GetParam(), U);
  const ElasticBody body = body_of(c.limb.body.mesh, GetParam());
  const VecX q = 0.01 * random_vector(5, 9);
  const VecX force = U.transpose() * force_at(body, U * q);
  const MatX stiffness = U.transpose() * (stiffness_at(body, U * q).to_sparse() * U);
  for (const RigidTransform& place :
       {RigidTransform{}, RigidTransform{Vec3(1e4, 3, -2), Quat(Eigen::AngleAxisd(2, Vec3(1, 2, 2) / 3))}}) {
    std::vector<Vec3> posed;
    for (const Vec3& x : c.limb.body.mesh.vertices) posed.push_back(place * x);
    CubatureForces<double> forces = c.forces<double>();
    forces.set_pose({}, posed);
    const auto at = evaluate(forces, q);
    EXPECT_LT((at.force - force).norm(), 1e-9 * force.norm());
    EXPECT_LT((at.stiffness - stiffness).norm(), 1e-9 * stiffness.norm());
    EXPECT_NEAR(energy(forces, q), body.energy(U * q), 1e-9 * body.energy(U * q));
  }
}

TEST_P(EveryMaterial, AStretchedRestShapeIsABodyMeshedThere) {
  // A homogeneous stretch without rotation: R = 1, so the reduced forces are those of the posed body.
  const MatX U = some_basis(make_soft_limb({.cells = {2, 4, 2}}), 5);
  Complete c(GetParam(), U);
  Mat3 S;
  S << 1.3, 0.2, 0, 0.2, 0.9, -0.1, 0, -0.1, 1.1;
  TetMesh stretched = c.limb.body.mesh;
  for (Vec3& x : stretched.vertices) x = S * x;
  const ElasticBody body = body_of(stretched, GetParam());
  const VecX q = 0.01 * random_vector(5, 9);
  CubatureForces<double> forces = c.forces<double>();
  forces.set_pose({}, stretched.vertices);
  const auto at = evaluate(forces, q);
  const VecX force = U.transpose() * force_at(body, U * q);
  EXPECT_LT((at.force - force).norm(), 1e-9 * force.norm());
  EXPECT_NEAR(energy(forces, q), body.energy(U * q), 1e-9 * body.energy(U * q));
}

INSTANTIATE_TEST_SUITE_P(CubatureForces, EveryMaterial, testing::ValuesIn(all_models),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace
}  // namespace supple::cubature_forces_test
