// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/cache_surface.h"

#include "supple/io/file.h"
#include "supple/io/mesh/obj.h"

#include <fmt/format.h>

#include <fstream>
#include <string>

namespace supple {
namespace {

constexpr std::string_view mark = "# surface of a point cache of supple\n";

bool is_ours(const std::filesystem::path& path) {
  std::string start(mark.size(), '\0');
  std::ifstream there(path, std::ios::binary);
  return there.read(start.data(), std::ssize(start)) && start == mark;
}

}  // namespace

std::filesystem::path cache_surface_path(std::filesystem::path cache) { return cache.replace_extension(".obj"); }

Status check_cache_surface(const std::filesystem::path& surface, bool force) {
  std::error_code none;
  if (!force && std::filesystem::exists(surface, none) && !is_ours(surface))
    return usage_error(fmt::format(
        "{} is there already, and the surface of the point cache would replace it; name another -o, or --force",
        surface.string()));
  return check_output(surface);
}

Status write_cache_surface(const std::filesystem::path& path, const Surface& surface) {
  return write_file_atomically(path, std::string(mark) + encode_obj(surface));
}

}  // namespace supple
