// SPDX-License-Identifier: Apache-2.0
#include "supple/io/mesh/gmsh_raw.h"

#include <fmt/format.h>

#include <limits>
#include <numeric>

namespace supple {
namespace {

constexpr std::array<GmshType, 33> gmsh_types = {{{1, 1, 2, "lines"},
                                                  {2, 2, 3, "triangles"},
                                                  {3, 2, 4, "quadrilaterals"},
                                                  {4, 3, 4, "tetrahedra"},
                                                  {5, 3, 8, "bricks"},
                                                  {6, 3, 6, "prisms"},
                                                  {7, 3, 5, "pyramids"},
                                                  {8, 1, 3, "3-node lines"},
                                                  {9, 2, 6, "6-node triangles"},
                                                  {10, 2, 9, "9-node quadrilaterals"},
                                                  {11, 3, 10, "10-node tetrahedra"},
                                                  {12, 3, 27, "27-node bricks"},
                                                  {13, 3, 18, "18-node prisms"},
                                                  {14, 3, 14, "14-node pyramids"},
                                                  {15, 0, 1, "points"},
                                                  {16, 2, 8, "8-node quadrilaterals"},
                                                  {17, 3, 20, "20-node bricks"},
                                                  {18, 3, 15, "15-node prisms"},
                                                  {19, 3, 13, "13-node pyramids"},
                                                  {20, 2, 9, "9-node triangles"},
                                                  {21, 2, 10, "10-node triangles"},
                                                  {22, 2, 12, "12-node triangles"},
                                                  {23, 2, 15, "15-node triangles"},
                                                  {24, 2, 15, "15-node triangles"},
                                                  {25, 2, 21, "21-node triangles"},
                                                  {26, 1, 4, "4-node lines"},
                                                  {27, 1, 5, "5-node lines"},
                                                  {28, 1, 6, "6-node lines"},
                                                  {29, 3, 20, "20-node tetrahedra"},
                                                  {30, 3, 35, "35-node tetrahedra"},
                                                  {31, 3, 56, "56-node tetrahedra"},
                                                  {92, 3, 64, "64-node bricks"},
                                                  {93, 3, 125, "125-node bricks"}}};

// From node numbers, which may have gaps, to indices. A table where the numbers are dense, else a sorted list.
class NodeIndex {
 public:
  static constexpr Index missing = -1;

  /// False when a number occurs twice.
  bool build(const std::vector<std::int64_t>& tags) {
    if (tags.empty()) return true;
    const auto [least, most] = std::minmax_element(tags.begin(), tags.end());
    first_ = *least;
    const std::uint64_t range = static_cast<std::uint64_t>(*most) - static_cast<std::uint64_t>(*least);
    return range < 4 * tags.size() + 1000 ? build_table(tags, to_size(range) + 1) : build_list(tags);
  }

  Index find(std::int64_t tag) const {
    if (!table_.empty()) {
      const std::uint64_t offset = static_cast<std::uint64_t>(tag) - static_cast<std::uint64_t>(first_);
      return tag >= first_ && offset < table_.size() ? table_[to_size(offset)] : missing;
    }
    const auto found = std::lower_bound(list_.begin(), list_.end(), std::pair<std::int64_t, Index>(tag, -1));
    return found != list_.end() && found->first == tag ? found->second : missing;
  }

 private:
  bool build_table(const std::vector<std::int64_t>& tags, std::size_t size) {
    table_.assign(size, missing);
    for (std::size_t i = 0; i < tags.size(); ++i) {
      Index& entry = table_[to_size(tags[i] - first_)];
      if (entry != missing) return false;
      entry = static_cast<Index>(i);
    }
    return true;
  }

  bool build_list(const std::vector<std::int64_t>& tags) {
    list_.reserve(tags.size());
    for (std::size_t i = 0; i < tags.size(); ++i) list_.emplace_back(tags[i], static_cast<Index>(i));
    std::sort(list_.begin(), list_.end());
    const auto same_tag = [](const auto& a, const auto& b) { return a.first == b.first; };
    return std::adjacent_find(list_.begin(), list_.end(), same_tag) == list_.end();
  }

  std::int64_t first_ = 0;
  std::vector<Index> table_;
  std::vector<std::pair<std::int64_t, Index>> list_;
};

class GmshBuilder {
 public:
  GmshBuilder(GmshRaw& raw, const std::string& name) : raw_(raw), name_(name) {}

  Result<LoadedMesh> build() {
    if (!index_.build(raw_.node_tags)) return damaged("gives two nodes the same number; it is damaged");
    if (raw_.unsupported_solid != nullptr) return refused(*raw_.unsupported_solid);
    const bool has_tetrahedra = !raw_.tetrahedra.labels.empty();
    const bool has_bricks = !raw_.bricks.labels.empty();
    if (has_tetrahedra && has_bricks) {
      return damaged(fmt::format("mixes {} tetrahedra and {} bricks; split it into one file for each",
                                 raw_.tetrahedra.labels.size(), raw_.bricks.labels.size()));
    }
    if (has_tetrahedra) return build_solid<TetMesh>(raw_.tetrahedra);
    if (has_bricks) return build_solid<HexMesh>(raw_.bricks);
    if (raw_.unsupported_face != nullptr) return refused(*raw_.unsupported_face);
    return build_surface();
  }

 private:
  template <std::size_t Nodes>
  Status resolve(const GmshElements& from, std::vector<std::array<Index, Nodes>>& to) const {
    to.resize(from.labels.size());
    for (std::size_t e = 0; e < to.size(); ++e) {
      for (std::size_t k = 0; k < Nodes; ++k) {
        to[e][k] = index_.find(from.node_tags[e * Nodes + k]);
        if (to[e][k] == NodeIndex::missing) {
          return damaged(fmt::format("uses node {} in element {} but doesn't define it; it is damaged",
                                     from.node_tags[e * Nodes + k], e + 1));
        }
      }
    }
    return {};
  }

  std::vector<std::int64_t> groups_of(int dimension, std::int64_t label) const {
    if (raw_.is_version_2) return label == 0 ? std::vector<std::int64_t>{} : std::vector{label};
    const auto found = raw_.entity_groups.find({dimension, label});
    return found == raw_.entity_groups.end() ? std::vector<std::int64_t>{} : found->second;
  }

  std::string group_name(int dimension, std::int64_t group) const {
    const auto found = raw_.physical_names.find({dimension, group});
    return found == raw_.physical_names.end() ? fmt::format("physical_{}", group) : found->second;
  }

  template <class Mesh>
  Result<LoadedMesh> build_solid(const GmshElements& from) {
    Mesh mesh;
    SUPPLE_RETURN_IF_ERROR(resolve(from, mesh.elements));
    const std::vector<Index> place = merge_repeated(from, mesh.elements);
    std::map<std::int64_t, std::vector<Index>> members;
    std::map<std::int64_t, std::vector<std::int64_t>> groups;  // looked up once per label
    for (std::size_t e = 0; e < from.labels.size(); ++e) {
      const auto [entry, is_new] = groups.try_emplace(from.labels[e]);
      if (is_new) entry->second = groups_of(3, from.labels[e]);
      for (const std::int64_t group : entry->second)
        members[group].push_back(place.empty() ? static_cast<Index>(e) : place[e]);
    }
    for (auto& [group, elements] : members) {
      std::sort(elements.begin(), elements.end());
      elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
      mesh.sets.push_back({group_name(3, group), std::move(elements)});
    }
    mesh.vertices = std::move(raw_.nodes);
    return finish_mesh(std::move(mesh), name_, raw_.format);
  }

  // Version 2.2 writes an element once for each physical group it is in. Returns where each entry ended up; empty when
  // nothing was repeated.
  template <class Element>
  std::vector<Index> merge_repeated(const GmshElements& from, std::vector<Element>& elements) const {
    const auto other = std::adjacent_find(from.labels.begin(), from.labels.end(), std::not_equal_to<>());
    if (!raw_.is_version_2 || other == from.labels.end()) return {};
    std::vector<Index> order(elements.size());
    std::iota(order.begin(), order.end(), 0);
    const auto nodes = [&](Index e) -> const Element& { return elements[to_size(e)]; };
    std::sort(order.begin(), order.end(),
              [&](Index a, Index b) { return nodes(a) != nodes(b) ? nodes(a) < nodes(b) : a < b; });
    std::vector<Index> original(elements.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      const bool repeats = k > 0 && nodes(order[k]) == nodes(order[k - 1]);
      original[to_size(order[k])] = repeats ? original[to_size(order[k - 1])] : order[k];
    }
    std::vector<Index> place(elements.size());
    Index kept = 0;
    for (std::size_t e = 0; e < elements.size(); ++e) {
      const auto first = to_size(original[e]);
      if (first == e) elements[to_size(kept)] = elements[e];
      place[e] = first == e ? kept++ : place[first];
    }
    elements.resize(to_size(kept));
    return place;
  }

  Result<LoadedMesh> build_surface() {
    std::vector<std::array<Index, 3>> triangles;
    std::vector<std::array<Index, 4>> quads;
    SUPPLE_RETURN_IF_ERROR(resolve(raw_.triangles, triangles));
    SUPPLE_RETURN_IF_ERROR(resolve(raw_.quads, quads));
    Surface surface;
    append_faces(surface, triangles, raw_.triangles.labels);
    append_faces(surface, quads, raw_.quads.labels);
    if (surface.parts.size() == 1 && surface.parts[0].name.empty()) surface.parts.clear();
    surface.vertices = std::move(raw_.nodes);
    return finish_mesh(std::move(surface), name_, raw_.format);
  }

  template <class Face>
  void append_faces(Surface& surface, const std::vector<Face>& faces, const std::vector<std::int64_t>& labels) const {
    for (std::size_t f = 0; f < faces.size(); ++f) {
      if (f == 0 || labels[f] != labels[f - 1]) {
        const std::vector<std::int64_t> groups = groups_of(2, labels[f]);
        begin_part(surface, groups.empty() ? std::string() : group_name(2, groups.front()));
      }
      append_polygon(surface, faces[f]);
    }
  }

  Error refused(const GmshType& type) const {
    return damaged(fmt::format("holds {}, which aren't supported; save it with linear {}", type.plural,
                               type.dimension == 3 ? "tetrahedra or bricks" : "triangles or quadrilaterals"));
  }
  Error damaged(const std::string& what) const { return input_error(name_ + " " + what + "."); }

  GmshRaw& raw_;
  const std::string& name_;
  NodeIndex index_;
};

}  // namespace

const GmshType* find_gmsh_type(std::int64_t number) {
  for (const GmshType& type : gmsh_types) {
    if (type.number == number) return &type;
  }
  return nullptr;
}

GmshElements* GmshRaw::elements_of(const GmshType& type) {
  switch (type.number) {
    case gmsh_triangle:
      return &triangles;
    case gmsh_quad:
      return &quads;
    case gmsh_tetrahedron:
      return &tetrahedra;
    case gmsh_brick:
      return &bricks;
    default:
      break;
  }
  if (type.dimension == 3 && unsupported_solid == nullptr) unsupported_solid = &type;
  if (type.dimension == 2 && unsupported_face == nullptr) unsupported_face = &type;
  return nullptr;
}

Result<LoadedMesh> build_from_gmsh(GmshRaw& raw, const std::string& name) { return GmshBuilder(raw, name).build(); }

}  // namespace supple
