// SPDX-License-Identifier: Apache-2.0
// Whole files in and out. A write either happens completely or leaves what was there before; within a FileTransaction
// (io/file_transaction.h) several happen together.
#pragma once

#include "supple/base/result.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace supple {

/// The bytes of a regular file of at most 16 GiB.
Result<std::string> read_file(const std::filesystem::path& path);

/// When a written file gets its name.
enum class Appear {
  together,  ///< with the others of the thread's FileTransaction; at once where there is none
  at_once,   ///< whatever becomes of the rest: caches, and work that is continued later
};

/// Writes beside the target, brings the bytes to the disk, then renames over the target. On failure the old file is
/// untouched and nothing new is left behind. A symbolic link keeps pointing where it did; a device is written directly.
Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes,
                             Appear appear = Appear::together);

/// Finds out before the work whether a file could be written there: the name, the folder, the permission, and that it
/// is none of the inputs that the thread's FileTransaction knows. Writes nothing.
Status check_output(const std::filesystem::path& path);

/// How many bytes a file has that was written, and may wait for its name yet; 0 where there is none.
std::uintmax_t written_size(const std::filesystem::path& path);

/// Writes a file piece by piece, for those too long to hold in memory. It appears, or replaces the old one, with
/// commit(); without it nothing is left behind.
class AtomicFile {
 public:
  static Result<AtomicFile> open(const std::filesystem::path& path, Appear appear = Appear::together);
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
