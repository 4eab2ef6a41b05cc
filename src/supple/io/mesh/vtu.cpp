// SPDX-License-Identifier: Apache-2.0
#include "supple/io/mesh/vtu.h"

#include "supple/io/deflate.h"
#include "supple/io/file.h"
#include "supple/io/xml_text.h"

#include <fmt/format.h>

#include <bit>
#include <set>

namespace supple {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie in memory");

enum class CellType : std::uint8_t { triangle = 5, tetrahedron = 10, hexahedron = 12 };  // VTK's numbers

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? static_cast<std::uint8_t>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? digits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

template <class T>
std::string_view array_bytes(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// VTK's compressed array: a header (blocks, block size, size of the last partial block, compressed sizes), then the
// blocks. Header and blocks are separate base64 texts, one after the other.
std::string encoded(std::string_view bytes) {
  constexpr std::size_t block_size = 1 << 18;
  std::vector<std::uint64_t> header = {(bytes.size() + block_size - 1) / block_size, block_size,
                                       bytes.size() % block_size};
  std::string blocks;
  for (std::size_t begin = 0; begin < bytes.size(); begin += block_size) {
    const std::string block = deflate(bytes.substr(begin, block_size), 5);
    header.push_back(block.size());
    blocks += block;
  }
  return base64(array_bytes(std::span<const std::uint64_t>(header))) + base64(blocks);
}

template <class T>
void append_array(std::string& xml, std::string_view type, std::string_view name, int components,
                  std::span<const T> values) {
  fmt::format_to(std::back_inserter(xml),
                 "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"binary\">", type,
                 xml_escaped(name), components);
  xml += encoded(array_bytes(values));
  xml += "</DataArray>\n";
}

Status check_fields(const std::vector<VtuArray>& arrays, std::size_t count, std::string_view where) {
  std::set<std::string_view> names;
  for (const VtuArray& array : arrays) {
    if (array.components < 1 || array.values.size() != count * to_size(array.components)) {
      return usage_error(fmt::format("The VTU array '{}' has {} values where {} {} of {} components need {}.",
                                     array.name, array.values.size(), count, where, array.components,
                                     count * to_size(std::max(1, array.components))));
    }
    if (!names.insert(array.name).second)
      return usage_error(
          fmt::format("Two VTU arrays on {} are called '{}'; give them different names.", where, array.name));
  }
  return {};
}

void append_fields(std::string& xml, std::string_view element, const std::vector<VtuArray>& arrays) {
  fmt::format_to(std::back_inserter(xml), "<{}>\n", element);
  for (const VtuArray& array : arrays) append_array<double>(xml, "Float64", array.name, array.components, array.values);
  fmt::format_to(std::back_inserter(xml), "</{}>\n", element);
}

template <class Cell>
void append_cells(std::string& xml, const std::vector<Cell>& cells, CellType type) {
  std::vector<Index> connectivity;
  std::vector<std::int64_t> offsets;
  connectivity.reserve(cells.size() * std::tuple_size_v<Cell>);
  for (const Cell& cell : cells) {
    connectivity.insert(connectivity.end(), cell.begin(), cell.end());
    offsets.push_back(static_cast<std::int64_t>(connectivity.size()));
  }
  const std::vector<std::uint8_t> types(cells.size(), static_cast<std::uint8_t>(type));
  xml += "<Cells>\n";
  append_array<Index>(xml, "Int32", "connectivity", 1, connectivity);
  append_array<std::int64_t>(xml, "Int64", "offsets", 1, offsets);
  append_array<std::uint8_t>(xml, "UInt8", "types", 1, types);
  xml += "</Cells>\n";
}

template <class Cell>
Result<std::string> encode(const std::vector<Vec3>& vertices, const std::vector<Cell>& cells, CellType type,
                           const VtuFields& fields) {
  SUPPLE_RETURN_IF_ERROR(check_fields(fields.points, vertices.size(), "points"));
  SUPPLE_RETURN_IF_ERROR(check_fields(fields.cells, cells.size(), "cells"));
  std::string xml =
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\" "
      "compressor=\"vtkZLibDataCompressor\">\n<UnstructuredGrid>\n";
  fmt::format_to(std::back_inserter(xml), "<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n", vertices.size(),
                 cells.size());
  append_fields(xml, "PointData", fields.points);
  append_fields(xml, "CellData", fields.cells);
  static_assert(sizeof(Vec3) == 3 * sizeof(double));
  xml += "<Points>\n";
  append_array<double>(xml, "Float64", "Points", 3,
                       {vertices.empty() ? nullptr : vertices[0].data(), 3 * vertices.size()});
  xml += "</Points>\n";
  append_cells(xml, cells, type);
  xml += "</Piece>\n</UnstructuredGrid>\n</VTKFile>\n";
  return xml;
}

Status write(const std::filesystem::path& path, const Result<std::string>& bytes) {
  if (!bytes) return bytes.error();
  return write_file_atomically(path, *bytes);
}

}  // namespace

VtuArray vtu_vectors(std::string name, const VecX& stacked) {
  return {std::move(name), 3, {stacked.begin(), stacked.end()}};
}

Result<std::string> vtu_bytes(const TetMesh& mesh, const VtuFields& fields) {
  return encode(mesh.vertices, mesh.elements, CellType::tetrahedron, fields);
}
Result<std::string> vtu_bytes(const HexMesh& mesh, const VtuFields& fields) {
  return encode(mesh.vertices, mesh.elements, CellType::hexahedron, fields);
}
Result<std::string> vtu_bytes(const Surface& surface, const VtuFields& fields) {
  return encode(surface.vertices, surface.triangles, CellType::triangle, fields);
}

Status write_vtu(const std::filesystem::path& path, const TetMesh& mesh, const VtuFields& fields) {
  return write(path, vtu_bytes(mesh, fields));
}
Status write_vtu(const std::filesystem::path& path, const HexMesh& mesh, const VtuFields& fields) {
  return write(path, vtu_bytes(mesh, fields));
}
Status write_vtu(const std::filesystem::path& path, const Surface& surface, const VtuFields& fields) {
  return write(path, vtu_bytes(surface, fields));
}

Status write_pvd(const std::filesystem::path& path, std::span<const PvdFrame> frames) {
  std::string xml = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n";
  for (const PvdFrame& frame : frames) {
    fmt::format_to(std::back_inserter(xml), "<DataSet timestep=\"{}\" group=\"\" part=\"0\" file=\"{}\"/>\n",
                   frame.time, xml_escaped(frame.file));
  }
  return write_file_atomically(path, xml + "</Collection>\n</VTKFile>\n");
}

}  // namespace supple
