// SPDX-License-Identifier: Apache-2.0
// Follows the PNG specification (ISO/IEC 15948): signature, IHDR, IDAT, IEND. Each row gets the prediction filter whose
// residuals have the smallest sum of magnitudes, the specification's own recommendation.
#include "supple/io/png.h"

#include "supple/io/deflate.h"
#include "supple/io/file.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>

namespace supple {
namespace {

using Bytes = std::vector<std::uint8_t>;

void append_big_endian(std::string& out, std::uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(value >> shift & 255);
}

void append_chunk(std::string& png, std::string_view type, std::string_view data) {
  append_big_endian(png, static_cast<std::uint32_t>(data.size()));
  const std::size_t start = png.size();
  png += type;
  png += data;
  const auto* covered = reinterpret_cast<const Bytef*>(png.data() + start);
  append_big_endian(png, static_cast<std::uint32_t>(crc32(0, covered, static_cast<uInt>(png.size() - start))));
}

int paeth(int left, int up, int corner) {
  const int guess = left + up - corner;
  const int to_left = std::abs(guess - left), to_up = std::abs(guess - up), to_corner = std::abs(guess - corner);
  if (to_left <= to_up && to_left <= to_corner) return left;
  return to_up <= to_corner ? up : corner;
}

int prediction(int filter, int left, int up, int corner) {
  switch (filter) {
    case 1:
      return left;
    case 2:
      return up;
    case 3:
      return (left + up) / 2;
    case 4:
      return paeth(left, up, corner);
    default:
      return 0;
  }
}

Bytes filtered(int filter, const Bytes& row, const Bytes& above, std::size_t channels) {
  Bytes residuals(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int left = i < channels ? 0 : row[i - channels];
    const int corner = i < channels ? 0 : above[i - channels];
    residuals[i] = static_cast<std::uint8_t>(row[i] - prediction(filter, left, above[i], corner));
  }
  return residuals;
}

long magnitude(const Bytes& residuals) {
  long sum = 0;
  for (const std::uint8_t r : residuals) sum += std::abs(static_cast<std::int8_t>(r));
  return sum;
}

void append_best_filter(std::string& data, const Bytes& row, const Bytes& above, std::size_t channels) {
  int best_filter = 0;
  Bytes best = filtered(0, row, above, channels);
  for (int filter = 1; filter <= 4; ++filter) {
    Bytes candidate = filtered(filter, row, above, channels);
    if (magnitude(candidate) < magnitude(best)) {
      best = std::move(candidate);
      best_filter = filter;
    }
  }
  data += static_cast<char>(best_filter);
  data.append(best.begin(), best.end());
}

bool is_opaque(const Image& image) {
  for (std::size_t i = 3; i < image.rgba.size(); i += 4) {
    if (image.rgba[i] != 255) return false;
  }
  return true;
}

std::string filtered_rows(const Image& image, std::size_t channels) {
  const auto width = static_cast<std::size_t>(image.width);
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

}  // namespace

Result<std::string> png_bytes(const Image& image) {
  constexpr int limit = 1 << 15;
  const bool sane = image.width > 0 && image.height > 0 && image.width <= limit && image.height <= limit &&
                    image.rgba.size() ==
                        std::size_t{4} * static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
  if (!sane) return usage_error("A PNG image needs 1 to 32768 pixels on each side and four bytes for each of them.");
  const bool opaque = is_opaque(image);
  std::string header;
  append_big_endian(header, static_cast<std::uint32_t>(image.width));
  append_big_endian(header, static_cast<std::uint32_t>(image.height));
  header += {8, static_cast<char>(opaque ? 2 : 6), 0, 0, 0};  // depth, colour type, deflate, filters, not interlaced
  std::string png = "\x89PNG\r\n\x1a\n";
  append_chunk(png, "IHDR", header);
  append_chunk(png, "IDAT", deflate(filtered_rows(image, opaque ? 3 : 4), 9));
  append_chunk(png, "IEND", "");
  return png;
}

Status write_png(const std::filesystem::path& path, const Image& image) {
  const Result<std::string> bytes = png_bytes(image);
  if (!bytes) return bytes.error();
  return write_file_atomically(path, *bytes);
}

}  // namespace supple
