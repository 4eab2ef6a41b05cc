// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/pose_space_model.h"

#include <algorithm>
#include <cmath>

namespace supple {

Index PoseSpaceModel::element_count() const {
  std::size_t count = 0;
  for (const ElementBlock& block : elements) count += block.tets.size();
  return static_cast<Index>(count);
}

Index PoseSpaceModel::inertial_vertex_count() const {
  std::size_t count = 0;
  for (const InertialBlock& block : inertia) count += block.points.size();
  return static_cast<Index>(count);
}

std::vector<PoseColumn> own_columns(const ColumnSources& sources, Index poses, std::span<const Index> columns) {
  std::vector<PoseColumn> own;
  for (Index pose = 0; pose < poses; ++pose)
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (sources.of(pose, columns[c]) == pose) own.push_back({pose, static_cast<Index>(c)});
  return own;
}

MatX surface_shape(const PoseSpaceModel& model, Index pose, const MatX& q) {
  Index count = 0;
  for (const VertexBlock& block : model.surface.blocks) count += block.vertex_count();
  MatX moved(3 * count, q.cols());
  Eigen::Index first = 0;
  for (const VertexBlock& block : model.surface.blocks) {
    moved.middleRows(first, 3 * block.vertex_count()) = block.basis[to_size(pose)] * q(block.columns, Eigen::all);
    first += 3 * block.vertex_count();
  }
  MatX shown = MatX::Zero(3 * model.surface.vertex_count(), q.cols());
  for (std::size_t v = 0; v < model.surface.vertex.size(); ++v) {
    for (std::size_t k = 0; k < SoftSurface::nodes; ++k)
      shown.middleRows<3>(3 * static_cast<Eigen::Index>(v)) +=
          model.surface.weight[v][k] * moved.middleRows<3>(3 * model.surface.vertex[v][k]);
  }
  return shown;
}

double correction_share(std::span<const double> distances, double reach) {
  if (!(reach > 0)) return 1;
  double far = 1;
  for (const double d : distances) far *= -std::expm1(-(d * d) / (reach * reach));
  return 1 - far;
}

double largest_displacement(const PoseSpaceModel& model, const VecX& q) {
  double largest = 0;
  for (Index pose = 0; pose < model.pose_count(); ++pose) {
    const MatX u = surface_shape(model, pose, q);
    for (Eigen::Index v = 0; v < u.size(); v += 3) largest = std::max(largest, u.middleRows<3>(v).norm());
  }
  return largest;
}

}  // namespace supple
