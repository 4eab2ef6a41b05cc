// SPDX-License-Identifier: Apache-2.0
#include "supple/io/mesh/gmsh.h"

#include <fmt/format.h>

#include "supple/io/bytes.h"
#include "supple/io/mesh/gmsh_raw.h"

#include <Eigen/Geometry>

#include <map>

namespace supple {
namespace {

class TextSink {
 public:
  explicit TextSink(std::string& text) : text_(text) {}
  void integer(std::int64_t value) { append(value); }
  void size(std::size_t value) { append(value); }
  void real(double value) { append(value); }
  void end_line() {
    text_ += '\n';
    starts_line_ = true;
  }

 private:
  template <class T>
  void append(T value) {
    fmt::format_to(std::back_inserter(text_), "{}{}", starts_line_ ? "" : " ", value);
    starts_line_ = false;
  }
  std::string& text_;
  bool starts_line_ = true;
};

class BinarySink {
 public:
  explicit BinarySink(std::string& bytes) : bytes_(bytes) {}
  void integer(std::int64_t value) { append_bytes(bytes_, static_cast<std::int32_t>(value)); }
  void size(std::size_t value) { append_bytes(bytes_, std::uint64_t{value}); }
  void real(double value) { append_bytes(bytes_, value); }
  void end_line() {}

 private:
  std::string& bytes_;
};

template <class Element>
class GmshWriter {
 public:
  GmshWriter(const std::vector<Vec3>& vertices, const std::vector<Element>& elements, std::vector<ElementSet> groups,
             const GmshType& type, Encoding encoding)
      : vertices_(vertices),
        elements_(elements),
        groups_(std::move(groups)),
        type_(type),
        is_binary_(encoding == Encoding::binary),
        memberships_(elements.size()) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (const Index e : groups_[g].elements) memberships_[to_size(e)].push_back(static_cast<std::int64_t>(g + 1));
    }
  }

  std::string encode(GmshVersion version) {
    append_format(version == GmshVersion::v2_2 ? "2.2" : "4.1");
    append_names();
    if (version == GmshVersion::v4_1) {
      with_sink([&](auto& sink) { append_version_4(sink); });
    } else {
      with_sink([&](auto& sink) { append_version_2(sink); });
    }
    return std::move(text_);
  }

 private:
  template <class Function>
  void with_sink(Function&& function) {
    if (is_binary_) {
      BinarySink sink(text_);
      function(sink);
    } else {
      TextSink sink(text_);
      function(sink);
    }
  }

  void append_format(std::string_view version) {
    text_ += fmt::format("$MeshFormat\n{} {} 8\n", version, is_binary_ ? 1 : 0);
    if (is_binary_) {
      append_bytes(text_, std::int32_t{1});
      text_ += '\n';
    }
    text_ += "$EndMeshFormat\n";
  }

  void append_names() {
    if (groups_.empty()) return;
    text_ += fmt::format("$PhysicalNames\n{}\n", groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g)
      text_ += fmt::format("{} {} \"{}\"\n", type_.dimension, g + 1, groups_[g].name);
    text_ += "$EndPhysicalNames\n";
  }

  void end_section(std::string_view name) {
    if (is_binary_) text_ += '\n';
    text_ += fmt::format("$End{}\n", name);
  }

  // One entity per combination of groups that occurs.
  std::int64_t entity_of(const std::vector<std::int64_t>& groups) const { return entities_.at(groups); }

  template <class Sink>
  void append_version_4(Sink& sink) {
    for (const auto& groups : memberships_)
      entities_.try_emplace(groups, static_cast<std::int64_t>(entities_.size()) + 1);
    append_entities(sink);
    append_nodes_4(sink);
    append_elements_4(sink);
  }

  template <class Sink>
  void append_entities(Sink& sink) {
    text_ += "$Entities\n";
    for (int dimension = 0; dimension <= 3; ++dimension) sink.size(dimension == type_.dimension ? entities_.size() : 0);
    sink.end_line();
    Eigen::AlignedBox3d box;
    for (const Vec3& x : vertices_) box.extend(x);
    for (const auto& [groups, tag] : entities_) {
      sink.integer(tag);
      for (int k = 0; k < 3; ++k) sink.real(box.min()[k]);
      for (int k = 0; k < 3; ++k) sink.real(box.max()[k]);
      sink.size(groups.size());
      for (const std::int64_t group : groups) sink.integer(group);
      sink.size(0);  // we don't know what bounds it
      sink.end_line();
    }
    end_section("Entities");
  }

  template <class Sink>
  void append_nodes_4(Sink& sink) {
    text_ += "$Nodes\n";
    const std::size_t count = vertices_.size();
    sink.size(1);
    sink.size(count);
    sink.size(1);
    sink.size(count);
    sink.end_line();
    sink.integer(type_.dimension);
    sink.integer(1);
    sink.integer(0);
    sink.size(count);
    sink.end_line();
    for (std::size_t i = 0; i < count; ++i) {
      sink.size(i + 1);
      sink.end_line();
    }
    for (const Vec3& x : vertices_) append_point(sink, x);
    end_section("Nodes");
  }

  template <class Sink>
  static void append_point(Sink& sink, const Vec3& x) {
    for (int k = 0; k < 3; ++k) sink.real(x[k]);
    sink.end_line();
  }

  // Runs of elements of the same entity, so that the order of the elements survives.
  template <class Sink>
  void append_elements_4(Sink& sink) {
    std::vector<std::size_t> starts;
    for (std::size_t e = 0; e < elements_.size(); ++e) {
      if (e == 0 || memberships_[e] != memberships_[e - 1]) starts.push_back(e);
    }
    text_ += "$Elements\n";
    sink.size(starts.size());
    sink.size(elements_.size());
    sink.size(1);
    sink.size(elements_.size());
    sink.end_line();
    for (std::size_t run = 0; run < starts.size(); ++run) {
      const std::size_t stop = run + 1 < starts.size() ? starts[run + 1] : elements_.size();
      sink.integer(type_.dimension);
      sink.integer(entity_of(memberships_[starts[run]]));
      sink.integer(type_.number);
      sink.size(stop - starts[run]);
      sink.end_line();
      for (std::size_t e = starts[run]; e < stop; ++e) {
        sink.size(e + 1);
        for (const Index node : elements_[e]) sink.size(to_size(node) + 1);
        sink.end_line();
      }
    }
    end_section("Elements");
  }

  template <class Sink>
  void append_version_2(Sink& sink) {
    text_ += fmt::format("$Nodes\n{}\n", vertices_.size());
    for (std::size_t i = 0; i < vertices_.size(); ++i) {
      sink.integer(static_cast<std::int64_t>(i) + 1);
      append_point(sink, vertices_[i]);
    }
    end_section("Nodes");
    append_elements_2(sink);
  }

  // An element in several groups is written once for each, as Gmsh does.
  template <class Sink>
  void append_elements_2(Sink& sink) {
    std::vector<std::pair<std::size_t, std::int64_t>> entries;
    for (std::size_t e = 0; e < elements_.size(); ++e) {
      if (memberships_[e].empty()) entries.emplace_back(e, 0);
      for (const std::int64_t group : memberships_[e]) entries.emplace_back(e, group);
    }
    text_ += fmt::format("$Elements\n{}\n", entries.size());
    if (is_binary_ && !entries.empty()) {
      sink.integer(type_.number);
      sink.integer(static_cast<std::int64_t>(entries.size()));
      sink.integer(2);
    }
    std::int64_t number = 0;
    for (const auto& [e, group] : entries) {
      sink.integer(++number);
      if (!is_binary_) {
        sink.integer(type_.number);
        sink.integer(2);
      }
      sink.integer(group);
      sink.integer(1);
      for (const Index node : elements_[e]) sink.integer(std::int64_t{node} + 1);
      sink.end_line();
    }
    end_section("Elements");
  }

  const std::vector<Vec3>& vertices_;
  const std::vector<Element>& elements_;
  std::vector<ElementSet> groups_;
  const GmshType& type_;
  bool is_binary_;
  std::string text_;
  std::vector<std::vector<std::int64_t>> memberships_;  // groups of each element, ascending
  std::map<std::vector<std::int64_t>, std::int64_t> entities_;
};

// Parts of the same name are one group.
std::vector<ElementSet> groups_of_parts(const Surface& surface) {
  std::vector<ElementSet> groups;
  std::map<std::string_view, std::size_t> known;
  for (const SurfacePart& part : surface.parts) {
    if (part.name.empty()) continue;
    const auto [entry, is_new] = known.try_emplace(part.name, groups.size());
    if (is_new) groups.push_back({part.name, {}});
    for (Index t = 0; t < part.triangle_count; ++t) groups[entry->second].elements.push_back(part.first_triangle + t);
  }
  return groups;
}

}  // namespace

std::string encode_gmsh(const TetMesh& mesh, GmshVersion version, Encoding encoding) {
  return GmshWriter(mesh.vertices, mesh.elements, mesh.sets, *find_gmsh_type(gmsh_tetrahedron), encoding)
      .encode(version);
}

std::string encode_gmsh(const HexMesh& mesh, GmshVersion version, Encoding encoding) {
  return GmshWriter(mesh.vertices, mesh.elements, mesh.sets, *find_gmsh_type(gmsh_brick), encoding).encode(version);
}

std::string encode_gmsh(const Surface& surface, GmshVersion version, Encoding encoding) {
  return GmshWriter(surface.vertices, surface.triangles, groups_of_parts(surface), *find_gmsh_type(gmsh_triangle),
                    encoding)
      .encode(version);
}

}  // namespace supple
