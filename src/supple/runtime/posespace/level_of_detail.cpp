// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/level_of_detail.h"

#include <cmath>
#include <limits>

namespace supple {
namespace {

/// For each column, which vertices of the surface's mesh it moves in the neutral pose.
std::vector<std::vector<char>> supports(const PoseSpaceModel& model) {
  Index count = 0;
  for (const VertexBlock& block : model.surface.blocks) count += block.vertex_count();
  std::vector<std::vector<char>> result(to_size(model.size()), std::vector<char>(to_size(count), 0));
  Index first = 0;
  for (const VertexBlock& block : model.surface.blocks) {
    for (std::size_t c = 0; c < block.columns.size(); ++c)
      for (Index v = 0; v < block.vertex_count(); ++v)
        if (!block.basis[0].col(static_cast<Eigen::Index>(c)).segment<3>(3 * v).isZero(0))
          result[to_size(block.columns[c])][to_size(first + v)] = 1;
    first += block.vertex_count();
  }
  return result;
}

/// A few vertices may stand still by chance; patches differ in more.
bool same_patch(const std::vector<char>& a, const std::vector<char>& b) {
  int both = 0, either = 0;
  for (std::size_t v = 0; v < a.size(); ++v) {
    both += a[v] & b[v];
    either += a[v] | b[v];
  }
  return 10 * both >= 9 * either;
}

double smooth(double level) { return level * level * (3 - 2 * level); }

}  // namespace

std::vector<int> patch_ends(const PoseSpaceModel& model) {
  const std::vector<std::vector<char>> moved = supports(model);
  std::vector<int> ends;
  for (std::size_t c = 1; c < moved.size(); ++c)
    if (!same_patch(moved[c - 1], moved[c])) ends.push_back(static_cast<int>(c));
  ends.push_back(static_cast<int>(moved.size()));
  return ends;
}

LevelOfDetail::LevelOfDetail(std::span<const int> patch_ends, int width) : kept_(patch_ends.back(), width) {
  level_.assign(kept_.groups().size(), 1.0);
  wanted_.assign(level_.size(), 1);
  next_ = wanted_;
}

void LevelOfDetail::ask(std::span<const int> patch_ends, int count, double seconds) {
  const double share = std::clamp(static_cast<double>(count) / kept_.size(), 0.0, 1.0);
  std::fill(wanted_.begin(), wanted_.end(), 0);
  int first = 0;
  for (const int end : patch_ends) {
    const int kept = std::max(1, static_cast<int>(std::ceil(share * (end - first) - 1e-9)));
    for (int c = first; c < first + kept; ++c) wanted_[to_size(c / kept_.width())] = 1;
    first = end;
  }
  speed_ = seconds > 0 ? 1 / seconds : std::numeric_limits<double>::infinity();
  settled_ = false;
}

bool LevelOfDetail::begin_frame() {
  if (settled_) return false;
  settled_ = true;
  for (std::size_t g = 0; g < level_.size(); ++g) {
    next_[g] = wanted_[g] || level_[g] > 0;
    if (level_[g] != (wanted_[g] ? 1 : 0)) settled_ = false;
  }
  if (std::equal(next_.begin(), next_.end(), kept_.groups().begin())) return false;
  kept_.keep(next_);
  return true;
}

double LevelOfDetail::advance(std::size_t group, double h) {
  const double before = level_[group], target = wanted_[group] ? 1 : 0;
  if (before == target) return target == 0 ? 0 : 1;
  const double way = std::min(speed_ * h, std::abs(target - before));
  const double after = level_[group] =
      std::abs(target - before) <= way ? target : before + (target > before ? way : -way);
  return smooth(std::min(before, after)) / smooth(std::max(before, after));
}

}  // namespace supple
