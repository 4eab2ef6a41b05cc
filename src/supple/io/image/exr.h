// SPDX-License-Identifier: Apache-2.0
// OpenEXR images of numbers, written row after row: one part, scan lines from the top, channels R, G, B, not
// compressed, so that every row has its place before it is written and any program reads it.
//
//   magic, version 2, attributes (name, type, size, value), 0
//   offset of every row (uint64)
//   rows: y (int32), bytes (int32), all B, all G, all R of the row
// Numbers are little-endian, single or half precision (IEEE 754, rounded to nearest even).
#pragma once

#include "supple/base/types.h"
#include "supple/io/file.h"

#include <span>

namespace supple {

enum class ExrPrecision { half, single };

class ExrWriter {
 public:
  static Result<ExrWriter> open(const std::filesystem::path& path, Index width, Index height, ExrPrecision precision);
  /// The pixels of the next row; those that are missing at its end are zero.
  Status add_row(std::span<const Vec3> pixels);
  /// The file appears; all rows must have been added.
  Status finish();

 private:
  ExrWriter(AtomicFile file, Index width, Index height, ExrPrecision precision)
      : file_(std::move(file)), width_(width), height_(height), precision_(precision) {}
  AtomicFile file_;
  Index width_, height_, row_ = 0;
  ExrPrecision precision_;
  std::string buffer_;
};

}  // namespace supple
