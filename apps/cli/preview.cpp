// SPDX-License-Identifier: Apache-2.0
// supple preview: a baked character, rigid beside soft, as a moving picture. Drawing needs OpenGL, which the command
// doesn't; so another program draws, supple_gallery, which is installed beside it.
#include "command.h"
#include "supple/base/to_size.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <memory>

namespace supple::preview_verb {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string output, clip;
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

std::vector<std::string> words_of(const Options& options) {
  std::vector<std::string> words = {drawing_program(), "preview"};
  words.insert(words.end(), options.files.begin(), options.files.end());
  words.insert(words.end(), {"-o", options.output, "--width", std::to_string(options.width), "--height",
                             std::to_string(options.height), "--fps", fmt::format("{:g}", options.rate), "--seconds",
                             fmt::format("{:g}", options.seconds)});
  if (!options.clip.empty()) words.insert(words.end(), {"--clip", options.clip});
  if (options.without_map) words.emplace_back("--no-map");
  return words;
}

/// Runs a program to its end; what it prints comes back. Nothing where there is no such program.
std::optional<std::pair<int, std::string>> run_program(std::vector<std::string> words) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), ::environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> bytes{};
  for (ssize_t count = 0; failed == 0 && (count = ::read(ends[0], bytes.data(), bytes.size())) > 0;)
    text.append(bytes.data(), to_size(count));
  ::close(ends[0]);
  int status = 0;
  if (failed != 0 || ::waitpid(child, &status, 0) != child) return {};
  return std::pair(WIFEXITED(status) ? WEXITSTATUS(status) : 1, text);
}

Status preview(const Options& options, Session& session) {
  SUPPLE_RETURN_IF_ERROR(check_output(session, options.output, options.files));
  session.progress.stage("drawing");
  const auto done = run_program(words_of(options));
  session.progress.clear();
  if (!done || done->first == 127)
    return input_error(
        "the program that draws, supple_gallery, is neither beside this one nor on the PATH; build it with the "
        "packages "
        "of the group [viewer] in cmake/packages.txt, and install it with this one");
  session.exit_code = done->first;  // it has said why
  if (done->first != 0) return {};
  session.text = done->second;
  session.result = {{"files", {options.output}}};
  return {};
}

RunCommand add(CLI::App& app) {
  describe(
      app,
      "Draws a clip of a baked character as an animated PNG, which browsers play: as it was, with soft tissue, and\n"
      "a map of how far that moves the skin. Needs no screen.\n",
      "  supple preview hero_soft.glb -o preview.png\n"
      "  supple preview hero.glb hero_soft.glb -o run.png --clip Run\n");
  const auto options = std::make_shared<Options>();
  app.add_option("FILE", options->files, "A baked character; or the character as it was, and baked")
      ->required()
      ->expected(1, 2)
      ->type_name("");
  app.add_option("-o,--output", options->output, "The animated PNG to write")->required()->type_name("FILE.png");
  app.add_option("--clip", options->clip, "The clip to show [the one in which the skin is moved farthest]")
      ->type_name("NAME");
  app.add_option("--width", options->width, "Of each picture, in pixels [400]")
      ->check(between(16, 4096))
      ->type_name("PIXELS");
  app.add_option("--height", options->height, "In pixels [400]")->check(between(16, 4096))->type_name("PIXELS");
  app.add_option("--fps", options->rate, "Frames per second [25]")->check(between(1, 120))->type_name("FPS");
  app.add_option("--seconds", options->seconds, "Show no more than this [4]")->check(between(0.1, 60))->type_name("S");
  app.add_flag("--no-map", options->without_map, "Without the map");
  return [options](Session& session) { return preview(*options, session); };
}

const RegisteredCommand registered{16, "preview", "Draw a baked character, rigid beside soft, moving.", add};

}  // namespace
}  // namespace supple::preview_verb
