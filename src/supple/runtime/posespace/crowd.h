// SPDX-License-Identifier: Apache-2.0
// Many characters at once. Instances of one character share all that doesn't move (PoseSpaceDynamics::prepared()), and
// none looks at another: they are stepped in parallel, by whatever an engine has for that, with the same bits as one
// after the other. Their skins are shown some at a time, since the bases of a character are read once for all of these.
#pragma once

#include "supple/runtime/posespace/pose_space_dynamics.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace supple {

/// What one character of a crowd is asked to do in a step.
struct CrowdMember {
  RigidTransform placement;
  std::span<const double> p;
  SoftForces forces = {};
};

/// Steps all. `loop(count, body)` calls body(i) once for each i below count, on any thread, and returns after the last:
/// an engine's own jobs, or base/parallel.h
///   [](std::int64_t count, const auto& body) { parallel_for(count, 1, body); }
/// Instances may be of different characters. Allocates nothing unless `loop` does.
template <class T, class Loop>
void step_crowd(std::span<PoseSpaceDynamics<T>> crowd, std::span<const CrowdMember> members,
                std::span<PoseSpaceReport> reports, int substeps, const Loop& loop) {
  assert(members.size() == crowd.size() && reports.size() == crowd.size());
  loop(static_cast<std::int64_t>(crowd.size()), [&](std::int64_t i) {
    const auto k = to_size(i);
    reports[k] = crowd[k].step(members[k].placement, members[k].p, members[k].forces, substeps);
  });
}

/// Shows all: the displacements of every vertex of the surface of each, in the world [m], as they are at the moment of
/// `members`. The bits are those of PoseSpaceDynamics::surface_displacements(). Neighbours in the crowd that are of one
/// character are shown together. Allocates nothing unless `loop` does.
template <class T, class Loop>
void show_crowd(std::span<PoseSpaceDynamics<T>> crowd, std::span<const CrowdMember> members,
                std::span<const std::span<Eigen::Vector3f>> skins, const Loop& loop) {
  assert(members.size() == crowd.size() && skins.size() == crowd.size());
  constexpr std::size_t together = PoseSpaceDynamics<T>::shown_together;
  loop(static_cast<std::int64_t>((crowd.size() + together - 1) / together), [&](std::int64_t group) {
    std::array<typename PoseSpaceDynamics<T>::Picture, together> pictures;
    const std::size_t first = to_size(group) * together, count = std::min(together, crowd.size() - first);
    for (std::size_t i = 0; i < count; ++i)
      pictures[i] = {&crowd[first + i], members[first + i].placement, members[first + i].p, skins[first + i]};
    PoseSpaceDynamics<T>::surface_displacements({pictures.data(), count});
  });
}

}  // namespace supple
