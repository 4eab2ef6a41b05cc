// SPDX-License-Identifier: Apache-2.0
// Many displacement fields at once, between all vertices and the free ones.
#pragma once

#include "supple/base/parallel.h"
#include "supple/fem/free_vertices.h"

namespace supple {

inline MatX restrict_columns(const FreeVertices& free, const MatX& all) {
  MatX part(3 * free.count(), all.cols());
  parallel_for(all.cols(), 1, [&](std::int64_t c) { part.col(c) = free.restrict(all.col(c)); });
  return part;
}

inline MatX expand_columns(const FreeVertices& free, const MatX& part) {
  MatX all(3 * free.total(), part.cols());
  parallel_for(part.cols(), 1, [&](std::int64_t c) { all.col(c) = free.expand(part.col(c)); });
  return all;
}

}  // namespace supple
