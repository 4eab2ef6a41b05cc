// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/pose_basis.h"

#include "supple/fem/posed_rest.h"

#include <Eigen/LU>

namespace supple {
namespace {

Mat3 edges_of(const TetMesh& mesh, std::span<const Vec3> x, std::size_t e) {
  const auto& nodes = mesh.elements[e];
  Mat3 edges;
  for (std::size_t k = 1; k < 4; ++k)
    edges.col(static_cast<int>(k) - 1) = x[static_cast<std::size_t>(nodes[k])] - x[static_cast<std::size_t>(nodes[0])];
  return edges;
}

}  // namespace

MatX element_gradient(const TetMesh& mesh, std::size_t e, const PoseBasis& pose, BasisDirections directions) {
  const Mat3 inverse_edges = edges_of(mesh, mesh.vertices, e).inverse();
  Mat3 back = Mat3::Identity();
  if (directions == BasisDirections::rotating)
    back = posed_rest<double>(edges_of(mesh, pose.positions, e) * inverse_edges).rotation.transpose();
  const auto& nodes = mesh.elements[e];
  MatX rows = MatX::Zero(9, pose.basis.cols());
  // Gradients of nodes 1, 2, 3 are the rows of the inverse edge matrix; all four add up to zero.
  const auto turned = [&](std::size_t a) -> MatX {
    return back * pose.turns[static_cast<std::size_t>(nodes[a])] * pose.basis.middleRows<3>(3 * nodes[a]);
  };
  const MatX origin = turned(0);
  for (std::size_t a = 1; a < 4; ++a) {
    const MatX difference = turned(a) - origin;
    for (int j = 0; j < 3; ++j) rows.middleRows<3>(3 * j) += inverse_edges(static_cast<int>(a) - 1, j) * difference;
  }
  return rows;
}

MatX turned(const PoseBasis& pose) {
  MatX U = pose.basis;
  for (std::size_t v = 0; v < pose.turns.size(); ++v) {
    auto rows = U.middleRows<3>(3 * static_cast<Eigen::Index>(v));
    rows = (pose.turns[v] * rows).eval();
  }
  return U;
}

}  // namespace supple
