// SPDX-License-Identifier: Apache-2.0
// PNG images of numbers: three channels of 16 bits, written row after row, so that they needn't fit into memory.
#pragma once

#include "supple/base/types.h"
#include "supple/io/file.h"

#include <array>
#include <memory>
#include <span>

namespace supple {

class DeepPngWriter {
 public:
  using Pixel = std::array<std::uint16_t, 3>;

  static Result<DeepPngWriter> open(const std::filesystem::path& path, Index width, Index height);
  DeepPngWriter(DeepPngWriter&&) noexcept;
  ~DeepPngWriter();

  /// The pixels of the next row; those that are missing at its end are zero.
  Status add_row(std::span<const Pixel> pixels);
  /// The file appears; all rows must have been added.
  Status finish();

 private:
  struct Writing;
  explicit DeepPngWriter(std::unique_ptr<Writing> writing);
  std::unique_ptr<Writing> writing_;
};

}  // namespace supple
