// SPDX-License-Identifier: Apache-2.0
#include "supple/io/mesh/medit.h"

#include <fmt/format.h>

#include "supple/io/text_scanner.h"

#include <cctype>

namespace supple {
namespace {

constexpr std::string_view label_prefix = "reference_";

template <std::size_t Nodes>
struct Entries {
  std::vector<std::array<Index, Nodes>> nodes;
  std::vector<std::int64_t> references;
};

class MeditReader {
 public:
  MeditReader(std::string_view bytes, const std::string& name) : scanner_(bytes, name, {.comment = '#'}), name_(name) {}

  Result<LoadedMesh> read() {
    while (!scanner_.at_end()) {
      const std::string_view keyword = scanner_.token();
      if (keyword == "End") break;
      SUPPLE_RETURN_IF_ERROR(read_section(keyword));
    }
    if (!has_header_) return input_error(name_ + " has no MeshVersionFormatted line, so it isn't a MEDIT mesh.");
    if (tetrahedra_.nodes.size() > 0 && bricks_.nodes.size() > 0) {
      return input_error(fmt::format("{} mixes {} tetrahedra and {} bricks; split it into one file for each.", name_,
                                     tetrahedra_.nodes.size(), bricks_.nodes.size()));
    }
    if (!bricks_.nodes.empty()) return finish<HexMesh>(bricks_);
    if (!tetrahedra_.nodes.empty()) return finish<TetMesh>(tetrahedra_);
    return finish_surface();
  }

 private:
  Status read_section(std::string_view keyword) {
    if (keyword == "MeshVersionFormatted") {
      has_header_ = true;
      std::int64_t version = 0;
      return scanner_.read(version) ? Status() : scanner_.error();
    }
    if (keyword == "Dimension") return read_dimension();
    if (keyword == "Vertices") return read_vertices();
    if (keyword == "Tetrahedra") return read_entries(tetrahedra_);
    if (keyword == "Hexahedra") return read_entries(bricks_);
    if (keyword == "Triangles") return read_entries(triangles_);
    if (keyword == "Quadrilaterals") return read_entries(quads_);
    if (keyword == "Prisms" || keyword == "Pyramids" || keyword.starts_with("TetrahedraP") ||
        keyword.starts_with("HexahedraQ")) {
      std::size_t count = 0;
      if (!scanner_.read_count(count, 2)) return scanner_.error();
      if (count == 0) return {};
      return scanner_.fail(fmt::format("{} aren't supported; save the mesh with linear tetrahedra or bricks", keyword));
    }
    if (std::isalpha(static_cast<unsigned char>(keyword[0])) == 0)
      return scanner_.fail("expected a keyword such as Vertices; the file is damaged");
    skip_numbers();
    return {};
  }

  // Edges, corners, ridges and whatever else there may be: numbers up to the next word.
  void skip_numbers() {
    while (!scanner_.at_end() && std::isalpha(static_cast<unsigned char>(scanner_.peek()[0])) == 0) scanner_.token();
  }

  Status read_dimension() {
    std::int64_t dimension = 0;
    if (!scanner_.read(dimension)) return scanner_.error();
    if (dimension != 3) return scanner_.fail(fmt::format("dimension {} isn't supported, only 3", dimension));
    return {};
  }

  Status read_vertices() {
    std::size_t count = 0;
    if (!scanner_.read_count(count, 8)) return scanner_.error();
    vertices_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      Vec3 point;
      double reference = 0;
      if (!scanner_.read_point(point) || !scanner_.read(reference)) return scanner_.error();
      vertices_.push_back(point);
    }
    return {};
  }

  template <std::size_t Nodes>
  Status read_entries(Entries<Nodes>& entries) {
    std::size_t count = 0;
    if (!scanner_.read_count(count, 2 * (Nodes + 1))) return scanner_.error();
    entries.nodes.reserve(entries.nodes.size() + count);
    entries.references.reserve(entries.nodes.size() + count);
    for (std::size_t e = 0; e < count; ++e) {
      std::array<Index, Nodes> nodes{};
      for (Index& node : nodes) {
        if (!scanner_.read(node)) return scanner_.error();
        node = node < 1 ? -1 : node - 1;  // numbers below 1 are refused by check()
      }
      std::int64_t reference = 0;
      if (!scanner_.read(reference)) return scanner_.error();
      entries.nodes.push_back(nodes);
      entries.references.push_back(reference);
    }
    return {};
  }

  template <std::size_t Nodes>
  Status check(const Entries<Nodes>& entries, std::string_view what) const {
    const auto count = static_cast<Index>(vertices_.size());
    for (std::size_t e = 0; e < entries.nodes.size(); ++e) {
      for (const Index node : entries.nodes[e]) {
        if (node < 0 || node >= count) {
          return input_error(fmt::format("{}: {} {} uses vertex {} but the file has vertices 1 to {}; it is damaged.",
                                         name_, what, e + 1, std::int64_t{node} + 1, count));
        }
      }
    }
    return {};
  }

  template <class Mesh, std::size_t Nodes>
  Result<LoadedMesh> finish(Entries<Nodes>& entries) {
    SUPPLE_RETURN_IF_ERROR(check(entries, "element"));
    Mesh mesh;
    mesh.vertices = std::move(vertices_);
    mesh.elements = std::move(entries.nodes);
    mesh.sets = sets_from_labels(entries.references, label_prefix);
    return finish_mesh(std::move(mesh), name_, "MEDIT");
  }

  Result<LoadedMesh> finish_surface() {
    SUPPLE_RETURN_IF_ERROR(check(triangles_, "triangle"));
    SUPPLE_RETURN_IF_ERROR(check(quads_, "quadrilateral"));
    Surface surface;
    surface.vertices = std::move(vertices_);
    append_faces(surface, triangles_);
    append_faces(surface, quads_);
    if (surface.parts.size() == 1) surface.parts.clear();
    return finish_mesh(std::move(surface), name_, "MEDIT");
  }

  template <std::size_t Nodes>
  static void append_faces(Surface& surface, const Entries<Nodes>& entries) {
    for (std::size_t f = 0; f < entries.nodes.size(); ++f) {
      if (f == 0 || entries.references[f] != entries.references[f - 1])
        begin_part(surface, fmt::format("{}{}", label_prefix, entries.references[f]));
      append_polygon(surface, entries.nodes[f]);
    }
  }

  TextScanner scanner_;
  const std::string& name_;
  bool has_header_ = false;
  std::vector<Vec3> vertices_;
  Entries<4> tetrahedra_;
  Entries<8> bricks_;
  Entries<3> triangles_;
  Entries<4> quads_;
};

std::string text_of_vertices(const std::vector<Vec3>& vertices) {
  // Version 2 says that the numbers need double precision.
  std::string text = fmt::format("MeshVersionFormatted 2\nDimension 3\nVertices\n{}\n", vertices.size());
  for (const Vec3& x : vertices) fmt::format_to(std::back_inserter(text), "{} {} {} 0\n", x[0], x[1], x[2]);
  return text;
}

template <class Mesh>
std::string encode_volume(const Mesh& mesh, std::string_view keyword) {
  std::string text = text_of_vertices(mesh.vertices);
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}\n{}\n", keyword, mesh.elements.size());
  const std::vector<Index> labels = labels_from_sets(mesh.sets, mesh.elements.size());
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    for (const Index node : mesh.elements[e]) fmt::format_to(out, "{} ", node + 1);
    fmt::format_to(out, "{}\n", labels[e]);
  }
  return text + "End\n";
}

}  // namespace

Result<LoadedMesh> parse_medit(std::string_view bytes, const std::string& name) {
  return MeditReader(bytes, name).read();
}

std::string encode_medit(const TetMesh& mesh) { return encode_volume(mesh, "Tetrahedra"); }
std::string encode_medit(const HexMesh& mesh) { return encode_volume(mesh, "Hexahedra"); }

std::string encode_medit(const Surface& surface) {
  std::string text = text_of_vertices(surface.vertices);
  fmt::format_to(std::back_inserter(text), "Triangles\n{}\n", surface.triangles.size());
  std::size_t part = 0;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    while (part < surface.parts.size() && surface.parts[part].first_triangle <= static_cast<Index>(t)) ++part;
    const Triangle& corners = surface.triangles[t];
    fmt::format_to(std::back_inserter(text), "{} {} {} {}\n", corners[0] + 1, corners[1] + 1, corners[2] + 1, part);
  }
  return text + "End\n";
}

}  // namespace supple
