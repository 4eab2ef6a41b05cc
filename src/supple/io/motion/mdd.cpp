// SPDX-License-Identifier: Apache-2.0
#include "supple/io/motion/mdd.h"

#include "supple/base/assert.h"
#include "supple/io/bytes.h"

#include <fmt/format.h>

#include <cmath>

namespace supple {
namespace {

template <class T>
void append_big_endian(std::string& out, T value) {
  append_bytes(out, byte_swapped(value));
}

}  // namespace

Result<MddWriter> MddWriter::open(const std::filesystem::path& path, std::int32_t points,
                                  std::span<const double> times) {
  Result<AtomicFile> file = AtomicFile::open(path);
  SUPPLE_RETURN_IF_ERROR(file);
  std::string bytes;
  append_big_endian(bytes, static_cast<std::int32_t>(times.size()));
  append_big_endian(bytes, points);
  for (const double time : times) append_big_endian(bytes, static_cast<float>(time));
  SUPPLE_RETURN_IF_ERROR(file->write(bytes));
  return MddWriter(std::move(*file), points, times.size());
}

Status MddWriter::add_frame(std::span<const Vec3> positions) {
  SUPPLE_ASSERT(static_cast<std::int32_t>(positions.size()) == points_);
  buffer_.clear();
  for (const Vec3& p : positions)
    for (int i = 0; i < 3; ++i) append_big_endian(buffer_, static_cast<float>(p[i]));
  ++written_;
  return file_.write(buffer_);
}

Status MddWriter::finish() {
  SUPPLE_ASSERT(written_ == frames_);
  return file_.commit();
}

Result<MddCache> parse_mdd(std::string_view bytes, const std::string& name) {
  ByteReader reader(bytes, true);
  std::int32_t frames = 0, points = 0;
  if (!reader.read(frames) || !reader.read(points) || frames < 0 || points < 0)
    return input_error(fmt::format("{} is not an MDD point cache; export it again.", name));
  const auto per_frame = 4 * (1 + 3 * static_cast<std::uint64_t>(points));
  if (reader.bytes_left() / per_frame < static_cast<std::uint64_t>(frames))
    return input_error(
        fmt::format("{} is cut short: it promises {} frames of {} points; export it again.", name, frames, points));
  MddCache cache;
  double sum = 0;
  const auto number = [&] {
    float value = 0;
    reader.read(value);
    sum += std::abs(value);
    return static_cast<double>(value);
  };
  for (std::int32_t f = 0; f < frames; ++f) cache.times.push_back(number());
  for (std::int32_t f = 0; f < frames; ++f)
    for (Vec3& point : cache.frames.emplace_back(to_size(points)))
      for (double& coordinate : point) coordinate = number();
  if (!std::isfinite(sum))
    return input_error(fmt::format("{} holds numbers that aren't finite; export it again.", name));
  return cache;
}

Result<MddCache> load_mdd(const std::filesystem::path& path) {
  const Result<std::string> bytes = read_file(path);
  SUPPLE_RETURN_IF_ERROR(bytes);
  return parse_mdd(*bytes, path.string());
}

}  // namespace supple
