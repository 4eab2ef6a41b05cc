// SPDX-License-Identifier: Apache-2.0
// Pictures are read back by a decoder written here from the PNG specification.
#include "supple/io/png.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>

namespace supple {
namespace {

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t k = 0; k < 4; ++k) value = value << 8 | static_cast<std::uint8_t>(bytes[at + k]);
  return value;
}

// The data of all chunks of a type; every checksum is verified on the way.
std::string chunk(std::string_view png, std::string_view type) {
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

int closest(int a, int b, int c) {
  const int p = a + b - c;
  const int pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

std::vector<std::uint8_t> decode(const std::string& png, std::size_t channels) {
  const std::string header = chunk(png, "IHDR");
  const std::size_t width = big_endian(header, 0), height = big_endian(header, 4), row = width * channels;
  EXPECT_EQ(header[8], 8);
  EXPECT_EQ(header[9], channels == 3 ? 2 : 6);
  const std::string packed = chunk(png, "IDAT");
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

Image pattern(bool opaque) {
  Image image(37, 23);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      std::uint8_t* p = image.pixel(x, y);
      p[0] = static_cast<std::uint8_t>(x * 7);
      p[1] = static_cast<std::uint8_t>(y * 11);
      p[2] = static_cast<std::uint8_t>(x * x + 31 * y * y * (x % 3));
      p[3] = opaque ? 255 : static_cast<std::uint8_t>(x + y);
    }
  }
  return image;
}

TEST(Png, OpaqueImageComesBackAsRgb) {
  const Image image = pattern(true);
  const std::vector<std::uint8_t> pixels = decode(*png_bytes(image), 3);
  ASSERT_EQ(pixels.size(), 3u * 37 * 23);
  for (std::size_t i = 0; i < pixels.size(); ++i) ASSERT_EQ(pixels[i], image.rgba[i / 3 * 4 + i % 3]) << i;
}

TEST(Png, TransparentImageComesBackAsRgba) {
  const Image image = pattern(false);
  EXPECT_EQ(decode(*png_bytes(image), 4), image.rgba);
}

TEST(Png, RefusesImpossibleImages) {
  EXPECT_FALSE(png_bytes(Image{}).ok());
  Image image(4, 4);
  image.rgba.pop_back();
  EXPECT_FALSE(png_bytes(image).ok());
}

}  // namespace
}  // namespace supple
