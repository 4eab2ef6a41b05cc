// SPDX-License-Identifier: Apache-2.0
#include "supple/io/mesh/off.h"

#include <fmt/format.h>

#include "supple/io/text_scanner.h"

namespace supple {
namespace {

struct OffKind {
  bool colours = false;
  bool normals = false;
};

// The first word is [ST][C][N][4][n]OFF. We read the variants of three-dimensional points.
bool parse_kind(std::string_view word, OffKind& kind) {
  if (word.starts_with("ST")) word.remove_prefix(2);
  if (word.starts_with("C")) {
    kind.colours = true;
    word.remove_prefix(1);
  }
  if (word.starts_with("N")) {
    kind.normals = true;
    word.remove_prefix(1);
  }
  return word == "OFF";
}

class OffReader {
 public:
  OffReader(std::string_view bytes, const std::string& name) : scanner_(bytes, name, {.comment = '#'}), name_(name) {}

  Result<LoadedMesh> read() {
    SUPPLE_RETURN_IF_ERROR(read_header());
    SUPPLE_RETURN_IF_ERROR(read_vertices());
    SUPPLE_RETURN_IF_ERROR(read_faces());
    std::vector<std::string> warnings;
    if (small_faces_ > 0)
      warnings.push_back(fmt::format("Left out {} faces with fewer than three corners.", small_faces_));
    attach_colours();
    return finish_mesh(std::move(surface_), name_, kind_.colours ? "COFF" : "OFF", std::move(warnings));
  }

 private:
  Status read_header() {
    const std::string_view first = scanner_.peek();
    double number = 0;
    if (!parse_number(first, number)) {  // the header word itself may be left out
      if (!parse_kind(first, kind_))
        return scanner_.fail("the file doesn't start with OFF, COFF or NOFF; it is damaged or of another format");
      scanner_.token();
      if (equals_ignoring_case(scanner_.peek(), "BINARY"))
        return scanner_.fail("binary OFF isn't supported; save it as text");
    }
    // A vertex takes at least "0 0 0\n", a face "3 0 0 0\n".
    if (!scanner_.read_count(vertex_count_, 6) || !scanner_.read_count(face_count_, 2)) return scanner_.error();
    scanner_.rest_of_line();  // the number of edges, which nobody fills in reliably
    return {};
  }

  Status read_vertices() {
    surface_.vertices.reserve(vertex_count_);
    TextScanner line = scanner_;
    while (surface_.vertices.size() < vertex_count_) {
      if (!scanner_.next_line(line)) return scanner_.fail("the file ends among the vertices; it is cut short");
      Vec3 point;
      if (!line.read_point(point)) return line.error();
      surface_.vertices.push_back(point);
      if (kind_.colours) SUPPLE_RETURN_IF_ERROR(read_colour(line));
    }
    return {};
  }

  // Colours stand last on the line, three or four numbers; normals, if any, before them.
  Status read_colour(TextScanner& line) {
    Vec3 normal;
    if (kind_.normals && !line.read_point(normal)) return line.error();
    std::array<double, 4> colour{0, 0, 0, 1};
    std::size_t count = 0;
    while (count < 4 && !line.at_end()) {
      if (!line.read_finite(colour[count])) return line.error();
      ++count;
    }
    if (count != 0 && count < 3) return line.fail("a colour needs three or four numbers; the file is damaged");
    components_ = std::max(components_, static_cast<int>(count));
    for (const double value : colour) {
      brightest_ = std::max(brightest_, value);
      colours_.push_back(colour_value(value));
    }
    return {};
  }

  Status read_faces() {
    const auto vertex_count = static_cast<Index>(vertex_count_);
    TextScanner line = scanner_;
    std::vector<Index> corners;
    for (std::size_t f = 0; f < face_count_; ++f) {
      if (!scanner_.next_line(line)) return scanner_.fail("the file ends among the faces; it is cut short");
      std::size_t size = 0;
      if (!line.read_count(size, 2)) return line.error();
      if (size > line.bytes_left())
        return line.fail("a face has more corners than its line can hold; the file is damaged");
      corners.resize(size);
      for (Index& corner : corners) {
        if (!line.read(corner)) return line.error();
        if (corner < 0 || corner >= vertex_count)
          return line.fail(fmt::format("a face uses vertex {} but the file has vertices 0 to {}; it is damaged", corner,
                                       vertex_count - 1));
      }
      if (size < 3) ++small_faces_;
      append_polygon(surface_, corners);
    }
    return {};
  }

  // Colours are 0 to 1 or, when any exceeds 1, 0 to 255.
  void attach_colours() {
    if (components_ == 0) return;
    const float scale = brightest_ > 1 ? 1.0F / 255.0F : 1.0F;
    VertexAttribute attribute{std::string(colour_attribute), components_, {}};
    for (std::size_t i = 0; i < colours_.size(); i += 4) {
      for (std::size_t k = 0; k < to_size(components_); ++k) attribute.values.push_back(colours_[i + k] * scale);
    }
    surface_.attributes.push_back(std::move(attribute));
  }

  TextScanner scanner_;
  const std::string& name_;
  OffKind kind_;
  std::size_t vertex_count_ = 0;
  std::size_t face_count_ = 0;
  std::size_t small_faces_ = 0;
  Surface surface_;
  std::vector<float> colours_;  // always four per vertex while reading
  int components_ = 0;
  double brightest_ = 0;
};

}  // namespace

Result<LoadedMesh> parse_off(std::string_view bytes, const std::string& name) { return OffReader(bytes, name).read(); }

std::string encode_off(const Surface& surface) {
  const VertexAttribute* colours = find_colours(surface);
  std::string text = colours != nullptr ? "COFF\n" : "OFF\n";
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{} {} 0\n", surface.vertices.size(), surface.triangles.size());
  for (std::size_t i = 0; i < surface.vertices.size(); ++i) {
    const Vec3& x = surface.vertices[i];
    fmt::format_to(out, "{} {} {}", x[0], x[1], x[2]);
    const auto components = to_size(colours != nullptr ? colours->components : 0);
    for (std::size_t k = 0; k < components; ++k) fmt::format_to(out, " {}", colours->values[i * components + k]);
    text += '\n';
  }
  for (const Triangle& t : surface.triangles) fmt::format_to(out, "3 {} {} {}\n", t[0], t[1], t[2]);
  return text;
}

}  // namespace supple
