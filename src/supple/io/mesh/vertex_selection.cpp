// SPDX-License-Identifier: Apache-2.0
#include "supple/io/mesh/vertex_selection.h"

#include <fmt/format.h>

#include "supple/io/mesh/vertex_list.h"
#include "supple/io/text_scanner.h"
#include "supple/mesh/bounds.h"

namespace supple {
namespace {

constexpr double extreme_share = 0.001;

Error not_understood(std::string_view selection, std::string_view reason) {
  return input_error(fmt::format("the selection \"{}\" isn't understood: {}", selection, reason));
}

// Numbers between commas, `count` of them, all finite.
Result<std::vector<double>> numbers(std::string_view selection, std::string_view list, std::size_t count,
                                    std::string_view pattern) {
  std::vector<double> values;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    double value = 0;
    if (!parse_number(trimmed(list.substr(begin, end - begin)), value) || !std::isfinite(value))
      return not_understood(selection, fmt::format("write {}", pattern));
    values.push_back(value);
    begin = end + 1;
  }
  if (values.size() != count) return not_understood(selection, fmt::format("write {}", pattern));
  return values;
}

template <class Test>
std::vector<Index> where(std::span<const Vec3> vertices, const Test& test) {
  std::vector<Index> chosen;
  for (std::size_t v = 0; v < vertices.size(); ++v)
    if (test(vertices[v])) chosen.push_back(static_cast<Index>(v));
  return chosen;
}

// ---- one function per kind; `rest` is what follows the colon --------------------------------------------------------

Result<std::vector<Index>> in_box(std::string_view selection, std::string_view rest, std::span<const Vec3> vertices) {
  const auto n = numbers(selection, rest, 6, "box:x0,y0,z0,x1,y1,z1");
  SUPPLE_RETURN_IF_ERROR(n);
  const Vec3 a(n->at(0), n->at(1), n->at(2));
  const Vec3 b(n->at(3), n->at(4), n->at(5));
  const Vec3 low = a.cwiseMin(b);
  const Vec3 high = a.cwiseMax(b);
  return where(vertices,
               [&](const Vec3& p) { return (p.array() >= low.array()).all() && (p.array() <= high.array()).all(); });
}

Result<std::vector<Index>> in_sphere(std::string_view selection, std::string_view rest,
                                     std::span<const Vec3> vertices) {
  const auto n = numbers(selection, rest, 4, "sphere:x,y,z,radius");
  SUPPLE_RETURN_IF_ERROR(n);
  const Vec3 center(n->at(0), n->at(1), n->at(2));
  if (n->at(3) < 0) return not_understood(selection, "the radius is negative");
  return where(vertices, [&](const Vec3& p) { return (p - center).norm() <= n->at(3); });
}

Result<std::vector<Index>> by_index(std::string_view selection, std::string_view rest, std::size_t vertex_count) {
  std::vector<Index> chosen;
  for (std::size_t begin = 0; begin <= rest.size();) {
    const std::size_t end = std::min(rest.find(',', begin), rest.size());
    Index index = 0;
    if (!parse_number(trimmed(rest.substr(begin, end - begin)), index))
      return not_understood(selection, "write vertices:0,5,7");
    if (index < 0 || to_size(index) >= vertex_count)
      return input_error(fmt::format("the selection \"{}\" names vertex {}, but the mesh has vertices 0 to {}",
                                     selection, index, vertex_count - 1));
    chosen.push_back(index);
    begin = end + 1;
  }
  return chosen;
}

Result<std::vector<Index>> at_end(std::string_view selection, std::span<const Vec3> vertices) {
  const char letter = selection.back();
  if (selection.size() != 5 || letter < 'x' || letter > 'z')
    return not_understood(selection, "write min-x, max-x, min-y, max-y, min-z or max-z");
  const int axis = letter - 'x';
  const Bounds bounds = bounds_of(vertices);
  const double reach = extreme_share * bounds.size()[axis];
  if (selection.starts_with("min"))
    return where(vertices, [&](const Vec3& p) { return p[axis] <= bounds.min[axis] + reach; });
  return where(vertices, [&](const Vec3& p) { return p[axis] >= bounds.max[axis] - reach; });
}

Result<std::vector<Index>> in_half_space(std::string_view selection, std::span<const Vec3> vertices) {
  const int axis = selection[0] - 'x';
  std::string_view rest = trimmed(selection.substr(1));
  const bool less = rest[0] == '<';
  rest.remove_prefix(1);
  const bool or_equal = rest.starts_with('=');
  if (or_equal) rest.remove_prefix(1);
  const auto bound = numbers(selection, rest, 1, "an axis, a comparison and a number, such as x<0.1");
  SUPPLE_RETURN_IF_ERROR(bound);
  const double value = bound->front();
  return where(vertices, [&](const Vec3& p) {
    if (or_equal && p[axis] == value) return true;
    return less ? p[axis] < value : p[axis] > value;
  });
}

bool is_half_space(std::string_view text) {
  if (text.empty() || text[0] < 'x' || text[0] > 'z') return false;
  const std::string_view rest = trimmed(text.substr(1));
  return rest.starts_with('<') || rest.starts_with('>');
}

Result<std::vector<Index>> from_file(std::string_view selection, std::string_view name, std::size_t vertex_count,
                                     const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / std::filesystem::path(name);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    return not_understood(selection, fmt::format("there is no file {}; write such a file's name, min-x, x<0.1, box:…, "
                                                 "sphere:…, vertices:0,5,7 or all",
                                                 path.string()));
  }
  return load_vertex_list(path, vertex_count);
}

Result<std::vector<Index>> interpret(std::string_view selection, std::span<const Vec3> vertices,
                                     const std::filesystem::path& folder) {
  if (selection.empty()) return input_error("a selection is empty; write, for example, min-x");
  if (selection == "all") return where(vertices, [](const Vec3&) { return true; });
  if (selection.starts_with("box:")) return in_box(selection, selection.substr(4), vertices);
  if (selection.starts_with("sphere:")) return in_sphere(selection, selection.substr(7), vertices);
  if (selection.starts_with("vertices:")) return by_index(selection, selection.substr(9), vertices.size());
  if (selection.starts_with("file:")) return from_file(selection, selection.substr(5), vertices.size(), folder);
  if (selection.starts_with("min-") || selection.starts_with("max-")) return at_end(selection, vertices);
  if (is_half_space(selection)) return in_half_space(selection, vertices);
  return from_file(selection, selection, vertices.size(), folder);
}

void sort_and_deduplicate(std::vector<Index>& indices) {
  std::sort(indices.begin(), indices.end());
  indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
}

}  // namespace

Result<std::vector<Index>> select_vertices(std::string_view selection, std::span<const Vec3> vertices,
                                           const std::filesystem::path& folder) {
  Result<std::vector<Index>> chosen = interpret(trimmed(selection), vertices, folder);
  SUPPLE_RETURN_IF_ERROR(chosen);
  if (chosen->empty()) {
    const Bounds b = bounds_of(vertices);
    return input_error(
        fmt::format("the selection \"{}\" selects no vertices; the mesh lies between ({:g}, {:g}, {:g}) and "
                    "({:g}, {:g}, {:g})",
                    selection, b.min.x(), b.min.y(), b.min.z(), b.max.x(), b.max.y(), b.max.z()));
  }
  sort_and_deduplicate(*chosen);
  return chosen;
}

Result<std::vector<Index>> select_vertices(std::span<const std::string> selections, std::span<const Vec3> vertices,
                                           const std::filesystem::path& folder) {
  std::vector<Index> all;
  for (const std::string& selection : selections) {
    Result<std::vector<Index>> chosen = select_vertices(selection, vertices, folder);
    SUPPLE_RETURN_IF_ERROR(chosen);
    all.insert(all.end(), chosen->begin(), chosen->end());
  }
  sort_and_deduplicate(all);
  return all;
}

}  // namespace supple
