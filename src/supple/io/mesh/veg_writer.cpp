// SPDX-License-Identifier: Apache-2.0
#include "supple/io/mesh/veg.h"

#include <fmt/format.h>

#include <set>

namespace supple {
namespace {

constexpr std::string_view every_element = "allElements";

// Names as the format can hold them, no two alike.
class Names {
 public:
  std::string claim(std::string_view wanted) {
    std::string name(wanted.empty() ? "unnamed" : wanted);
    for (char& c : name) {
      if (static_cast<unsigned char>(c) <= ' ' || c == ',' || c == '#' || c == '*') c = '_';
    }
    std::string unique = name;
    for (int k = 2; !taken_.insert(unique).second; ++k) unique = fmt::format("{}_{}", name, k);
    return unique;
  }

 private:
  std::set<std::string> taken_;
};

template <class Mesh>
class VegWriter {
 public:
  explicit VegWriter(const Mesh& mesh) : mesh_(mesh) {}

  std::string encode() {
    append_vertices();
    append_elements();
    append_materials();
    append_sets();
    append_extra_regions();
    return std::move(text_);
  }

 private:
  auto out() { return std::back_inserter(text_); }

  void append_vertices() {
    fmt::format_to(out(), "# Vega mesh file, written by supple\n\n*VERTICES\n{} 3 0 0\n", mesh_.vertices.size());
    for (std::size_t i = 0; i < mesh_.vertices.size(); ++i) {
      const Vec3& x = mesh_.vertices[i];
      fmt::format_to(out(), "{} {} {} {}\n", i + 1, x[0], x[1], x[2]);
    }
  }

  void append_elements() {
    fmt::format_to(out(), "\n*ELEMENTS\n{}\n{} {} 0\n", Mesh::nodes_per_element == 4 ? "TET" : "CUBIC",
                   mesh_.elements.size(), Mesh::nodes_per_element);
    for (std::size_t e = 0; e < mesh_.elements.size(); ++e) {
      fmt::format_to(out(), "{}", e + 1);
      for (const Index node : mesh_.elements[e]) fmt::format_to(out(), " {}", node + 1);
      text_ += '\n';
    }
  }

  void append_materials() {
    std::vector<ElasticMaterial> materials = mesh_.materials;
    if (materials.empty()) materials.push_back(default_material());
    for (const ElasticMaterial& material : materials) {
      material_names_.push_back(names_of_materials_.claim(material.name));
      fmt::format_to(out(), "\n*MATERIAL {}\nENU, {}, {}, {}\n", material_names_.back(), material.density,
                     material.young, material.poisson);
    }
  }

  void append_set(const std::string& name, const std::vector<Index>& elements) {
    fmt::format_to(out(), "\n*SET {}\n", name);
    for (std::size_t k = 0; k < elements.size(); ++k)
      fmt::format_to(out(), "{}{}", elements[k] + 1, k % 16 == 15 || k + 1 == elements.size() ? ",\n" : ", ");
  }

  void append_region(const std::string& set, Index material) {
    fmt::format_to(out(), "\n*REGION\n{}, {}\n", set, material_names_[to_size(material)]);
  }

  void append_sets() {
    names_of_sets_.claim(every_element);
    for (const ElementSet& set : mesh_.sets) {
      if (set.name == every_element && set.elements.size() == mesh_.elements.size()) {
        set_names_.emplace_back(every_element);
        continue;
      }
      set_names_.push_back(names_of_sets_.claim(set.name));
      append_set(set_names_.back(), set.elements);
    }
    for (const Region& region : mesh_.regions) append_region(set_names_[to_size(region.set)], region.material);
  }

  // Where the regions don't give an element the material it has, one more region per material puts that right.
  void append_extra_regions() {
    std::vector<Index> given(mesh_.elements.size(), -1);
    for (const Region& region : mesh_.regions) {
      for (const Index e : mesh_.sets[to_size(region.set)].elements) given[to_size(e)] = region.material;
    }
    std::vector<std::vector<Index>> missing(material_names_.size());
    for (std::size_t e = 0; e < mesh_.elements.size(); ++e) {
      const Index has = mesh_.element_material.empty() ? 0 : mesh_.element_material[e];
      if (given[e] != has) missing[to_size(has)].push_back(static_cast<Index>(e));
    }
    for (std::size_t m = 0; m < missing.size(); ++m) {
      if (missing[m].empty()) continue;
      std::string set(every_element);
      if (missing[m].size() < mesh_.elements.size()) {
        set = names_of_sets_.claim(material_names_[m] + "_elements");
        append_set(set, missing[m]);
      }
      append_region(set, static_cast<Index>(m));
    }
  }

  const Mesh& mesh_;
  std::string text_;
  Names names_of_materials_;
  Names names_of_sets_;
  std::vector<std::string> material_names_;
  std::vector<std::string> set_names_;
};

}  // namespace

std::string encode_veg(const TetMesh& mesh) { return VegWriter<TetMesh>(mesh).encode(); }
std::string encode_veg(const HexMesh& mesh) { return VegWriter<HexMesh>(mesh).encode(); }

}  // namespace supple
