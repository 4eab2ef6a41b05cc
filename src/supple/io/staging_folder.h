// SPDX-License-Identifier: Apache-2.0
// Where files grow before they appear under their names: a hidden folder ".supple-PID-N.tmp" beside the targets, so
// that a rename is all that is left to do. The process holds a lock on it, which the system drops however the process
// ends: whoever next writes into the same folder removes what has lost its owner, and never what somebody still writes.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>

namespace supple {

class StagingFolder {
 public:
  /// The one of this process in `parent`; made if there is none, after those of dead processes have been removed.
  /// Null, with errno set, where that can't be done.
  static std::shared_ptr<StagingFolder> in(const std::filesystem::path& parent);
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;
  /// Removes the folder and whatever is still in it.
  ~StagingFolder();

  /// A path inside that nothing else has.
  std::filesystem::path new_name(const std::filesystem::path& target);

 private:
  StagingFolder(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}
  static std::shared_ptr<StagingFolder> make(const std::filesystem::path& parent);
  std::filesystem::path path_;
  int lock_;  ///< descriptor of the folder, locked
};

/// Held while files that belong together are put in place, so that ending the process doesn't come between them.
std::mutex& staging_mutex();

/// Remembers a folder that was made for outputs: where none came to lie in it, it goes when the process ends at once.
void note_new_folder(const std::filesystem::path& folder);

/// Removes all files that this process hasn't finished and ends it at once, without leaving any scope: for a process
/// that shall end although it is busy.
[[noreturn]] void exit_without_unfinished_files(int code);

}  // namespace supple
