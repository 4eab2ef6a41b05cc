// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/patches/bounded_biharmonic.h"

#include "supple/mesh/box.h"

#include <gtest/gtest.h>

#include <map>

namespace supple::bounded_biharmonic_test {
namespace {

constexpr BoxQuadraticSettings exact{1e-14, 60};

/// Handle k has the vertices in the plane x = places[k].
std::vector<Index> slices(const TetMesh& mesh, const std::vector<double>& places) {
  std::vector<Index> handle(mesh.vertices.size(), -1);
  for (std::size_t v = 0; v < handle.size(); ++v)
    for (std::size_t k = 0; k < places.size(); ++k)
      if (std::abs(mesh.vertices[v].x() - places[k]) < 1e-9) handle[v] = static_cast<Index>(k);
  return handle;
}

/// The box and its image in the plane x = 0, as one mesh.
TetMesh mirrored(const TetMesh& half) {
  TetMesh mesh = half;
  std::vector<Index> twin(half.vertices.size());
  for (std::size_t v = 0; v < half.vertices.size(); ++v) {
    twin[v] = static_cast<Index>(v);
    if (half.vertices[v].x() == 0) continue;
    twin[v] = static_cast<Index>(mesh.vertices.size());
    mesh.vertices.push_back(half.vertices[v].cwiseProduct(Vec3(-1, 1, 1)));
  }
  for (const TetMesh::Element& e : half.elements) {
    const auto at = [&](std::size_t k) { return twin[to_size(e[k])]; };
    mesh.elements.push_back({at(0), at(2), at(1), at(3)});
  }
  return mesh;
}

/// Fast projected gradient with restarts, on dense matrices: nothing in common with what is tested.
VecX projected_descent(const MatX& q, const VecX& c) {
  const double length = 1 / q.cwiseAbs().rowwise().sum().maxCoeff();
  VecX x = VecX::Constant(c.size(), 0.5), y = x;
  double t = 1;
  for (int k = 0; k < 400000; ++k) {
    const VecX next = (y - length * (q * y + c)).cwiseMax(0.0).cwiseMin(1.0);
    const double t_next = 0.5 * (1 + std::sqrt(1 + 4 * t * t));
    const bool uphill = (y - next).dot(next - x) > 0;
    y = uphill ? next : VecX(next + (t - 1) / t_next * (next - x));
    t = uphill ? 1 : t_next;
    const double moved = (next - x).cwiseAbs().maxCoeff();
    x = next;
    if (moved < 1e-16 && k > 100) break;
  }
  return x;
}

TEST(BoundedBiharmonic, AgreesWithADenseProgram) {
  const TetMesh mesh = make_tet_box(Vec3(1.0, 0.2, 0.3), {10, 2, 2});
  std::vector<Index> handle = slices(mesh, {0.0, 0.5, 1.0});
  for (std::size_t v = 0; v < handle.size(); ++v)
    if (mesh.vertices[v].y() > 0) handle[v] = -1;
  const BiharmonicWeights found = bounded_biharmonic_weights(mesh, handle, 3, exact);
  EXPECT_LT(found.report.largest_residual, 1e-12);

  const TetLaplacian parts = tet_laplacian(mesh);
  const MatX laplacian = parts.laplacian;
  MatX q = laplacian * parts.volume.cwiseInverse().asDiagonal() * laplacian;
  q /= q.diagonal().mean();
  std::vector<Eigen::Index> free;
  for (std::size_t v = 0; v < handle.size(); ++v)
    if (handle[v] < 0) free.push_back(static_cast<Eigen::Index>(v));
  MatX expected = MatX::Zero(q.rows(), 3);
  Eigen::Index on_bound = 0;
  for (Index h = 0; h < 3; ++h) {
    for (std::size_t v = 0; v < handle.size(); ++v) expected(static_cast<Eigen::Index>(v), h) = handle[v] == h;
    const VecX c = q * expected.col(h);
    const VecX x = projected_descent(q(free, free), c(free));
    on_bound += (x.array() == 0).count();
    for (std::size_t k = 0; k < free.size(); ++k) expected(free[k], h) = x[static_cast<Eigen::Index>(k)];
  }
  EXPECT_GT(on_bound, 20);
  const VecX sum = expected.rowwise().sum();
  for (Eigen::Index v = 0; v < sum.size(); ++v) expected.row(v) /= sum[v];
  EXPECT_LT((found.weights - expected).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_NEAR(found.report.largest_sum, sum.maxCoeff(), 1e-8);
}

/// Between two handles at its ends a bar has the least ∫ w''² with w' = 0 where it ends: w = 1 − 3t² + 2t³.
double distance_from_cubic(int cells) {
  const TetMesh mesh = make_tet_box(Vec3(8.0, 0.1, 0.1), {cells, 1, 1});
  const BiharmonicWeights found = bounded_biharmonic_weights(mesh, slices(mesh, {0.0, 8.0}), 2, exact);
  double worst = 0;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    const double t = mesh.vertices[v].x() / 8;
    worst = std::max(worst, std::abs(found.weights(static_cast<Eigen::Index>(v), 0) - (1 - 3 * t * t + 2 * t * t * t)));
  }
  return worst;
}

TEST(BoundedBiharmonic, ACubicBetweenTheEndsOfABar) {
  const double coarse = distance_from_cubic(40), fine = distance_from_cubic(80);
  EXPECT_LT(coarse, 0.02);
  EXPECT_LT(fine, 0.6 * coarse);
}

TEST(BoundedBiharmonic, KeepsItsBoundsAndStaysLocal) {
  const TetMesh mesh = make_tet_box(Vec3(4.0, 0.4, 0.4), {40, 4, 4});
  const BiharmonicWeights found = bounded_biharmonic_weights(mesh, slices(mesh, {0.0, 1.0, 2.0, 3.0, 4.0}), 5);
  EXPECT_GE(found.weights.minCoeff(), 0.0);
  EXPECT_LE(found.weights.maxCoeff(), 1.0);
  EXPECT_LT((found.weights.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
  EXPECT_LT(found.report.largest_residual, 1e-5);
  EXPECT_LT(found.report.largest_sum, 1.2);
  EXPECT_GT(found.report.smallest_sum, 0.8);
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    const double x = mesh.vertices[v].x();
    const auto row = found.weights.row(static_cast<Eigen::Index>(v));
    if (x > 1.2) {
      EXPECT_LT(row[0], 1e-3) << x;
    }
    if (x < 0.8 || x > 3.2) {
      EXPECT_LT(row[2], 1e-3) << x;
    }
    if (std::abs(x - 1.5) < 1e-9) {
      EXPECT_NEAR(row[1], 0.5, 0.1);
    }
  }
}

TEST(BoundedBiharmonic, SymmetricBodiesHaveSymmetricWeights) {
  const TetMesh mesh = mirrored(make_tet_box(Vec3(1.5, 0.5, 0.4), {12, 4, 3}));
  std::vector<Index> handle(mesh.vertices.size(), -1);
  std::map<std::array<long, 3>, std::size_t> at;
  const auto key = [](const Vec3& x) {
    return std::array{std::lround(x[0] * 1e6), std::lround(x[1] * 1e6), std::lround(x[2] * 1e6)};
  };
  for (std::size_t v = 0; v < handle.size(); ++v) {
    const Vec3& x = mesh.vertices[v];
    at[key(x)] = v;
    if (std::abs(x.x()) < 1e-9 && x.y() < 0.3) handle[v] = 0;
    if (x.x() > 1.3 && x.z() < 0.2) handle[v] = 1;
    if (x.x() < -1.3 && x.z() < 0.2) handle[v] = 2;
  }
  const MatX w = bounded_biharmonic_weights(mesh, handle, 3, exact).weights;
  for (std::size_t v = 0; v < handle.size(); ++v) {
    const auto a = static_cast<Eigen::Index>(v);
    const auto b = static_cast<Eigen::Index>(at.at(key(mesh.vertices[v].cwiseProduct(Vec3(-1, 1, 1)))));
    EXPECT_NEAR(w(a, 0), w(b, 0), 1e-9);
    EXPECT_NEAR(w(a, 1), w(b, 2), 1e-9);
  }
}

TEST(BoundedBiharmonic, PiecesWithoutAHandleGoWithTheNearest) {
  TetMesh mesh = make_tet_box(Vec3(1.0, 0.1, 0.1), {10, 1, 1});
  const std::size_t own = mesh.vertices.size();
  const TetMesh small = make_tet_box(Vec3(0.2, 0.1, 0.1), {2, 1, 1});
  for (const Vec3& x : small.vertices) mesh.vertices.push_back(x + Vec3(0.7, 0.15, 0));
  for (TetMesh::Element e : small.elements) {
    for (Index& v : e) v += static_cast<Index>(own);
    mesh.elements.push_back(e);
  }
  mesh.vertices.push_back(Vec3(-0.1, 0, 0));  // of no element
  std::vector<Index> handle(mesh.vertices.size(), -1);
  handle[0] = 0;
  for (std::size_t v = 0; v < own; ++v)
    if (mesh.vertices[v].x() > 0.99) handle[v] = 1;
  const MatX w = bounded_biharmonic_weights(mesh, handle, 2).weights;
  for (std::size_t v = own; v + 1 < mesh.vertices.size(); ++v) EXPECT_EQ(w(static_cast<Eigen::Index>(v), 1), 1.0);
  EXPECT_EQ(w(w.rows() - 1, 0), 1.0);
  EXPECT_LT((w.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
}

}  // namespace
}  // namespace supple::bounded_biharmonic_test
