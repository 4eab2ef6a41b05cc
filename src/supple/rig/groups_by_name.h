// SPDX-License-Identifier: Apache-2.0
// An order of a layout's groups that doesn't hang on the order in which a file lists its joints.
#pragma once

#include "supple/rig/pose_layout.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace supple {

/// Numbers of the groups in the order of their names: for what is drawn at random for one after the other.
inline std::vector<std::size_t> groups_by_name(const PoseLayout& layout) {
  std::vector<std::size_t> order(layout.groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return layout.groups[a].name < layout.groups[b].name; });
  return order;
}

}  // namespace supple
