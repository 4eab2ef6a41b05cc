// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/deformers.h"

#include "supple/base/assert.h"
#include "supple/math/sine_cosine.h"

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
  for (std::size_t v = 0; v < static_cast<std::size_t>(vertex_count); ++v) {
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      if (v >= shapes[k].displacements.size() || shapes[k].displacements[v].isZero(0)) continue;
      entries_.push_back({shapes[k].displacements[v], static_cast<Index>(k)});
    }
    first_.push_back(static_cast<Index>(entries_.size()));
  }
}

BlendShapes::BlendShapes(std::span<const MorphTarget> targets, Index vertex_count, std::span<const double> neutral)
    : shapes_(targets, vertex_count) {
  for (std::size_t k = 0; k < targets.size(); ++k)
    layout_.add_scalar(targets[k].name, k < neutral.size() ? neutral[k] : 0.0, "", 1.0);
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
    place.handle[static_cast<std::size_t>(ghost)] = place.handle[static_cast<std::size_t>(near)];
  };
  if (place.handle[0] < 0) fold(0, 1, 2);
  if (place.handle[3] >= handle_count) fold(3, 2, 1);
  return place;
}

Vec3 combine(const std::array<Index, 4>& handle, const Eigen::Vector4d& weights, std::span<const Vec3> handles) {
  Vec3 sum = Vec3::Zero();
  for (std::size_t j = 0; j < 4; ++j)
    sum += weights[static_cast<Eigen::Index>(j)] * handles[static_cast<std::size_t>(handle[j])];
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

namespace {

using Four = Pack<double, 4>;
using FourVec3 = std::array<Four, 3>;

Four dot(const FourVec3& a, const FourVec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
/// One number for each lane.
template <class Number>
Four lanes(const Number& number) {
  return Four(Four::Vector{number(0), number(1), number(2), number(3)});
}
FourVec3 cross(const FourVec3& a, const FourVec3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

}  // namespace

/// Those of the chosen vertices that the wire moves, four of one segment at a time; found again only when others are
/// chosen.
struct Wire::Workspace final : RigWorkspace {
  struct Group {
    std::array<Index, 4> handle;
    std::array<Index, 4> at;  ///< among the chosen vertices
    std::array<Four, 4> value, slope;
    FourVec3 point, tangent, direction;  ///< the last of length one
    Four weight;                         ///< zero in lanes that pad
  };
  std::vector<Index> vertices;
  std::vector<Index> order;  ///< of those that are moved
  std::vector<Group> groups;

  void choose(std::span<const Index> wanted, const std::vector<Binding>& bindings) {
    if (std::equal(vertices.begin(), vertices.end(), wanted.begin(), wanted.end())) return;
    vertices.assign(wanted.begin(), wanted.end());
    const auto binding = [&](Index k) -> const Binding& {
      return bindings[static_cast<std::size_t>(wanted[static_cast<std::size_t>(k)])];
    };
    order.clear();
    for (Index k = 0; k < static_cast<Index>(wanted.size()); ++k)
      if (binding(k).weight != 0) order.push_back(k);
    std::sort(order.begin(), order.end(), [&](Index a, Index b) {
      return binding(a).handle != binding(b).handle ? binding(a).handle < binding(b).handle : a < b;
    });
    groups.clear();
    int lane = 4;
    for (const Index k : order) {
      if (lane == 4 || binding(k).handle != groups.back().handle) {
        lane = 0;
        groups.emplace_back();
        groups.back().handle = binding(k).handle;
        for (int pad = 0; pad < 4; ++pad) put(binding(k), k, pad, 0.0);
      }
      put(binding(k), k, lane++, binding(k).weight);
    }
  }

 private:
  void put(const Binding& binding, Index at, int lane, double weight) {
    Group& group = groups.back();
    const Vec3 direction = binding.tangent.normalized();
    group.at[static_cast<std::size_t>(lane)] = at;
    group.weight.set(lane, weight);
    for (std::size_t j = 0; j < 4; ++j) {
      group.value[j].set(lane, binding.value[static_cast<Eigen::Index>(j)]);
      group.slope[j].set(lane, binding.slope[static_cast<Eigen::Index>(j)]);
    }
    for (std::size_t i = 0; i < 3; ++i) {
      group.point[i].set(lane, binding.point[static_cast<Eigen::Index>(i)]);
      group.tangent[i].set(lane, binding.tangent[static_cast<Eigen::Index>(i)]);
      group.direction[i].set(lane, direction[static_cast<Eigen::Index>(i)]);
    }
  }
};

std::unique_ptr<RigWorkspace> Wire::make_workspace(Index most_vertices) const {
  auto workspace = std::make_unique<Workspace>();
  workspace->vertices.reserve(static_cast<std::size_t>(most_vertices));
  workspace->order.reserve(static_cast<std::size_t>(most_vertices));
  // Each segment may end with a group that isn't full.
  workspace->groups.reserve(static_cast<std::size_t>(most_vertices) / 4 + static_cast<std::size_t>(layout_.size()));
  return workspace;
}

void Wire::deform(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
                  RigWorkspace& workspace) const {
  add_displacements(p, vertices, positions, positions, {}, workspace);
}

// With d = x − C0(u), t0 and t1 the unit tangents at rest and now, and twist φ:
//   d' = t0 (t0·d) + cos φ (d − t0 (t0·d)) + sin φ (t0 × d)        v = t0 × t1
//   R d = d' + v × d' + v × (v × d') / (1 + t0·t1)
void Wire::add_displacements(std::span<const double> p, std::span<const Index> vertices, std::span<const Vec3> x,
                             std::span<Vec3> sum, std::span<Vec3> /*scratch*/, RigWorkspace& workspace) const {
  auto& chosen = static_cast<Workspace&>(workspace);
  chosen.choose(vertices, bindings_);
  const double* offsets = p.data();
  const double* twists = offsets + p.size() / 4 * 3;
  for (const Workspace::Group& group : chosen.groups) {
    const FourVec3 zero{Four(0.0), Four(0.0), Four(0.0)};
    FourVec3 offset = zero, t1 = group.tangent, d = zero;
    Four twist(0.0);
    for (std::size_t j = 0; j < 4; ++j) {
      const auto handle = static_cast<std::size_t>(group.handle[j]);
      for (std::size_t i = 0; i < 3; ++i) {
        const Four moved(offsets[3 * handle + i]);
        offset[i] += group.value[j] * moved;
        t1[i] += group.slope[j] * moved;
      }
      twist += group.value[j] * Four(twists[handle]);
    }
    for (std::size_t i = 0; i < 3; ++i)
      d[i] = lanes([&](std::size_t lane) {
               return x[static_cast<std::size_t>(group.at[lane])][static_cast<Eigen::Index>(i)];
             }) -
             group.point[i];
    const FourVec3& t0 = group.direction;
    const Four length2 = dot(t1, t1), shorter = Four(1.0) / sqrt(select(length2 > Four(0.0), length2, Four(1.0)));
    for (Four& entry : t1) entry *= shorter;
    Four s, c;
    sine_cosine(twist * Four(radians_per_degree), s, c);
    const Four along = dot(t0, d) * (Four(1.0) - c);
    const FourVec3 aside = cross(t0, d), v = cross(t0, t1);
    FourVec3 turned;
    for (std::size_t i = 0; i < 3; ++i) turned[i] = t0[i] * along + c * d[i] + s * aside[i];
    const FourVec3 once = cross(v, turned), twice = cross(v, once);
    // A tangent that points straight back has no least rotation; the limit here keeps it finite.
    const Four denominator = Four(1.0) + dot(t0, t1), least(1e-12);
    const Four factor = Four(1.0) / select(denominator > least, denominator, least);
    for (std::size_t i = 0; i < 3; ++i) {
      const Four moved = group.weight * (offset[i] + turned[i] + once[i] + factor * twice[i] - d[i]);
      for (int lane = 0; lane < 4; ++lane)
        sum[static_cast<std::size_t>(group.at[static_cast<std::size_t>(lane)])][static_cast<Eigen::Index>(i)] +=
            moved[lane];
    }
  }
}

}  // namespace supple
