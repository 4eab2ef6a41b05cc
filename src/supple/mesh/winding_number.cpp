// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/winding_number.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace supple {
namespace {

/// A complex number whose argument is half the solid angle of triangle abc seen from q.
struct HalfAngle {
  double re, im;

  HalfAngle(const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c) {
    const Vec3 x = a - q, y = b - q, z = c - q;
    const double nx = x.norm(), ny = y.norm(), nz = z.norm();
    im = x.dot(y.cross(z));
    re = nx * ny * nz + x.dot(y) * nz + y.dot(z) * nx + z.dot(x) * ny;
  }
  /// In its own plane a triangle covers nothing, or no side.
  bool flat() const { return im == 0; }
};

/// Adds arguments by multiplying.
class ArgumentSum {
 public:
  void add(const HalfAngle& z) {
    if (z.flat()) return;
    const double re = re_ * z.re - im_ * z.im, im = re_ * z.im + im_ * z.re;
    // Two arguments of one sign whose sum has another have passed the negative axis.
    if (im_ >= 0 && z.im > 0 && im < 0) ++turns_;
    if (im_ < 0 && z.im < 0 && im >= 0) --turns_;
    const double size = std::abs(re) + std::abs(im);
    const bool tame = size > 1e-80 && size < 1e80;
    re_ = tame ? re : re / size;
    im_ = tame ? im : im / size;
  }
  double total() const { return std::atan2(im_ + 0.0, re_) + 2 * std::numbers::pi * turns_; }

 private:
  double re_ = 1, im_ = 0;
  int turns_ = 0;
};

}  // namespace

double solid_angle(const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c) {
  const HalfAngle z(q, a, b, c);
  return z.flat() ? 0 : 2 * std::atan2(z.im, z.re);
}

WindingNumber::WindingNumber(const TriangleTree& tree, double accuracy) : tree_(&tree), clusters_(tree.nodes().size()) {
  for (std::size_t n = 0; n < clusters_.size(); ++n) expand(n, accuracy);
}

void WindingNumber::expand(std::size_t number, double accuracy) {
  const TriangleTree::Node& node = tree_->nodes()[number];
  Cluster& cluster = clusters_[number];
  cluster.center = Vec3::Zero();
  cluster.dipole = Vec3::Zero();
  Mat3 moment = Mat3::Zero();
  double area = 0;
  const auto first = to_size(node.first), last = to_size(node.first + node.count);
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
    moment += arm * normal.transpose();
    for (const Vec3& x : corners[k]) radius2 = std::max(radius2, (x - cluster.center).squaredNorm());
  }
  cluster.trace = moment.trace();
  cluster.diagonal = moment.diagonal();
  cluster.off_diagonal = {moment(1, 2) + moment(2, 1), moment(2, 0) + moment(0, 2), moment(0, 1) + moment(1, 0)};
  cluster.reach2 = accuracy * accuracy * radius2;
}

double WindingNumber::operator()(const Vec3& q) const {
  if (clusters_.empty()) return 0;
  double sum = 0;
  ArgumentSum near;
  std::array<Index, 128> stack;
  std::size_t top = 0;
  stack[top++] = 0;
  while (top > 0) {
    const auto n = to_size(stack[--top]);
    const Cluster& cluster = clusters_[n];
    const Vec3 r = cluster.center - q;
    const double r2 = r.squaredNorm();
    if (r2 > cluster.reach2) {
      const Vec3 mixed(r.y() * r.z(), r.z() * r.x(), r.x() * r.y());
      const double along = cluster.diagonal.dot(r.cwiseAbs2()) + cluster.off_diagonal.dot(mixed);
      sum += (cluster.dipole.dot(r) + cluster.trace - 3 * along / r2) / (r2 * std::sqrt(r2));
      continue;
    }
    const TriangleTree::Node& node = tree_->nodes()[n];
    if (!node.leaf()) {
      stack[top++] = node.left;
      stack[top++] = node.left + 1;
      continue;
    }
    for (auto k = to_size(node.first); k < to_size(node.first + node.count); ++k) {
      const auto& x = tree_->corners()[k];
      near.add(HalfAngle(q, x[0], x[1], x[2]));
    }
  }
  return (sum + 2 * near.total()) / (4 * std::numbers::pi);
}

}  // namespace supple
