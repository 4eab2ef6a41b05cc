// SPDX-License-Identifier: Apache-2.0
// FileTransaction: files that belong together appear together or not at all, and none of them replaces what it was made
// from. While one lives, files that its thread writes (io/file.h) wait, complete and on the disk, until commit() puts
// them under their names; a reader on the same thread sees them already. Without commit() nothing has changed.
//
//   FileTransaction files;
//   …write_file_atomically(…)…
//   return files.commit();
#pragma once

#include "supple/base/result.h"
#include "supple/io/staging_folder.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace supple {

/// A complete file that waits for its name.
struct PendingFile {
  std::filesystem::path target;
  std::filesystem::path temporary;
  std::shared_ptr<StagingFolder> staging;
};

/// Gives all of them their names. When one can't be renamed, those before it are taken back.
Status put_in_place(const std::vector<PendingFile>& files);

class FileTransaction {
 public:
  /// Begins; within another one of the same thread it hands its files to that when it is committed.
  FileTransaction();
  ~FileTransaction();
  FileTransaction(const FileTransaction&) = delete;
  FileTransaction& operator=(const FileTransaction&) = delete;

  /// Afterwards the transaction is empty and goes on.
  Status commit();
  /// Drops what waits.
  void discard();
  /// Lets outputs replace files that were read meanwhile; otherwise they are refused.
  void allow_replacing_inputs() { replaces_inputs_ = true; }
  /// Makes a folder with its parents; those that are new go away again, if empty, when nothing is committed.
  Status make_folder(const std::filesystem::path& folder);

  /// The innermost of this thread, or null.
  static FileTransaction* current();

  /// A file that the thread has read.
  void note_input(const std::filesystem::path& path);
  /// Refuses a target that was read, and one that waits already.
  Status check_target(const std::filesystem::path& target) const;
  Status add(PendingFile file);
  /// Where the bytes of a waiting file are; null where none of that name waits.
  const std::filesystem::path* pending(const std::filesystem::path& path) const;

 private:
  struct FileId {
    unsigned long long device, number;
    auto operator<=>(const FileId&) const = default;
  };
  static bool identify(const std::filesystem::path& path, FileId& id);
  bool has_read(const FileId& id) const;
  void remove_new_folders();

  FileTransaction* outer_;
  bool replaces_inputs_ = false;
  std::set<FileId> inputs_;
  std::map<std::string, PendingFile> files_;  ///< by the one spelling of their targets
  std::vector<std::filesystem::path> new_folders_;
};

}  // namespace supple
