// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/deform/wires.h"

#include "supple/rig/deform/deformers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple {
namespace {

/// The curve of each joint, -1 where neither it nor an ancestor is a handle.
std::vector<Index> curves_of_joints(const Skeleton& skeleton, std::span<const std::vector<Index>> handles) {
  std::vector<Index> curve(skeleton.joints.size(), -1);
  for (std::size_t c = handles.size(); c-- > 0;)
    for (const Index j : handles[c]) curve[to_size(j)] = static_cast<Index>(c);
  for (std::size_t j = 0; j < curve.size(); ++j) {
    const Index parent = skeleton.joints[j].parent;
    if (curve[j] < 0 && parent >= 0) curve[j] = curve[to_size(parent)];
  }
  return curve;
}

/// Of each curve and vertex; what hangs on no curve at all goes to the first.
std::vector<std::vector<double>> curve_weights(std::size_t curve_count, std::span<const Index> curve_of,
                                               std::span<const Bone> bones, const SkinWeights& weights) {
  const auto vertices = to_size(weights.vertex_count());
  std::vector<std::vector<double>> result(curve_count, std::vector<double>(vertices, 0.0));
  for (std::size_t v = 0; v < vertices; ++v) {
    for (auto e = to_size(weights.first[v]); e < to_size(weights.first[v + 1]); ++e) {
      const Index joint = bones[to_size(weights.joint[e])].joint;
      const Index curve = std::max(curve_of[to_size(joint)], 0);
      result[to_size(curve)][v] += weights.weight[e];
    }
  }
  return result;
}

/// The angle by which q turns about a unit axis [deg], −180 … 180.
double twist_degrees(const Quat& q, const Vec3& axis) {
  const double half = std::atan2(q.vec().dot(axis), q.w());
  return std::remainder(2 * half, 2 * std::numbers::pi) * 180 / std::numbers::pi;
}

}  // namespace

Result<WireHandles> WireHandles::create(const Skeleton& skeleton, std::span<const Affine> world,
                                        std::vector<WireCurve> curves) {
  WireHandles result;
  std::size_t first = 0;
  for (WireCurve& wire : curves) {
    if (wire.joints.size() < 2)
      return input_error("the wire \"" + wire.name + "\" has fewer than two handles; name the joints it runs through");
    Curve curve;
    for (const Index j : wire.joints) {
      const Affine& place = world[to_size(j)];
      if (!curve.rest.empty() && (curve.rest.back() - place.translation()).norm() < 1e-9)
        return input_error("the wire \"" + wire.name + "\" has two handles at one place, the second being \"" +
                           skeleton.joints[to_size(j)].name + "\"; leave one out");
      curve.rest.push_back(place.translation());
      curve.rotations.push_back(rotation_of(place));
    }
    for (std::size_t k = 0; k < curve.rest.size(); ++k) curve.tangents.push_back(wire_tangent(curve.rest, k));
    curve.first = first;
    first += 4 * wire.joints.size();
    curve.wire = std::move(wire);
    result.curves_.push_back(std::move(curve));
  }
  return result;
}

DeformerPtr WireHandles::make_deformer(const Skeleton& skeleton, std::span<const Vec3> rest,
                                       std::span<const Bone> bones, const SkinWeights& weights,
                                       double offset_scale) const {
  std::vector<std::vector<Index>> handles;
  for (const Curve& curve : curves_) handles.push_back(curve.wire.joints);
  std::vector<std::vector<double>> shares =
      curve_weights(curves_.size(), curves_of_joints(skeleton, handles), bones, weights);
  std::vector<DeformerPtr> wires;
  for (std::size_t c = 0; c < curves_.size(); ++c) {
    Wire::Settings settings{curves_[c].wire.name, curves_[c].rest, 0.0, std::move(shares[c]), offset_scale};
    wires.push_back(std::make_shared<Wire>(settings, rest));
  }
  return std::make_shared<SumDeformer>(std::move(wires));
}

void WireHandles::read(const Skeleton& skeleton, std::span<const Transform> locals, std::span<double> p) const {
  for (const Curve& curve : curves_) {
    double* numbers = p.data() + curve.first;
    for (std::size_t k = 0; k < curve.rest.size(); ++k) {
      const Vec3 moved = world_matrix(skeleton, locals, curve.wire.joints[k]).translation() - curve.rest[k];
      std::copy_n(moved.data(), 3, numbers + 3 * k);
    }
    read_twists(skeleton, locals, curve, numbers);
  }
}

// The wire turns by the least rotation that its tangent takes; what the joint turns beyond that is twist.
void WireHandles::read_twists(const Skeleton& skeleton, std::span<const Transform> locals, const Curve& curve,
                              double* p) const {
  const std::size_t count = curve.rest.size();
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t before = k > 0 ? k - 1 : 0, after = std::min(k + 1, count - 1);
    const auto place = [&](std::size_t h) { return Vec3(curve.rest[h] + Eigen::Map<const Vec3>(p + 3 * h)); };
    const Quat carried = rotation_between(curve.tangents[k], place(after) - place(before));
    const Quat turned =
        rotation_of(world_matrix(skeleton, locals, curve.wire.joints[k])) * curve.rotations[k].conjugate();
    p[3 * count + k] = twist_degrees(carried.conjugate() * turned, curve.tangents[k].normalized());
  }
}

}  // namespace supple
