// SPDX-License-Identifier: Apache-2.0
// A reader for uncompressed OpenEXR images with channels R, G, B, from the format's description.
#pragma once

#include "supple/base/types.h"
#include "supple/io/bytes.h"

#include <cmath>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace supple {

inline float half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), -24);
  return sign * std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
}

struct ExrImage {
  int width = 0, height = 0;
  std::vector<Vec3> pixels;
  const Vec3& at(int x, int y) const { return pixels.at(to_size(y * width + x)); }
};

class ExrReader {
 public:
  explicit ExrReader(const std::string& bytes) : bytes_(bytes) {}

  ExrImage read() {
    expect(number<std::int32_t>() == 20000630 && number<std::int32_t>() == 2);
    for (std::string name = text(); !name.empty(); name = text()) {
      (void)text();  // type
      const auto size = to_size(number<std::int32_t>());
      attributes_[name] = bytes_.substr(at_, size);
      at_ += size;
    }
    expect(attributes_.at("compression") == std::string(1, '\0') &&
           attributes_.at("lineOrder") == std::string(1, '\0'));
    ExrImage image;
    std::int32_t window[4];
    std::memcpy(window, attributes_.at("dataWindow").data(), 16);
    image.width = window[2] - window[0] + 1;
    image.height = window[3] - window[1] + 1;
    image.pixels.assign(to_size(image.width * image.height), Vec3(-1, -1, -1));
    const std::size_t table = at_;
    for (int y = 0; y < image.height; ++y) {
      at_ = table + 8 * to_size(y);
      at_ = to_size(number<std::uint64_t>());
      read_row(image, y);
    }
    expect(at_ == bytes_.size());
    return image;
  }

 private:
  static void expect(bool condition) {
    if (!condition) throw std::runtime_error("not the EXR image that was expected");
  }
  template <class T>
  T number() {
    T value;
    expect(at_ + sizeof(T) <= bytes_.size());
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  std::string text() {
    const std::size_t end = bytes_.find('\0', at_);
    std::string result = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return result;
  }
  void read_row(ExrImage& image, int y) {
    const std::string& channels = attributes_.at("channels");
    expect(channels[0] == 'B' && channels[18] == 'G' && channels[36] == 'R');
    const bool half = channels[2] == 1;
    expect(number<std::int32_t>() == y);
    expect(number<std::int32_t>() == 3 * image.width * (half ? 2 : 4));
    for (const int channel : {2, 1, 0})
      for (int x = 0; x < image.width; ++x)
        image.pixels[to_size(y * image.width + x)][channel] =
            half ? half_value(number<std::uint16_t>()) : number<float>();
  }

  const std::string& bytes_;
  std::size_t at_ = 0;
  std::map<std::string, std::string> attributes_;
};

inline ExrImage decode_exr(const std::string& bytes) { return ExrReader(bytes).read(); }

}  // namespace supple
