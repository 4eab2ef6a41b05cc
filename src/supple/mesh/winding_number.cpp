// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/winding_number.h"

#include <Eigen/Geometry>

#include <cmath>
#include <numbers>

namespace supple {

double solid_angle(const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c) {
  const Vec3 x = a - q, y = b - q, z = c - q;
  const double nx = x.norm(), ny = y.norm(), nz = z.norm();
  const double triple = x.dot(y.cross(z));
  const double cosines = nx * ny * nz + x.dot(y) * nz + y.dot(z) * nx + z.dot(x) * ny;
  return triple == 0 ? 0 : 2 * std::atan2(triple, cosines);  // in its own plane a triangle covers nothing, or no side
}

WindingNumber::WindingNumber(const TriangleTree& tree, double accuracy) : tree_(&tree), clusters_(tree.nodes().size()) {
  for (std::size_t n = 0; n < clusters_.size(); ++n) expand(n, accuracy);
}

void WindingNumber::expand(std::size_t number, double accuracy) {
  const TriangleTree::Node& node = tree_->nodes()[number];
  Cluster& cluster = clusters_[number];
  cluster.center = Vec3::Zero();
  cluster.dipole = Vec3::Zero();
  cluster.moment = Mat3::Zero();
  double area = 0;
  const auto first = static_cast<std::size_t>(node.first), last = static_cast<std::size_t>(node.first + node.count);
  const auto& corners = tree_->corners();
  for (std::size_t k = first; k < last; ++k) {
    const Vec3 normal = 0.5 * (corners[k][1] - corners[k][0]).cross(corners[k][2] - corners[k][0]);
    area += normal.norm();
    cluster.center += normal.norm() / 3 * (corners[k][0] + corners[k][1] + corners[k][2]);
    cluster.dipole += normal;
  }
  cluster.center = area > 0 ? Vec3(cluster.center / area) : node.bounds.center();
  double radius2 = 0;
  for (std::size_t k = first; k < last; ++k) {
    const Vec3 normal = 0.5 * (corners[k][1] - corners[k][0]).cross(corners[k][2] - corners[k][0]);
    const Vec3 arm = (corners[k][0] + corners[k][1] + corners[k][2]) / 3 - cluster.center;
    cluster.moment += arm * normal.transpose();
    for (const Vec3& x : corners[k]) radius2 = std::max(radius2, (x - cluster.center).squaredNorm());
  }
  cluster.reach2 = accuracy * accuracy * radius2;
}

double WindingNumber::operator()(const Vec3& q) const {
  if (clusters_.empty()) return 0;
  double sum = 0;
  std::array<Index, 128> stack;
  std::size_t top = 0;
  stack[top++] = 0;
  while (top > 0) {
    const auto n = static_cast<std::size_t>(stack[--top]);
    const Cluster& cluster = clusters_[n];
    const Vec3 r = cluster.center - q;
    const double r2 = r.squaredNorm();
    if (r2 > cluster.reach2) {
      const double inverse3 = 1 / (r2 * std::sqrt(r2));
      sum += inverse3 * (cluster.dipole.dot(r) + cluster.moment.trace() - 3 * r.dot(cluster.moment * r) / r2);
      continue;
    }
    const TriangleTree::Node& node = tree_->nodes()[n];
    if (!node.leaf()) {
      stack[top++] = node.left;
      stack[top++] = node.left + 1;
      continue;
    }
    for (auto k = static_cast<std::size_t>(node.first); k < static_cast<std::size_t>(node.first + node.count); ++k) {
      const auto& x = tree_->corners()[k];
      sum += solid_angle(q, x[0], x[1], x[2]);
    }
  }
  return sum / (4 * std::numbers::pi);
}

}  // namespace supple
