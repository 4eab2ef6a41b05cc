// SPDX-License-Identifier: Apache-2.0
#include "supple/io/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace supple {
namespace {

Error cannot_write(const std::filesystem::path& path, int code) {
  return failure(fmt::format("{}: cannot be written ({}); check the folder, its permissions and the free space.",
                             path.string(), std::strerror(code)));
}

// Returns 0 or the error code.
int write_and_sync(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(descriptor) == 0 ? 0 : errno;
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code ignored;
  if (!file || std::filesystem::is_directory(path, ignored))
    return input_error(fmt::format("{}: cannot be opened; check the name and its permissions.", path.string()));
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return input_error(fmt::format("{}: cannot be read to its end; copy it again.", path.string()));
  return bytes;
}

Status write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  std::string temporary = path.string() + ".XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) return cannot_write(path, errno);
  ::fchmod(descriptor, 0644);
  int code = write_and_sync(descriptor, bytes);
  if (::close(descriptor) != 0 && code == 0) code = errno;
  if (code == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) code = errno;
  if (code == 0) return {};
  ::unlink(temporary.c_str());
  return cannot_write(path, code);
}

}  // namespace supple
