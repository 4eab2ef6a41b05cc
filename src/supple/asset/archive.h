// SPDX-License-Identifier: Apache-2.0
// The `.supple` archive: named arrays of numbers in one file that can be mapped into memory and read in place.
//
//   header   64 bytes   "SUPPLE\r\n", version, byte order, kind, file size, number of arrays, checksum
//   table    96 bytes per array: name, type of its numbers, rows, columns, offset
//   data     each array column-major, aligned to 64 bytes, zeros between
//
// The checksum covers every byte of the file (its own field counted as zero) and changes with any single byte. Files of
// a newer version, cut short or damaged are refused with one sentence. Little-endian, as all machines we run on.
// Version 2 brought numbers of single precision and of 16 bits; files of version 1 are read as well.
#pragma once

#include "supple/base/result.h"
#include "supple/base/types.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace supple {

enum class NumberType : std::uint32_t { byte = 1, int32 = 2, float64 = 3, float32 = 4, int16 = 5 };

using MatXs = Eigen::Matrix<std::int16_t, Eigen::Dynamic, Eigen::Dynamic>;

/// Collects arrays and lays them out. The caller writes the bytes to disk (atomically: io/file.h).
class ArchiveWriter {
 public:
  /// `kind` says what the archive holds, at most 15 characters: "subspace".
  explicit ArchiveWriter(std::string_view kind);

  void add(std::string_view name, const MatX& matrix);
  void add_singles(std::string_view name, const Eigen::MatrixXf& matrix);
  void add_shorts(std::string_view name, const MatXs& matrix);
  void add(std::string_view name, std::span<const Index> values);
  void add(std::string_view name, std::string_view text);
  void add_number(std::string_view name, Index value);
  void add_number(std::string_view name, double value);
  std::string bytes() const;

 private:
  template <class Matrix>
  void add_matrix(std::string_view name, NumberType type, const Matrix& matrix);

  struct Array {
    std::string name;
    NumberType type;
    std::uint64_t rows, columns;
    std::string data;
  };
  std::string kind_;
  std::vector<Array> arrays_;
};

/// Whether a file begins as archives do, whatever it is called. One that is called .supple counts as well: whoever
/// opens it says what is wrong with it.
bool is_archive(const std::filesystem::path& path);

/// Writes the checksum that fits the bytes into their header, whatever else may be wrong with them: tests of refusals
/// need archives that are damaged and yet pass the checksum.
void stamp_checksum(std::string& bytes);

/// An archive that is open for reading; what it hands out stays valid as long as it lives.
class Archive {
 public:
  /// Maps the file into memory and checks header, table and checksum.
  static Result<Archive> open(const std::filesystem::path& path);
  /// Opens an archive that lies in memory already. The bytes must stay where they are and be aligned to 8; `name` is
  /// what messages call them.
  static Result<Archive> parse(std::span<const std::byte> bytes, const std::string& name);

  const std::string& kind() const { return kind_; }
  std::vector<std::string> names() const;
  bool has(std::string_view name) const;
  std::uint64_t size_in_bytes() const;

  /// Fails when there is no such array, or it is of another type.
  Result<Eigen::Map<const MatX>> matrix(std::string_view name) const;
  Result<Eigen::Map<const Eigen::MatrixXf>> single_matrix(std::string_view name) const;
  Result<Eigen::Map<const MatXs>> short_matrix(std::string_view name) const;
  Result<std::span<const Index>> indices(std::string_view name) const;
  Result<std::string> text(std::string_view name) const;

 private:
  struct Entry {
    std::string name;
    NumberType type;
    std::uint64_t rows, columns;
    const std::byte* data;
  };
  Result<const Entry*> find(std::string_view name, NumberType type) const;
  template <class Matrix>
  Result<Eigen::Map<const Matrix>> map(std::string_view name, NumberType type) const;
  Status read_table(std::span<const std::byte> bytes);

  std::string file_;
  std::string kind_;
  std::uint64_t size_ = 0;
  std::vector<Entry> entries_;
  std::shared_ptr<const void> mapping_;
};

}  // namespace supple
