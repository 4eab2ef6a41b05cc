// SPDX-License-Identifier: Apache-2.0
// Whole files in and out. A write either happens completely or leaves what was there before.
#pragma once

#include "supple/base/result.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace supple {

/// The bytes of a regular file of at most 16 GiB.
Result<std::string> read_file(const std::filesystem::path& path);

/// Writes beside the target, brings the bytes to the disk, then renames over the target. On failure the old file is
/// untouched and nothing new is left behind. A symbolic link keeps pointing where it did; a device is written directly.
Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// Writes a file piece by piece, for those too long to hold in memory. It appears, or replaces the old one, with
/// commit(); without it nothing is left behind.
class AtomicFile {
 public:
  static Result<AtomicFile> open(const std::filesystem::path& path);
  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) noexcept;
  ~AtomicFile();

  Status write(std::string_view bytes);
  Status commit();

 private:
  struct Writing;
  explicit AtomicFile(std::unique_ptr<Writing> writing);
  std::unique_ptr<Writing> writing_;
};

}  // namespace supple
