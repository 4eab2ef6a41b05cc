// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/bases/flesh_responses.h"

#include "supple/fem/free_vertices.h"
#include "supple/math/sparse/sparse_factor.h"
#include "supple/offline/fitting/flesh_frequency.h"
#include "supple/offline/modes/mass_pca.h"

#include <Eigen/Geometry>

#include <algorithm>

namespace supple {
namespace {

constexpr double angle = 0.02;  ///< [rad] of a difference quotient

/// One way in which one parameter can change.
struct Change {
  const ParameterGroup* group;
  int axis;
};

std::vector<Change> changes_of(const PoseLayout& layout) {
  std::vector<Change> changes;
  for (const ParameterGroup& group : layout.groups) {
    if (group.kind == ParameterKind::scale) continue;
    for (int axis = 0; axis < (group.kind == ParameterKind::scalar ? 1 : 3); ++axis) changes.push_back({&group, axis});
  }
  return changes;
}

std::vector<double> changed(std::span<const double> p, const Change& change, double height) {
  std::vector<double> result(p.begin(), p.end());
  double* values = result.data() + change.group->first;
  if (change.group->kind == ParameterKind::rotation) {
    const Quat q = unit_quaternion(values) * Quat(Eigen::AngleAxisd(angle, Vec3::Unit(change.axis)));
    std::copy(q.coeffs().data(), q.coeffs().data() + 4, values);
  } else if (change.group->kind == ParameterKind::translation) {
    values[change.axis] += angle * height / 20;
  } else {
    values[0] += change.group->scale > 0 ? angle / change.group->scale : angle;
  }
  return result;
}

/// The whole character moved along each axis, and turned about it.
MatX placements(const VecX& x, double height) {
  MatX result(x.size(), 6);
  Vec3 centre = Vec3::Zero();
  for (Eigen::Index v = 0; v < x.size(); v += 3) centre += x.segment<3>(v) / (static_cast<double>(x.size()) / 3);
  for (int axis = 0; axis < 3; ++axis) {
    for (Eigen::Index v = 0; v < x.size(); v += 3) {
      result.block<3, 1>(v, axis) = height / 20 * Vec3::Unit(axis);
      result.block<3, 1>(v, 3 + axis) = Vec3::Unit(axis).cross(x.segment<3>(v) - centre);
    }
  }
  return result;
}

VecX stacked_points(const std::vector<Vec3>& x) { return Eigen::Map<const VecX>(x.front().data(), 3 * std::ssize(x)); }

/// K and M of a body at rest, held, with a factor of k K + m M.
class LinearFlesh {
 public:
  LinearFlesh(const ElasticBody& body, const FreeVertices& free, double k, double m)
      : free_(free), K(body.make_matrix()) {
    VecX f(body.dof_count());
    body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), f, K);
    BlockMatrix A = K;
    A.combine(k, m, body.consistent_mass());
    const Eigen::SparseMatrix<double> lower = A.to_sparse_lower(free.vertices());
    factor_.analyze(lower, 3);
    usable_ = factor_.factorize(lower);
  }
  bool usable() const { return usable_; }
  MatX solve(const MatX& forces) const {
    MatX held(3 * free_.count(), forces.cols());
    for (Eigen::Index c = 0; c < forces.cols(); ++c) held.col(c) = free_.restrict(forces.col(c));
    const MatX solved = factor_.solve(held);
    MatX result(forces.rows(), forces.cols());
    for (Eigen::Index c = 0; c < forces.cols(); ++c) result.col(c) = free_.expand(solved.col(c));
    return result;
  }

 private:
  const FreeVertices& free_;
  SparseFactor factor_;
  bool usable_ = false;

 public:
  BlockMatrix K;
};

}  // namespace

MatX rig_accelerations(const Rig& rest, std::span<const double> p, double height, int most) {
  const VecX x = stacked_points(evaluate_all(rest, p));
  const std::vector<Change> changes = changes_of(rest.layout());
  const auto count = std::min<std::size_t>(changes.size(), to_size(most));
  MatX result(x.size(), static_cast<Eigen::Index>(count) + 6);
  for (std::size_t k = 0; k < count; ++k) {
    const Change& change = changes[k * changes.size() / count];
    result.col(static_cast<Eigen::Index>(k)) =
        (stacked_points(evaluate_all(rest, changed(p, change, height))) - x) / angle;
  }
  result.rightCols(6) = placements(x, height);
  return result;
}

MatX sway_over(const ElasticBody& body, std::span<const Index> fixed, std::span<const MotionRun> runs) {
  constexpr double h = MotionRun::step, c_v = 2 / h, c_a = 4 / (h * h);  // Newmark (1/4, 1/2)
  const Result<FreeVertices> free = FreeVertices::create(body, fixed);
  const Result<double> frequency = flesh_frequency(body, fixed);
  const auto count = std::ssize(runs);
  if (!free.ok() || !frequency.ok() || count == 0) return MatX(body.dof_count(), 0);
  const RayleighDamping damping = rayleigh_damping(*frequency, 0.2);
  const double alpha = damping.mass, beta = damping.stiffness;
  const LinearFlesh still(body, *free, 1, 0), moving(body, *free, 1 + beta * c_v, c_a + alpha * c_v);
  if (!still.usable() || !moving.usable()) return MatX(body.dof_count(), 0);
  const BlockMatrix& M = body.consistent_mass();
  MatX driven(body.dof_count(), count), u, v = MatX::Zero(body.dof_count(), count), a = v;
  constexpr int kept = MotionRun::length / 3;
  MatX result(body.dof_count(), kept * count);
  for (int k = 0; k < MotionRun::length; ++k) {
    for (Eigen::Index r = 0; r < count; ++r) driven.col(r) = runs[to_size(r)].accelerations.col(k);
    if (k == 0) {
      u = -still.solve(multiply_columns(M, driven));
    } else {
      const MatX next_a = -c_a * h * v - a, next_v = v + h / 2 * (a + next_a);
      const MatX residual =
          multiply_columns(M, next_a + alpha * next_v + driven) + multiply_columns(still.K, u + beta * next_v);
      const MatX delta = -moving.solve(residual);
      const MatX reached = c_a * (delta - h * v) - a;
      u += delta;
      v += h / 2 * (a + reached);
      a = reached;
    }
    if (k % 3 != 0) continue;
    for (Eigen::Index r = 0; r < count; ++r) result.col(kept * r + k / 3) = u.col(r);
  }
  return result;
}

}  // namespace supple
