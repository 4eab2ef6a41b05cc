// SPDX-License-Identifier: Apache-2.0
#include "supple/io/mesh/ply.h"

#include <fmt/format.h>

#include "supple/io/bytes.h"
#include "supple/io/text_scanner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace supple {
namespace {

enum class PlyType { int8, uint8, int16, uint16, int32, uint32, float32, float64 };

std::optional<PlyType> type_named(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, PlyType>, 16> names = {{{"char", PlyType::int8},
                                                                           {"int8", PlyType::int8},
                                                                           {"uchar", PlyType::uint8},
                                                                           {"uint8", PlyType::uint8},
                                                                           {"short", PlyType::int16},
                                                                           {"int16", PlyType::int16},
                                                                           {"ushort", PlyType::uint16},
                                                                           {"uint16", PlyType::uint16},
                                                                           {"int", PlyType::int32},
                                                                           {"int32", PlyType::int32},
                                                                           {"uint", PlyType::uint32},
                                                                           {"uint32", PlyType::uint32},
                                                                           {"float", PlyType::float32},
                                                                           {"float32", PlyType::float32},
                                                                           {"double", PlyType::float64},
                                                                           {"float64", PlyType::float64}}};
  for (const auto& [text, type] : names) {
    if (text == name) return type;
  }
  return std::nullopt;
}

std::size_t size_of(PlyType type) {
  switch (type) {
    case PlyType::int8:
    case PlyType::uint8:
      return 1;
    case PlyType::int16:
    case PlyType::uint16:
      return 2;
    case PlyType::float64:
      return 8;
    default:
      return 4;
  }
}

// A property goes to one of the slots we keep, becomes an attribute, or goes nowhere.
enum Slot { slot_x, slot_y, slot_z, slot_red, slot_green, slot_blue, slot_alpha, slot_count, slot_corners, slot_none };

struct PlyProperty {
  PlyType type = PlyType::float32;
  std::optional<PlyType> list_count;  ///< set for lists
  Slot slot = slot_none;
  std::string_view name;
  std::optional<std::size_t> attribute;  ///< of the surface, for what else a vertex has
};

struct PlyElement {
  std::string_view name;
  std::size_t count = 0;
  std::vector<PlyProperty> properties;
};

Slot slot_named(std::string_view element, std::string_view property) {
  constexpr std::array<std::string_view, slot_count> names = {"x", "y", "z", "red", "green", "blue", "alpha"};
  if (element == "face" && (property == "vertex_indices" || property == "vertex_index")) return slot_corners;
  if (element != "vertex") return slot_none;
  const auto found = std::find(names.begin(), names.end(), property);
  return found == names.end() ? slot_none : static_cast<Slot>(found - names.begin());
}

float within_float(double value) {
  constexpr double most = std::numeric_limits<float>::max();
  return static_cast<float>(std::isnan(value) ? value : std::clamp(value, -most, most));
}

// The numbers of the body, whatever the encoding.
class TextNumbers {
 public:
  explicit TextNumbers(TextScanner& scanner) : scanner_(scanner) {}
  bool read(PlyType, double& value) { return scanner_.read(value); }
  std::size_t bytes_left() const { return scanner_.bytes_left(); }
  static std::size_t least_size(PlyType) { return 2; }  // a digit and a blank

 private:
  TextScanner& scanner_;
};

class BinaryNumbers {
 public:
  BinaryNumbers(std::string_view bytes, bool swap) : reader_(bytes, swap) {}
  bool read(PlyType type, double& value) {
    switch (type) {
      case PlyType::int8:
        return read_as<std::int8_t>(value);
      case PlyType::uint8:
        return read_as<std::uint8_t>(value);
      case PlyType::int16:
        return read_as<std::int16_t>(value);
      case PlyType::uint16:
        return read_as<std::uint16_t>(value);
      case PlyType::int32:
        return read_as<std::int32_t>(value);
      case PlyType::uint32:
        return read_as<std::uint32_t>(value);
      case PlyType::float32:
        return read_as<float>(value);
      case PlyType::float64:
        return read_as<double>(value);
    }
    return false;
  }
  std::size_t bytes_left() const { return reader_.bytes_left(); }
  static std::size_t least_size(PlyType type) { return size_of(type); }

 private:
  template <class T>
  bool read_as(double& value) {
    T raw{};
    if (!reader_.read(raw)) return false;
    value = static_cast<double>(raw);
    return true;
  }
  ByteReader reader_;
};

class PlyReader {
 public:
  PlyReader(std::string_view bytes, const std::string& name) : scanner_(bytes, name), name_(name) {}

  Result<LoadedMesh> read() {
    SUPPLE_RETURN_IF_ERROR(read_header());
    if (encoding_ == "ascii") {
      TextNumbers numbers(scanner_);
      SUPPLE_RETURN_IF_ERROR(read_body(numbers));
    } else {
      BinaryNumbers numbers(scanner_.remaining(), encoding_ == "binary_big_endian");
      SUPPLE_RETURN_IF_ERROR(read_body(numbers));
    }
    SUPPLE_RETURN_IF_ERROR(check_corners());
    std::vector<std::string> warnings;
    if (small_faces_ > 0)
      warnings.push_back(fmt::format("Left out {} faces with fewer than three corners.", small_faces_));
    const bool ascii = encoding_ == "ascii";
    return finish_mesh(std::move(surface_), name_, ascii ? "PLY ASCII" : "PLY binary", std::move(warnings));
  }

 private:
  Status read_header() {
    if (scanner_.token() != "ply") return damaged("doesn't start with \"ply\"; it is of another format");
    for (;;) {
      const std::string_view word = scanner_.token();
      Status status;
      if (word == "end_header") break;
      if (word == "format")
        status = read_format();
      else if (word == "element")
        status = read_element();
      else if (word == "property")
        status = read_property();
      else if (word == "comment" || word == "obj_info")
        scanner_.rest_of_line();
      else
        return scanner_.fail("the header isn't understood; the file is cut short or damaged");
      SUPPLE_RETURN_IF_ERROR(status);
    }
    if (encoding_.empty()) return damaged("has no format line in its header; it is damaged");
    // Exactly one line end separates header and body, and binary bodies may begin with any byte.
    scanner_.skip_line_end();
    return {};
  }

  Status read_format() {
    encoding_ = scanner_.token();
    const bool known = encoding_ == "ascii" || encoding_ == "binary_little_endian" || encoding_ == "binary_big_endian";
    if (!known) return scanner_.fail("the encoding isn't one of ascii, binary_little_endian, binary_big_endian");
    scanner_.rest_of_line();
    return {};
  }

  Status read_element() {
    PlyElement element;
    element.name = scanner_.token();
    std::int64_t count = 0;
    if (!scanner_.read(count)) return scanner_.error();
    if (count < 0 || count > std::numeric_limits<Index>::max()) return scanner_.fail("an element count is impossible");
    element.count = to_size(count);
    elements_.push_back(std::move(element));
    return {};
  }

  Status read_property() {
    if (elements_.empty()) return scanner_.fail("a property stands before the first element; the file is damaged");
    PlyProperty property;
    std::string_view type = scanner_.token();
    if (type == "list") {
      property.list_count = type_named(scanner_.token());
      if (!property.list_count) return scanner_.fail("the type of a list count isn't one of PLY; the file is damaged");
      type = scanner_.token();
    }
    const std::optional<PlyType> known = type_named(type);
    if (!known) return scanner_.fail("a property's type isn't one of PLY; the file is damaged");
    property.type = *known;
    property.name = scanner_.token();
    property.slot = slot_named(elements_.back().name, property.name);
    const bool wants_list = property.slot == slot_corners;
    if (wants_list != property.list_count.has_value()) property.slot = slot_none;
    elements_.back().properties.push_back(property);
    return {};
  }

  template <class Numbers>
  Status read_body(Numbers& numbers) {
    for (PlyElement& element : elements_) {
      SUPPLE_RETURN_IF_ERROR(check_size(element, numbers));
      if (element.name == "vertex") SUPPLE_RETURN_IF_ERROR(prepare_vertices(element));
      if (element.properties.empty()) continue;
      for (std::size_t i = 0; i < element.count; ++i) SUPPLE_RETURN_IF_ERROR(read_entry(element, i, numbers));
    }
    return {};
  }

  template <class Numbers>
  Status check_size(const PlyElement& element, const Numbers& numbers) {
    std::size_t least = 0;
    for (const PlyProperty& p : element.properties) least += Numbers::least_size(p.list_count.value_or(p.type));
    if (least > 0 && element.count > numbers.bytes_left() / least + 1)
      return damaged(fmt::format("announces {} entries \"{}\", more than it can hold; it is cut short or damaged",
                                 element.count, element.name));
    return {};
  }

  Status prepare_vertices(PlyElement& element) {
    if (std::exchange(has_vertices_, true)) return damaged("lists its vertices twice; it is damaged");
    std::array<bool, slot_none + 1> has{};
    for (const PlyProperty& p : element.properties) has[p.slot] = true;
    if (!has[slot_x] || !has[slot_y] || !has[slot_z]) return damaged("has vertices without x, y and z; it is damaged");
    surface_.vertices.reserve(element.count);
    if (has[slot_red] && has[slot_green] && has[slot_blue])
      surface_.attributes.push_back({std::string(colour_attribute), has[slot_alpha] ? 4 : 3, {}});
    has_colours_ = !surface_.attributes.empty();
    for (PlyProperty& p : element.properties) {
      if (p.slot != slot_none || p.list_count || is_normal(p.name) || find_attribute(p.name)) continue;
      p.attribute = surface_.attributes.size();
      surface_.attributes.push_back({std::string(p.name), 1, {}});
    }
    return {};
  }

  static bool is_normal(std::string_view name) { return name == "nx" || name == "ny" || name == "nz"; }
  bool find_attribute(std::string_view name) const {
    return std::any_of(surface_.attributes.begin(), surface_.attributes.end(),
                       [&](const VertexAttribute& attribute) { return attribute.name == name; });
  }

  template <class Numbers>
  Status read_entry(const PlyElement& element, std::size_t i, Numbers& numbers) {
    std::array<double, slot_count> values{};
    for (const PlyProperty& p : element.properties) {
      if (p.list_count) {
        SUPPLE_RETURN_IF_ERROR(read_list(p, i, numbers));
        continue;
      }
      double value = 0;
      if (!numbers.read(p.type, value)) return cut_short(element, i);
      if (p.attribute) surface_.attributes[*p.attribute].values.push_back(within_float(value));
      if (p.slot < slot_count) {
        const bool is_colour = p.slot >= slot_red;
        values[p.slot] = is_colour && p.type == PlyType::uint8    ? value / 255
                         : is_colour && p.type == PlyType::uint16 ? value / 65535
                                                                  : value;
      }
    }
    return element.name == "vertex" ? add_vertex(values, i) : Status();
  }

  Status add_vertex(const std::array<double, slot_count>& values, std::size_t i) {
    const Vec3 point(values[slot_x], values[slot_y], values[slot_z]);
    if (!point.allFinite()) return damaged(fmt::format("has a vertex that isn't finite, number {}; it is damaged", i));
    surface_.vertices.push_back(point);
    if (!has_colours_) return {};
    VertexAttribute& colours = surface_.attributes.front();
    for (int k = 0; k < colours.components; ++k) colours.values.push_back(colour_value(values[to_size(slot_red + k)]));
    return {};
  }

  template <class Numbers>
  Status read_list(const PlyProperty& p, std::size_t i, Numbers& numbers) {
    double size = 0;
    if (!numbers.read(*p.list_count, size))
      return damaged(fmt::format("ends in entry {} of a list; it is cut short", i));
    // The negated form also catches a count that is no number.
    if (!(size >= 0 && size <= static_cast<double>(numbers.bytes_left())))
      return damaged(fmt::format("has a list in entry {} that is longer than the file; it is damaged", i));
    corners_.clear();
    for (auto left = to_size(size); left > 0; --left) {
      double value = 0;
      if (!numbers.read(p.type, value)) return damaged(fmt::format("ends in entry {} of a list; it is cut short", i));
      if (p.slot != slot_corners) continue;
      if (!(value >= 0 && value < static_cast<double>(std::numeric_limits<Index>::max())))
        return damaged(fmt::format("has face {} with an impossible vertex number; it is damaged", i));
      corners_.push_back(static_cast<Index>(value));
    }
    if (p.slot != slot_corners) return {};
    if (corners_.size() < 3) ++small_faces_;
    append_polygon(surface_, corners_);
    return {};
  }

  // Only now, because nothing forbids faces before vertices.
  Status check_corners() {
    const auto count = static_cast<Index>(surface_.vertices.size());
    for (std::size_t t = 0; t < surface_.triangles.size(); ++t) {
      for (const Index corner : surface_.triangles[t]) {
        if (corner >= count)
          return damaged(fmt::format("uses vertex {} in triangle {} but has vertices 0 to {}; it is damaged", corner, t,
                                     count - 1));
      }
    }
    return {};
  }

  Error cut_short(const PlyElement& element, std::size_t i) const {
    if (scanner_.failed()) return scanner_.error();
    return damaged(fmt::format("ends in {} {} of {}; it is cut short", element.name, i, element.count));
  }
  Error damaged(const std::string& what) const { return input_error(name_ + " " + what + "."); }

  TextScanner scanner_;
  const std::string& name_;
  std::string_view encoding_;
  std::vector<PlyElement> elements_;
  std::vector<Index> corners_;
  bool has_vertices_ = false;
  bool has_colours_ = false;  ///< the first attribute
  std::size_t small_faces_ = 0;
  Surface surface_;
};

std::string header_for(const Surface& surface, std::string_view encoding, const VertexAttribute* colours) {
  std::string text = fmt::format("ply\nformat {} 1.0\ncomment written by supple\nelement vertex {}\n", encoding,
                                 surface.vertices.size());
  text += "property double x\nproperty double y\nproperty double z\n";
  constexpr std::array<std::string_view, 4> channels = {"red", "green", "blue", "alpha"};
  for (std::size_t k = 0; colours != nullptr && k < to_size(colours->components); ++k)
    text += fmt::format("property uchar {}\n", channels[k]);
  text +=
      fmt::format("element face {}\nproperty list uchar int vertex_indices\nend_header\n", surface.triangles.size());
  return text;
}

std::uint8_t colour_byte(float value) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(std::isnan(value) ? 0.0F : value, 0.0F, 1.0F) * 255.0F));
}

}  // namespace

Result<LoadedMesh> parse_ply(std::string_view bytes, const std::string& name) { return PlyReader(bytes, name).read(); }

std::string encode_ply_ascii(const Surface& surface) {
  const VertexAttribute* colours = find_colours(surface);
  std::string text = header_for(surface, "ascii", colours);
  auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < surface.vertices.size(); ++i) {
    const Vec3& x = surface.vertices[i];
    fmt::format_to(out, "{} {} {}", x[0], x[1], x[2]);
    const auto components = to_size(colours != nullptr ? colours->components : 0);
    for (std::size_t k = 0; k < components; ++k)
      fmt::format_to(out, " {}", colour_byte(colours->values[i * components + k]));
    text += '\n';
  }
  for (const Triangle& t : surface.triangles) fmt::format_to(out, "3 {} {} {}\n", t[0], t[1], t[2]);
  return text;
}

std::string encode_ply_binary(const Surface& surface) {
  const VertexAttribute* colours = find_colours(surface);
  std::string bytes = header_for(surface, "binary_little_endian", colours);
  for (std::size_t i = 0; i < surface.vertices.size(); ++i) {
    for (int k = 0; k < 3; ++k) append_bytes(bytes, surface.vertices[i][k]);
    const auto components = to_size(colours != nullptr ? colours->components : 0);
    for (std::size_t k = 0; k < components; ++k) append_bytes(bytes, colour_byte(colours->values[i * components + k]));
  }
  for (const Triangle& t : surface.triangles) {
    append_bytes(bytes, std::uint8_t{3});
    for (const Index i : t) append_bytes(bytes, i);
  }
  return bytes;
}

}  // namespace supple
