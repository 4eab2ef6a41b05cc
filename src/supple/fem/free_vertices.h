// SPDX-License-Identifier: Apache-2.0
// Which vertices may move. Everything else is held at its rest position.
#pragma once

#include "supple/base/result.h"
#include "supple/fem/elastic_body.h"

#include <span>
#include <vector>

namespace supple {

class FreeVertices {
 public:
  /// Vertices that no element uses have no mass and count as fixed. Fails when an index is out of range or nothing is
  /// left to move.
  static Result<FreeVertices> create(const ElasticBody& body, std::span<const Index> fixed);

  std::span<const Index> vertices() const { return free_; }
  Index count() const { return static_cast<Index>(free_.size()); }
  Index total() const { return static_cast<Index>(is_free_.size()); }
  bool is_free(Index vertex) const { return is_free_[to_size(vertex)] != 0; }

  /// Sets the entries of fixed vertices to zero.
  void clear_fixed(VecX& x) const;
  /// Between stacked vectors of all vertices and of the free ones only.
  VecX restrict(const VecX& all) const;
  VecX expand(const VecX& free) const;

 private:
  std::vector<Index> free_;
  std::vector<char> is_free_;
};

}  // namespace supple
