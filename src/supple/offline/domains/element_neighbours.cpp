// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/domains/element_neighbours.h"

#include <algorithm>
#include <map>

namespace supple {
namespace {

template <int Nodes>
std::vector<std::pair<Index, Index>> pairs_with_a_face(const VolumeMesh<Nodes>& mesh) {
  std::map<std::vector<Index>, Index> first;
  std::vector<std::pair<Index, Index>> pairs;
  const auto faces = faces_of<Nodes>();
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    for (const auto& corners : faces) {
      std::vector<Index> key;
      for (const int c : corners) key.push_back(mesh.elements[e][to_size(c)]);
      std::sort(key.begin(), key.end());
      const auto [place, is_new] = first.emplace(std::move(key), static_cast<Index>(e));
      if (!is_new) pairs.emplace_back(place->second, static_cast<Index>(e));
    }
  }
  return pairs;
}

}  // namespace

std::vector<std::pair<Index, Index>> touching_elements(const TetMesh& mesh) { return pairs_with_a_face(mesh); }
std::vector<std::pair<Index, Index>> touching_elements(const HexMesh& mesh) { return pairs_with_a_face(mesh); }

}  // namespace supple
