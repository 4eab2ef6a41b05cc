// SPDX-License-Identifier: Apache-2.0
#include "supple/io/file.h"

#include "supple/base/to_size.h"
#include "supple/io/file_transaction.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace supple {

/// A file that is open, and closed when this ends.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

namespace {

constexpr std::int64_t largest_file = std::int64_t{16} << 30;
constexpr std::size_t largest_transfer = std::size_t{1} << 30;

std::string reason() { return std::strerror(errno); }

Error write_failure(const std::filesystem::path& path) {
  return failure(fmt::format("Can't write {}: {}; the file is as it was before.", path.string(), reason()));
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), std::min(bytes.size(), largest_transfer));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(to_size(written));
  }
  return true;
}

std::filesystem::path folder_of(const std::filesystem::path& target) {
  return target.has_parent_path() ? target.parent_path() : ".";
}

// A file that is replaced keeps its permissions.
bool copy_permissions(const std::filesystem::path& from, int fd) {
  struct stat info {};
  return ::stat(from.c_str(), &info) != 0 || ::fchmod(fd, info.st_mode & 07777) == 0;
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path) {
  FileTransaction* const transaction = FileTransaction::current();
  const std::filesystem::path* const pending = transaction != nullptr ? transaction->pending(path) : nullptr;
  if (transaction != nullptr && pending == nullptr) transaction->note_input(path);
  const Descriptor file(::open((pending != nullptr ? *pending : path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid() && errno == ENOENT)
    return input_error(fmt::format("There is no file {}; check the path.", path.string()));
  struct stat info {};
  if (!file.valid() || ::fstat(file.get(), &info) != 0)
    return input_error(fmt::format("Can't read {}: {}.", path.string(), reason()));
  if (S_ISDIR(info.st_mode)) return input_error(fmt::format("{} is a folder; name a file inside it.", path.string()));
  if (!S_ISREG(info.st_mode))
    return input_error(fmt::format("{} isn't an ordinary file; copy its content into one.", path.string()));
  if (info.st_size > largest_file)
    return input_error(fmt::format("{} is larger than 16 GiB, more than we read; split or coarsen it.", path.string()));
  std::string bytes(to_size(info.st_size), '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + filled, std::min(bytes.size() - filled, largest_transfer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure(fmt::format("Can't read {}: {}.", path.string(), reason()));
    if (got == 0) break;  // somebody shortened the file meanwhile
    filled += to_size(got);
  }
  bytes.resize(filled);
  return bytes;
}

struct AtomicFile::Writing {
  std::filesystem::path target;  ///< where links lead to
  std::filesystem::path temporary;
  Descriptor file;
  std::shared_ptr<StagingFolder> staging;
  Appear appear;

  ~Writing() {
    if (!temporary.empty()) ::unlink(temporary.c_str());
  }
  /// Devices are written directly.
  bool direct() const { return temporary.empty(); }
};

AtomicFile::AtomicFile(std::unique_ptr<Writing> writing) : writing_(std::move(writing)) {}
AtomicFile::AtomicFile(AtomicFile&&) noexcept = default;
AtomicFile& AtomicFile::operator=(AtomicFile&&) noexcept = default;
AtomicFile::~AtomicFile() = default;

namespace {

/// What a path leads to, and how it is written.
struct OutputPlace {
  std::filesystem::path target;
  bool direct = false;
};

Error cannot_open(const std::filesystem::path& target) {
  if (errno == ENOENT || errno == ENOTDIR)
    return input_error(fmt::format("Can't write {}: the folder {} doesn't exist; make it, or name another.",
                                   target.string(), folder_of(target).string()));
  if (errno == EACCES || errno == EPERM || errno == EROFS)
    return input_error(fmt::format("Can't write {}: {}; name a place where you may write.", target.string(), reason()));
  return failure(fmt::format("Can't write {}: {}.", target.string(), reason()));
}

Result<OutputPlace> place_of(const std::filesystem::path& path) {
  std::error_code code;
  if (path.empty() || !path.has_filename()) return usage_error("Name a file to write to.");
  OutputPlace place;
  place.target = std::filesystem::is_symlink(path, code) ? std::filesystem::weakly_canonical(path, code) : path;
  const auto status = std::filesystem::status(place.target, code);
  if (std::filesystem::is_directory(status))
    return input_error(fmt::format("Can't write {}: it is a folder; name a file inside it.", path.string()));
  place.direct = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  if (place.target.filename().string().size() > 255)
    return input_error(fmt::format("Can't write {}: the name is too long; choose a shorter one.", path.string()));
  return place;
}

Status check_with_others(const std::filesystem::path& target) {
  const FileTransaction* transaction = FileTransaction::current();
  return transaction != nullptr ? transaction->check_target(target) : Status();
}

}  // namespace

Status check_output(const std::filesystem::path& path) {
  const Result<OutputPlace> place = place_of(path);
  SUPPLE_RETURN_IF_ERROR(place);
  SUPPLE_RETURN_IF_ERROR(check_with_others(place->target));
  const std::filesystem::path written = place->direct ? place->target : folder_of(place->target);
  struct stat info {};
  if (::stat(written.c_str(), &info) != 0) return cannot_open(place->target);
  if (!place->direct && !S_ISDIR(info.st_mode)) {
    errno = ENOTDIR;
    return cannot_open(place->target);
  }
  if (::access(written.c_str(), W_OK) != 0) return cannot_open(place->target);
  return {};
}

Result<AtomicFile> AtomicFile::open(const std::filesystem::path& path, Appear appear) {
  const Result<OutputPlace> place = place_of(path);
  SUPPLE_RETURN_IF_ERROR(place);
  if (appear == Appear::together) SUPPLE_RETURN_IF_ERROR(check_with_others(place->target));
  const auto writing = [&](const std::filesystem::path& temporary, int fd, std::shared_ptr<StagingFolder> staging) {
    return std::unique_ptr<Writing>(new Writing{place->target, temporary, Descriptor(fd), std::move(staging), appear});
  };
  if (place->direct) {
    const int fd = ::open(place->target.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return cannot_open(place->target);
    return AtomicFile(writing({}, fd, nullptr));
  }
  const std::shared_ptr<StagingFolder> staging = StagingFolder::in(folder_of(place->target));
  if (staging == nullptr) return cannot_open(place->target);
  const std::filesystem::path temporary = staging->new_name(place->target);
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return cannot_open(place->target);
  return AtomicFile(writing(temporary, fd, staging));
}

Status AtomicFile::write(std::string_view bytes) {
  if (!write_all(writing_->file.get(), bytes)) return write_failure(writing_->target);
  return {};
}

Status AtomicFile::commit() {
  Writing& w = *writing_;
  if (w.direct()) return w.file.close() ? Status() : Status(write_failure(w.target));
  const bool complete = copy_permissions(w.target, w.file.get()) && ::fsync(w.file.get()) == 0 && w.file.close();
  if (!complete) return write_failure(w.target);
  PendingFile file{w.target, std::exchange(w.temporary, {}), std::move(w.staging)};
  FileTransaction* const transaction = FileTransaction::current();
  if (transaction != nullptr && w.appear == Appear::together) return transaction->add(std::move(file));
  return put_in_place({std::move(file)});
}

std::uintmax_t written_size(const std::filesystem::path& path) {
  const FileTransaction* const transaction = FileTransaction::current();
  const std::filesystem::path* const pending = transaction != nullptr ? transaction->pending(path) : nullptr;
  std::error_code none;
  const std::uintmax_t size = std::filesystem::file_size(pending != nullptr ? *pending : path, none);
  return none ? 0 : size;
}

Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes, Appear appear) {
  Result<AtomicFile> file = AtomicFile::open(path, appear);
  SUPPLE_RETURN_IF_ERROR(file);
  SUPPLE_RETURN_IF_ERROR(file->write(bytes));
  return file->commit();
}

}  // namespace supple
