// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/deform/wire_groups.h"

#include "supple/base/assert.h"
#include "supple/math/simd/sine_cosine.h"
#include "supple/rig/deform/deformers.h"

#include <algorithm>

namespace supple {
namespace {

/// Where on its curve a vertex hangs. Splines follow straight lines, so the weights of the handles say how far.
Index segment_of(const Wire::Binding& binding) { return binding.handle[1]; }
double place_of(const Wire::Binding& binding) { return binding.value[2] + 2 * binding.value[3] - binding.value[0]; }

}  // namespace

/// Displacement and twist [half turns] of a curve along one segment: Σ_k a_k t^k of x, y, z and twist.
struct WireGroups::Cubic {
  std::array<Pack4, 4> a;

  Cubic(std::span<const double> p, Index segment) {
    const auto count = static_cast<Index>(p.size() / 4);
    const auto handle = [&](Index h) {
      const double* offset = p.data() + 3 * h;
      return Pack4(Pack4::Vector{offset[0], offset[1], offset[2], p[to_size(3 * count + h)] / 180});
    };
    const Index last = count - 1;
    const Pack4 h1 = handle(std::min(segment, last)), h2 = handle(std::min(segment + 1, last));
    const Pack4 h0 = segment > 0 ? handle(segment - 1) : Pack4(2.0) * h1 - h2;  // ends go on straight
    const Pack4 h3 = segment + 2 < count ? handle(segment + 2) : Pack4(2.0) * h2 - h1;
    const Pack4 half(0.5);
    a[0] = h1;
    a[1] = half * (h2 - h0);
    a[2] = h0 - Pack4(2.5) * h1 + Pack4(2.0) * h2 - half * h3;
    a[3] = half * (h3 - h0) + Pack4(1.5) * (h1 - h2);
  }
};

WireGroups::WireGroups(std::vector<PlacedWire> wires, Index most_vertices) : wires_(std::move(wires)) {
  const auto most = to_size(most_vertices);
  std::size_t groups = 0, segments = 0;
  for (const PlacedWire& placed : wires_) {
    const auto& bindings = placed.wire->bindings();
    const auto moved = to_size(std::count_if(bindings.begin(), bindings.end(),
                                             [](const Wire::Binding& binding) { return binding.weight != 0; }));
    const auto handles = to_size(placed.wire->layout().size() / 4);
    segments += handles;
    groups += std::min(moved, most) / 4 + handles;  // each segment may end with a group that isn't full
  }
  vertices_.reserve(most);
  order_.reserve(most);
  places_.reserve(most);
  sums_.reserve(most);
  runs_.reserve(segments);
  groups_.reserve(groups);
}

void WireGroups::choose(std::span<const Index> vertices, std::span<const Vec3> rest) {
  if (std::equal(vertices_.begin(), vertices_.end(), vertices.begin(), vertices.end())) return;
  vertices_.assign(vertices.begin(), vertices.end());
  places_.clear();
  for (const Index v : vertices) places_.push_back(rest.empty() ? Vec3(Vec3::Zero()) : rest[to_size(v)]);
  sums_.resize(vertices.size());
  runs_.clear();
  groups_.clear();
  for (const PlacedWire& wire : wires_) hang(wire);
  put(places_);
}

void WireGroups::hang(const PlacedWire& placed) {
  const auto binding = [&](Index k) -> const Wire::Binding& {
    return placed.wire->bindings()[to_size(vertices_[to_size(k)])];
  };
  order_.clear();
  for (Index k = 0; k < static_cast<Index>(vertices_.size()); ++k)
    if (binding(k).weight != 0) order_.push_back(k);
  std::sort(order_.begin(), order_.end(), [&](Index a, Index b) {
    return segment_of(binding(a)) != segment_of(binding(b)) ? segment_of(binding(a)) < segment_of(binding(b)) : a < b;
  });
  int lane = 4;
  Index segment = -1;
  for (const Index k : order_) {
    if (segment_of(binding(k)) != segment) {
      segment = segment_of(binding(k));
      runs_.push_back({placed, segment, groups_.size(), groups_.size()});
      lane = 4;
    }
    if (lane == 4) {
      lane = 0;
      groups_.emplace_back();
      runs_.back().end = groups_.size();
      for (int pad = 0; pad < 4; ++pad) fill(groups_.back(), pad, k, *placed.wire);
      groups_.back().weight = Pack4(0.0);
    }
    fill(groups_.back(), lane, k, *placed.wire);
    groups_.back().weight.set(lane++, binding(k).weight);
  }
}

void WireGroups::fill(Group& group, int lane, Index at, const Wire& wire) const {
  const Wire::Binding& binding = wire.bindings()[to_size(vertices_[to_size(at)])];
  const double speed = binding.tangent.norm();
  const Vec3 tangent = speed > 0 ? Vec3(binding.tangent / speed) : Vec3(Vec3::Zero());
  group.at[to_size(lane)] = at;
  group.t.set(lane, place_of(binding));
  group.speed.set(lane, speed);
  for (std::size_t i = 0; i < 3; ++i) group.tangent[i].set(lane, tangent[static_cast<Eigen::Index>(i)]);
}

void WireGroups::put(Group& group, const Wire& wire, std::span<const Vec3> positions) const {
  for (int lane = 0; lane < 4; ++lane) {
    const auto at = to_size(group.at[to_size(lane)]);
    const Vec3 d = positions[at] - wire.bindings()[to_size(vertices_[at])].point;
    const Vec3 tangent(group.tangent[0][lane], group.tangent[1][lane], group.tangent[2][lane]);
    const double along = d.dot(tangent);
    const Vec3 aside = d - along * tangent;
    group.along.set(lane, along);
    for (std::size_t i = 0; i < 3; ++i) group.aside[i].set(lane, aside[static_cast<Eigen::Index>(i)]);
  }
}

void WireGroups::put(std::span<const Vec3> positions) {
  for (const Run& run : runs_)
    for (std::size_t g = run.begin; g < run.end; ++g) put(groups_[g], *run.wire.wire, positions);
}

std::span<const Pack4> WireGroups::displacements(std::span<const double> p) {
  std::fill(sums_.begin(), sums_.end(), Pack4(0.0));
  for (const Run& run : runs_) move(run, p.subspan(to_size(run.wire.first), to_size(run.wire.wire->layout().size())));
  return sums_;
}

// A group waits long for its square root and its division. In two short loops many groups wait at once.
void WireGroups::move(const Run& run, std::span<const double> p) {
  const Cubic curve(p, run.segment);
  std::array<Shape, 16> shapes;
  for (std::size_t begin = run.begin; begin < run.end; begin += shapes.size()) {
    const std::span<const Group> groups(groups_.data() + begin, std::min(shapes.size(), run.end - begin));
    bend(curve, groups, shapes.data());
    add(groups, shapes.data());
  }
}

void WireGroups::bend(const Cubic& curve, std::span<const Group> groups, Shape* shape) {
  const auto coefficient = [&](std::size_t k, std::size_t i) { return Pack4(curve.a[k][static_cast<int>(i)]); };
  for (const Group& group : groups) {
    const Pack4 t = group.t;
    Pack4Vec3 T;
    for (std::size_t i = 0; i < 3; ++i) {  // Horner's rule for the cubic and its derivative
      const Pack4 b2 = coefficient(3, i) * t + coefficient(2, i), b1 = b2 * t + coefficient(1, i);
      shape->C[i] = b1 * t + coefficient(0, i);
      shape->T[i] = T[i] = (coefficient(3, i) * t + b2) * t + b1 + group.speed * group.tangent[i];
    }
    const Pack4 twist = ((coefficient(3, 3) * t + coefficient(2, 3)) * t + coefficient(1, 3)) * t + coefficient(0, 3);
    sine_cosine_of_half_turns(twist, shape->sine, shape->cosine);
    // A tangent that vanishes or points straight back has no least rotation; the limits here keep it finite.
    const Pack4 length2 = dot(T, T), shortest(1e-200);
    const Pack4 length = sqrt(select(length2 > shortest, length2, shortest));
    const Pack4 sum = length + dot(T, group.tangent), least = Pack4(1e-12) * length;
    const Pack4 both = select(sum > least, sum, least), reciprocal = Pack4(1.0) / (length * both);
    shape->over_length = reciprocal * both;
    shape->over_both = reciprocal * length;
    ++shape;
  }
}

void WireGroups::add(std::span<const Group> groups, const Shape* shape) {
  for (const Group& group : groups) {
    const Pack4Vec3 &t0 = group.tangent, &m = group.aside, &T = shape->T;
    const Pack4Vec3 normal = cross(t0, m);
    Pack4Vec3 turned;
    for (std::size_t i = 0; i < 3; ++i) turned[i] = shape->cosine * m[i] + shape->sine * normal[i];
    const Pack4 beta = dot(T, turned) * shape->over_both;
    const Pack4 forward = (group.along - beta) * shape->over_length, back = group.along + beta;
    std::array<Pack4, 4> moved;
    for (std::size_t i = 0; i < 3; ++i)
      moved[i] = group.weight * ((shape->C[i] - m[i]) + turned[i] + T[i] * forward - t0[i] * back);
    moved[3] = Pack4(0.0);
    transpose(moved);
    for (std::size_t lane = 0; lane < 4; ++lane) sums_[to_size(group.at[lane])] += moved[lane];
    ++shape;
  }
}

}  // namespace supple
