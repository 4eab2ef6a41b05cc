// SPDX-License-Identifier: Apache-2.0
// PNG writer: still pictures, and animated ones (APNG), which browsers play and older programs show as a picture.
//
// Why not libpng: Debian's has no APNG, and deep_png.h writes rows of 16-bit numbers as they come. Around zlib, which
// VTU files need anyway, a PNG is four kinds of chunks and a filter (png_parts.h), and one library less to ship. We
// never read PNG in the library; apps/gallery decodes textures of characters, PNG and JPEG, with stb_image.
#pragma once

#include "supple/base/result.h"
#include "supple/io/image/image.h"

#include <filesystem>
#include <span>

namespace supple {

/// The bytes of the file; images without transparent pixels are stored as RGB.
Result<std::string> png_bytes(const Image& image);

Status write_png(const std::filesystem::path& path, const Image& image);

/// Opaque pictures of one size, shown one after the other for ever. Of each only the rectangle that changed is stored,
/// and in it only the pixels that did.
Result<std::string> apng_bytes(std::span<const Image> frames, double frames_per_second);

Status write_apng(const std::filesystem::path& path, std::span<const Image> frames, double frames_per_second);

}  // namespace supple
