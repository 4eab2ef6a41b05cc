// SPDX-License-Identifier: Apache-2.0
#include "supple/io/mesh/veg.h"

#include <fmt/format.h>

#include "supple/io/mesh/veg_lines.h"
#include "supple/io/text_scanner.h"

#include <unordered_map>

namespace supple {
namespace {

enum class Section { none, vertex_header, vertices, element_kind, element_header, elements, material, set, region };

constexpr std::string_view all_elements = "allElements";

struct NamedRegion {
  std::string set;
  std::string material;
  TextScanner place;  // counts its line only when asked
};

class VegReader {
 public:
  VegReader(std::string_view bytes, const std::string& name, const IncludeResolver& resolve)
      : lines_(bytes, name, resolve), name_(name), most_entries_(bytes.size() / 4) {}

  Result<LoadedMesh> read() {
    TextScanner line = lines_.start();
    while (lines_.next(line)) {
      const std::string_view first = line.peek();
      if (equals_ignoring_case(first, "*END")) break;
      SUPPLE_RETURN_IF_ERROR(first.starts_with('*') ? begin_section(line) : read_data(line));
    }
    if (lines_.failed()) return lines_.error();
    if (vertices_.empty() || nodes_per_element_ == 0)
      return input_error(
          fmt::format("{} has no *VERTICES or no *ELEMENTS; it isn't a Vega mesh or is cut short.", name_));
    if (vertices_.size() != vertex_count_ || nodes_.size() != element_count_ * nodes_per_element_) {
      return input_error(fmt::format("{} announces {} vertices and {} elements but holds {} and {}; it is cut short.",
                                     name_, vertex_count_, element_count_, vertices_.size(),
                                     nodes_.size() / nodes_per_element_));
    }
    if (nodes_per_element_ == 4) return build<TetMesh>();
    return build<HexMesh>();
  }

 private:
  Status begin_section(TextScanner& line) {
    const std::string_view command = line.token();
    if (section_ == Section::material) return line.fail("the material before this line has no values");
    if (equals_ignoring_case(command, "*VERTICES")) return begin_once(Section::vertex_header, line);
    if (equals_ignoring_case(command, "*ELEMENTS")) return begin_once(Section::element_kind, line);
    if (equals_ignoring_case(command, "*MATERIAL")) return begin_material(line);
    if (equals_ignoring_case(command, "*SET")) return begin_set(line);
    if (equals_ignoring_case(command, "*REGION")) {
      section_ = Section::region;
      return {};
    }
    return line.fail(fmt::format("the section {} isn't part of Vega meshes", std::string(command.substr(0, 40))));
  }

  Status begin_once(Section section, const TextScanner& line) {
    const bool repeated = section == Section::vertex_header ? !vertices_.empty() : nodes_per_element_ != 0;
    if (repeated) return line.fail("this section stands in the file twice");
    section_ = section;
    return {};
  }

  Status begin_material(TextScanner& line) {
    std::string material(line.token());
    if (material.empty()) return line.fail("*MATERIAL needs a name");
    if (!material_index_.try_emplace(material, static_cast<Index>(materials_.size())).second)
      return line.fail(fmt::format("the material \"{}\" is defined twice", material));
    materials_.push_back({.name = std::move(material)});
    section_ = Section::material;
    return {};
  }

  Status begin_set(TextScanner& line) {
    std::string set(line.token());
    if (set.empty()) return line.fail("*SET needs a name");
    if (!set_index_.try_emplace(set, static_cast<Index>(sets_.size())).second)
      return line.fail(fmt::format("the set \"{}\" is defined twice", set));
    sets_.push_back({std::move(set), {}});
    section_ = Section::set;
    return {};
  }

  Status read_data(TextScanner& line) {
    switch (section_) {
      case Section::vertex_header:
        return read_vertex_header(line);
      case Section::vertices:
        return read_vertex(line);
      case Section::element_kind:
        return read_element_kind(line);
      case Section::element_header:
        return read_element_header(line);
      case Section::elements:
        return read_element(line);
      case Section::material:
        return read_material(line);
      case Section::set:
        return read_set(line);
      case Section::region:
        return read_region(line);
      case Section::none:
        break;
    }
    return line.fail("expected a section such as *VERTICES; the file is damaged or isn't a Vega mesh");
  }

  Status read_vertex_header(TextScanner& line) {
    std::int64_t dimension = 3;
    if (!line.read_count(vertex_count_, 1) || !line.read(dimension)) return line.error();
    if (dimension != 3) return line.fail(fmt::format("dimension {} isn't supported, only 3", dimension));
    vertices_.reserve(std::min(vertex_count_, most_entries_));
    section_ = Section::vertices;
    return {};
  }

  // Both lists count from 0 or 1, whichever their first line has, and then without gaps.
  static Status check_number(const TextScanner& line, std::int64_t number, std::size_t position, std::int64_t& first) {
    if (position == 0 && (number == 0 || number == 1)) first = number;
    if (number != first + static_cast<std::int64_t>(position))
      return line.fail(fmt::format("number {} is out of order here; count from 0 or 1 without gaps", number));
    return {};
  }

  Status read_vertex(TextScanner& line) {
    if (vertices_.size() == vertex_count_) return line.fail("there are more vertices than announced");
    std::int64_t number = 0;
    Vec3 point;
    if (!line.read(number) || !line.read_point(point)) return line.error();
    SUPPLE_RETURN_IF_ERROR(check_number(line, number, vertices_.size(), first_vertex_));
    vertices_.push_back(point);
    return {};
  }

  Status read_element_kind(TextScanner& line) {
    const std::string_view kind = line.token();
    if (kind == "TET" || kind == "TETS")
      nodes_per_element_ = 4;
    else if (kind == "CUBIC")
      nodes_per_element_ = 8;
    else
      return line.fail(
          fmt::format("elements of kind {} aren't supported, only TET and CUBIC", std::string(kind.substr(0, 40))));
    section_ = Section::element_header;
    return {};
  }

  Status read_element_header(TextScanner& line) {
    std::int64_t nodes = 0;
    if (!line.read_count(element_count_, 1) || !line.read(nodes)) return line.error();
    if (nodes != static_cast<std::int64_t>(nodes_per_element_))
      return line.fail(
          fmt::format("elements of {} nodes don't fit their kind, which has {}", nodes, nodes_per_element_));
    nodes_.reserve(std::min(element_count_ * nodes_per_element_, most_entries_));
    section_ = Section::elements;
    return {};
  }

  Status read_element(TextScanner& line) {
    const std::size_t position = nodes_.size() / nodes_per_element_;
    if (position == element_count_) return line.fail("there are more elements than announced");
    std::int64_t number = 0;
    if (!line.read(number)) return line.error();
    SUPPLE_RETURN_IF_ERROR(check_number(line, number, position, first_element_));
    for (std::size_t k = 0; k < nodes_per_element_; ++k) {
      Index node = 0;
      if (!line.read(node)) return line.error();
      nodes_.push_back(node);
    }
    return {};
  }

  Status read_material(TextScanner& line) {
    ElasticMaterial& material = materials_.back();
    const std::string_view kind = line.token();
    if (!equals_ignoring_case(kind, "ENU")) {
      return line.fail(
          fmt::format("material \"{}\" is of kind {}, but only isotropic ones are supported; write "
                      "\"ENU, density, Young's modulus, Poisson's ratio\" instead",
                      material.name, std::string(kind.substr(0, 40))));
    }
    if (!line.read_finite(material.density) || !line.read_finite(material.young) || !line.read_finite(material.poisson))
      return line.error();
    if (material.density <= 0 || material.young <= 0 || material.poisson <= -1 || material.poisson >= 0.5) {
      return line.fail(
          fmt::format("material \"{}\" needs a positive density and Young's modulus and a Poisson's ratio "
                      "between -1 and 0.5",
                      material.name));
    }
    section_ = Section::none;
    return {};
  }

  Status read_set(TextScanner& line) {
    while (!line.at_end()) {
      Index element = 0;
      if (!line.read(element)) return line.error();
      sets_.back().elements.push_back(element);
    }
    return {};
  }

  Status read_region(TextScanner& line) {
    const std::string set(line.token());
    const std::string material(line.token());
    if (material.empty()) return line.fail("a region needs the names of a set and a material");
    regions_.push_back({set, material, line});
    return {};
  }

  template <class Mesh>
  Result<LoadedMesh> build() {
    Mesh mesh;
    mesh.vertices = std::move(vertices_);
    SUPPLE_RETURN_IF_ERROR(fill_elements(mesh));
    SUPPLE_RETURN_IF_ERROR(fill_sets(mesh));
    mesh.materials = std::move(materials_);
    SUPPLE_RETURN_IF_ERROR(fill_regions(mesh));
    std::vector<std::string> warnings;
    if (!mesh.regions.empty()) {
      assign_materials_from_regions(mesh);
    } else if (mesh.materials.size() > 1) {
      warnings.push_back(fmt::format("No *REGION says where the {} materials are; \"{}\" is used everywhere.",
                                     mesh.materials.size(), mesh.materials[0].name));
    }
    return finish_mesh(std::move(mesh), name_, "Vega", std::move(warnings));
  }

  template <class Mesh>
  Status fill_elements(Mesh& mesh) {
    constexpr auto nodes = to_size(Mesh::nodes_per_element);
    const auto vertex_count = static_cast<std::int64_t>(mesh.vertices.size());
    mesh.elements.resize(element_count_);
    for (std::size_t e = 0; e < element_count_; ++e) {
      for (std::size_t k = 0; k < nodes; ++k) {
        const std::int64_t node = nodes_[e * nodes + k] - first_vertex_;
        if (node < 0 || node >= vertex_count) {
          return input_error(fmt::format("{}: element {} uses vertex {} but there are only {} to {}; it is damaged.",
                                         name_, e + to_size(first_element_), nodes_[e * nodes + k], first_vertex_,
                                         first_vertex_ + vertex_count - 1));
        }
        mesh.elements[e][k] = static_cast<Index>(node);
      }
    }
    return {};
  }

  template <class Mesh>
  Status fill_sets(Mesh& mesh) {
    for (ElementSet& set : sets_) {
      for (Index& element : set.elements) {
        const std::int64_t shifted = element - first_element_;
        if (shifted < 0 || shifted >= static_cast<std::int64_t>(element_count_)) {
          return input_error(fmt::format(
              "{}: the set \"{}\" names element {} but there are only {} to {}; it is damaged.", name_, set.name,
              element, first_element_, first_element_ + static_cast<std::int64_t>(element_count_) - 1));
        }
        element = static_cast<Index>(shifted);
      }
      std::sort(set.elements.begin(), set.elements.end());
      set.elements.erase(std::unique(set.elements.begin(), set.elements.end()), set.elements.end());
    }
    mesh.sets = std::move(sets_);
    return {};
  }

  template <class Mesh>
  Status fill_regions(Mesh& mesh) {
    for (const NamedRegion& region : regions_) {
      if (region.set == all_elements && !set_index_.contains(region.set)) {
        set_index_[region.set] = static_cast<Index>(mesh.sets.size());
        mesh.sets.push_back({region.set, {}});
        for (std::size_t e = 0; e < element_count_; ++e) mesh.sets.back().elements.push_back(static_cast<Index>(e));
      }
      const auto set = set_index_.find(region.set);
      const auto material = material_index_.find(region.material);
      if (set == set_index_.end())
        return region.place.fail(fmt::format("there is no set \"{}\" for this region", region.set));
      if (material == material_index_.end())
        return region.place.fail(fmt::format("there is no material \"{}\" for this region", region.material));
      mesh.regions.push_back({set->second, material->second});
    }
    return {};
  }

  VegLines lines_;
  const std::string& name_;
  std::size_t most_entries_;  // what the main file can hold: a limit for memory set aside in advance
  Section section_ = Section::none;
  std::size_t vertex_count_ = 0;
  std::size_t element_count_ = 0;
  std::size_t nodes_per_element_ = 0;
  std::int64_t first_vertex_ = 1;
  std::int64_t first_element_ = 1;
  std::vector<Vec3> vertices_;
  std::vector<Index> nodes_;
  std::vector<ElasticMaterial> materials_;
  std::vector<ElementSet> sets_;
  std::vector<NamedRegion> regions_;
  std::unordered_map<std::string, Index> set_index_;
  std::unordered_map<std::string, Index> material_index_;
};

}  // namespace

Result<LoadedMesh> parse_veg(std::string_view bytes, const std::string& name, const IncludeResolver& resolve) {
  return VegReader(bytes, name, resolve).read();
}

}  // namespace supple
