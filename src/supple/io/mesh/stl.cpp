// SPDX-License-Identifier: Apache-2.0
#include "supple/io/mesh/stl.h"

#include <fmt/format.h>

#include "supple/base/hash_mix.h"
#include "supple/io/bytes.h"
#include "supple/io/text_scanner.h"

#include <Eigen/Geometry>

#include <limits>
#include <unordered_map>

namespace supple {
namespace {

constexpr std::size_t header_size = 84;  // 80 free bytes and the number of triangles
constexpr std::size_t facet_size = 50;   // a normal and three corners as floats, two free bytes

class CornerWelder {
 public:
  explicit CornerWelder(Surface& surface) : surface_(surface) {}
  Index operator()(const Vec3& point) {
    // Adding zero makes -0 and 0 the same place.
    const auto [entry, is_new] =
        places_.try_emplace({point[0] + 0.0, point[1] + 0.0, point[2] + 0.0}, static_cast<Index>(places_.size()));
    if (is_new) surface_.vertices.push_back(point);
    return entry->second;
  }

 private:
  Surface& surface_;
  std::unordered_map<std::array<double, 3>, Index, ArrayHash> places_;
};

std::uint32_t announced_facets(std::string_view bytes) {
  ByteReader reader(bytes);
  std::uint32_t count = 0;
  if (!reader.skip(80) || !reader.read(count)) return 0;
  return count;
}

Result<LoadedMesh> parse_binary(std::string_view bytes, const std::string& name) {
  if (bytes.size() < header_size)
    return input_error(fmt::format("{} is too short for an STL file ({} bytes); it is cut short or of another format.",
                                   name, bytes.size()));
  const std::size_t count = announced_facets(bytes);
  const std::size_t available = (bytes.size() - header_size) / facet_size;
  if (count > available) {
    return input_error(fmt::format("{} announces {} triangles but holds {}; it is cut short or of another format.",
                                   name, count, available));
  }
  if (count > to_size(std::numeric_limits<Index>::max()) / 3)
    return input_error(fmt::format("{} holds {} triangles, more than we can number; split it.", name, count));
  Surface surface;
  surface.triangles.reserve(count);
  CornerWelder weld(surface);
  ByteReader reader(bytes);
  reader.skip(header_size);
  for (std::size_t f = 0; f < count; ++f) {
    std::array<float, 12> numbers{};
    for (float& number : numbers) reader.read(number);
    reader.skip(2);
    Triangle triangle{};
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec3 corner(numbers[3 * k + 3], numbers[3 * k + 4], numbers[3 * k + 5]);
      if (!corner.allFinite())
        return input_error(
            fmt::format("{}: triangle {} has a corner that isn't finite; the file is damaged.", name, f + 1));
      triangle[k] = weld(corner);
    }
    surface.triangles.push_back(triangle);
  }
  std::vector<std::string> warnings;
  if (bytes.size() != header_size + count * facet_size) warnings.push_back("Left out bytes after the last triangle.");
  return finish_mesh(std::move(surface), name, "STL binary", std::move(warnings));
}

bool read_facet(TextScanner& scanner, CornerWelder& weld, Surface& surface) {
  double unused = 0;
  // The normal is skipped unread: exporters write NaN there for degenerate facets.
  if (!scanner.expect("normal") || !scanner.read(unused) || !scanner.read(unused) || !scanner.read(unused))
    return false;
  if (!scanner.expect("outer") || !scanner.expect("loop")) return false;
  Triangle triangle{};
  for (Index& index : triangle) {
    Vec3 corner;
    if (!scanner.expect("vertex") || !scanner.read_point(corner)) return false;
    index = weld(corner);
  }
  surface.triangles.push_back(triangle);
  return scanner.expect("endloop") && scanner.expect("endfacet");
}

Result<LoadedMesh> parse_ascii(std::string_view bytes, const std::string& name) {
  TextScanner scanner(bytes, name);
  Surface surface;
  CornerWelder weld(surface);
  bool inside = false;
  std::size_t solids = 0;
  while (!scanner.at_end()) {
    const std::string_view word = scanner.token();
    if (!inside && equals_ignoring_case(word, "solid")) {
      begin_part(surface, scanner.rest_of_line());
      inside = true;
      ++solids;
    } else if (inside && equals_ignoring_case(word, "facet")) {
      if (!read_facet(scanner, weld, surface)) return scanner.error();
    } else if (inside && equals_ignoring_case(word, "endsolid")) {
      scanner.rest_of_line();
      inside = false;
    } else {
      return scanner.fail("expected solid, facet or endsolid; the file is damaged");
    }
  }
  if (inside) return scanner.fail("the file ends before endsolid; it is cut short");
  if (solids == 1 && surface.parts.size() == 1 && surface.parts[0].name.empty()) surface.parts.clear();
  return finish_mesh(std::move(surface), name, "STL ASCII");
}

Vec3 normal_of(const Surface& surface, const Triangle& t) {
  const Vec3& a = surface.vertices[to_size(t[0])];
  const Vec3 normal = (surface.vertices[to_size(t[1])] - a).cross(surface.vertices[to_size(t[2])] - a);
  const double length = normal.norm();
  return length > 0 && std::isfinite(length) ? Vec3(normal / length) : Vec3(Vec3::Zero());
}

void append_solid(const Surface& surface, std::span<const Triangle> triangles, const std::string& name,
                  std::string& text) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "solid {}\n", name);
  for (const Triangle& t : triangles) {
    const Vec3 n = normal_of(surface, t);
    fmt::format_to(out, "facet normal {} {} {}\nouter loop\n", n[0], n[1], n[2]);
    for (const Index i : t) {
      const Vec3& x = surface.vertices[to_size(i)];
      fmt::format_to(out, "vertex {} {} {}\n", x[0], x[1], x[2]);
    }
    text += "endloop\nendfacet\n";
  }
  fmt::format_to(out, "endsolid {}\n", name);
}

}  // namespace

bool looks_like_binary_stl(std::string_view bytes) {
  return bytes.size() >= header_size && bytes.size() == header_size + facet_size * std::size_t{announced_facets(bytes)};
}

Result<LoadedMesh> parse_stl(std::string_view bytes, const std::string& name) {
  if (looks_like_binary_stl(bytes)) return parse_binary(bytes, name);
  // A text file says "solid" and has no zero bytes; a binary header may say "solid" too, but is padded with zeros or
  // followed by floats, which hold zeros.
  TextScanner scanner(bytes, name);
  const bool starts_solid = equals_ignoring_case(scanner.token(), "solid");
  if (starts_solid && bytes.substr(0, 1000).find('\0') == std::string_view::npos) return parse_ascii(bytes, name);
  return parse_binary(bytes, name);
}

std::string encode_stl_ascii(const Surface& surface) {
  std::string text;
  const std::span<const Triangle> all(surface.triangles);
  if (surface.parts.empty()) append_solid(surface, all, "", text);
  for (const SurfacePart& part : surface.parts) {
    append_solid(surface, all.subspan(to_size(part.first_triangle), to_size(part.triangle_count)), part.name, text);
  }
  return text;
}

std::string encode_stl_binary(const Surface& surface) {
  std::string bytes = "binary STL written by supple";
  bytes.resize(80, ' ');
  append_bytes(bytes, static_cast<std::uint32_t>(surface.triangles.size()));
  for (const Triangle& t : surface.triangles) {
    const Vec3 n = normal_of(surface, t);
    for (int k = 0; k < 3; ++k) append_bytes(bytes, static_cast<float>(n[k]));
    for (const Index i : t) {
      for (int k = 0; k < 3; ++k) append_bytes(bytes, static_cast<float>(surface.vertices[to_size(i)][k]));
    }
    append_bytes(bytes, std::uint16_t{0});
  }
  return bytes;
}

}  // namespace supple
