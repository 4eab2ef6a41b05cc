// SPDX-License-Identifier: Apache-2.0
#include "supple/io/image/png_parts.h"

#include <zlib.h>

#include <cstdlib>

namespace supple {
namespace {

using Bytes = std::vector<std::uint8_t>;

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

Bytes filtered(int filter, const Bytes& row, const Bytes& above, std::size_t pixel_bytes) {
  Bytes residuals(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int left = i < pixel_bytes ? 0 : row[i - pixel_bytes];
    const int corner = i < pixel_bytes ? 0 : above[i - pixel_bytes];
    residuals[i] = static_cast<std::uint8_t>(row[i] - prediction(filter, left, above[i], corner));
  }
  return residuals;
}

long magnitude(const Bytes& residuals) {
  long sum = 0;
  for (const std::uint8_t r : residuals) sum += std::abs(static_cast<std::int8_t>(r));
  return sum;
}

}  // namespace

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

void append_best_filter(std::string& data, const Bytes& row, const Bytes& above, std::size_t pixel_bytes) {
  int best_filter = 0;
  Bytes best = filtered(0, row, above, pixel_bytes);
  for (int filter = 1; filter <= 4; ++filter) {
    Bytes candidate = filtered(filter, row, above, pixel_bytes);
    if (magnitude(candidate) < magnitude(best)) {
      best = std::move(candidate);
      best_filter = filter;
    }
  }
  data += static_cast<char>(best_filter);
  data.append(best.begin(), best.end());
}

}  // namespace supple
