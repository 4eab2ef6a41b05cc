// SPDX-License-Identifier: Apache-2.0
// Lists of vertices, such as those to hold fixed: Vega .bou files and the like.
#pragma once

#include "supple/base/result.h"
#include "supple/base/types.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace supple {

/// Numbers counted from 1, separated by commas, blanks or lines; '#' starts a comment. Gives indices counted from 0,
/// ascending, each once. A number outside 1 … vertex_count is refused.
Result<std::vector<Index>> parse_vertex_list(std::string_view text, const std::string& name, std::size_t vertex_count);
Result<std::vector<Index>> load_vertex_list(const std::filesystem::path& path, std::size_t vertex_count);

}  // namespace supple
