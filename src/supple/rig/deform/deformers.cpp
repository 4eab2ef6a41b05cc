// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/deform/deformers.h"

#include "supple/base/assert.h"
#include "supple/rig/deform/wire_groups.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace supple {
namespace {

constexpr double radians_per_degree = std::numbers::pi / 180;

}  // namespace

ShapeTable::ShapeTable(std::span<const MorphTarget> shapes, Index vertex_count) {
  first_.push_back(0);
  for (std::size_t v = 0; v < to_size(vertex_count); ++v) {
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      if (v >= shapes[k].displacements.size() || shapes[k].displacements[v].isZero(0)) continue;
      entries_.push_back({shapes[k].displacements[v], static_cast<Index>(k)});
    }
    first_.push_back(static_cast<Index>(entries_.size()));
  }
}

BlendShapes::BlendShapes(std::span<const MorphTarget> targets, Index vertex_count, std::span<const double> neutral,
                         double distance_per_metre)
    : shapes_(targets, vertex_count) {
  for (std::size_t k = 0; k < targets.size(); ++k) {
    double farthest = 0;
    for (const Vec3& d : targets[k].displacements) farthest = std::max(farthest, d.norm());
    layout_.add_scalar(targets[k].name, k < neutral.size() ? neutral[k] : 0.0, "", distance_per_metre * farthest);
  }
}

void BlendShapes::deform(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
                         RigWorkspace& /*workspace*/) const {
  for (std::size_t k = 0; k < vertices.size(); ++k) positions[k] += shapes_.blend(vertices[k], p);
}

Bend::Bend(const Settings& settings) : origin_(settings.origin), length_(settings.length) {
  const Vec3 axis = settings.axis.normalized();
  const Vec3 towards = (settings.towards - axis * axis.dot(settings.towards)).normalized();
  frame_ << axis, towards, axis.cross(towards);
  layout_.add_scalar(settings.name, 0.0, "deg", radians_per_degree);
}

void Bend::deform(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
                  RigWorkspace& /*workspace*/) const {
  const double curvature = p[0] * radians_per_degree / length_;
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    const Vec3 local = frame_.transpose() * (positions[k] - origin_);
    const double s = std::clamp(local[0], 0.0, length_);
    const double angle = curvature * s;
    const double beyond = local[0] - s;
    // The arc's point is s (sin a / a, (1 − cos a) / a); both fractions by series where a is small.
    const double along = std::abs(angle) > 1e-4 ? std::sin(angle) / angle : 1 - angle * angle / 6;
    const double aside = std::abs(angle) > 1e-4 ? (1 - std::cos(angle)) / angle : angle / 2;
    const double c = std::cos(angle);
    const double d = std::sin(angle);
    const Vec3 bent(s * along + beyond * c - local[1] * d, s * aside + beyond * d + local[1] * c, local[2]);
    positions[k] = origin_ + frame_ * bent;
  }
}

namespace {

/// A place on a Catmull-Rom spline through the handles: four weights of value and slope.
struct SplinePlace {
  std::array<Index, 4> handle;
  Eigen::Vector4d value;
  Eigen::Vector4d slope;
};

/// u counts handles: u = 2.5 lies halfway between the third and the fourth. The ends are continued straight by
/// mirrored handles, 2 h_0 − h_1, whose weights are folded into the real ones.
SplinePlace spline_place(double u, Index handle_count) {
  const Index segment = std::clamp(static_cast<Index>(u), 0, handle_count - 2);
  const double t = u - segment;
  SplinePlace place;
  place.handle = {segment - 1, segment, segment + 1, segment + 2};
  const double t2 = t * t;
  const double t3 = t2 * t;
  place.value << -t3 + 2 * t2 - t, 3 * t3 - 5 * t2 + 2, -3 * t3 + 4 * t2 + t, t3 - t2;
  place.slope << -3 * t2 + 4 * t - 1, 9 * t2 - 10 * t, -9 * t2 + 8 * t + 1, 3 * t2 - 2 * t;
  place.value /= 2;
  place.slope /= 2;
  const auto fold = [&](Eigen::Index ghost, Eigen::Index near, Eigen::Index far) {
    for (Eigen::Vector4d* weights : {&place.value, &place.slope}) {
      (*weights)[near] += 2 * (*weights)[ghost];
      (*weights)[far] -= (*weights)[ghost];
      (*weights)[ghost] = 0;
    }
    place.handle[to_size(ghost)] = place.handle[to_size(near)];
  };
  if (place.handle[0] < 0) fold(0, 1, 2);
  if (place.handle[3] >= handle_count) fold(3, 2, 1);
  return place;
}

Vec3 combine(const std::array<Index, 4>& handle, const Eigen::Vector4d& weights, std::span<const Vec3> handles) {
  Vec3 sum = Vec3::Zero();
  for (std::size_t j = 0; j < 4; ++j) sum += weights[static_cast<Eigen::Index>(j)] * handles[to_size(handle[j])];
  return sum;
}

/// The nearest point of the curve: the best of dense samples, then golden sections between its neighbours.
double nearest_place(const Vec3& x, std::span<const Vec3> handles) {
  const auto count = static_cast<Index>(handles.size());
  const auto distance = [&](double u) {
    const SplinePlace place = spline_place(u, count);
    return (combine(place.handle, place.value, handles) - x).squaredNorm();
  };
  constexpr int samples_per_segment = 8;
  const double step = 1.0 / samples_per_segment;
  double best = 0;
  double best_distance = std::numeric_limits<double>::infinity();
  for (int k = 0; k <= (count - 1) * samples_per_segment; ++k) {
    const double d = distance(k * step);
    if (d < best_distance) best_distance = d, best = k * step;
  }
  double low = std::max(best - step, 0.0);
  double high = std::min(best + step, count - 1.0);
  for (int round = 0; round < 40; ++round) {
    const double a = high - (high - low) / std::numbers::phi;
    const double b = low + (high - low) / std::numbers::phi;
    (distance(a) < distance(b) ? high : low) = distance(a) < distance(b) ? b : a;
  }
  return (low + high) / 2;
}

}  // namespace

Vec3 wire_tangent(std::span<const Vec3> handles, std::size_t k) {
  const SplinePlace place = spline_place(static_cast<double>(k), static_cast<Index>(handles.size()));
  return combine(place.handle, place.slope, handles);
}

Wire::Wire(const Settings& settings, std::span<const Vec3> rest) {
  SUPPLE_ASSERT(settings.handles.size() >= 2);
  SUPPLE_ASSERT(settings.weights.empty() || settings.weights.size() == rest.size());
  constexpr std::array<double, 3> zero{};
  for (std::size_t k = 0; k < settings.handles.size(); ++k)
    layout_.add(settings.name + "." + std::to_string(k + 1), ParameterKind::translation, zero, "m",
                settings.offset_scale);
  for (std::size_t k = 0; k < settings.handles.size(); ++k)
    layout_.add_scalar(settings.name + "." + std::to_string(k + 1) + ".twist", 0.0, "deg", radians_per_degree);
  bindings_.reserve(rest.size());
  for (std::size_t v = 0; v < rest.size(); ++v) {
    const bool idle = !settings.weights.empty() && settings.weights[v] == 0;
    bindings_.push_back(idle ? Binding{} : bind(rest[v], settings));
    if (!settings.weights.empty()) bindings_.back().weight = settings.weights[v];
  }
}

Wire::Binding Wire::bind(const Vec3& x, const Settings& settings) {
  const std::span<const Vec3> handles = settings.handles;
  const SplinePlace place = spline_place(nearest_place(x, handles), static_cast<Index>(handles.size()));
  Binding binding{place.handle, place.value, place.slope, Vec3::Zero(), Vec3::Zero(), 1.0};
  binding.point = combine(place.handle, place.value, handles);
  binding.tangent = combine(place.handle, place.slope, handles);
  if (settings.radius > 0) {
    const double ratio = (x - binding.point).squaredNorm() / (settings.radius * settings.radius);
    binding.weight = ratio < 1 ? (1 - ratio) * (1 - ratio) : 0.0;
  }
  return binding;
}

/// Where vertices are before the wire moves them is known only then.
struct Wire::Workspace final : RigWorkspace {
  WireGroups groups;
  Workspace(const Wire& wire, Index most_vertices) : groups({{&wire, 0}}, most_vertices) {}
};

std::unique_ptr<RigWorkspace> Wire::make_workspace(Index most_vertices) const {
  return std::make_unique<Workspace>(*this, most_vertices);
}

void Wire::deform(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
                  RigWorkspace& workspace) const {
  add_displacements(p, vertices, positions, positions, {}, workspace);
}

void Wire::add_displacements(std::span<const double> p, std::span<const Index> vertices, std::span<const Vec3> x,
                             std::span<Vec3> sum, std::span<Vec3> /*scratch*/, RigWorkspace& workspace) const {
  WireGroups& groups = static_cast<Workspace&>(workspace).groups;
  groups.choose(vertices, {});
  groups.put(x);
  const std::span<const Pack4> moved = groups.displacements(p);
  for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += Vec3(moved[k][0], moved[k][1], moved[k][2]);
}

}  // namespace supple
