// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/archive.h"

#include "supple/base/hash_mix.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace supple {
namespace {

static_assert(std::endian::native == std::endian::little, "archives are little-endian and read in place");

constexpr char magic[8] = {'S', 'U', 'P', 'P', 'L', 'E', '\r', '\n'};
constexpr std::uint32_t version = 2, oldest_version = 1;
constexpr std::uint32_t byte_order = 0x01020304;
constexpr std::uint64_t alignment = 64;

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t byte_order;
  char kind[16];
  std::uint64_t file_size;
  std::uint64_t array_count;
  std::uint64_t checksum;
  std::uint64_t reserved;
};
static_assert(sizeof(Header) == 64);

struct TableEntry {
  char name[64];
  std::uint32_t type;
  std::uint32_t reserved;
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint64_t offset;
};
static_assert(sizeof(TableEntry) == 96);

std::uint64_t rounded_up(std::uint64_t size) { return (size + alignment - 1) / alignment * alignment; }

std::uint64_t bytes_per_number(NumberType type) {
  switch (type) {
    case NumberType::byte:
      return 1;
    case NumberType::int16:
      return 2;
    case NumberType::int32:
    case NumberType::float32:
      return 4;
    case NumberType::float64:
      return 8;
  }
  return 0;
}

/// The length, then all words, mixed one after the other (base/hash_mix.h). This isn't ContentHash because the value is
/// part of the file format: archives that exist must stay readable, and their own checksum field counts as zero.
std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u ^ bytes.size();
  constexpr std::size_t field = offsetof(Header, checksum);
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    if (at != field) std::memcpy(&word, bytes.data() + at, 8);
    hash = mix_word(hash, word);
  }
  std::uint64_t tail = 0;
  if (at < bytes.size()) std::memcpy(&tail, bytes.data() + at, bytes.size() - at);
  return mix_word(hash, tail);
}

template <std::size_t Size>
void copy_text(char (&target)[Size], std::string_view text) {
  SUPPLE_ASSERT(text.size() < Size);
  std::memset(target, 0, Size);
  std::memcpy(target, text.data(), std::min(text.size(), Size - 1));
}

template <std::size_t Size>
std::string text_of(const char (&source)[Size]) {
  return std::string(source, std::find(source, source + Size, '\0'));
}

Status check_header(const Header& header, std::uint64_t size, const std::string& file) {
  if (std::memcmp(header.magic, magic, sizeof magic) != 0) {
    return input_error(file + " is not a Supple asset; make one with `supple build`");
  }
  if (header.byte_order != byte_order) return input_error(file + " is damaged; build it again");
  if (header.version < oldest_version || header.version > version) {
    const bool newer = header.version > version;
    return input_error(file + " has asset version " + std::to_string(header.version) +
                       ", but this program reads versions up to " + std::to_string(version) + "; " +
                       (newer ? "update Supple" : "build it again"));
  }
  if (header.file_size != size) {
    return input_error(file + " is cut short or has grown: " + std::to_string(size) + " bytes instead of " +
                       std::to_string(header.file_size) + "; build it again or copy it anew");
  }
  return {};
}

/// Unmaps when the last archive that uses it is gone.
std::shared_ptr<const void> map_file(int descriptor, std::size_t size) {
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED) return nullptr;
  return std::shared_ptr<const void>(address, [size](const void* p) { munmap(const_cast<void*>(p), size); });
}

}  // namespace

bool is_archive(const std::filesystem::path& path) {
  if (path.extension() == ".supple") return true;
  char start[sizeof magic] = {};
  std::ifstream file(path, std::ios::binary);
  return file.read(start, sizeof start) && std::memcmp(start, magic, sizeof magic) == 0;
}

ArchiveWriter::ArchiveWriter(std::string_view kind) : kind_(kind) {}

template <class Matrix>
void ArchiveWriter::add_matrix(std::string_view name, NumberType type, const Matrix& matrix) {
  const auto* data = reinterpret_cast<const char*>(matrix.data());
  arrays_.push_back({std::string(name), type, static_cast<std::uint64_t>(matrix.rows()),
                     static_cast<std::uint64_t>(matrix.cols()),
                     std::string(data, to_size(matrix.size()) * sizeof(typename Matrix::Scalar))});
}

void ArchiveWriter::add(std::string_view name, const MatX& matrix) { add_matrix(name, NumberType::float64, matrix); }

void ArchiveWriter::add_singles(std::string_view name, const Eigen::MatrixXf& matrix) {
  add_matrix(name, NumberType::float32, matrix);
}

void ArchiveWriter::add_shorts(std::string_view name, const MatXs& matrix) {
  add_matrix(name, NumberType::int16, matrix);
}

void ArchiveWriter::add(std::string_view name, std::span<const Index> values) {
  const auto* data = reinterpret_cast<const char*>(values.data());
  arrays_.push_back({std::string(name), NumberType::int32, values.size(), 1, std::string(data, values.size_bytes())});
}

void ArchiveWriter::add(std::string_view name, std::string_view text) {
  arrays_.push_back({std::string(name), NumberType::byte, text.size(), 1, std::string(text)});
}

void ArchiveWriter::add_number(std::string_view name, Index value) { add(name, std::span<const Index>(&value, 1)); }

void ArchiveWriter::add_number(std::string_view name, double value) { add(name, MatX(MatX::Constant(1, 1, value))); }

std::string ArchiveWriter::bytes() const {
  std::vector<TableEntry> table(arrays_.size());
  std::uint64_t size = rounded_up(sizeof(Header) + arrays_.size() * sizeof(TableEntry));
  for (std::size_t k = 0; k < arrays_.size(); ++k) {
    copy_text(table[k].name, arrays_[k].name);
    table[k].type = static_cast<std::uint32_t>(arrays_[k].type);
    table[k].reserved = 0;
    table[k].rows = arrays_[k].rows;
    table[k].columns = arrays_[k].columns;
    table[k].offset = size;
    size += rounded_up(arrays_[k].data.size());
  }
  std::string result(size, '\0');
  for (std::size_t k = 0; k < arrays_.size(); ++k) {
    std::memcpy(result.data() + sizeof(Header) + k * sizeof(TableEntry), &table[k], sizeof(TableEntry));
    if (!arrays_[k].data.empty())
      std::memcpy(result.data() + table[k].offset, arrays_[k].data.data(), arrays_[k].data.size());
  }
  Header header{};
  std::memcpy(header.magic, magic, sizeof magic);
  header.version = version;
  header.byte_order = byte_order;
  copy_text(header.kind, kind_);
  header.file_size = size;
  header.array_count = arrays_.size();
  std::memcpy(result.data(), &header, sizeof header);
  stamp_checksum(result);
  return result;
}

void stamp_checksum(std::string& bytes) {
  if (bytes.size() < sizeof(Header)) return;
  const std::uint64_t checksum = checksum_of(std::as_bytes(std::span(bytes)));
  std::memcpy(bytes.data() + offsetof(Header, checksum), &checksum, sizeof checksum);
}

Result<Archive> Archive::open(const std::filesystem::path& path) {
  const std::string file = path.string();
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return input_error(file + " can't be opened: " + std::strerror(errno));
  struct stat status {};
  const bool regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  const auto size = regular ? to_size(status.st_size) : 0;
  std::shared_ptr<const void> mapping = size > 0 ? map_file(descriptor, size) : nullptr;
  ::close(descriptor);
  if (!regular) return input_error(file + " is not a file");
  if (!mapping) return input_error(file + " is not a Supple asset; make one with `supple build`");
  Result<Archive> archive = parse({static_cast<const std::byte*>(mapping.get()), size}, file);
  if (archive.ok()) archive->mapping_ = std::move(mapping);
  return archive;
}

Result<Archive> Archive::parse(std::span<const std::byte> bytes, const std::string& name) {
  Header header{};
  if (bytes.size() < sizeof header) return input_error(name + " is not a Supple asset; make one with `supple build`");
  std::memcpy(&header, bytes.data(), sizeof header);
  SUPPLE_RETURN_IF_ERROR(check_header(header, bytes.size(), name));
  if (header.checksum != checksum_of(bytes)) {
    return input_error(name + " is damaged: its checksum does not fit; build it again or copy it anew");
  }
  Archive archive;
  archive.file_ = name;
  archive.kind_ = text_of(header.kind);
  archive.size_ = bytes.size();
  archive.entries_.resize(0);
  SUPPLE_RETURN_IF_ERROR(archive.read_table(bytes));
  return archive;
}

/// The checksum says that we wrote it; the bounds are checked all the same, for files made by others.
Status Archive::read_table(std::span<const std::byte> bytes) {
  const auto broken = [&] {
    return input_error(file_ + " is damaged: its table points outside the file; build it again");
  };
  Header header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::uint64_t room = bytes.size() - sizeof(Header);
  if (header.array_count > room / sizeof(TableEntry)) return broken();
  for (std::uint64_t k = 0; k < header.array_count; ++k) {
    TableEntry entry{};
    std::memcpy(&entry, bytes.data() + sizeof(Header) + k * sizeof(TableEntry), sizeof entry);
    const auto type = static_cast<NumberType>(entry.type);
    const std::uint64_t number = bytes_per_number(type);
    if (number == 0 || entry.offset > bytes.size() || entry.offset % 8 != 0) return broken();
    const std::uint64_t numbers = (bytes.size() - entry.offset) / number;
    if (entry.columns != 0 && entry.rows > numbers / entry.columns) return broken();
    entries_.push_back({text_of(entry.name), type, entry.rows, entry.columns, bytes.data() + entry.offset});
  }
  return {};
}

std::vector<std::string> Archive::names() const {
  std::vector<std::string> result;
  for (const Entry& entry : entries_) result.push_back(entry.name);
  return result;
}

bool Archive::has(std::string_view name) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.name == name; });
}

std::uint64_t Archive::size_in_bytes() const { return size_; }

Result<const Archive::Entry*> Archive::find(std::string_view name, NumberType type) const {
  const bool list = type == NumberType::byte || type == NumberType::int32;
  for (const Entry& entry : entries_) {
    if (entry.name == name && entry.type == type && (!list || entry.columns == 1)) return &entry;
  }
  return input_error(file_ + " lacks \"" + std::string(name) + "\"; build it again");
}

template <class Matrix>
Result<Eigen::Map<const Matrix>> Archive::map(std::string_view name, NumberType type) const {
  const auto entry = find(name, type);
  SUPPLE_RETURN_IF_ERROR(entry);
  return Eigen::Map<const Matrix>(reinterpret_cast<const typename Matrix::Scalar*>((*entry)->data),
                                  static_cast<Eigen::Index>((*entry)->rows),
                                  static_cast<Eigen::Index>((*entry)->columns));
}

Result<Eigen::Map<const MatX>> Archive::matrix(std::string_view name) const {
  return map<MatX>(name, NumberType::float64);
}

Result<Eigen::Map<const Eigen::MatrixXf>> Archive::single_matrix(std::string_view name) const {
  return map<Eigen::MatrixXf>(name, NumberType::float32);
}

Result<Eigen::Map<const MatXs>> Archive::short_matrix(std::string_view name) const {
  return map<MatXs>(name, NumberType::int16);
}

Result<std::span<const Index>> Archive::indices(std::string_view name) const {
  const auto entry = find(name, NumberType::int32);
  SUPPLE_RETURN_IF_ERROR(entry);
  return std::span<const Index>(reinterpret_cast<const Index*>((*entry)->data), (*entry)->rows);
}

Result<std::string> Archive::text(std::string_view name) const {
  const auto entry = find(name, NumberType::byte);
  SUPPLE_RETURN_IF_ERROR(entry);
  return std::string(reinterpret_cast<const char*>((*entry)->data), (*entry)->rows);
}

}  // namespace supple
