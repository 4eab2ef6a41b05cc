// SPDX-License-Identifier: Apache-2.0
#include "decode_image.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS 16384
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

#include <algorithm>

namespace supple {
namespace {

Image halved(const Image& image) {
  Image half(image.width / 2, image.height / 2);
  for (int y = 0; y < half.height; ++y)
    for (int x = 0; x < half.width; ++x)
      for (int k = 0; k < 4; ++k)
        half.pixel(x, y)[k] =
            static_cast<std::uint8_t>((image.pixel(2 * x, 2 * y)[k] + image.pixel(2 * x + 1, 2 * y)[k] +
                                       image.pixel(2 * x, 2 * y + 1)[k] + image.pixel(2 * x + 1, 2 * y + 1)[k] + 2) /
                                      4);
  return half;
}

}  // namespace

std::shared_ptr<const Image> decode_image(std::string_view bytes) {
  constexpr int most_pixels = 2048;
  int width = 0, height = 0, channels = 0;
  const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
  const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> pixels(
      stbi_load_from_memory(data, static_cast<int>(bytes.size()), &width, &height, &channels, 4), &stbi_image_free);
  if (!pixels) return nullptr;
  Image image(width, height);
  std::copy_n(pixels.get(), image.rgba.size(), image.rgba.begin());
  while (std::max(image.width, image.height) > most_pixels && std::min(image.width, image.height) > 1)
    image = halved(image);
  return std::make_shared<const Image>(std::move(image));
}

}  // namespace supple
