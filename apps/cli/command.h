// SPDX-License-Identifier: Apache-2.0
// What all commands of `supple` share. A command is one source file:
//
//   Status run(const Options& options, Session& session);
//   RunCommand add(CLI::App& app) { …options bound to a shared_ptr<Options>…; return a call of run; }
//   const RegisteredCommand registered{70, "name", "What it does, in half a line.", add};
//
// The command fills `session.result` (what --json shows) and `session.text` (what a person reads); both go out when it
// has succeeded, so a failure prints nothing but its one sentence. Exit codes: 0, usage 2, bad input 3, our fault 1,
// stopped by Ctrl-C 130.
#pragma once

#include "progress_bar.h"
#include "supple/base/result.h"
#include "supple/io/file_transaction.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

namespace supple {

/// Numbers keep their order in --json.
using Json = nlohmann::ordered_json;

struct Session {
  bool quiet = false;     ///< nothing but errors, and --json where asked for
  bool force = false;     ///< inputs, and files that somebody else made, may be replaced
  FileTransaction files;  ///< what the command writes appears when it has succeeded
  ProgressBar progress;
  Json result = Json::object();
  std::string text;
  std::vector<std::string> warnings;  ///< to stderr, and into --json
  int exit_code = 0;                  ///< for a command that has done a part of its work and reported the rest itself

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
};

using RunCommand = std::function<Status(Session&)>;

struct RegisteredCommand {
  using Add = RunCommand(CLI::App& app);

  /// Commands are listed in order of `position`.
  RegisteredCommand(int position, std::string_view name, std::string_view brief, Add* add);

  int position;
  std::string_view name;
  std::string_view brief;
  Add* add;
};

/// In order of position.
std::vector<const RegisteredCommand*> registered_commands();

/// What `supple NAME --help` prints.
std::string help_of(const RegisteredCommand& command);

/// The paragraph above the options and the examples below them.
void describe(CLI::App& app, const std::string& paragraph, const std::string& examples);

/// One sentence on stderr: "supple: FILE: …"; gives the exit code.
int report(const Error& error);

/// The error with "FILE: " in front, unless it names the file already.
Error about(const std::string& file, const Error& error);

/// "1 vertex", "2 vertices".
std::string counted(std::size_t count, std::string_view singular, std::string_view plural);

/// "x,y,z" as --gravity takes it.
Result<std::array<double, 3>> parse_vector(const std::string& option, const std::string& text);

/// For options that count or measure something: a finite number above 0, and at most `most`.
CLI::Validator positive(double most = 1e15);
/// A finite number from `least` to `most`.
CLI::Validator between(double least, double most);
inline CLI::Validator non_negative(double most = 1e15) { return between(0, most); }

/// Before the work: whether `output` can be written, and is none of the inputs unless --force is given.
Status check_output(const Session& session, const std::string& output, const std::vector<std::string>& inputs);
/// Refuses, without --force, to replace a file that the user hasn't named (it stands beside one that was) and that
/// doesn't begin with `mark`, as our own do.
Status check_unnamed_output(const Session& session, const std::filesystem::path& output, std::string_view mark);

/// --fix on the command line: an existing file is looked for from the current folder.
inline constexpr const char* selection_help =
    "min-x, max-y, x<0.1, box:x0,y0,z0,x1,y1,z1, sphere:x,y,z,r,\n"
    "vertices:0,5,7 or a file of vertex numbers (.bou)";

}  // namespace supple
