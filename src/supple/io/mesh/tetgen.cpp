// SPDX-License-Identifier: Apache-2.0
#include "supple/io/mesh/tetgen.h"

#include <fmt/format.h>

#include "supple/io/text_scanner.h"

namespace supple {
namespace {

// First line "points dimension attributes markers", then "index x y z …". `first_index` is what the file counts from.
Status read_nodes(TextScanner& scanner, std::vector<Vec3>& vertices, std::int64_t& first_index) {
  TextScanner line = scanner;
  if (!scanner.next_line(line)) return scanner.fail("the file is empty");
  std::size_t count = 0;
  std::int64_t dimension = 3;
  if (!line.read_count(count, 1) || (!line.at_end() && !line.read(dimension))) return line.error();
  if (dimension != 3) return line.fail(fmt::format("dimension {} isn't supported, only 3", dimension));
  if (count > scanner.bytes_left() / 8 + 1)
    return line.fail(fmt::format("a count of {} vertices is more than the file can hold; it is cut short", count));
  vertices.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!scanner.next_line(line)) return scanner.fail("the file ends among the vertices; it is cut short");
    std::int64_t index = 0;
    Vec3 point;
    if (!line.read(index) || !line.read_point(point)) return line.error();
    if (i == 0) first_index = index;
    if (i == 0 && index != 0 && index != 1) return line.fail("vertices must be counted from 0 or from 1");
    if (index != first_index + static_cast<std::int64_t>(i))
      return line.fail(fmt::format("vertex number {} is out of order; renumber the vertices", index));
    vertices.push_back(point);
  }
  return {};
}

struct EleHeader {
  std::size_t count = 0;
  std::int64_t nodes = 4;
  std::int64_t attributes = 0;
};

Status read_ele_header(TextScanner& scanner, EleHeader& header) {
  TextScanner line = scanner;
  if (!scanner.next_line(line)) return scanner.fail("the file is empty");
  if (!line.read_count(header.count, 1) || (!line.at_end() && !line.read(header.nodes)) ||
      (!line.at_end() && !line.read(header.attributes)))
    return line.error();
  if (header.nodes != 4)
    return line.fail(
        fmt::format("tetrahedra of {} nodes aren't supported; write linear ones, with 4 nodes", header.nodes));
  if (header.count > scanner.bytes_left() / 10 + 1)
    return line.fail(
        fmt::format("a count of {} tetrahedra is more than the file can hold; it is cut short", header.count));
  return {};
}

// Region numbers are written as whole numbers or as 1.0.
bool read_region(TextScanner& line, std::int64_t& region) {
  double value = 0;
  if (!line.read_finite(value)) return false;
  region = std::llround(std::clamp(value, -1e15, 1e15));
  return true;
}

Status read_elements(TextScanner& scanner, std::int64_t first_index, TetMesh& mesh) {
  EleHeader header;
  SUPPLE_RETURN_IF_ERROR(read_ele_header(scanner, header));
  const auto vertex_count = static_cast<std::int64_t>(mesh.vertices.size());
  std::vector<std::int64_t> regions;
  mesh.elements.reserve(header.count);
  TextScanner line = scanner;
  for (std::size_t e = 0; e < header.count; ++e) {
    if (!scanner.next_line(line)) return scanner.fail("the file ends among the tetrahedra; it is cut short");
    std::int64_t index = 0;
    if (!line.read(index)) return line.error();
    TetMesh::Element element{};
    for (Index& node : element) {
      if (!line.read(index)) return line.error();
      if (index < first_index || index - first_index >= vertex_count)
        return line.fail(
            fmt::format("vertex {} doesn't exist, only {} to {}", index, first_index, first_index + vertex_count - 1));
      node = static_cast<Index>(index - first_index);
    }
    mesh.elements.push_back(element);
    std::int64_t region = 0;
    if (header.attributes > 0 && !read_region(line, region)) return line.error();
    regions.push_back(region);
  }
  mesh.sets = sets_from_labels(regions, "region_");
  return {};
}

}  // namespace

Result<LoadedMesh> parse_tetgen(std::string_view node_bytes, const std::string& node_name, std::string_view ele_bytes,
                                const std::string& ele_name) {
  TetMesh mesh;
  std::int64_t first_index = 1;
  TextScanner nodes(node_bytes, node_name, {.comment = '#'});
  SUPPLE_RETURN_IF_ERROR(read_nodes(nodes, mesh.vertices, first_index));
  TextScanner elements(ele_bytes, ele_name, {.comment = '#'});
  SUPPLE_RETURN_IF_ERROR(read_elements(elements, first_index, mesh));
  return finish_mesh(std::move(mesh), ele_name, "TetGen");
}

TetgenFiles encode_tetgen(const TetMesh& mesh) {
  TetgenFiles files;
  auto node = std::back_inserter(files.node);
  fmt::format_to(node, "{} 3 0 0\n", mesh.vertices.size());
  for (std::size_t i = 0; i < mesh.vertices.size(); ++i) {
    const Vec3& x = mesh.vertices[i];
    fmt::format_to(node, "{} {} {} {}\n", i + 1, x[0], x[1], x[2]);
  }
  const std::vector<Index> labels = labels_from_sets(mesh.sets, mesh.elements.size());
  auto ele = std::back_inserter(files.ele);
  fmt::format_to(ele, "{} 4 {}\n", mesh.elements.size(), mesh.sets.empty() ? 0 : 1);
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const auto& t = mesh.elements[e];
    fmt::format_to(ele, "{} {} {} {} {}", e + 1, t[0] + 1, t[1] + 1, t[2] + 1, t[3] + 1);
    if (mesh.sets.empty())
      files.ele += '\n';
    else
      fmt::format_to(ele, " {}\n", labels[e]);
  }
  return files;
}

}  // namespace supple
