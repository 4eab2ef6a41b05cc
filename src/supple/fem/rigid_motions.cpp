// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/rigid_motions.h"

#include "supple/math/dense/decompositions.h"

#include <Eigen/SVD>

namespace supple {
namespace {

/// Displacement of a point at r (from the piece's centre, in units of its size) under the six unit motions.
Eigen::Matrix<double, 3, 6> unit_motions(const Vec3& r) {
  Eigen::Matrix<double, 3, 6> result;
  result.leftCols<3>().setIdentity();
  result.rightCols<3>() << 0, r[2], -r[1], -r[2], 0, r[0], r[1], -r[0], 0;  // ω × r
  return result;
}

struct Piece {
  std::vector<Index> vertices;
  Vec3 centre = Vec3::Zero();
  double size = 1.0;
};

std::vector<Piece> pieces_of(const ElasticBody& body) {
  const std::vector<Index> piece_of_vertex = connected_pieces(body);
  std::vector<Piece> pieces;
  for (std::size_t v = 0; v < piece_of_vertex.size(); ++v) {
    const Index piece = piece_of_vertex[v];
    if (piece < 0) continue;
    if (piece >= static_cast<Index>(pieces.size())) pieces.resize(to_size(piece) + 1);
    pieces[to_size(piece)].vertices.push_back(static_cast<Index>(v));
  }
  const VecX& X = body.rest_positions();
  for (Piece& piece : pieces) {
    for (const Index v : piece.vertices) piece.centre += X.segment<3>(3 * v);
    piece.centre /= static_cast<double>(piece.vertices.size());
    double largest = 0;
    for (const Index v : piece.vertices) largest = std::max(largest, (X.segment<3>(3 * v) - piece.centre).norm());
    if (largest > 0) piece.size = largest;
  }
  return pieces;
}

/// Coefficients (columns) of the combinations of the six unit motions that keep every fixed vertex in place: the null
/// space of the motions at the fixed vertices.
MatX motions_allowed(const ElasticBody& body, const FreeVertices& free, const Piece& piece) {
  Eigen::Matrix<double, 6, 6> gram = Eigen::Matrix<double, 6, 6>::Zero();
  double held = 0;
  for (const Index v : piece.vertices) {
    if (free.is_free(v)) continue;
    const auto motions = unit_motions((body.rest_positions().segment<3>(3 * v) - piece.centre) / piece.size);
    gram += motions.transpose() * motions;
    ++held;
  }
  if (held == 0) return MatX::Identity(6, 6);
  const Eigen::JacobiSVD<Eigen::Matrix<double, 6, 6>> svd(gram, Eigen::ComputeFullV);
  const Eigen::Index rank = (svd.singularValues().array() > 1e-12 * svd.singularValues()[0]).count();
  return svd.matrixV().rightCols(6 - rank);
}

}  // namespace

std::vector<Index> connected_pieces(const ElasticBody& body) {
  const BlockPattern& pattern = body.consistent_mass().pattern();
  std::vector<Index> piece(to_size(body.vertex_count()), -1);
  std::vector<Index> stack;
  Index count = 0;
  for (Index seed = 0; seed < body.vertex_count(); ++seed) {
    if (piece[to_size(seed)] >= 0 || !(body.lumped_mass()[3 * seed] > 0)) continue;
    stack.assign(1, seed);
    piece[to_size(seed)] = count;
    while (!stack.empty()) {
      const auto v = to_size(stack.back());
      stack.pop_back();
      for (Index k = pattern.row_begin[v]; k < pattern.row_begin[v + 1]; ++k) {
        const Index other = pattern.column[to_size(k)];
        if (piece[to_size(other)] >= 0) continue;
        piece[to_size(other)] = count;
        stack.push_back(other);
      }
    }
    ++count;
  }
  return piece;
}

MatX rigid_motions(const ElasticBody& body, const FreeVertices& free) {
  std::vector<VecX> columns;
  for (const Piece& piece : pieces_of(body)) {
    const MatX allowed = motions_allowed(body, free, piece);
    for (Eigen::Index k = 0; k < allowed.cols(); ++k) {
      VecX column = VecX::Zero(body.dof_count());
      bool moves = false;
      for (const Index v : piece.vertices) {
        if (!free.is_free(v)) continue;
        column.segment<3>(3 * v) =
            unit_motions((body.rest_positions().segment<3>(3 * v) - piece.centre) / piece.size) * allowed.col(k);
        moves = true;
      }
      if (moves) columns.push_back(std::move(column));
    }
  }
  MatX X(body.dof_count(), static_cast<Eigen::Index>(columns.size()));
  for (std::size_t k = 0; k < columns.size(); ++k) X.col(static_cast<Eigen::Index>(k)) = columns[k];
  if (X.cols() == 0) return X;
  // X ← X L⁻ᵀ with XᵀMX = L Lᵀ
  MatX MX(X.rows(), X.cols());
  for (Eigen::Index k = 0; k < X.cols(); ++k) MX.col(k) = body.consistent_mass() * VecX(X.col(k));
  return PositiveFactor(X.transpose() * MX).orthonormal(X);
}

}  // namespace supple
