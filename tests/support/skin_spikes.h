// SPDX-License-Identifier: Apache-2.0
// A spike is a vertex of the skin that moves unlike all around it: farther from the mean of its neighbours than twice
// what these differ among themselves. Where neighbours move alike, the little that noise makes of it isn't seen, so a
// spike has a least length as well.
#pragma once

#include "supple/rig/character_rig.h"

#include <algorithm>
#include <set>
#include <span>
#include <vector>

namespace supple::test {

class SkinSpikes {
 public:
  SkinSpikes(const RawCharacter& character, const CharacterRig& rig) : around_(to_size(rig.rig()->vertex_count())) {
    for (std::size_t m = 0; m < character.meshes.size(); ++m) {
      const Index first = rig.first_vertex()[m];
      for (const Triangle& t : character.meshes[m].surface.triangles)
        for (const Index v : t)
          for (const Index w : t)
            if (v != w) around_[to_size(first + v)].insert(first + w);
    }
  }

  /// The length of the largest spike [m]; 0 where there is none.
  double largest(std::span<const Vec3> displacements) const {
    double most = 0;
    for (std::size_t v = 0; v < around_.size(); ++v) {
      if (around_[v].size() < 3) continue;
      Vec3 mean = Vec3::Zero();
      for (const Index w : around_[v]) mean += displacements[to_size(w)] / static_cast<double>(around_[v].size());
      double apart = 0;
      for (const Index a : around_[v])
        for (const Index b : around_[v])
          apart = std::max(apart, (displacements[to_size(a)] - displacements[to_size(b)]).norm());
      const double off = (displacements[v] - mean).norm();
      if (off > 2 * apart) most = std::max(most, off);
    }
    return most;
  }

 private:
  std::vector<std::set<Index>> around_;
};

}  // namespace supple::test
