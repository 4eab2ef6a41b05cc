// SPDX-License-Identifier: Apache-2.0
#include "supple/io/image/exr.h"

#include "supple/base/assert.h"
#include "supple/io/bytes.h"
#include "supple/math/simd/half.h"

#include <bit>

namespace supple {
namespace {

constexpr std::int32_t half_type = 1, single_type = 2;
constexpr Index largest_exr_side = 1 << 20;

void append_attribute(std::string& out, std::string_view name, std::string_view type, std::string_view value) {
  out.append(name).push_back('\0');
  out.append(type).push_back('\0');
  append_bytes(out, static_cast<std::int32_t>(value.size()));
  out.append(value);
}

template <class... Numbers>
std::string bytes_of(Numbers... numbers) {
  std::string bytes;
  (append_bytes(bytes, numbers), ...);
  return bytes;
}

std::string channel_list(std::int32_t type) {
  std::string list;
  for (const char name : {'B', 'G', 'R'}) {  // in the order of the alphabet, as the format wants it
    list.push_back(name);
    list.push_back('\0');
    list +=
        bytes_of(type, std::int32_t{0}, std::int32_t{1}, std::int32_t{1});  // type, linear light and spare, sampling
  }
  list.push_back('\0');
  return list;
}

std::string header(Index width, Index height, ExrPrecision precision) {
  const std::string window = bytes_of(std::int32_t{0}, std::int32_t{0}, width - 1, height - 1);
  std::string bytes = bytes_of(std::int32_t{20000630}, std::int32_t{2});
  append_attribute(bytes, "channels", "chlist",
                   channel_list(precision == ExrPrecision::half ? half_type : single_type));
  append_attribute(bytes, "compression", "compression", std::string(1, '\0'));
  append_attribute(bytes, "dataWindow", "box2i", window);
  append_attribute(bytes, "displayWindow", "box2i", window);
  append_attribute(bytes, "lineOrder", "lineOrder", std::string(1, '\0'));
  append_attribute(bytes, "pixelAspectRatio", "float", bytes_of(1.0f));
  append_attribute(bytes, "screenWindowCenter", "v2f", bytes_of(0.0f, 0.0f));
  append_attribute(bytes, "screenWindowWidth", "float", bytes_of(1.0f));
  bytes.push_back('\0');
  return bytes;
}

std::size_t row_bytes(Index width, ExrPrecision precision) {
  return std::size_t{3} * (precision == ExrPrecision::half ? 2 : 4) * to_size(width);
}

}  // namespace

Result<ExrWriter> ExrWriter::open(const std::filesystem::path& path, Index width, Index height,
                                  ExrPrecision precision) {
  if (width < 1 || height < 1 || width > largest_exr_side || height > largest_exr_side)
    return usage_error("An EXR image needs 1 to 1048576 pixels on each side.");
  Result<AtomicFile> file = AtomicFile::open(path);
  SUPPLE_RETURN_IF_ERROR(file);
  std::string bytes = header(width, height, precision);
  const std::uint64_t first = bytes.size() + std::uint64_t{8} * static_cast<std::uint64_t>(height);
  for (std::uint64_t y = 0; y < static_cast<std::uint64_t>(height); ++y)
    append_bytes(bytes, first + y * (8 + row_bytes(width, precision)));
  SUPPLE_RETURN_IF_ERROR(file->write(bytes));
  return ExrWriter(std::move(*file), width, height, precision);
}

Status ExrWriter::add_row(std::span<const Vec3> pixels) {
  SUPPLE_ASSERT(static_cast<Index>(pixels.size()) <= width_ && row_ < height_);
  buffer_ = bytes_of(std::int32_t{row_}, static_cast<std::int32_t>(row_bytes(width_, precision_)));
  for (const int channel : {2, 1, 0}) {
    for (std::size_t x = 0; x < to_size(width_); ++x) {
      const float value = x < pixels.size() ? static_cast<float>(pixels[x][channel]) : 0.0f;
      if (precision_ == ExrPrecision::half)
        append_bytes(buffer_, to_half(value));
      else
        append_bytes(buffer_, value);
    }
  }
  ++row_;
  return file_.write(buffer_);
}

Status ExrWriter::finish() {
  SUPPLE_ASSERT(row_ == height_);
  return file_.commit();
}

}  // namespace supple
