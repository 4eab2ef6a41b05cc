// SPDX-License-Identifier: Apache-2.0
// Ex-rotated flesh against what it must equal: nothing under rigid motion, the gradient of its energy, corotational
// equilibria, and the surface's solution against the volume's.
#include "supple/offline/quasistatic/quasistatic_solver.h"

#include "supple/fem/linear_solver.h"
#include "supple/math/dense/svd3.h"

#include "support/bodies.h"

#include <numbers>

namespace supple::quasistatic_test {
namespace {

/// A bar along x with a bone through its middle.
struct Bar {
  TetMesh mesh;
  std::vector<Index> bone;
};

Bar bar(int fineness) {
  Bar result{make_tet_box(Vec3(4, 1, 1), {4 * fineness, fineness, fineness}), {}};
  set_uniform_material(result.mesh, {.name = "flesh", .young = 1000, .poisson = 0.4, .density = 1000});
  for (Index v = 0; v < std::ssize(result.mesh.vertices); ++v) {
    const Vec3& x = result.mesh.vertices[to_size(v)];
    if (std::hypot(x[1] - 0.5, x[2] - 0.5) < 0.2) result.bone.push_back(v);
  }
  return result;
}

double bending_share(double x) {
  const double s = std::clamp((x - 1.4) / 1.2, 0.0, 1.0);
  return s * s * (3 - 2 * s);
}
Quat bent(double x, double angle) { return Quat(Eigen::AngleAxisd(-angle * bending_share(x), Vec3::UnitY())); }

/// The bar bent about y in its middle by an angle: rotations by smooth weights, bones along the bent line.
struct Bend {
  std::vector<Eigen::Vector4d> rotations;
  VecX guess;
};

Bend bend(const ExRotatedBody& body, double angle) {
  constexpr int steps = 400;
  std::vector<Vec3> line = {Vec3(0, 0.5, 0.5)};
  for (int k = 0; k < steps; ++k)
    line.push_back(line.back() + bent(4.0 * (k + 0.5) / steps, angle) * Vec3(4.0 / steps, 0, 0));
  Bend result{{}, VecX(3 * Eigen::Index{body.vertex_count()})};
  for (Index v = 0; v < body.vertex_count(); ++v) {
    const Vec3& X = body.rest()[to_size(v)];
    const Quat q = bent(X[0], angle);
    result.rotations.push_back(q.coeffs());
    const double place = X[0] / 4 * steps;
    const auto k = std::min(steps - 1, static_cast<int>(place));
    const Vec3 centre = line[to_size(k)] + (place - k) * (line[to_size(k) + 1] - line[to_size(k)]);
    result.guess.segment<3>(3 * Eigen::Index{v}) = centre + q * Vec3(0, X[1] - 0.5, X[2] - 0.5);
  }
  return result;
}

VecX stacked(std::span<const Vec3> points) {
  VecX x(3 * std::ssize(points));
  for (std::size_t v = 0; v < points.size(); ++v) x.segment<3>(3 * static_cast<Eigen::Index>(v)) = points[v];
  return x;
}

ExRotatedBody bar_body(int fineness) {
  const Bar specimen = bar(fineness);
  return ExRotatedBody::create(specimen.mesh, specimen.bone).value();
}

TEST(Quasistatic, RigidMotionMakesNoForce) {
  ExRotatedBody body = bar_body(4);
  const Quat turn(Eigen::AngleAxisd(2.1, Vec3(1, 2, -0.5).normalized()));
  const Vec3 shift(3, -7, 2);
  VecX x(3 * Eigen::Index{body.vertex_count()}), f = VecX::Zero(x.size());
  for (Index v = 0; v < body.vertex_count(); ++v)
    x.segment<3>(3 * Eigen::Index{v}) = turn * body.rest()[to_size(v)] + shift;
  std::vector<Eigen::Vector4d> rotations(to_size(body.vertex_count()), turn.coeffs());
  for (std::size_t v = 0; v < rotations.size(); v += 2) rotations[v] *= -0.3;  // of any length and either sign
  body.pose(rotations);
  body.force(x, body.free(), f);
  EXPECT_LT(f.cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_NEAR(body.energy(x), 0, 1e-18);
}

TEST(Quasistatic, ForceIsTheGradientOfTheEnergy) {
  ExRotatedBody body = bar_body(2);
  const Bend pose = bend(body, 1.2);
  body.pose(pose.rotations);
  std::srand(3);
  const VecX x = pose.guess + 0.05 * VecX::Random(pose.guess.size()), along = VecX::Random(x.size());
  VecX f = VecX::Zero(x.size());
  body.force(x, body.free(), f);
  VecX free = along;
  free.tail(3 * body.held().count()).setZero();
  constexpr double h = 1e-4;
  const double slope = (body.energy(x + h * free) - body.energy(x - h * free)) / (2 * h);
  EXPECT_NEAR(-f.dot(free), slope, 1e-6 * std::abs(slope));
}

/// Newton's method on corotational elasticity with bones where they are, from a guess, on the mesh's numbers.
VecX corotational(const Bar& specimen, VecX x) {
  const ElasticBody body = ElasticBody::create(specimen.mesh, MaterialModel::corotational).value();
  LinearSolver solver(FreeVertices::create(body, specimen.bone).value(), {});
  BlockMatrix K = body.make_matrix();
  VecX f, step;
  const VecX rest = stacked(specimen.mesh.vertices);
  for (int k = 0; k < 60; ++k) {
    body.internal_force_and_stiffness(
        x - rest, f, K,
        f.size() > 0 && f.norm() < 1 ? HessianProjection::none : HessianProjection::positive_semidefinite);
    solver.free().clear_fixed(f);
    if (f.norm() < 1e-8) break;
    EXPECT_TRUE(solver.solve(K, f, step).solved());
    double length = 1;
    while (body.energy(x - length * step - rest) > body.energy(x - rest) && length > 1e-6) length /= 2;
    x -= length * step;
  }
  EXPECT_LT(f.norm(), 1e-8);
  return x;
}

VecX in_mesh_order(const ExRotatedBody& body, const VecX& x) {
  VecX result(x.size());
  for (Index v = 0; v < body.vertex_count(); ++v)
    result.segment<3>(3 * Eigen::Index{body.vertex_of()[to_size(v)]}) = x.segment<3>(3 * Eigen::Index{v});
  return result;
}

double farthest(const VecX& a, const VecX& b) {
  double largest = 0;
  for (Eigen::Index v = 0; v < a.size(); v += 3) largest = std::max(largest, (a - b).segment<3>(v).norm());
  return largest;
}

TEST(Quasistatic, EqualsCorotationalStaticsWithItsRotations) {
  const Bar specimen = bar(6);
  ExRotatedBody body = ExRotatedBody::create(specimen.mesh, specimen.bone).value();
  const Bend pose = bend(body, 0.6);
  const VecX truth = corotational(specimen, in_mesh_order(body, pose.guess));
  std::vector<Mat3> rotations;
  for (const TetMesh::Element& element : specimen.mesh.elements) {
    Mat3 edges, rest;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto c = static_cast<Eigen::Index>(k);
      edges.col(c) =
          truth.segment<3>(3 * Eigen::Index{element[k + 1]}) - truth.segment<3>(3 * Eigen::Index{element[0]});
      rest.col(c) = specimen.mesh.vertices[to_size(element[k + 1])] - specimen.mesh.vertices[to_size(element[0])];
    }
    const Eigen::JacobiSVD<Mat3> svd(edges * rest.inverse(), Eigen::ComputeFullU | Eigen::ComputeFullV);
    rotations.push_back(svd.matrixU() * svd.matrixV().transpose());
  }
  body.pose_elements(rotations);
  VecX x(truth.size()), f = VecX::Zero(truth.size());
  for (Index v = 0; v < body.vertex_count(); ++v)
    x.segment<3>(3 * Eigen::Index{v}) = truth.segment<3>(3 * Eigen::Index{body.vertex_of()[to_size(v)]});
  body.force(x, body.free(), f);
  EXPECT_LT(f.norm(), 1e-7);

  // With those of the rig's weights it is near: the skin moves by a quarter of the bar's length, and ends less than 3 %
  // of the bar's thickness elsewhere.
  QuasistaticSolver solver(std::move(body));
  x = pose.guess;
  EXPECT_TRUE(solver.solve(pose.rotations, x).converged);
  EXPECT_LT(farthest(in_mesh_order(solver.body(), x), truth), 0.03);
  EXPECT_GT(farthest(x, stacked(solver.body().rest())), 0.8);
}

TEST(Quasistatic, SurfaceAndVolumeAgree) {
  VecX solution[2];
  for (const QuasistaticMethod method : {QuasistaticMethod::surface, QuasistaticMethod::volume}) {
    QuasistaticSolver solver(bar_body(10), {.method = method, .tolerance = 1e-7});
    const Bend pose = bend(solver.body(), 1.5);
    VecX x = pose.guess;
    const QuasistaticReport report = solver.solve(pose.rotations, x);
    EXPECT_TRUE(report.converged);
    solution[method == QuasistaticMethod::surface ? 0 : 1] = x;
  }
  EXPECT_LT(farthest(solution[0], solution[1]), 4e-5);  // 1e-5 of the bar's length
}

TEST(Quasistatic, PreconditionedBoundaryTakesFarFewerIterations) {
  int iterations[2] = {};
  for (const bool precondition : {false, true}) {
    QuasistaticSolver solver(
        bar_body(14), {.method = QuasistaticMethod::surface, .round_tolerance = 1e-4, .precondition = precondition});
    const Bend pose = bend(solver.body(), 1.5);
    VecX x = pose.guess;
    const QuasistaticReport report = solver.solve(pose.rotations, x);
    EXPECT_TRUE(report.converged);
    iterations[precondition ? 1 : 0] = report.boundary_iterations;
  }
  EXPECT_GE(iterations[0], 5 * iterations[1]);
}

TEST(Quasistatic, GravityIsCarriedByTheBones) {
  // Everything moves down together: a cube that is held by one face shortens the same way as in closed form.
  TetMesh mesh = make_tet_box(Vec3(1, 1, 1), {4, 4, 4});
  set_uniform_material(mesh, {.name = "flesh", .young = 1e6, .poisson = 0, .density = 1000});
  std::vector<Index> top;
  for (Index v = 0; v < std::ssize(mesh.vertices); ++v)
    if (mesh.vertices[to_size(v)][2] == 1) top.push_back(v);
  QuasistaticSolver solver(ExRotatedBody::create(mesh, top).value(), {.tolerance = 1e-9});
  VecX x = stacked(solver.body().rest());
  const std::vector<Eigen::Vector4d> still(mesh.vertices.size(), Eigen::Vector4d::UnitW());
  EXPECT_TRUE(solver.solve(still, x, nullptr, Vec3(0, 0, -10)).converged);
  // ρ g L² / 2E with 2μ = E, in the mean over the lower face: single vertices differ by their lumped masses.
  double sum = 0;
  int count = 0;
  for (Index v = 0; v < solver.body().free().end; ++v) {
    if (solver.body().rest()[to_size(v)][2] != 0) continue;
    sum += x[3 * v + 2];
    ++count;
  }
  EXPECT_EQ(count, 25);
  EXPECT_NEAR(sum / count, -0.005, 5e-5);
}

TEST(Quasistatic, TellsWhatFloats) {
  const Bar specimen = bar(2);
  const Result<ExRotatedBody> loose = ExRotatedBody::create(specimen.mesh, {});
  ASSERT_FALSE(loose.ok());
  EXPECT_NE(loose.error().message.find("float away"), std::string::npos);
}

}  // namespace
}  // namespace supple::quasistatic_test
