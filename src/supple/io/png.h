// SPDX-License-Identifier: Apache-2.0
// PNG writer.
#pragma once

#include "supple/base/result.h"
#include "supple/io/image.h"

#include <filesystem>

namespace supple {

/// The bytes of the file; images without transparent pixels are stored as RGB.
Result<std::string> png_bytes(const Image& image);

Status write_png(const std::filesystem::path& path, const Image& image);

}  // namespace supple
