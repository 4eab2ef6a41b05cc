// SPDX-License-Identifier: Apache-2.0
// supple preview: a baked character, rigid beside soft, as a moving picture. Drawing needs OpenGL, which the command
// doesn't; so another program draws, supple_gallery, which is installed beside it.
#include "command.h"
#include "interrupt.h"
#include "supple/base/to_size.h"
#include "supple/io/file.h"
#include "supple/io/staging_folder.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>

namespace supple::preview_verb {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string output, clip, view;
  std::optional<double> at;
  int width = 400, height = 400;
  double rate = 25, seconds = 4;
  bool without_map = false;
};

/// The program that draws: beside this one, or where the shell would find it.
std::string drawing_program() {
  std::error_code none;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", none);
  const std::filesystem::path beside = own.parent_path() / "supple_gallery";
  return !own.empty() && std::filesystem::exists(beside, none) ? beside.string() : "supple_gallery";
}

std::vector<std::string> words_of(const Options& options, const std::filesystem::path& picture) {
  std::vector<std::string> words = {drawing_program(),
                                    "preview",
                                    "--output=" + picture.string(),
                                    "--width",
                                    std::to_string(options.width),
                                    "--height",
                                    std::to_string(options.height),
                                    "--fps",
                                    fmt::format("{:g}", options.rate),
                                    "--seconds",
                                    fmt::format("{:g}", options.seconds)};
  if (!options.clip.empty()) words.push_back("--clip=" + options.clip);
  if (!options.view.empty()) words.push_back("--view=" + options.view);
  if (options.at) words.push_back(fmt::format("--at={}", *options.at));
  if (options.without_map) words.emplace_back("--no-map");
  words.emplace_back("--");  // names may begin with a dash
  words.insert(words.end(), options.files.begin(), options.files.end());
  return words;
}

/// All that comes out of a pipe, until its other end closes; an interrupt ends the program there.
std::string read_all(int end, pid_t writer) {
  std::string text;
  std::array<char, 4096> bytes{};
  for (pollfd ready{end, POLLIN, 0};;) {
    if (interrupted()) ::kill(writer, SIGTERM);
    if (::poll(&ready, 1, 50) == 0) continue;
    const ssize_t count = ::read(end, bytes.data(), bytes.size());
    if (count <= 0) return text;
    text.append(bytes.data(), to_size(count));
  }
}

/// Runs a program to its end, or until this one is killed; what it prints comes back. Nothing where that fails; 127
/// where there is no such program.
std::optional<std::pair<int, std::string>> run_program(std::vector<std::string> words) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return {};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  const std::string text = child > 0 ? read_all(ends[0], child) : "";
  ::close(ends[0]);
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return {};
  return std::pair(WIFEXITED(status) ? WEXITSTATUS(status) : 1, text);
}

Status preview(const Options& options, Session& session) {
  SUPPLE_RETURN_IF_ERROR(check_output(session, options.output, options.files));
  const std::string ending = std::filesystem::path(options.output).extension().string();
  if (ending != ".png" && ending != ".webp" && ending != ".mp4")
    return usage_error(fmt::format("-o {}: a film's file ends in .png, .webp or .mp4", options.output));
  const std::filesystem::path parent = std::filesystem::path(options.output).parent_path();
  const std::shared_ptr<StagingFolder> staging = StagingFolder::in(parent.empty() ? "." : parent);
  if (!staging) return failure(fmt::format("{} can't be written", options.output));
  const std::filesystem::path picture = staging->new_name(options.output);
  session.progress.stage("drawing");
  const auto done = run_program(words_of(options, picture));
  session.progress.clear();
  if (interrupted()) return failure("stopped");
  if (!done || done->first == 127)
    return input_error(
        "the program that draws, supple_gallery, is neither beside this one nor on the PATH; build it with the "
        "packages "
        "of the group [viewer] in cmake/packages.txt, and install it with this one");
  session.exit_code = done->first;  // it has said why
  if (done->first != 0) return {};
  const Result<std::string> drawn = read_file(picture);
  SUPPLE_RETURN_IF_ERROR(drawn);
  SUPPLE_RETURN_IF_ERROR(write_file_atomically(options.output, *drawn));
  session.text = done->second;
  if (session.text.starts_with(picture.string())) session.text.replace(0, picture.string().size(), options.output);
  session.result = {{"files", {options.output}}};
  return {};
}

RunCommand add(CLI::App& app) {
  describe(
      app,
      "Draws a clip of a baked character as a film: as it was, with soft tissue, and a map of how far that moves the\n"
      "skin. Needs no screen. An animated PNG (.png), which browsers play, needs nothing else; an animated WebP "
      "(.webp)\n"
      "and an MP4 (.mp4) are written by ffmpeg.\n",
      "  supple preview hero_soft.glb -o preview.png\n"
      "  supple preview hero.glb hero_soft.glb -o run.mp4 --clip Run --view side\n"
      "  supple preview hero_soft.glb -o still.png --at 0.4\n");
  const auto options = std::make_shared<Options>();
  app.add_option("FILE", options->files, "A baked character; or the character as it was, and baked")
      ->required()
      ->expected(1, 2)
      ->type_name("");
  app.add_option("-o,--output", options->output, "The film to write: .png, .webp or .mp4")
      ->required()
      ->type_name("FILE");
  app.add_option("--clip", options->clip, "The clip to show [the one in which the skin is moved farthest]")
      ->type_name("NAME");
  app.add_option("--width", options->width, "Of each picture, in pixels [400]")
      ->check(between(16, 4096))
      ->type_name("PIXELS");
  app.add_option("--height", options->height, "In pixels [400]")->check(between(16, 4096))->type_name("PIXELS");
  app.add_option("--fps", options->rate, "Frames per second [25]")->check(between(1, 120))->type_name("FPS");
  app.add_option("--seconds", options->seconds, "Show no more than this [4]")->check(between(0.1, 60))->type_name("S");
  app.add_option("--view", options->view,
                 "Where the camera stands: front, side, back, three-quarter, or two angles\n"
                 "in degrees, round the character and above it [three-quarter]")
      ->type_name("VIEW");
  app.add_option("--at", options->at, "One picture at this time of the clip instead of a film")
      ->check(between(0, 1e6))
      ->type_name("S");
  app.add_flag("--no-map", options->without_map, "Without the map");
  return [options](Session& session) { return preview(*options, session); };
}

const RegisteredCommand registered{16, "preview", "Draw a baked character, rigid beside soft, moving.", add};

}  // namespace
}  // namespace supple::preview_verb
