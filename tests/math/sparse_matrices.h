// SPDX-License-Identifier: Apache-2.0
// Sparse symmetric matrices for the tests of factorisations.
#pragma once

#include "supple/mesh/box.h"

#include <Eigen/SparseCore>

#include <random>
#include <vector>

namespace supple {

using Sparse = Eigen::SparseMatrix<double>;
using Entries = std::vector<Eigen::Triplet<double>>;

inline Sparse sparse_from(Eigen::Index n, const Entries& entries) {
  Sparse matrix(n, n);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

inline Sparse lower_of(const Eigen::MatrixXd& dense) {
  const Sparse all = dense.sparseView();
  return all.triangularView<Eigen::Lower>();
}

inline Eigen::MatrixXd dense_of(const Sparse& lower) { return Eigen::MatrixXd(lower).selfadjointView<Eigen::Lower>(); }

/// Diagonally dominant b × b blocks on a random graph of `vertices` with about `edges` edges; lower triangle.
inline Sparse random_spd(int vertices, int edges, int b, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  Entries entries;
  Eigen::VectorXd diagonal = Eigen::VectorXd::Constant(vertices * b, 0.1);
  const auto add = [&](int i, int j) {
    const double v = value(random);
    entries.emplace_back(std::max(i, j), std::min(i, j), v);
    diagonal[i] += std::abs(v);
    diagonal[j] += std::abs(v);
  };
  for (int e = 0; e < edges; ++e) {
    const int u = static_cast<int>(random() % static_cast<unsigned>(vertices));
    const int v = static_cast<int>(random() % static_cast<unsigned>(vertices));
    for (int r = 0; u != v && r < b; ++r)
      for (int c = 0; c < b; ++c) add(u * b + r, v * b + c);
  }
  for (int v = 0; v < vertices; ++v)
    for (int r = 0; r < b; ++r)
      for (int c = 0; c < r; ++c) add(v * b + r, v * b + c);
  for (int i = 0; i < vertices * b; ++i) entries.emplace_back(i, i, diagonal[i]);
  return sparse_from(vertices * b, entries);
}

/// Edge Laplacian of a Kuhn cube of n³ vertices, times a symmetric positive definite 3 × 3 matrix, plus a mass: the
/// pattern of an elastic cube. Lower triangle.
inline Sparse elastic_cube(int n, double mass = 1e-2) {
  const TetMesh mesh = make_tet_box(Vec3(1, 1, 1), {n - 1, n - 1, n - 1});
  Mat3 block;
  block << 2, 0.5, 0.25, 0.5, 3, -0.5, 0.25, -0.5, 1.5;
  const auto count = static_cast<Eigen::Index>(mesh.vertices.size());
  Entries edges;
  for (const auto& tet : mesh.elements) {
    for (const Index a : tet) {
      for (const Index b : tet) {
        if (a == b) continue;
        edges.emplace_back(a, a, 1.0);
        if (a > b) edges.emplace_back(a, b, -1.0);
      }
    }
  }
  const Sparse laplacian = sparse_from(count, edges);
  Entries entries;
  for (Eigen::Index j = 0; j < count; ++j) {
    for (Sparse::InnerIterator it(laplacian, j); it; ++it) {
      for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
          const Eigen::Index row = it.row() * 3 + r, column = j * 3 + c;
          if (row >= column) entries.emplace_back(row, column, it.value() * block(r, c) + (row == column ? mass : 0));
        }
      }
    }
  }
  return sparse_from(count * 3, entries);
}

/// n × n: diagonal 4, and a first (or last) row and column of ones.
inline Sparse arrow(int n, bool hub_first) {
  const int hub = hub_first ? 0 : n - 1;
  Entries entries;
  for (int i = 0; i < n; ++i) {
    entries.emplace_back(i, i, i == hub ? n : 4.0);
    if (i != hub) entries.emplace_back(std::max(i, hub), std::min(i, hub), 1.0);
  }
  return sparse_from(n, entries);
}

}  // namespace supple
