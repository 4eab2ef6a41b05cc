// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/sketch/shape_store.h"

#include <fmt/format.h>

#include "supple/io/bytes.h"
#include "supple/io/file.h"

namespace supple {
namespace {

constexpr std::string_view shape_magic = "SUPSHAP2";
constexpr std::size_t digits = 32;  // of ContentHash::text()

std::string start_of(const ContentHash& problem) { return std::string(shape_magic) + problem.text(); }

}  // namespace

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

std::optional<VecX> ShapeStore::find(std::size_t number, const ContentHash& problem) const {
  const Result<std::string> bytes = read_file(file_of(number));
  const std::string start = start_of(problem);
  if (!bytes.ok() || bytes->size() < start.size() + sizeof(std::uint64_t) + digits) return std::nullopt;
  const std::string_view body = std::string_view(*bytes).substr(0, bytes->size() - digits);
  if (!body.starts_with(start) || ContentHash().add(body).text() != bytes->substr(body.size())) return std::nullopt;
  ByteReader reader(body);
  std::uint64_t count = 0;
  reader.skip(start.size());
  reader.read(count);
  if (reader.bytes_left() % sizeof(double) != 0 || count != reader.bytes_left() / sizeof(double)) return std::nullopt;
  VecX shape(static_cast<Eigen::Index>(count));
  for (double& value : shape) reader.read(value);
  return shape;
}

Status ShapeStore::save(std::size_t number, const ContentHash& problem, const VecX& shape) const {
  std::string bytes = start_of(problem);
  append_bytes(bytes, static_cast<std::uint64_t>(shape.size()));
  bytes.append(reinterpret_cast<const char*>(shape.data()), sizeof(double) * to_size(shape.size()));
  bytes += ContentHash().add(std::string_view(bytes)).text();
  return write_file_atomically(file_of(number), bytes, Appear::at_once);
}

}  // namespace supple
