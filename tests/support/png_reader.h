// SPDX-License-Identifier: Apache-2.0
// A decoder of PNG files, from the specification.
#pragma once

#include "supple/base/types.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace supple {

inline std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t k = 0; k < 4; ++k) value = value << 8 | static_cast<std::uint8_t>(bytes[at + k]);
  return value;
}

// The data of all chunks of a type; every checksum is verified on the way.
inline std::string chunk(std::string_view png, std::string_view type) {
  std::string data;
  for (std::size_t at = 8; at < png.size();) {
    const std::uint32_t size = big_endian(png, at);
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(png.data() + at + 4), size + 4);
    EXPECT_EQ(sum, big_endian(png, at + 8 + size));
    if (png.substr(at + 4, 4) == type) data += png.substr(at + 8, size);
    at += 12 + size;
  }
  return data;
}

inline int closest(int a, int b, int c) {
  const int p = a + b - c;
  const int pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

inline std::vector<std::uint8_t> decode_rows(const std::string& packed, std::size_t width, std::size_t height,
                                             std::size_t channels) {
  const std::size_t row = width * channels;
  std::vector<std::uint8_t> raw(height * (row + 1));
  uLongf size = raw.size();
  EXPECT_EQ(uncompress(raw.data(), &size, reinterpret_cast<const Bytef*>(packed.data()), packed.size()), Z_OK);
  EXPECT_EQ(size, raw.size());
  std::vector<std::uint8_t> pixels(height * row);
  for (std::size_t y = 0; y < height; ++y) {
    const int filter = raw[y * (row + 1)];
    for (std::size_t i = 0; i < row; ++i) {
      const int left = i >= channels ? pixels[y * row + i - channels] : 0;
      const int up = y > 0 ? pixels[(y - 1) * row + i] : 0;
      const int corner = y > 0 && i >= channels ? pixels[(y - 1) * row + i - channels] : 0;
      const int guess[] = {0, left, up, (left + up) / 2, closest(left, up, corner)};
      pixels[y * row + i] = static_cast<std::uint8_t>(raw[y * (row + 1) + 1 + i] + guess[filter]);
    }
  }
  return pixels;
}

/// Pixels of three 16-bit channels.
struct DeepPng {
  std::size_t width = 0, height = 0;
  std::vector<std::uint8_t> bytes;
  Vec3 at(std::size_t x, std::size_t y) const {
    const std::size_t first = 6 * (y * width + x);
    const auto channel = [&](std::size_t i) { return 256.0 * bytes.at(first + 2 * i) + bytes.at(first + 2 * i + 1); };
    return {channel(0), channel(1), channel(2)};
  }
};

inline DeepPng decode_deep_png(const std::string& png) {
  const std::string header = chunk(png, "IHDR");
  EXPECT_EQ(header.substr(8), std::string("\x10\2\0\0\0", 5));
  EXPECT_EQ(png.substr(png.size() - 8, 4), "IEND");
  DeepPng image{big_endian(header, 0), big_endian(header, 4), {}};
  image.bytes = decode_rows(chunk(png, "IDAT"), image.width, image.height, 6);
  return image;
}

}  // namespace supple
