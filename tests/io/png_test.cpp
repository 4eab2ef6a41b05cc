// SPDX-License-Identifier: Apache-2.0
// Pictures are read back by a decoder of our own, written from the PNG specification.
#include "supple/io/image/png.h"

#include "io/io_tools.h"
#include "supple/io/file.h"
#include "supple/io/image/deep_png.h"
#include "support/png_reader.h"

#include <gtest/gtest.h>

#include <random>

namespace supple::png_test {
namespace {

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

TEST(Png, DeepImagesComeBackNumberByNumber) {
  const ScratchFolder folder;
  std::mt19937 random(5);
  DeepPngWriter writer = DeepPngWriter::open(folder / "deep.png", 301, 200).value();  // several chunks of noise
  std::vector<std::vector<DeepPngWriter::Pixel>> rows(200);
  for (std::size_t y = 0; y < rows.size(); ++y) {
    rows[y].resize(y == 7 ? 299 : 301);  // two are missing
    for (auto& pixel : rows[y])
      for (std::uint16_t& channel : pixel) channel = static_cast<std::uint16_t>(random());
    ASSERT_TRUE(writer.add_row(rows[y]).ok());
  }
  EXPECT_EQ(folder.file_count(), 1u);  // beside the target
  EXPECT_FALSE(std::filesystem::exists(folder / "deep.png"));
  ASSERT_TRUE(writer.finish().ok());
  const DeepPng image = decode_deep_png(read_file(folder / "deep.png").value());
  ASSERT_EQ(image.width, 301u);
  ASSERT_EQ(image.height, 200u);
  for (std::size_t y = 0; y < 200; ++y)
    for (std::size_t x = 0; x < 301; ++x) {
      const auto wanted = x < rows[y].size() ? rows[y][x] : DeepPngWriter::Pixel{};
      ASSERT_EQ(image.at(x, y), Vec3(wanted[0], wanted[1], wanted[2])) << x << " " << y;
    }
}

TEST(Png, RefusesImpossibleImages) {
  EXPECT_FALSE(png_bytes(Image{}).ok());
  Image image(4, 4);
  image.rgba.pop_back();
  EXPECT_FALSE(png_bytes(image).ok());
}

}  // namespace
}  // namespace supple::png_test
