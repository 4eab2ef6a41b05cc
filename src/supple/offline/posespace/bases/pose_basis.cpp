// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/bases/pose_basis.h"

#include "supple/fem/posed_rest.h"

#include <Eigen/LU>

#include <algorithm>
#include <array>

namespace supple {
namespace {

Mat3 edges_of(const TetMesh& mesh, std::span<const Vec3> x, std::size_t e) {
  const auto& nodes = mesh.elements[e];
  Mat3 edges;
  for (std::size_t k = 1; k < 4; ++k) edges.col(static_cast<int>(k) - 1) = x[to_size(nodes[k])] - x[to_size(nodes[0])];
  return edges;
}

}  // namespace

MatX column_gradient(const TetMesh& mesh, std::size_t e, const PoseBasis& pose, BasisDirections directions,
                     Eigen::Index first, Eigen::Index count) {
  const Mat3 inverse_edges = edges_of(mesh, mesh.vertices, e).inverse();
  Mat3 back = Mat3::Identity();
  if (directions == BasisDirections::rotating)
    back = posed_rest<double>(edges_of(mesh, pose.positions, e) * inverse_edges).rotation.transpose();
  const auto& nodes = mesh.elements[e];
  std::array<Mat3, 4> turns;
  for (std::size_t a = 0; a < 4; ++a) turns[a] = back * pose.turns[to_size(nodes[a])];
  MatX rows = MatX::Zero(9, count);
  for (Eigen::Index c = 0; c < count; ++c) {
    std::array<Vec3, 4> u;
    for (std::size_t a = 0; a < 4; ++a) u[a] = pose.basis.col(first + c).segment<3>(3 * nodes[a]);
    if ((u[0].array() == 0).all() && u[1] == u[0] && u[2] == u[0] && u[3] == u[0]) continue;
    for (std::size_t a = 0; a < 4; ++a) u[a] = turns[a] * u[a];
    // Gradients of nodes 1, 2, 3 are the rows of the inverse edge matrix; all four add up to zero.
    Mat3 differences;
    for (std::size_t a = 1; a < 4; ++a) differences.col(static_cast<int>(a) - 1) = u[a] - u[0];
    Eigen::Map<Mat3>(rows.col(c).data()).noalias() = differences * inverse_edges;
  }
  return rows;
}

MatX element_gradient(const TetMesh& mesh, std::size_t e, const PoseBasis& pose, BasisDirections directions) {
  return column_gradient(mesh, e, pose, directions, 0, pose.basis.cols());
}

MatX element_gradient(const TetMesh& mesh, std::size_t e, std::span<const PoseBasis> poses, std::size_t pose,
                      BasisDirections directions) {
  const std::vector<Index>& sources = poses[pose].gradient_sources;
  if (sources.empty()) return element_gradient(mesh, e, poses[pose], directions);
  MatX rows(9, std::ssize(sources));
  for (auto run = sources.begin(); run != sources.end();) {
    const auto end = std::find_if(run, sources.end(), [&](Index source) { return source != *run; });
    const Eigen::Index first = run - sources.begin(), count = end - run;
    rows.middleCols(first, count) = column_gradient(mesh, e, poses[to_size(*run)], directions, first, count);
    run = end;
  }
  return rows;
}

MatX corner_rows(const TetMesh& mesh, std::size_t e, const MatX& basis) {
  const auto& nodes = mesh.elements[e];
  MatX rows(12, basis.cols());
  rows.bottomRows<3>() = basis.middleRows<3>(3 * nodes[0]);
  for (int k = 0; k < 3; ++k)
    rows.middleRows<3>(3 * k) = basis.middleRows<3>(3 * nodes[to_size(k) + 1]) - rows.bottomRows<3>();
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
