// SPDX-License-Identifier: Apache-2.0
// DMAT: a dense matrix, as libigl writes weights of handles: a row for each vertex, a column for each handle.
//
//   columns rows        then the numbers, column after column, as text; or
//   0 0                 then a second line "columns rows" and the numbers as doubles (little-endian), column after
//   column
#pragma once

#include "supple/base/result.h"
#include "supple/base/types.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace supple {

/// Refuses numbers that aren't finite, and a matrix without any.
Result<MatX> parse_dmat(std::string_view bytes, const std::string& name);
Result<MatX> load_dmat(const std::filesystem::path& path);
/// The matrix as text that reads back as the same numbers.
std::string encode_dmat(const MatX& matrix);

}  // namespace supple
