// SPDX-License-Identifier: Apache-2.0
// Disjoint sets (union-find): which things hang together, in nearly linear time.
#pragma once

#include "supple/base/types.h"

#include <numeric>
#include <vector>

namespace supple {

class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), Index{0}); }

  Index find(Index item) {
    while (parent(item) != item) {
      parent(item) = parent(parent(item));  // halving keeps later walks short
      item = parent(item);
    }
    return item;
  }

  /// The smaller root wins, so that the outcome doesn't depend on the order of the calls.
  void unite(Index a, Index b) {
    a = find(a);
    b = find(b);
    if (a < b) parent(b) = a;
    if (b < a) parent(a) = b;
  }

 private:
  Index& parent(Index item) { return parent_[to_size(item)]; }
  std::vector<Index> parent_;
};

}  // namespace supple
