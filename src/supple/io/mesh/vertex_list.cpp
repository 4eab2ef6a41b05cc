// SPDX-License-Identifier: Apache-2.0
#include "supple/io/mesh/vertex_list.h"

#include <fmt/format.h>

#include "supple/io/file.h"
#include "supple/io/text_scanner.h"

namespace supple {

Result<std::vector<Index>> parse_vertex_list(std::string_view text, const std::string& name, std::size_t vertex_count) {
  TextScanner scanner(text, name, {.comment = '#', .commas_separate = true});
  std::vector<Index> vertices;
  while (!scanner.at_end()) {
    std::int64_t number = 0;
    if (!scanner.read(number)) return scanner.error();
    if (number < 1 || number > static_cast<std::int64_t>(vertex_count))
      return scanner.fail(fmt::format("vertex {} doesn't exist; the mesh has vertices 1 to {}", number, vertex_count));
    vertices.push_back(static_cast<Index>(number - 1));
  }
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
  return vertices;
}

Result<std::vector<Index>> load_vertex_list(const std::filesystem::path& path, std::size_t vertex_count) {
  Result<std::string> text = read_file(path);
  SUPPLE_RETURN_IF_ERROR(text);
  return parse_vertex_list(*text, path.string(), vertex_count);
}

}  // namespace supple
