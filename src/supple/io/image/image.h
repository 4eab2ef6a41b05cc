// SPDX-License-Identifier: Apache-2.0
// Image: 8-bit RGBA pixels, row after row from the top, sRGB, alpha not premultiplied.
#pragma once

#include "supple/base/to_size.h"

#include <cstdint>
#include <vector>

namespace supple {

struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgba;  ///< 4 width height bytes

  Image() = default;
  Image(int w, int h) : width(w), height(h), rgba(std::size_t{4} * to_size(w) * to_size(h), 255) {}

  std::uint8_t* pixel(int x, int y) { return rgba.data() + offset(x, y); }
  const std::uint8_t* pixel(int x, int y) const { return rgba.data() + offset(x, y); }

 private:
  std::size_t offset(int x, int y) const { return 4 * (to_size(y) * to_size(width) + to_size(x)); }
};

}  // namespace supple
