// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/sketch/shape_store.h"

#include <fmt/format.h>

#include "supple/io/bytes.h"
#include "supple/io/file.h"

namespace supple {
namespace {

constexpr std::string_view shape_magic = "SUPSHAP1";

std::uint64_t checksum(std::string_view text) { return hash_bytes(std::as_bytes(std::span(text))); }

}  // namespace

std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t hash) {
  for (const std::byte b : bytes) hash = (hash ^ std::to_integer<std::uint64_t>(b)) * 0x100000001b3u;
  return hash;
}

Result<ShapeStore> ShapeStore::open(const std::filesystem::path& folder) {
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (!std::filesystem::is_directory(folder, code)) {
    return input_error(fmt::format("Can't create the folder {} for solved shapes; name another.", folder.string()));
  }
  ShapeStore store;
  store.folder_ = folder;
  return store;
}

std::filesystem::path ShapeStore::file_of(std::size_t number) const {
  return folder_ / fmt::format("shape_{:06}.bin", number);
}

std::optional<VecX> ShapeStore::find(std::size_t number, std::uint64_t key) const {
  const Result<std::string> bytes = read_file(file_of(number));
  if (!bytes.ok() || bytes->size() < shape_magic.size() + 3 * sizeof(std::uint64_t)) return std::nullopt;
  const std::string_view body = std::string_view(*bytes).substr(0, bytes->size() - sizeof(std::uint64_t));
  ByteReader tail(std::string_view(*bytes).substr(body.size()));
  ByteReader reader(body);
  std::uint64_t stored_checksum = 0, stored_key = 0, count = 0;
  tail.read(stored_checksum);
  reader.skip(shape_magic.size());
  reader.read(stored_key);
  reader.read(count);
  if (!body.starts_with(shape_magic) || stored_checksum != checksum(body) || stored_key != key ||
      reader.bytes_left() % sizeof(double) != 0 || count != reader.bytes_left() / sizeof(double)) {
    return std::nullopt;
  }
  VecX shape(static_cast<Eigen::Index>(count));
  for (double& value : shape) reader.read(value);
  return shape;
}

Status ShapeStore::save(std::size_t number, std::uint64_t key, const VecX& shape) const {
  std::string bytes(shape_magic);
  append_bytes(bytes, key);
  append_bytes(bytes, static_cast<std::uint64_t>(shape.size()));
  bytes.append(reinterpret_cast<const char*>(shape.data()), sizeof(double) * to_size(shape.size()));
  append_bytes(bytes, checksum(bytes));
  return write_file_atomically(file_of(number), bytes);
}

}  // namespace supple
