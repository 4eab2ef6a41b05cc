// SPDX-License-Identifier: Apache-2.0
// Text and binary files hold the same numbers in the same order, so each section is read once, by a template over where
// the numbers come from. Layouts: the "MSH file format" chapters of the Gmsh manual.
#include "supple/io/mesh/gmsh.h"

#include <fmt/format.h>

#include "supple/io/bytes.h"
#include "supple/io/mesh/gmsh_raw.h"
#include "supple/io/text_scanner.h"

#include <limits>

namespace supple {
namespace {

class GmshTextNumbers {
 public:
  explicit GmshTextNumbers(TextScanner& scanner) : scanner_(scanner) {}
  bool integer(std::int64_t& value) { return scanner_.read(value); }
  bool size(std::int64_t& value) { return scanner_.read(value); }
  bool real(double& value) { return scanner_.read(value); }
  std::size_t bytes_left() const { return scanner_.bytes_left(); }
  void finish() {}
  static constexpr std::size_t integer_size = 2;  // a digit and a blank, at least
  static constexpr std::size_t size_size = 2;
  static constexpr std::size_t real_size = 2;

 private:
  TextScanner& scanner_;
};

class GmshBinaryNumbers {
 public:
  GmshBinaryNumbers(TextScanner& scanner, bool swap) : scanner_(scanner), reader_(scanner.remaining(), swap) {}
  bool integer(std::int64_t& value) {
    std::int32_t raw = 0;
    if (!reader_.read(raw)) return false;
    value = raw;
    return true;
  }
  bool size(std::int64_t& value) { return reader_.read(value); }  // 8 bytes; beyond 2^63 it reads as negative
  bool real(double& value) { return reader_.read(value); }
  std::size_t bytes_left() const { return reader_.bytes_left(); }
  void finish() { scanner_.skip(reader_.position()); }
  static constexpr std::size_t integer_size = 4;
  static constexpr std::size_t size_size = 8;
  static constexpr std::size_t real_size = 8;

 private:
  TextScanner& scanner_;
  ByteReader reader_;
};

class GmshReader {
 public:
  GmshReader(std::string_view bytes, const std::string& name) : scanner_(bytes, name), name_(name) {}

  Result<LoadedMesh> read() {
    if (scanner_.peek() != "$MeshFormat")
      return damaged("doesn't start with $MeshFormat; it isn't a Gmsh 2.2 or 4.1 mesh");
    while (!scanner_.at_end()) {
      const std::string_view section = scanner_.token();
      if (!section.starts_with('$')) return scanner_.fail("expected a section such as $Nodes; the file is damaged");
      SUPPLE_RETURN_IF_ERROR(read_section(section));
    }
    if (raw_.nodes.empty()) return damaged("has no nodes; it is cut short or damaged");
    return build_from_gmsh(raw_, name_);
  }

 private:
  Status read_section(std::string_view section) {
    Status status;
    if (section == "$MeshFormat")
      status = read_format();
    else if (section == "$PhysicalNames")
      status = read_physical_names();
    else if (section == "$Entities" && !raw_.is_version_2)
      status = with_numbers([&](auto& n) { return read_entities(n); });
    else if (section == "$Nodes")
      status = raw_.is_version_2 ? read_nodes_2() : with_numbers([&](auto& n) { return read_nodes_4(n); });
    else if (section == "$Elements")
      status = raw_.is_version_2 ? read_elements_2() : with_numbers([&](auto& n) { return read_elements_4(n); });
    else
      return skip_section(section);
    SUPPLE_RETURN_IF_ERROR(status);
    const std::string end = "$End" + std::string(section.substr(1));
    return scanner_.expect(end) ? Status() : scanner_.error();
  }

  Status skip_section(std::string_view section) {
    const std::string end = "$End" + std::string(section.substr(1));
    const std::size_t found = scanner_.remaining().find(end);
    if (found == std::string_view::npos)
      return scanner_.fail(
          fmt::format("the section {} has no end; the file is cut short", std::string(section.substr(0, 40))));
    scanner_.skip(found + end.size());
    return {};
  }

  Status read_format() {
    double version = 0;
    std::int64_t binary = 0;
    std::int64_t size = 0;
    if (!scanner_.read(version) || !scanner_.read(binary) || !scanner_.read(size)) return scanner_.error();
    raw_.is_version_2 = version >= 2 && version < 3;
    if (!raw_.is_version_2 && version != 4.1)
      return scanner_.fail(
          fmt::format("Gmsh version {} isn't supported; save the mesh as version 4.1 or 2.2", version));
    is_binary_ = binary != 0;
    raw_.format = fmt::format("Gmsh {} {}", raw_.is_version_2 ? "2.2" : "4.1", is_binary_ ? "binary" : "ASCII");
    if (is_binary_ && size != 8)
      return scanner_.fail("binary files with sizes other than 8 bytes aren't supported; save as text");
    if (!is_binary_) return {};
    start_binary();
    ByteReader reader(scanner_.remaining());
    std::int32_t one = 0;
    if (!reader.read(one)) return scanner_.fail("the file is cut short");
    swap_ = one == byte_swapped(std::int32_t{1});
    if (one != 1 && !swap_) return scanner_.fail("the byte order isn't recognised; the file is damaged");
    scanner_.skip(sizeof(one));
    return {};
  }

  // Binary data begin right behind the line end.
  void start_binary() {
    scanner_.rest_of_line();
    scanner_.skip_line_end();
  }

  template <class Function>
  Status with_numbers(Function&& function) {
    if (!is_binary_) {
      GmshTextNumbers numbers(scanner_);
      return function(numbers);
    }
    start_binary();
    GmshBinaryNumbers numbers(scanner_, swap_);
    Status status = function(numbers);
    numbers.finish();
    return status;
  }

  Status read_physical_names() {
    std::size_t count = 0;
    if (!scanner_.read_count(count, 6)) return scanner_.error();
    for (std::size_t i = 0; i < count; ++i) {
      std::int64_t dimension = 0;
      std::int64_t tag = 0;
      if (!scanner_.read(dimension) || !scanner_.read(tag)) return scanner_.error();
      std::string_view quoted = scanner_.rest_of_line();
      if (quoted.size() >= 2 && quoted.front() == '"' && quoted.back() == '"')
        quoted = quoted.substr(1, quoted.size() - 2);
      if (dimension >= 0 && dimension <= 3) raw_.physical_names[{static_cast<int>(dimension), tag}] = quoted;
    }
    return {};
  }

  // Version 4.1: points, curves, surfaces, volumes; we want to know which physical groups each belongs to.
  template <class Numbers>
  Status read_entities(Numbers& numbers) {
    std::array<std::int64_t, 4> counts{};
    for (std::int64_t& count : counts) {
      if (!read_count(numbers, count, Numbers::integer_size + 3 * Numbers::real_size))
        return fault(numbers, "$Entities");
    }
    for (int dimension = 0; dimension <= 3; ++dimension) {
      for (std::int64_t i = 0; i < counts[to_size(dimension)]; ++i) {
        if (!read_entity(numbers, dimension)) return fault(numbers, "$Entities");
      }
    }
    return {};
  }

  template <class Numbers>
  bool read_entity(Numbers& numbers, int dimension) {
    std::int64_t tag = 0;
    std::int64_t count = 0;
    double unused = 0;
    if (!numbers.integer(tag)) return false;
    for (int k = 0; k < (dimension == 0 ? 3 : 6); ++k) {
      if (!numbers.real(unused)) return false;
    }
    if (!read_count(numbers, count, Numbers::integer_size)) return false;
    std::vector<std::int64_t> groups(to_size(count));
    for (std::int64_t& group : groups) {
      if (!numbers.integer(group)) return false;
      if (group < 0 && group > std::numeric_limits<std::int64_t>::min())
        group = -group;  // a minus flips the orientation
    }
    if (!groups.empty()) raw_.entity_groups[{dimension, tag}] = std::move(groups);
    if (dimension == 0) return true;
    if (!read_count(numbers, count, Numbers::integer_size)) return false;
    for (; count > 0; --count) {
      if (!numbers.integer(tag)) return false;
    }
    return true;
  }

  template <class Numbers>
  Status read_nodes_4(Numbers& numbers) {
    std::int64_t blocks = 0;
    std::int64_t total = 0;
    std::int64_t unused = 0;
    if (!read_count(numbers, blocks, 3 * Numbers::integer_size + Numbers::size_size) ||
        !read_count(numbers, total, Numbers::size_size + 3 * Numbers::real_size) || !numbers.size(unused) ||
        !numbers.size(unused))
      return fault(numbers, "$Nodes");
    raw_.nodes.reserve(raw_.nodes.size() + to_size(total));
    for (std::int64_t block = 0; block < blocks; ++block) {
      std::int64_t dimension = 0;
      std::int64_t entity = 0;
      std::int64_t parametric = 0;
      std::int64_t count = 0;
      if (!numbers.integer(dimension) || !numbers.integer(entity) || !numbers.integer(parametric) ||
          !read_count(numbers, count, Numbers::size_size + 3 * Numbers::real_size))
        return fault(numbers, "$Nodes");
      for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t tag = 0;
        if (!numbers.size(tag)) return fault(numbers, "$Nodes");
        raw_.node_tags.push_back(tag);
      }
      const std::int64_t parameters = parametric != 0 ? std::clamp<std::int64_t>(dimension, 0, 3) : 0;
      for (std::int64_t i = 0; i < count; ++i) SUPPLE_RETURN_IF_ERROR(read_node(numbers, parameters));
    }
    return check_node_count();
  }

  template <class Numbers>
  Status read_node(Numbers& numbers, std::int64_t parameters) {
    Vec3 point;
    double unused = 0;
    for (int k = 0; k < 3; ++k) {
      if (!numbers.real(point[k])) return fault(numbers, "$Nodes");
    }
    for (; parameters > 0; --parameters) {
      if (!numbers.real(unused)) return fault(numbers, "$Nodes");
    }
    if (!point.allFinite())
      return damaged(
          fmt::format("has a node that isn't finite, number {} of the list; it is damaged", raw_.nodes.size() + 1));
    raw_.nodes.push_back(point);
    return {};
  }

  Status check_node_count() const {
    if (raw_.nodes.size() > to_size(std::numeric_limits<Index>::max()))
      return damaged("has more than 2^31 nodes; split the mesh");
    return {};
  }

  template <class Numbers>
  Status read_elements_4(Numbers& numbers) {
    std::int64_t blocks = 0;
    std::int64_t unused = 0;
    if (!read_count(numbers, blocks, 3 * Numbers::integer_size + Numbers::size_size) || !numbers.size(unused) ||
        !numbers.size(unused) || !numbers.size(unused))
      return fault(numbers, "$Elements");
    for (std::int64_t block = 0; block < blocks; ++block) {
      std::int64_t dimension = 0;
      std::int64_t entity = 0;
      std::int64_t number = 0;
      std::int64_t count = 0;
      if (!numbers.integer(dimension) || !numbers.integer(entity) || !numbers.integer(number) ||
          !read_count(numbers, count, 2 * Numbers::size_size))
        return fault(numbers, "$Elements");
      const GmshType* type = find_gmsh_type(number);
      if (type == nullptr) return unknown_type(number);
      GmshElements* elements = raw_.elements_of(*type);
      for (std::int64_t e = 0; e < count; ++e) {
        std::int64_t tag = 0;
        if (!numbers.size(tag)) return fault(numbers, "$Elements");
        for (int k = 0; k < type->nodes; ++k) {
          if (!numbers.size(tag)) return fault(numbers, "$Elements");
          if (elements != nullptr) elements->node_tags.push_back(tag);
        }
        if (elements != nullptr) elements->labels.push_back(entity);
      }
    }
    return {};
  }

  // Version 2.2 writes the counts as text even in binary files.
  Status read_nodes_2() {
    std::size_t count = 0;
    if (!scanner_.read_count(count, 8)) return scanner_.error();
    raw_.nodes.reserve(raw_.nodes.size() + count);
    return with_numbers([&](auto& numbers) -> Status {
      for (std::size_t i = 0; i < count; ++i) {
        std::int64_t tag = 0;
        if (!numbers.integer(tag)) return fault(numbers, "$Nodes");
        raw_.node_tags.push_back(tag);
        SUPPLE_RETURN_IF_ERROR(read_node(numbers, 0));
      }
      return check_node_count();
    });
  }

  Status read_elements_2() {
    std::size_t count = 0;
    if (!scanner_.read_count(count, 6)) return scanner_.error();
    return with_numbers([&](auto& numbers) -> Status {
      std::size_t done = 0;
      while (done < count) SUPPLE_RETURN_IF_ERROR(read_block_2(numbers, count, done));
      return {};
    });
  }

  // Text: "number type tags… nodes…", which is a block of one. Binary: "type how-many tag-count", then the elements.
  template <class Numbers>
  Status read_block_2(Numbers& numbers, std::size_t total, std::size_t& done) {
    std::int64_t unused = 0;
    std::int64_t number = 0;
    std::int64_t size = 1;
    std::int64_t tags = 0;
    const bool complete = is_binary_ ? numbers.integer(number) && numbers.integer(size) && numbers.integer(tags)
                                     : numbers.integer(unused) && numbers.integer(number) && numbers.integer(tags);
    if (!complete) return fault(numbers, "$Elements");
    const GmshType* type = find_gmsh_type(number);
    if (type == nullptr) return unknown_type(number);
    if (size < 1 || to_size(size) > total - done || tags < 0 || to_size(tags) > numbers.bytes_left())
      return damaged("has a block of elements with impossible counts; it is damaged");
    GmshElements* elements = raw_.elements_of(*type);
    for (std::int64_t e = 0; e < size; ++e) {
      if (is_binary_ && !numbers.integer(unused)) return fault(numbers, "$Elements");
      std::int64_t physical = 0;
      for (std::int64_t k = 0; k < tags; ++k) {
        if (!numbers.integer(k == 0 ? physical : unused)) return fault(numbers, "$Elements");
      }
      for (int k = 0; k < type->nodes; ++k) {
        if (!numbers.integer(unused)) return fault(numbers, "$Elements");
        if (elements != nullptr) elements->node_tags.push_back(unused);
      }
      if (elements != nullptr) elements->labels.push_back(physical);
    }
    done += to_size(size);
    return {};
  }

  // A count of things of at least this many bytes, believed only if the rest of the file can hold them.
  template <class Numbers>
  static bool read_count(Numbers& numbers, std::int64_t& count, std::size_t bytes_each) {
    return numbers.size(count) && count >= 0 &&
           static_cast<std::uint64_t>(count) <= numbers.bytes_left() / bytes_each + 1;
  }

  template <class Numbers>
  Error fault(const Numbers&, std::string_view section) const {
    if (scanner_.failed()) return scanner_.error();
    return damaged(fmt::format("has less in its section {} than it announces; it is cut short or damaged", section));
  }
  Error unknown_type(std::int64_t number) const {
    return damaged(
        fmt::format("holds elements of the unknown type {}; save it with linear tetrahedra or bricks", number));
  }
  Error damaged(const std::string& what) const { return input_error(name_ + " " + what + "."); }

  TextScanner scanner_;
  const std::string& name_;
  bool is_binary_ = false;
  bool swap_ = false;
  GmshRaw raw_;
};

}  // namespace

Result<LoadedMesh> parse_gmsh(std::string_view bytes, const std::string& name) {
  return GmshReader(bytes, name).read();
}

}  // namespace supple
