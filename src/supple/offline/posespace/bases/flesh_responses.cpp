// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/bases/flesh_responses.h"

#include "supple/rig/groups_by_name.h"

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
  for (const std::size_t g : groups_by_name(layout)) {
    const ParameterGroup& group = layout.groups[g];
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

}  // namespace supple
