// SPDX-License-Identifier: Apache-2.0
#include "supple/io/staging_folder.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace supple {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view prefix = ".supple-", suffix = ".tmp";

struct StagingFolders {
  std::mutex mutex;
  std::set<fs::path> ours;                                     ///< that exist now
  std::map<fs::path, std::weak_ptr<StagingFolder>> by_parent;  ///< to be shared
  std::vector<fs::path> made;                                  ///< folders for outputs, parents first
};

/// Never destroyed: files may be discarded while the program ends.
StagingFolders& folders() {
  static auto* all = new StagingFolders;
  return *all;
}

/// ".supple-PID-N.tmp"
bool is_staging_name(std::string_view name) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix) || name.size() <= prefix.size() + suffix.size())
    return false;
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  return name.find('-') != std::string_view::npos && name.find_first_not_of("0123456789-") == std::string_view::npos;
}

/// A descriptor of the folder that holds its lock, or -1: somebody else has it, or it is gone. Where the file system
/// knows no locks, `unlocked` says that the descriptor came without one.
int lock_folder(const fs::path& path, bool& unlocked) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return -1;
  unlocked = ::flock(fd, LOCK_EX | LOCK_NB) != 0;
  struct stat held {
  }, named{};
  const bool taken = unlocked && errno == EWOULDBLOCK;
  // Between opening and locking, the folder may have been removed, and another made under its name.
  if (!taken && ::fstat(fd, &held) == 0 && ::lstat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
      held.st_dev == named.st_dev)
    return fd;
  ::close(fd);
  return -1;
}

/// "N-TARGET", as new_name() has it.
bool is_staged_name(std::string_view name) {
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  return digits > 0 && digits < name.size() && name[digits] == '-';
}

/// With the files in it that are ours; it stays where there are others.
void remove_folder(const fs::path& path) {
  std::error_code ignored;
  std::vector<fs::path> ours;
  for (fs::directory_iterator at(path, ignored), end; !ignored && at != end; at.increment(ignored))
    if (is_staged_name(at->path().filename().string())) ours.push_back(at->path());
  for (const fs::path& file : ours) fs::remove(file, ignored);
  fs::remove(path, ignored);
}

/// What processes left that were killed.
void remove_orphans(const fs::path& parent) {
  std::error_code gone;
  std::vector<fs::path> found;
  for (fs::directory_iterator at(parent, gone), end; !gone && at != end; at.increment(gone))
    if (is_staging_name(at->path().filename().string())) found.push_back(at->path());
  for (const fs::path& path : found) {
    bool unlocked = false;
    const int fd = lock_folder(path, unlocked);
    if (fd < 0) continue;
    if (!unlocked) remove_folder(path);
    ::close(fd);
  }
}

}  // namespace

std::mutex& staging_mutex() { return folders().mutex; }

std::shared_ptr<StagingFolder> StagingFolder::make(const fs::path& parent) {
  static std::atomic<unsigned> counter{0};
  for (;;) {
    const fs::path path = parent / fmt::format("{}{}-{}{}", prefix, ::getpid(), ++counter, suffix);
    if (::mkdir(path.c_str(), 0700) != 0) {
      if (errno == EEXIST) continue;
      return nullptr;
    }
    bool unlocked = false;
    const int fd = lock_folder(path, unlocked);
    if (fd < 0) continue;  // another process took the empty folder for an orphan
    folders().ours.insert(path);
    return std::shared_ptr<StagingFolder>(new StagingFolder(path, fd));
  }
}

std::shared_ptr<StagingFolder> StagingFolder::in(const fs::path& parent) {
  std::error_code code;
  const fs::path key = fs::absolute(parent, code).lexically_normal();
  std::shared_ptr<StagingFolder> folder;  // outlives the lock: its destructor takes it
  const std::lock_guard lock(folders().mutex);
  std::weak_ptr<StagingFolder>& known = folders().by_parent[key];
  folder = known.lock();
  if (folder) return folder;
  remove_orphans(parent);
  folder = make(parent);
  known = folder;
  return folder;
}

StagingFolder::~StagingFolder() {
  const std::lock_guard lock(folders().mutex);
  remove_folder(path_);
  folders().ours.erase(path_);
  ::close(lock_);
}

fs::path StagingFolder::new_name(const fs::path& target) {
  static std::atomic<unsigned> counter{0};
  return path_ / fmt::format("{}-{}", ++counter, target.filename().string().substr(0, 200));
}

void note_new_folder(const fs::path& folder) {
  const std::lock_guard lock(folders().mutex);
  folders().made.push_back(folder);
}

void exit_without_unfinished_files(int code) {
  folders().mutex.lock();
  for (const fs::path& path : folders().ours) remove_folder(path);
  std::error_code not_empty;
  for (auto path = folders().made.rbegin(); path != folders().made.rend(); ++path) fs::remove(*path, not_empty);
  ::_exit(code);
}

}  // namespace supple
