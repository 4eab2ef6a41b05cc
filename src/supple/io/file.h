// SPDX-License-Identifier: Apache-2.0
// Whole files in, whole files out. A reader never sees a half-written file, even if we are killed while writing.
#pragma once

#include "supple/base/result.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace supple {

/// The bytes of a file.
Result<std::string> read_file(const std::filesystem::path& path);

/// Writes to a temporary file beside `path`, then renames it over `path`.
Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

}  // namespace supple
