// SPDX-License-Identifier: Apache-2.0
// Follows the PNG specification (ISO/IEC 15948): signature, IHDR, IDAT, IEND. Animation adds acTL, and for each frame
// fcTL (where, how long) and fdAT (numbered IDAT), as the third edition of the specification has it.
#include "supple/io/image/png.h"

#include "supple/io/deflate.h"
#include "supple/io/file.h"
#include "supple/io/image/png_parts.h"

#include <algorithm>

namespace supple {
namespace {

using Bytes = std::vector<std::uint8_t>;

bool is_opaque(const Image& image) {
  for (std::size_t i = 3; i < image.rgba.size(); i += 4) {
    if (image.rgba[i] != 255) return false;
  }
  return true;
}

std::string filtered_rows(const Image& image, std::size_t channels) {
  const auto width = to_size(image.width);
  Bytes row(channels * width), above(channels * width, 0);
  std::string data;
  for (int y = 0; y < image.height; ++y) {
    const std::uint8_t* pixels = image.pixel(0, y);
    for (std::size_t x = 0; x < width; ++x)
      std::copy_n(pixels + 4 * x, channels, row.begin() + static_cast<std::ptrdiff_t>(channels * x));
    append_best_filter(data, row, above, channels);
    above = row;
  }
  return data;
}

bool is_sane(const Image& image) {
  constexpr int limit = 1 << 15;
  return image.width > 0 && image.height > 0 && image.width <= limit && image.height <= limit &&
         image.rgba.size() == std::size_t{4} * to_size(image.width) * to_size(image.height);
}

std::string start_png(const Image& image, bool opaque) {
  std::string header;
  append_big_endian(header, static_cast<std::uint32_t>(image.width));
  append_big_endian(header, static_cast<std::uint32_t>(image.height));
  header += {8, static_cast<char>(opaque ? 2 : 6), 0, 0, 0};  // depth, colour type, deflate, filters, not interlaced
  std::string png = png_signature;
  append_chunk(png, "IHDR", header);
  return png;
}

// ---- animation ------------------------------------------------------------------------------------------------------

struct Rectangle {
  int left = 0, top = 0, right = 0, bottom = 0;
};

bool same_pixel(const Image& a, const Image& b, int x, int y) {
  return std::equal(a.pixel(x, y), a.pixel(x, y) + 4, b.pixel(x, y));
}

/// Around all pixels that differ; one pixel where none does, because a frame can't be empty.
Rectangle changed_part(const Image& before, const Image& now) {
  Rectangle part{now.width, now.height, 0, 0};
  for (int y = 0; y < now.height; ++y) {
    for (int x = 0; x < now.width; ++x) {
      if (same_pixel(before, now, x, y)) continue;
      part = {std::min(part.left, x), std::min(part.top, y), std::max(part.right, x + 1), std::max(part.bottom, y + 1)};
    }
  }
  return part.right > part.left ? part : Rectangle{0, 0, 1, 1};
}

/// The part of a picture, transparent where it is what it was before.
Image difference(const Image& before, const Image& now, const Rectangle& part) {
  Image image(part.right - part.left, part.bottom - part.top);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const bool same = same_pixel(before, now, part.left + x, part.top + y);
      const std::uint8_t* from = now.pixel(part.left + x, part.top + y);
      for (int k = 0; k < 4; ++k) image.pixel(x, y)[k] = same ? std::uint8_t{0} : from[k];
    }
  }
  return image;
}

std::string frame_control(std::uint32_t number, const Rectangle& part, double seconds) {
  std::string control;
  append_big_endian(control, number);
  for (const int value : {part.right - part.left, part.bottom - part.top, part.left, part.top})
    append_big_endian(control, static_cast<std::uint32_t>(value));
  constexpr int unit = 1000;  // the delay is a fraction of two 16-bit numbers
  const int delay = static_cast<int>(std::clamp(seconds * unit, 1.0, 65535.0) + 0.5);
  control += {static_cast<char>(delay >> 8), static_cast<char>(delay & 255), static_cast<char>(unit >> 8),
              static_cast<char>(unit & 255)};
  control += {0, 1};  // what was drawn stays; the next is drawn over it
  return control;
}

Status check_frames(std::span<const Image> frames, double frames_per_second) {
  if (frames.empty() || !(frames_per_second > 0)) return usage_error("An animation needs pictures and a frame rate.");
  for (const Image& image : frames) {
    if (!is_sane(image) || image.width != frames[0].width || image.height != frames[0].height || !is_opaque(image))
      return usage_error(
          "The pictures of an animation must be opaque and of one size, 1 to 32768 pixels on each side.");
  }
  return {};
}

}  // namespace

Result<std::string> png_bytes(const Image& image) {
  if (!is_sane(image))
    return usage_error("A PNG image needs 1 to 32768 pixels on each side and four bytes for each of them.");
  const bool opaque = is_opaque(image);
  std::string png = start_png(image, opaque);
  append_chunk(png, "IDAT", deflate(filtered_rows(image, opaque ? 3 : 4), 9));
  append_chunk(png, "IEND", "");
  return png;
}

Result<std::string> apng_bytes(std::span<const Image> frames, double frames_per_second) {
  SUPPLE_RETURN_IF_ERROR(check_frames(frames, frames_per_second));
  std::string png = start_png(frames[0], false);
  std::string control;
  append_big_endian(control, static_cast<std::uint32_t>(frames.size()));
  append_big_endian(control, 0);  // for ever
  append_chunk(png, "acTL", control);
  std::uint32_t number = 0;
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const bool first = k == 0;
    const Rectangle part =
        first ? Rectangle{0, 0, frames[0].width, frames[0].height} : changed_part(frames[k - 1], frames[k]);
    append_chunk(png, "fcTL", frame_control(number++, part, 1 / frames_per_second));
    std::string data;
    if (!first) append_big_endian(data, number++);
    data += deflate(filtered_rows(first ? frames[0] : difference(frames[k - 1], frames[k], part), 4), 9);
    append_chunk(png, first ? "IDAT" : "fdAT", data);
  }
  append_chunk(png, "IEND", "");
  return png;
}

Status write_apng(const std::filesystem::path& path, std::span<const Image> frames, double frames_per_second) {
  const Result<std::string> bytes = apng_bytes(frames, frames_per_second);
  if (!bytes) return bytes.error();
  return write_file_atomically(path, *bytes);
}

Status write_png(const std::filesystem::path& path, const Image& image) {
  const Result<std::string> bytes = png_bytes(image);
  if (!bytes) return bytes.error();
  return write_file_atomically(path, *bytes);
}

}  // namespace supple
