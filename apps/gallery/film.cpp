// SPDX-License-Identifier: Apache-2.0
#include "film.h"

#include "supple/base/to_size.h"
#include "supple/io/image/png.h"

#include <fmt/format.h>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

namespace supple {
namespace {

namespace fs = std::filesystem;

/// What ffmpeg is told about the file of that ending; nothing where we write it ourselves.
std::vector<std::string> encoder_of(const fs::path& path) {
  if (path.extension() == ".webp")
    return {"-c:v", "libwebp_anim", "-lossless", "0", "-quality", "80", "-loop", "0", "-f", "webp"};
  // Chroma of half the size needs even numbers of pixels; the index stands in front, so that a browser begins at once.
  if (path.extension() == ".mp4")
    return {"-vf",       "pad=ceil(iw/2)*2:ceil(ih/2)*2",
            "-c:v",      "libx264",
            "-pix_fmt",  "yuv420p",
            "-crf",      "18",
            "-movflags", "+faststart",
            "-f",        "mp4"};
  return {};
}

bool on_the_path(const std::string& program) {
  const char* variable = std::getenv("PATH");
  std::string folders = variable == nullptr ? "" : variable;
  for (std::size_t at = 0; at <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    if (::access((fs::path(folders.substr(at, end - at)) / program).c_str(), X_OK) == 0) return true;
    at = end + 1;
  }
  return false;
}

bool write_all(int end, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(end, bytes.data(), bytes.size());
    if (count <= 0) return false;
    bytes = bytes.subspan(to_size(count));
  }
  return true;
}

/// Runs ffmpeg with the pictures on its standard input.
bool encode(const fs::path& path, std::span<const Image> frames, double rate) {
  const Image& first = frames.front();
  std::vector<std::string> words = {"ffmpeg",    "-y",
                                    "-loglevel", "error",
                                    "-f",        "rawvideo",
                                    "-pix_fmt",  "rgba",
                                    "-s",        fmt::format("{}x{}", first.width, first.height),
                                    "-r",        fmt::format("{:g}", rate),
                                    "-i",        "-"};
  for (std::string& word : encoder_of(path)) words.push_back(std::move(word));
  words.push_back("file:" + path.string());  // names may begin with a dash, or hold a colon
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return false;
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(ends[0], STDIN_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(ends[0]);
  const auto before = std::signal(SIGPIPE, SIG_IGN);  // an encoder that has died is told by its exit code
  bool written = child > 0;
  for (std::size_t k = 0; written && k < frames.size(); ++k) written = write_all(ends[1], frames[k].rgba);
  ::close(ends[1]);
  std::signal(SIGPIPE, before);
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 && written;
}

}  // namespace

Status check_film(const fs::path& path) {
  if (path.extension() == ".png") return {};
  if (encoder_of(path).empty())
    return usage_error(fmt::format("{}: a film's file ends in .png, .webp or .mp4", path.string()));
  if (!on_the_path("ffmpeg"))
    return input_error(
        fmt::format("ffmpeg writes {} files, and it isn't here; install it (Debian's package ffmpeg), or name a .png, "
                    "which needs nothing",
                    path.extension().string()));
  return {};
}

Status write_film(const fs::path& path, std::span<const Image> frames, double frames_per_second) {
  SUPPLE_RETURN_IF_ERROR(check_film(path));
  if (path.extension() == ".png")
    return frames.size() == 1 ? write_png(path, frames.front()) : write_apng(path, frames, frames_per_second);
  if (!encode(path, frames, frames_per_second))
    return failure(
        fmt::format("ffmpeg could not write the {}; a .png needs no other program", path.extension().string()));
  return {};
}

}  // namespace supple
