// SPDX-License-Identifier: Apache-2.0
#include "supple/io/motion/handle_rig.h"

#include <fmt/format.h>

#include <algorithm>

namespace supple {

bool HandleRig::has_bones() const {
  return std::any_of(handles.begin(), handles.end(), [](const Handle& handle) { return handle.bone; });
}

std::string handle_name(std::size_t column) { return fmt::format("handle{}", column + 1); }

Result<std::vector<Index>> parents_first(const HandleRig& rig, const std::string& file) {
  const std::size_t count = rig.handles.size();
  std::vector<std::vector<Index>> children(count);
  std::vector<Index> order;
  for (std::size_t h = 0; h < count; ++h) {
    const Index parent = rig.handles[h].parent;
    if (parent < 0)
      order.push_back(static_cast<Index>(h));
    else
      children[to_size(parent)].push_back(static_cast<Index>(h));
  }
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::vector<Index>& below = children[to_size(order[k])];
    order.insert(order.end(), below.begin(), below.end());
  }
  if (order.size() != count)
    return input_error(
        fmt::format("{}: some bones run in a circle, so that none of them is the first; take one out.", file));
  return order;
}

}  // namespace supple
