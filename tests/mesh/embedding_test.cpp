// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/embedding.h"

#include "supple/mesh/box.h"
#include "supple/mesh/topology.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <limits>
#include <random>

namespace supple::embedding_test {
namespace {

std::vector<Vec3> random_points(std::size_t count, const Vec3& low, const Vec3& high, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Vec3> points(count);
  for (Vec3& p : points) {
    for (int a = 0; a < 3; ++a) p[a] = low[a] + uniform(generator) * (high[a] - low[a]);
  }
  return points;
}

MatX random_matrix(Eigen::Index rows, Eigen::Index cols, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  return MatX::NullaryExpr(rows, cols, [&] { return uniform(generator); });
}

VecX field(const std::vector<Vec3>& points, const Mat3& A, const Vec3& b) {
  VecX u(3 * static_cast<Eigen::Index>(points.size()));
  for (std::size_t p = 0; p < points.size(); ++p) u.segment<3>(3 * static_cast<Eigen::Index>(p)) = A * points[p] + b;
  return u;
}

template <class Mesh>
Mesh shaken(Mesh mesh, double amount) {
  const MatX noise = random_matrix(3, static_cast<Eigen::Index>(mesh.vertices.size()), 11);
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    mesh.vertices[v] += amount * noise.col(static_cast<Eigen::Index>(v));
  return mesh;
}

template <class Mesh>
void expect_linear_precision(const Mesh& mesh, const std::vector<Vec3>& points, double tolerance) {
  const Embedding embedding = embed(mesh, points).value();
  const Mat3 A = random_matrix(3, 3, 5);
  const Vec3 b(1, -2, 0.5);
  const VecX expected = field(points, A, b);
  const VecX error = embedding.interpolate(field(mesh.vertices, A, b)) - expected;
  EXPECT_LT(error.cwiseAbs().maxCoeff(), tolerance);
  for (std::size_t p = 0; p < points.size(); ++p) {
    double sum = 0;
    for (int k = 0; k < embedding.nodes; ++k) sum += embedding.weights[p * to_size(embedding.nodes) + to_size(k)];
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(Embedding, ReproducesLinearFields) {
  const Vec3 size(1, 0.6, 0.8);
  const std::vector<Vec3> points = random_points(500, Vec3::Zero(), size, 1);
  expect_linear_precision(make_hex_box(size, {5, 3, 4}), points, 1e-13);
  expect_linear_precision(make_tet_box(size, {5, 3, 4}), points, 1e-13);
  expect_linear_precision(shaken(make_hex_box(size, {5, 3, 4}), 0.03), points, 1e-12);
  expect_linear_precision(shaken(make_tet_box(size, {5, 3, 4}), 0.03), points, 1e-12);
}

TEST(Embedding, ReproducesLinearFieldsOutside) {
  const Vec3 size(1, 0.6, 0.8);
  const std::vector<Vec3> points = random_points(500, Vec3::Constant(-0.3), size + Vec3::Constant(0.3), 2);
  expect_linear_precision(make_hex_box(size, {5, 3, 4}), points, 1e-12);
  expect_linear_precision(make_tet_box(size, {5, 3, 4}), points, 1e-12);
  expect_linear_precision(shaken(make_hex_box(size, {5, 3, 4}), 0.03), points, 1e-11);
}

TEST(Embedding, PointsInsideHaveWeightsOfTheirElement) {
  const HexMesh mesh = make_hex_box(Vec3(4, 3, 2), {4, 3, 2});
  const std::vector<Vec3> points = random_points(300, Vec3::Zero(), Vec3(4, 3, 2), 3);
  const Embedding embedding = embed(mesh, points).value();
  for (std::size_t p = 0; p < points.size(); ++p) {
    EXPECT_TRUE(embedding.inside(p));
    const auto i = static_cast<Index>(points[p][0]), j = static_cast<Index>(points[p][1]),
               k = static_cast<Index>(points[p][2]);
    EXPECT_EQ(embedding.element[p], i + 4 * (j + 3 * k));
    const Vec3 f = points[p] - Vec3(i, j, k);
    EXPECT_NEAR(embedding.weights[p * 8], (1 - f[0]) * (1 - f[1]) * (1 - f[2]), 1e-13);
    EXPECT_NEAR(embedding.weights[p * 8 + 6], f[0] * f[1] * f[2], 1e-13);
  }
}

TEST(Embedding, OutsidePointsTakeTheNearestElement) {
  const Vec3 size(4, 3, 2);
  const std::vector<Vec3> points = random_points(300, Vec3::Constant(-3), size + Vec3::Constant(3), 4);
  const Embedding bricks = embed(make_hex_box(size, {4, 3, 2}), points).value();
  const Embedding tets = embed(make_tet_box(size, {4, 3, 2}), points).value();
  for (std::size_t p = 0; p < points.size(); ++p) {
    const double distance = (points[p] - points[p].cwiseMax(Vec3::Zero()).cwiseMin(size)).norm();
    EXPECT_NEAR(bricks.distance[p], distance, 1e-12);
    EXPECT_NEAR(tets.distance[p], distance, 1e-12);
  }
}

TEST(Embedding, OutsidePointsGoWithTheNearestPoint) {
  const Vec3 size(4, 3, 2);
  const TetMesh mesh = make_tet_box(size, {4, 3, 2});
  const std::vector<Vec3> points = random_points(300, Vec3::Constant(-3), size + Vec3::Constant(3), 4);
  const Embedding nearest = embed_nearest(mesh, points).value();
  const VecX at = nearest.interpolate(field(mesh.vertices, Mat3::Identity(), Vec3::Zero()));
  for (std::size_t p = 0; p < points.size(); ++p) {
    const Vec3 expected = points[p].cwiseMax(Vec3::Zero()).cwiseMin(size);
    EXPECT_LT((at.segment<3>(3 * static_cast<Eigen::Index>(p)) - expected).norm(), 1e-12);
    double sum = 0;
    for (std::size_t k = 4 * p; k < 4 * p + 4; ++k) {
      EXPECT_GE(nearest.weights[k], 0);
      sum += nearest.weights[k];
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(Embedding, TheNearestPointDoesNotDependOnTheOrderOfElements) {
  const TetMesh mesh = shaken(make_tet_box(Vec3(4, 3, 2), {4, 3, 2}), 0.1);
  TetMesh reversed = mesh;
  std::reverse(reversed.elements.begin(), reversed.elements.end());
  const std::vector<Vec3> points = random_points(300, Vec3::Constant(-3), Vec3(7, 6, 5), 4);
  const MatX U = random_matrix(3 * static_cast<Eigen::Index>(mesh.vertices.size()), 2, 7);
  const MatX one = embed_nearest(mesh, points).value().interpolate(U);
  const MatX other = embed_nearest(reversed, points).value().interpolate(U);
  EXPECT_LT((one - other).cwiseAbs().maxCoeff(), 1e-9);
}

/// Points beyond vertices and edges of a mesh, which several elements are equally near to: turned by any angle,
/// rounding would choose another one of them each time.
TEST(Embedding, OfElementsAtOneDistanceRoundingChoosesNone) {
  const TetMesh mesh = shaken(make_tet_box({2, 1, 1}, {4, 2, 2}), 0.03);
  std::vector<Vec3> points;
  for (const Vec3& x : random_points(200, {-0.5, -0.5, -0.5}, {2.5, 1.5, 1.5}, 5)) points.push_back(x);
  const Embedding first = embed(mesh, points).value();
  for (int turn = 1; turn < 6; ++turn) {
    const Eigen::Quaterniond R(Eigen::AngleAxisd(0.7 * turn, Vec3(1, 2, 2) / 3));
    TetMesh turned = mesh;
    for (Vec3& x : turned.vertices) x = R * x;
    std::vector<Vec3> there;
    for (const Vec3& x : points) there.emplace_back(R * x);
    EXPECT_EQ(embed(turned, there).value().element, first.element);
  }
}

TEST(Embedding, NearestElementOfScatteredOnes) {
  // Two far-apart bricks: rings of empty cells must be crossed.
  HexMesh mesh = make_hex_box(Vec3(1, 1, 1), {1, 1, 1});
  for (int v = 0; v < 8; ++v) mesh.vertices.emplace_back(mesh.vertices[to_size(v)] + Vec3(40, 3, 0));
  mesh.elements.push_back(mesh.elements[0]);
  for (Index& v : mesh.elements[1]) v += 8;
  const std::vector<Vec3> points = {Vec3(20, 0, 0), Vec3(22, 0, 0), Vec3(100, 3.5, 0.5)};
  const Embedding embedding = embed(mesh, points).value();
  EXPECT_EQ(embedding.element, (std::vector<Index>{0, 1, 1}));
  EXPECT_DOUBLE_EQ(embedding.distance[0], 19);
  EXPECT_DOUBLE_EQ(embedding.distance[2], 59);
}

TEST(Embedding, ForcesAndDisplacementsDoTheSameWork) {
  const HexMesh mesh = shaken(make_hex_box(Vec3(1, 1, 1), {3, 3, 3}), 0.05);
  const std::vector<Vec3> points = random_points(100, Vec3::Constant(-0.1), Vec3::Constant(1.1), 6);
  const Embedding embedding = embed(mesh, points).value();
  const MatX U = random_matrix(3 * static_cast<Eigen::Index>(mesh.vertices.size()), 4, 7);
  const MatX F = random_matrix(300, 3, 8);
  const MatX work_at_points = F.transpose() * embedding.interpolate(U);
  const MatX work_in_mesh = embedding.spread(F).transpose() * U;
  EXPECT_GT(work_at_points.norm(), 1);
  EXPECT_LT((work_at_points - work_in_mesh).norm(), 1e-12 * work_at_points.norm());
  Vec3 total = Vec3::Zero(), spread_total = Vec3::Zero();
  const VecX f = embedding.spread(F.col(0));
  for (Eigen::Index p = 0; p < 100; ++p) total += F.col(0).segment<3>(3 * p);
  for (Eigen::Index v = 0; v < f.size() / 3; ++v) spread_total += f.segment<3>(3 * v);
  EXPECT_LT((total - spread_total).norm(), 1e-12);
}

TEST(Embedding, PaintChoosesTheTouchedElements) {
  const HexMesh mesh = make_hex_box(Vec3(3, 1, 1), {3, 1, 1});
  Surface surface;
  surface.vertices = {Vec3(0.5, 0.5, 0.5), Vec3(1, 0.5, 0.5), Vec3(2.5, 0.5, 1.2)};
  surface.attributes = {{"hold", 1, {1, 0, 0.2f}}, {"nothing", 1, {0, 0, 0}}};
  const auto count = [&](std::vector<Index> painted) {
    return vertices_under_paint(mesh, surface, painted).value().size();
  };
  EXPECT_EQ(painted_vertices(surface, "hold").value(), (std::vector<Index>{0}));
  EXPECT_EQ(count({0}), 8u);
  EXPECT_EQ(count({1}), 12u);  // on the wall between two bricks
  EXPECT_EQ(count({2}), 8u);   // outside, above the third
  EXPECT_EQ(count({0, 2}), 16u);
  EXPECT_FALSE(painted_vertices(surface, "nothing").ok());
  EXPECT_FALSE(painted_vertices(surface, "missing").ok());
  EXPECT_FALSE(vertices_under_paint(mesh, surface, std::vector<Index>{3}).ok());
}

TEST(Embedding, RefusesBrokenInput) {
  HexMesh mesh = make_hex_box(Vec3(1, 1, 1), {1, 1, 1});
  const std::vector<Vec3> bad = {Vec3(0, std::numeric_limits<double>::quiet_NaN(), 0)};
  EXPECT_NE(embed(mesh, bad).error().message.find("Point 0"), std::string::npos);
  EXPECT_FALSE(embed(HexMesh{}, std::vector<Vec3>{Vec3::Zero()}).ok());
  for (Vec3& p : mesh.vertices) p.z() = 0;
  EXPECT_NE(embed(mesh, std::vector<Vec3>{Vec3::Zero()}).error().message.find("flat"), std::string::npos);
}

}  // namespace
}  // namespace supple::embedding_test
