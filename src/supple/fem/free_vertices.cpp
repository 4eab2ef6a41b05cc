// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/free_vertices.h"

#include <fmt/format.h>

namespace supple {

Result<FreeVertices> FreeVertices::create(const ElasticBody& body, std::span<const Index> fixed) {
  const Index count = body.vertex_count();
  FreeVertices result;
  result.is_free_.assign(to_size(count), 1);
  for (const Index vertex : fixed) {
    if (vertex < 0 || vertex >= count) {
      return input_error(
          fmt::format("fixed vertex {} does not exist; the mesh has vertices 0 to {}", vertex, count - 1));
    }
    result.is_free_[to_size(vertex)] = 0;
  }
  for (Index vertex = 0; vertex < count; ++vertex) {
    char& is_free = result.is_free_[to_size(vertex)];
    if (!(body.lumped_mass()[3 * vertex] > 0)) is_free = 0;
    if (is_free != 0) result.free_.push_back(vertex);
  }
  if (result.free_.empty()) return input_error("every vertex is fixed, so nothing can move; fix fewer vertices");
  return result;
}

void FreeVertices::clear_fixed(VecX& x) const {
  for (Index vertex = 0; vertex < total(); ++vertex) {
    if (!is_free(vertex)) x.segment<3>(3 * vertex).setZero();
  }
}

VecX FreeVertices::restrict(const VecX& all) const {
  VecX result(3 * count());
  for (Index k = 0; k < count(); ++k) {
    result.segment<3>(3 * k) = all.segment<3>(3 * free_[to_size(k)]);
  }
  return result;
}

VecX FreeVertices::expand(const VecX& free) const {
  VecX result = VecX::Zero(3 * total());
  for (Index k = 0; k < count(); ++k) {
    result.segment<3>(3 * free_[to_size(k)]) = free.segment<3>(3 * k);
  }
  return result;
}

}  // namespace supple
