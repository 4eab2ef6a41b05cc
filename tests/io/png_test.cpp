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

std::vector<std::uint8_t> decode_rows(const std::string& packed, std::size_t width, std::size_t height,
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

std::vector<std::uint8_t> decode(const std::string& png, std::size_t channels) {
  const std::string header = chunk(png, "IHDR");
  EXPECT_EQ(header[8], 8);
  EXPECT_EQ(header[9], channels == 3 ? 2 : 6);
  return decode_rows(chunk(png, "IDAT"), big_endian(header, 0), big_endian(header, 4), channels);
}

// What a player shows: each frame is drawn over the one before where it is opaque.
std::vector<Image> play(const std::string& png) {
  const std::string header = chunk(png, "IHDR");
  Image shown(static_cast<int>(big_endian(header, 0)), static_cast<int>(big_endian(header, 4)));
  std::vector<Image> frames;
  std::string control;
  std::uint32_t expected_number = 0;
  for (std::size_t at = 8; at < png.size(); at += 12 + big_endian(png, at)) {
    const std::string type = png.substr(at + 4, 4), data = png.substr(at + 8, big_endian(png, at));
    if (type == "fcTL" || type == "fdAT") {
      EXPECT_EQ(big_endian(data, 0), expected_number++);
    }
    if (type == "fcTL") control = data;
    if (type != "IDAT" && type != "fdAT") continue;
    const std::size_t width = big_endian(control, 4), height = big_endian(control, 8);
    const std::size_t left = big_endian(control, 12), top = big_endian(control, 16);
    const auto pixels = decode_rows(type == "fdAT" ? data.substr(4) : data, width, height, 4);
    for (std::size_t i = 0; i < width * height; ++i) {
      if (pixels[4 * i + 3] == 0) continue;
      std::uint8_t* to = shown.pixel(static_cast<int>(left + i % width), static_cast<int>(top + i / width));
      for (std::size_t k = 0; k < 4; ++k) to[k] = pixels[4 * i + k];
    }
    frames.push_back(shown);
  }
  return frames;
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

TEST(Png, AnimationPlaysBackFrameByFrame) {
  std::vector<Image> frames(4, pattern(true));
  frames[1].pixel(5, 7)[0] ^= 255;
  frames[1].pixel(20, 3)[1] ^= 255;
  frames[2] = frames[1];  // nothing happens
  frames[3].pixel(36, 22)[2] ^= 255;
  const std::string png = *apng_bytes(frames, 25);
  const std::string control = chunk(png, "acTL");
  EXPECT_EQ(big_endian(control, 0), 4u);
  EXPECT_EQ(big_endian(control, 4), 0u);
  const std::vector<Image> shown = play(png);
  ASSERT_EQ(shown.size(), 4u);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(shown[k].rgba, frames[k].rgba) << k;
  // 40 ms each; the second holds no more than what changed.
  const std::size_t first = png.find("fcTL"), second = png.find("fcTL", first + 4);
  EXPECT_EQ(big_endian(png, second + 4 + 4), 16u);
  EXPECT_EQ(big_endian(png, second + 4 + 8), 5u);
  EXPECT_EQ(png.substr(second + 4 + 20, 4), std::string("\0\x28\x03\xe8", 4));
}

TEST(Png, RefusesAnimationsThatPlayersCannotShow) {
  EXPECT_FALSE(apng_bytes({}, 25).ok());
  EXPECT_FALSE(apng_bytes(std::vector<Image>{Image(4, 4), Image(4, 5)}, 25).ok());
  EXPECT_FALSE(apng_bytes(std::vector<Image>{pattern(false)}, 25).ok());
  EXPECT_FALSE(apng_bytes(std::vector<Image>{Image(4, 4)}, 0).ok());
}

TEST(Png, RefusesImpossibleImages) {
  EXPECT_FALSE(png_bytes(Image{}).ok());
  Image image(4, 4);
  image.rgba.pop_back();
  EXPECT_FALSE(png_bytes(image).ok());
}

}  // namespace
}  // namespace supple
