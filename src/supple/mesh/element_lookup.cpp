// SPDX-License-Identifier: Apache-2.0
#include "supple/mesh/element_lookup.h"

#include <algorithm>
#include <cmath>

namespace supple {

std::array<int, 3> ElementLookup::cell_of(const Vec3& point) const {
  std::array<int, 3> cell{};
  for (int a = 0; a < 3; ++a) {
    const double last = cells_[to_size(a)] - 1;
    cell[to_size(a)] = static_cast<int>(std::clamp(std::floor((point[a] - origin_[a]) / cell_size_), 0.0, last));
  }
  return cell;
}

void ElementLookup::build(const std::vector<Bounds>& boxes) {
  Bounds all;
  double mean_size = 0;
  for (const Bounds& box : boxes) {
    all.add(box.min);
    all.add(box.max);
    mean_size += box.size().maxCoeff() / static_cast<double>(boxes.size());
  }
  origin_ = all.min;
  // Not finer than the elements, and not more cells than memory likes for a few far-flung elements.
  cell_size_ = std::max({mean_size, all.size().maxCoeff() / 256, 1e-300});
  for (int a = 0; a < 3; ++a) cells_[to_size(a)] = 1 + static_cast<int>(std::floor(all.size()[a] / cell_size_));

  const auto for_each_cell = [&](const Bounds& box, const auto& visit) {
    const std::array<int, 3> low = cell_of(box.min), high = cell_of(box.max);
    for (int k = low[2]; k <= high[2]; ++k) {
      for (int j = low[1]; j <= high[1]; ++j) {
        for (int i = low[0]; i <= high[0]; ++i) visit(offset(i, j, k));
      }
    }
  };
  first_.assign(offset(cells_[0] - 1, cells_[1] - 1, cells_[2] - 1) + 2, 0);
  for (const Bounds& box : boxes) for_each_cell(box, [&](std::size_t cell) { ++first_[cell + 1]; });
  for (std::size_t cell = 1; cell < first_.size(); ++cell) first_[cell] += first_[cell - 1];
  elements_.resize(to_size(first_.back()));
  std::vector<Index> next(first_.begin(), first_.end() - 1);
  for (std::size_t e = 0; e < boxes.size(); ++e) {
    for_each_cell(boxes[e], [&](std::size_t cell) { elements_[to_size(next[cell]++)] = static_cast<Index>(e); });
  }
}

}  // namespace supple
