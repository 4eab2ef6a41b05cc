// SPDX-License-Identifier: Apache-2.0
#include "supple/io/file_transaction.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace supple {
namespace fs = std::filesystem;
namespace {

thread_local FileTransaction* current_transaction = nullptr;

/// One spelling for all names of a file.
std::string spelling(const fs::path& path) {
  std::error_code code;
  return fs::weakly_canonical(path, code).string();
}

/// One file under its name, and the way back.
class Placement {
 public:
  explicit Placement(const PendingFile& file) : file_(file), old_(file.temporary.string() + ".old") {}

  bool place() {
    // A second name keeps the old file until all is well; where links can't be made there is no way back.
    had_old_ = ::access(file_.target.c_str(), F_OK) == 0;
    kept_old_ = had_old_ && ::link(file_.target.c_str(), old_.c_str()) == 0;
    placed_ = ::rename(file_.temporary.c_str(), file_.target.c_str()) == 0;
    return placed_;
  }
  void take_back() const {
    if (placed_ && kept_old_) ::rename(old_.c_str(), file_.target.c_str());
    if (placed_ && !had_old_) ::unlink(file_.target.c_str());
  }

 private:
  const PendingFile& file_;
  fs::path old_;
  bool had_old_ = false, kept_old_ = false, placed_ = false;
};

/// The renames themselves should survive a power cut too; a file system that can't promise that is no reason to fail.
void keep_names(const std::vector<PendingFile>& files) {
  std::set<fs::path> parents;
  for (const PendingFile& file : files)
    parents.insert(file.target.has_parent_path() ? file.target.parent_path() : fs::path("."));
  for (const fs::path& parent : parents) {
    const int fd = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) continue;
    ::fsync(fd);
    ::close(fd);
  }
}

}  // namespace

Status put_in_place(const std::vector<PendingFile>& files) {
  const std::lock_guard lock(staging_mutex());
  std::vector<Placement> placements;
  for (const PendingFile& file : files) {
    if (placements.emplace_back(file).place()) continue;
    const std::string reason = std::strerror(errno);
    std::for_each(placements.rbegin(), placements.rend(), [](const Placement& p) { p.take_back(); });
    return failure(fmt::format("Can't write {}: {}; the file is as it was before.", file.target.string(), reason));
  }
  keep_names(files);
  return {};
}

FileTransaction::FileTransaction() : outer_(current_transaction) { current_transaction = this; }

FileTransaction::~FileTransaction() {
  discard();
  current_transaction = outer_;
}

FileTransaction* FileTransaction::current() { return current_transaction; }

void FileTransaction::discard() {
  files_.clear();
  remove_new_folders();
}

Status FileTransaction::commit() {
  std::vector<PendingFile> files;
  for (auto& [name, file] : std::exchange(files_, {})) files.push_back(std::move(file));
  if (outer_ != nullptr) {
    for (PendingFile& file : files) SUPPLE_RETURN_IF_ERROR(outer_->add(std::move(file)));
    outer_->new_folders_.insert(outer_->new_folders_.end(), new_folders_.begin(), new_folders_.end());
    new_folders_.clear();
    return {};
  }
  const Status placed = put_in_place(files);
  files.clear();
  if (placed.ok())
    new_folders_.clear();
  else
    remove_new_folders();
  return placed;
}

void FileTransaction::remove_new_folders() {
  std::error_code not_empty;
  for (; !new_folders_.empty(); new_folders_.pop_back()) fs::remove(new_folders_.back(), not_empty);
}

Status FileTransaction::make_folder(const fs::path& folder) {
  std::error_code code;
  fs::path whole = fs::absolute(folder, code).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  std::vector<fs::path> missing;
  for (fs::path at = whole; !fs::exists(at, code) && at.has_relative_path(); at = at.parent_path())
    missing.push_back(at);
  for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
    code.clear();
    if (fs::create_directory(*at, code)) {
      new_folders_.push_back(*at);
      note_new_folder(*at);
    }
    if (code) break;
  }
  if (fs::is_directory(whole)) return {};
  return input_error(fmt::format("Can't make the folder {}: {}; name another.", folder.string(),
                                 code ? code.message() : "a file has its name"));
}

bool FileTransaction::identify(const fs::path& path, FileId& id) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  id = {info.st_dev, info.st_ino};
  return true;
}

void FileTransaction::note_input(const fs::path& path) {
  FileId id{};
  if (identify(path, id)) inputs_.insert(id);
}

bool FileTransaction::has_read(const FileId& id) const {
  return inputs_.contains(id) || (outer_ != nullptr && outer_->has_read(id));
}

Status FileTransaction::check_target(const fs::path& target) const {
  bool replaces = false;
  for (const FileTransaction* at = this; at != nullptr; at = at->outer_) replaces = replaces || at->replaces_inputs_;
  FileId id{};
  if (!replaces && identify(target, id) && has_read(id))
    return usage_error(
        fmt::format("{} is an input, which an output would replace; name another file, or --force", target.string()));
  if (pending(target) != nullptr)
    return usage_error(
        fmt::format("{} would be written twice, the second over the first; name other outputs", target.string()));
  return {};
}

Status FileTransaction::add(PendingFile file) {
  SUPPLE_RETURN_IF_ERROR(check_target(file.target));
  std::string name = spelling(file.target);
  files_.emplace(std::move(name), std::move(file));
  return {};
}

const fs::path* FileTransaction::pending(const fs::path& path) const {
  if (const auto found = files_.find(spelling(path)); found != files_.end()) return &found->second.temporary;
  return outer_ != nullptr ? outer_->pending(path) : nullptr;
}

}  // namespace supple
