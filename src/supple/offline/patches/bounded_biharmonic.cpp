// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/patches/bounded_biharmonic.h"

#include "supple/base/assert.h"
#include "supple/base/parallel.h"
#include "supple/mesh/disjoint_sets.h"
#include "supple/mesh/point_tree.h"

#include <Eigen/LU>

#include <algorithm>

namespace supple {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

/// Handles that share a factorisation, one after another; borders between them must not depend on the thread count.
constexpr std::int64_t handles_per_solver = 4;

/// Which vertices hang together: the smallest vertex of each one's piece.
std::vector<Index> pieces_of(const TetMesh& mesh) {
  DisjointSets sets(mesh.vertices.size());
  for (const TetMesh::Element& element : mesh.elements)
    for (int k = 1; k < 4; ++k) sets.unite(element[0], element[to_size(k)]);
  std::vector<Index> piece(mesh.vertices.size());
  for (std::size_t v = 0; v < piece.size(); ++v) piece[v] = sets.find(static_cast<Index>(v));
  return piece;
}

/// For each piece, by its first vertex: the handle that has it altogether, or -1 where it has vertices of handles.
std::vector<Index> owners_of(const TetMesh& mesh, std::span<const Index> piece, std::span<const Index> handle) {
  std::vector<char> has_handle(piece.size(), 0);
  std::vector<Vec3> places;
  std::vector<Index> place_handle;
  for (std::size_t v = 0; v < piece.size(); ++v) {
    if (handle[v] < 0) continue;
    has_handle[to_size(piece[v])] = 1;
    places.push_back(mesh.vertices[v]);
    place_handle.push_back(handle[v]);
  }
  const PointTree tree(places);
  std::vector<Index> owner(piece.size(), -1);
  std::vector<double> distance(piece.size(), std::numeric_limits<double>::infinity());
  for (std::size_t v = 0; v < piece.size(); ++v) {
    const auto first = to_size(piece[v]);
    if (has_handle[first]) continue;
    const PointTree::Neighbour near = tree.nearest(mesh.vertices[v], 1).front();
    if (near.distance >= distance[first]) continue;
    distance[first] = near.distance;
    owner[first] = place_handle[to_size(near.point)];
  }
  return owner;
}

/// The unknowns' part of a matrix, and its part between unknowns and handles summed up by handle.
struct Reduced {
  Sparse matrix;
  MatX to_handles;
};

Reduced reduce(const Sparse& q, std::span<const Index> handle, Index handles, std::span<const Index> unknown,
               Index unknowns) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(to_size(q.nonZeros()));
  Reduced result{Sparse(unknowns, unknowns), MatX::Zero(unknowns, handles)};
  for (Index j = 0; j < static_cast<Index>(q.cols()); ++j) {
    const Index column = unknown[to_size(j)], own = handle[to_size(j)];
    for (Sparse::InnerIterator it(q, j); it; ++it) {
      const Index row = unknown[to_size(it.row())];
      if (row < 0) continue;
      if (column >= 0) entries.emplace_back(row, column, it.value());
      if (column < 0 && own >= 0) result.to_handles(row, own) += it.value();
    }
  }
  result.matrix.setFromTriplets(entries.begin(), entries.end());
  return result;
}

void divide_by_sums(BiharmonicWeights& result) {
  const VecX sum = result.weights.rowwise().sum();
  result.report.smallest_sum = sum.minCoeff();
  result.report.largest_sum = sum.maxCoeff();
  for (Eigen::Index v = 0; v < sum.size(); ++v) {
    if (sum[v] > 0)
      result.weights.row(v) /= sum[v];
    else
      result.weights.row(v).setConstant(1.0 / static_cast<double>(result.weights.cols()));
  }
}

}  // namespace

TetLaplacian tet_laplacian(const TetMesh& mesh) {
  const auto n = static_cast<Eigen::Index>(mesh.vertices.size());
  TetLaplacian result{Sparse(n, n), VecX::Zero(n)};
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(16 * mesh.elements.size());
  for (const TetMesh::Element& element : mesh.elements) {
    const auto place = [&](std::size_t k) -> const Vec3& { return mesh.vertices[to_size(element[k])]; };
    Mat3 edges;
    for (std::size_t k = 1; k < 4; ++k) edges.col(static_cast<Eigen::Index>(k) - 1) = place(k) - place(0);
    const double volume = edges.determinant() / 6;
    Eigen::Matrix<double, 4, 3> gradients;
    gradients.bottomRows<3>() = edges.inverse();
    gradients.row(0) = -gradients.bottomRows<3>().colwise().sum();
    const Eigen::Matrix4d local = -volume * gradients * gradients.transpose();
    for (int a = 0; a < 4; ++a) {
      result.volume[element[to_size(a)]] += volume / 4;
      for (int b = 0; b < 4; ++b) entries.emplace_back(element[to_size(a)], element[to_size(b)], local(a, b));
    }
  }
  result.laplacian.setFromTriplets(entries.begin(), entries.end());
  return result;
}

BiharmonicWeights bounded_biharmonic_weights(const TetMesh& mesh, std::span<const Index> handle, Index handles,
                                             const BoxQuadraticSettings& settings) {
  SUPPLE_ASSERT(handle.size() == mesh.vertices.size() && handles > 0);
  const std::vector<Index> piece = pieces_of(mesh);
  const std::vector<Index> owner = owners_of(mesh, piece, handle);
  BiharmonicWeights result{MatX::Zero(std::ssize(mesh.vertices), handles), {}};
  std::vector<Index> unknown(mesh.vertices.size(), -1);
  Index unknowns = 0;
  for (std::size_t v = 0; v < unknown.size(); ++v) {
    const Index whole = handle[v] >= 0 ? handle[v] : owner[to_size(piece[v])];
    if (whole >= 0)
      result.weights(static_cast<Eigen::Index>(v), whole) = 1;
    else
      unknown[v] = unknowns++;
  }
  result.report.handles.resize(to_size(handles));
  if (unknowns == 0) return result;

  const TetLaplacian parts = tet_laplacian(mesh);
  const VecX inverse = (parts.volume.array() > 0).select(parts.volume.cwiseInverse(), 0.0);
  Sparse q = parts.laplacian * (inverse.asDiagonal() * parts.laplacian);
  const Reduced reduced = reduce(q, handle, handles, unknown, unknowns);
  parallel_ranges(handles, handles_per_solver, [&](std::int64_t begin, std::int64_t end) {
    BoxQuadratic solver(reduced.matrix, settings);
    for (std::int64_t h = begin; h < end; ++h) {
      BoxQuadraticReport& report = result.report.handles[to_size(h)];
      const VecX x = solver.minimize(reduced.to_handles.col(h), 0, 1, &report);
      for (std::size_t v = 0; v < unknown.size(); ++v)
        if (unknown[v] >= 0) result.weights(static_cast<Eigen::Index>(v), h) = x[unknown[v]];
    }
  });
  for (const BoxQuadraticReport& report : result.report.handles)
    result.report.largest_residual = std::max(result.report.largest_residual, report.residual);
  divide_by_sums(result);
  return result;
}

}  // namespace supple
