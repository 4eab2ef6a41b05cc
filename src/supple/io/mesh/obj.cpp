// SPDX-License-Identifier: Apache-2.0
#include "supple/io/mesh/obj.h"

#include <fmt/format.h>

#include "supple/io/text_scanner.h"

#include <limits>

namespace supple {
namespace {

class ObjReader {
 public:
  ObjReader(std::string_view bytes, const std::string& name)
      : scanner_(bytes, name, {.comment = '#', .continues_lines = true}), name_(name) {}

  Result<LoadedMesh> read() {
    TextScanner line = scanner_;
    while (scanner_.next_line(line)) SUPPLE_RETURN_IF_ERROR(read_line(line));
    if (largest_index_ >= static_cast<Index>(surface_.vertices.size())) {
      return input_error(fmt::format("{}, line {}: a face uses vertex {} but the file has only {}; it is damaged.",
                                     name_, largest_index_line_.line_number(), largest_index_ + 1,
                                     surface_.vertices.size()));
    }
    attach_colours();
    std::vector<std::string> warnings;
    if (small_faces_ > 0)
      warnings.push_back(fmt::format("Left out {} faces with fewer than three corners.", small_faces_));
    return finish_mesh(std::move(surface_), name_, "OBJ", std::move(warnings));
  }

 private:
  Status read_line(TextScanner& line) {
    const std::string_view keyword = line.token();
    if (keyword == "v") return read_vertex(line);
    if (keyword == "f" || keyword == "fo") return read_face(line);
    if (keyword == "g" || keyword == "o") {
      group_ = line.rest_of_line();
      material_ = {};
      name_part();
    } else if (keyword == "usemtl") {
      material_ = line.rest_of_line();
      name_part();
    }
    return {};
  }

  void name_part() {
    if (group_.empty() || material_.empty()) return begin_part(surface_, group_.empty() ? material_ : group_);
    begin_part(surface_, fmt::format("{}/{}", group_, material_));
  }

  // x y z, x y z w, x y z r g b, or x y z w r g b.
  Status read_vertex(TextScanner& line) {
    Vec3 point;
    if (!line.read_point(point)) return line.error();
    if (surface_.vertices.size() >= to_size(std::numeric_limits<Index>::max()))
      return line.fail("more than 2^31 vertices; split the mesh");
    std::array<double, 4> extra{};
    std::size_t count = 0;
    while (count < extra.size() && !line.at_end()) {
      if (!line.read_finite(extra[count])) return line.error();
      ++count;
    }
    if (count >= 3) {
      colours_.resize(surface_.vertices.size() * 3, 1.0F);  // vertices before the first coloured one are white
      for (std::size_t k = count - 3; k < count; ++k) colours_.push_back(colour_value(extra[k]));
    }
    surface_.vertices.push_back(point);
    return {};
  }

  Status read_face(TextScanner& line) {
    corners_.clear();
    for (std::string_view corner = line.token(); !corner.empty(); corner = line.token()) {
      std::int64_t index = 0;
      if (!parse_number(corner.substr(0, corner.find('/')), index) || index == 0 ||
          index > std::numeric_limits<Index>::max())
        return line.fail("a face needs vertex numbers counted from 1, or from -1 backwards; the file is damaged");
      if (index < 0) index += static_cast<std::int64_t>(surface_.vertices.size()) + 1;
      if (index <= 0) return line.fail("a face counts back beyond the first vertex; the file is damaged");
      corners_.push_back(static_cast<Index>(index - 1));
      if (corners_.back() > largest_index_) {
        largest_index_ = corners_.back();
        largest_index_line_ = line;
      }
    }
    if (corners_.size() < 3) ++small_faces_;
    append_polygon(surface_, corners_);
    if (surface_.triangles.size() > to_size(std::numeric_limits<Index>::max()))
      return line.fail("more than 2^31 triangles; split the mesh");
    return {};
  }

  void attach_colours() {
    if (colours_.empty()) return;
    colours_.resize(surface_.vertices.size() * 3, 1.0F);
    surface_.attributes.push_back({std::string(colour_attribute), 3, std::move(colours_)});
  }

  TextScanner scanner_;
  const std::string& name_;
  Surface surface_;
  std::vector<float> colours_;
  std::vector<Index> corners_;
  std::string_view group_;
  std::string_view material_;
  std::size_t small_faces_ = 0;
  // Faces may name vertices that come later, so their numbers are checked at the end; this is where to point then.
  Index largest_index_ = -1;
  TextScanner largest_index_line_ = scanner_;
};

void append_vertices(const Surface& surface, std::string& text) {
  const VertexAttribute* colours = find_colours(surface);
  auto out = std::back_inserter(text);
  for (std::size_t i = 0; i < surface.vertices.size(); ++i) {
    const Vec3& x = surface.vertices[i];
    fmt::format_to(out, "v {} {} {}", x[0], x[1], x[2]);
    if (colours != nullptr) {
      const float* colour = &colours->values[i * to_size(colours->components)];
      fmt::format_to(out, " {} {} {}", colour[0], colour[1], colour[2]);
    }
    text += '\n';
  }
}

}  // namespace

Result<LoadedMesh> parse_obj(std::string_view bytes, const std::string& name) { return ObjReader(bytes, name).read(); }

std::string encode_obj(const Surface& surface) {
  std::string text = "# written by supple\n";
  append_vertices(surface, text);
  std::size_t part = 0;
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    while (part < surface.parts.size() && surface.parts[part].first_triangle == static_cast<Index>(t))
      text += "g " + surface.parts[part++].name + "\n";
    const Triangle& corners = surface.triangles[t];
    fmt::format_to(std::back_inserter(text), "f {} {} {}\n", corners[0] + 1, corners[1] + 1, corners[2] + 1);
  }
  return text;
}

}  // namespace supple
