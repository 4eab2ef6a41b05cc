// SPDX-License-Identifier: Apache-2.0
#include "supple/io/motion/pc2.h"

#include <fmt/format.h>

#include "supple/base/assert.h"
#include "supple/io/bytes.h"

namespace supple {
namespace {

constexpr std::string_view magic{"POINTCACHE2\0", 12};
constexpr std::int32_t version = 1;

Result<Pc2Header> parse_header(ByteReader& reader, const std::string& name) {
  std::int32_t found = 0;
  Pc2Header header;
  const bool complete = reader.skip(magic.size()) && reader.read(found) && reader.read(header.points) &&
                        reader.read(header.start_frame) && reader.read(header.frames_per_sample) &&
                        reader.read(header.samples);
  if (!complete || found != version)
    return input_error(fmt::format("{} is not a point cache of version 1; export it again as PC2.", name));
  if (header.points < 0 || header.samples < 0 ||
      static_cast<std::uint64_t>(header.points) * static_cast<std::uint64_t>(header.samples) >
          reader.bytes_left() / (3 * sizeof(float)))
    return input_error(fmt::format("{} is cut short: it promises {} samples of {} points; export it again.", name,
                                   header.samples, header.points));
  return header;
}

}  // namespace

Result<Pc2Writer> Pc2Writer::open(const std::filesystem::path& path, const Pc2Header& header) {
  Result<AtomicFile> file = AtomicFile::open(path);
  SUPPLE_RETURN_IF_ERROR(file);
  std::string bytes(magic);
  append_bytes(bytes, version);
  append_bytes(bytes, header.points);
  append_bytes(bytes, header.start_frame);
  append_bytes(bytes, header.frames_per_sample);
  append_bytes(bytes, header.samples);
  SUPPLE_RETURN_IF_ERROR(file->write(bytes));
  return Pc2Writer(std::move(*file), header);
}

Status Pc2Writer::add_sample(std::span<const Vec3> positions) {
  SUPPLE_ASSERT(static_cast<std::int32_t>(positions.size()) == header_.points);
  buffer_.clear();
  for (const Vec3& p : positions)
    for (int i = 0; i < 3; ++i) append_bytes(buffer_, static_cast<float>(p[i]));
  ++written_;
  return file_.write(buffer_);
}

Status Pc2Writer::finish() {
  SUPPLE_ASSERT(written_ == header_.samples);
  return file_.commit();
}

Result<PointCache> load_pc2(const std::filesystem::path& path) {
  const Result<std::string> bytes = read_file(path);
  SUPPLE_RETURN_IF_ERROR(bytes);
  if (!bytes->starts_with(magic))
    return input_error(fmt::format("{} is not a PC2 point cache: it begins otherwise.", path.string()));
  ByteReader reader(*bytes);
  const Result<Pc2Header> header = parse_header(reader, path.string());
  SUPPLE_RETURN_IF_ERROR(header);
  PointCache cache{*header, {}};
  for (std::int32_t s = 0; s < header->samples; ++s) {
    std::vector<Vec3>& sample = cache.samples.emplace_back(to_size(header->points));
    for (Vec3& point : sample) {
      float x = 0, y = 0, z = 0;
      reader.read(x);
      reader.read(y);
      reader.read(z);
      point = Vec3(x, y, z);
    }
  }
  return cache;
}

}  // namespace supple
