// SPDX-License-Identifier: Apache-2.0
#include "comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace supple {

Result<Comparison> Comparison::create(PlayedCharacter rigid, PlayedCharacter soft) {
  Comparison comparison(std::move(rigid), std::move(soft));
  SUPPLE_RETURN_IF_ERROR(comparison.match_parts());
  comparison.match_clips();
  return comparison;
}

Status Comparison::match_parts() const {
  const auto same = [](const PlayedCharacter::Part& a, const PlayedCharacter::Part& b) {
    return a.node == b.node && a.primitive == b.primitive && a.count == b.count;
  };
  const auto &a = rigid_.parts(), &b = soft_.parts();
  if (std::equal(a.begin(), a.end(), b.begin(), b.end(), same)) return {};
  return input_error(fmt::format("{}: its meshes are not those of {}; give the file that it was baked from.",
                                 soft_.name(), rigid_.name()));
}

void Comparison::match_clips() {
  const auto &ours = rigid_.clips(), &theirs = soft_.clips();
  const auto named = [](const std::vector<Clip>& clips, const std::string& name) {
    return std::count_if(clips.begin(), clips.end(), [&](const Clip& c) { return c.name == name; });
  };
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const std::string& name = ours[k].name;
    if (!name.empty() && named(ours, name) == 1 && named(theirs, name) == 1) {
      const auto found = std::find_if(theirs.begin(), theirs.end(), [&](const Clip& c) { return c.name == name; });
      clips_.push_back({name, k, to_size(found - theirs.begin())});
    } else if (k < theirs.size() && theirs[k].name == name) {
      clips_.push_back({name, k, k});
    }
  }
}

Result<Comparison::Moment> Comparison::most_displaced(double per_second) const {
  if (clips_.empty()) return input_error(fmt::format("{}: it has no clip of {}'s.", soft_.name(), rigid_.name()));
  Moment best;
  for (std::size_t c = 0; c < clips_.size(); ++c) {
    const double duration = rigid_.clips()[clips_[c].rigid].duration;
    const int count = std::max(2, static_cast<int>(std::ceil(duration * per_second)));
    for (int k = 0; k <= count; ++k) {
      const double time = duration * k / count;
      const std::vector<double> distances = displacement(at(c, time));
      if (!std::all_of(distances.begin(), distances.end(), [](double d) { return std::isfinite(d); }))
        return input_error(fmt::format("{}: clip {} has positions that are not numbers at {:.3f} s.", soft_.name(),
                                       clips_[c].name, time));
      const double largest = distances.empty() ? 0 : *std::max_element(distances.begin(), distances.end());
      if (largest / rigid_.height() > best.largest) best = {c, time, largest / rigid_.height()};
    }
  }
  return best;
}

Comparison::Positions Comparison::at(std::size_t clip, double time) const {
  return {rigid_.at(rigid_.clips()[clips_[clip].rigid], time), soft_.at(soft_.clips()[clips_[clip].soft], time)};
}

std::vector<double> Comparison::displacement(const Positions& positions) {
  std::vector<double> distances(positions.rigid.size());
  for (std::size_t v = 0; v < distances.size(); ++v) distances[v] = (positions.soft[v] - positions.rigid[v]).norm();
  return distances;
}

}  // namespace supple
