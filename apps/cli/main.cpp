// SPDX-License-Identifier: Apache-2.0
// supple: finds the command, reads its options, runs it, and turns what happened into output and an exit code.
#include "command.h"
#include "interrupt.h"
#include "supple/base/exit_code.h"
#include "supple/base/nearest_name.h"
#include "supple/base/parallel.h"
#include "supple/io/file.h"

#include <cstdio>
#include <memory>
#include <new>

namespace supple {
namespace {

constexpr const char* json_to_stdout = "-";

struct CommonOptions {
  int threads = 0;
  bool quiet = false;
  bool force = false;
  std::string json;  ///< empty: not asked for
};

void add_common_options(CLI::App& app, CommonOptions& common) {
  app.set_help_flag("-h,--help", "Print this and stop")->group("Common options");
  app.add_option("--json", common.json,
                 "Write the result as JSON to FILE (a name ending in .json, or --json=FILE),\n"
                 "or to standard output")
      ->type_name("[FILE]")
      ->group("Common options");
  app.add_option("--threads", common.threads, "Number of threads; 0 for as many as the machine has")
      ->check(between(0, 4096))
      ->type_name("N")
      ->group("Common options");
  app.add_flag("--force", common.force, "Replace inputs, and files that somebody else made")->group("Common options");
  app.add_flag("-q,--quiet", common.quiet, "Print nothing but errors (and --json)")->group("Common options");
}

/// `--json` may stand alone or before a file: "--json mesh.veg" must never overwrite the mesh, so that only a name
/// ending in .json counts as the file here.
std::vector<std::string> settle_json_option(std::vector<std::string> arguments) {
  std::vector<std::string> settled;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    if (arguments[k] == "--") {  // all that follows are names
      settled.insert(settled.end(), arguments.begin() + static_cast<std::ptrdiff_t>(k), arguments.end());
      break;
    }
    if (arguments[k] != "--json") {
      settled.push_back(arguments[k]);
      continue;
    }
    const bool named = k + 1 < arguments.size() && arguments[k + 1].ends_with(".json");
    settled.push_back(std::string("--json=") + (named ? arguments[++k] : json_to_stdout));
  }
  return settled;
}

Error unknown_option(const CLI::App& app, const std::string& option) {
  std::vector<std::string> names;
  for (const CLI::Option* known : app.get_options())
    for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view near = nearest_name(option.substr(0, option.find('=')), views);
  return usage_error(fmt::format("{} has no option {}; {}see supple {} --help", app.get_name(), option,
                                 near.empty() ? "" : fmt::format("did you mean {}? Or ", near), app.get_name()));
}

Status check_extras(const CLI::App& app) {
  std::vector<std::string> extras = app.remaining();
  const auto names = std::find(extras.begin(), extras.end(), "--");  // what follows it are names
  if (const auto option = std::find_if(extras.begin(), names, [](const auto& extra) { return extra.starts_with('-'); });
      option != names)
    return unknown_option(app, *option);
  std::erase(extras, "--");
  if (extras.empty()) return {};
  return usage_error(fmt::format("{}: one argument too many: {}", app.get_name(), extras.front()));
}

Error usage_error_of(const CLI::App& app, const CLI::ParseError& problem) {
  return usage_error(fmt::format("{}: {}; see supple {} --help", app.get_name(), problem.what(), app.get_name()));
}

/// The files appear, and then the words that tell of them.
Status write_result(Session& session, const CommonOptions& common) {
  std::string out = session.quiet || common.json == json_to_stdout ? "" : session.text;
  if (!common.json.empty()) {
    const std::string json = session.result.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
    if (common.json == json_to_stdout)
      out = json;
    else
      SUPPLE_RETURN_IF_ERROR(write_file_atomically(common.json, json));
  }
  SUPPLE_RETURN_IF_ERROR(session.files.commit());
  if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size() || std::fflush(stdout) != 0)
    return failure("standard output can't be written");
  return {};
}

int finish(Session& session, const CommonOptions& common, const Status& status) {
  session.progress.clear();
  if (!status.ok()) session.files.discard();
  if (!status.ok() && interrupted()) {
    tell_no_more_of_interrupts();
    fmt::print(stderr, "supple: stopped; no unfinished file is left.\n");
    return interrupted_exit_code;
  }
  if (!status.ok()) return report(status.error());
  if (!session.quiet)
    for (const std::string& warning : session.warnings) fmt::print(stderr, "supple: warning: {}\n", warning);
  if (!session.result.contains("warnings") && !session.warnings.empty()) session.result["warnings"] = session.warnings;
  const Status written = write_result(session, common);
  return written.ok() ? session.exit_code : report(written.error());
}

/// The command's options with those that all share.
RunCommand add_all_options(const RegisteredCommand& command, CLI::App& app, CommonOptions& common) {
  app.name(std::string(command.name));
  app.get_formatter()->column_width(30);
  app.get_formatter()->label("REQUIRED", "");
  app.set_help_flag();  // it comes last, with what all commands share
  app.allow_extras();   // to name them in our own words
  RunCommand run = command.add(app);
  add_common_options(app, common);
  return run;
}

int run_command(const RegisteredCommand& command, std::vector<std::string> arguments) {
  CLI::App app;
  CommonOptions common;
  const RunCommand run = add_all_options(command, app, common);
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", help_of(command));
    return 0;
  } catch (const CLI::ParseError& problem) {
    return report(usage_error_of(app, problem));
  }
  if (const Status extras = check_extras(app); !extras.ok()) return report(extras.error());
  set_thread_count(common.threads);
  Session session;
  session.quiet = common.quiet;
  if (common.quiet) session.progress.hide();
  session.result["command"] = command.name;
  session.result["version"] = SUPPLE_VERSION;
  session.force = common.force;
  if (common.force) session.files.allow_replacing_inputs();
  if (!common.json.empty() && common.json != json_to_stdout)
    if (const Status writable = check_output(common.json); !writable.ok()) return report(writable.error());
  stop_on_interrupt();
  return finish(session, common, run(session));
}

std::string overview() {
  std::string text =
      "supple: physically based soft tissue for rigged characters.\n\n"
      "Usage: supple COMMAND [OPTIONS]\n\nCommands:\n";
  for (const RegisteredCommand* command : registered_commands())
    text += fmt::format("  {:<10}{}\n", command->name, command->brief);
  return text +
         "\nsupple COMMAND --help explains a command and shows examples. supple --version prints the version.\n"
         "All quantities are in SI units: metres, kilograms, seconds, newtons, pascals.\n"
         "Exit codes: 0 done, 2 wrong usage, 3 bad input, 1 our fault or the machine's, 130 stopped by Ctrl-C.\n";
}

Error unknown_command(const std::string& name) {
  if (name == "bench") return usage_error("this build has no benchmarks; ./go bench builds them");
  std::vector<std::string_view> names;
  for (const RegisteredCommand* command : registered_commands()) names.push_back(command->name);
  const std::string_view near = nearest_name(name, names);
  return usage_error(fmt::format(
      "there is no command \"{}\"; {}", name,
      near.empty() ? fmt::format("there are {}", fmt::join(names, ", ")) : fmt::format("did you mean \"{}\"?", near)));
}

int run(std::vector<std::string> arguments) {
  if (arguments.empty()) {
    fmt::print(stderr, "{}", overview());
    return 2;
  }
  std::string name = arguments.front();
  if (name == "--version" || name == "-V") {
    fmt::print("supple {}\n", SUPPLE_VERSION);
    return 0;
  }
  if (name == "help" && arguments.size() > 1) {
    name = arguments[1];
    arguments = {name, "--help"};
  }
  if (name == "--help" || name == "-h" || name == "help") {
    fmt::print("{}", overview());
    return 0;
  }
  if (name.starts_with('-'))
    return report(usage_error(fmt::format("name a command before {}; see supple --help", name)));
  arguments.erase(arguments.begin());
  for (const RegisteredCommand* command : registered_commands())
    if (command->name == name) return run_command(*command, settle_json_option(std::move(arguments)));
  return report(unknown_command(name));
}

}  // namespace

namespace {
/// CLI11 keeps the options that one excludes or needs in the order of their addresses: sorted, help is the same each
/// time.
std::string with_sorted_lists(std::string help) {
  for (const std::string_view word : {"Excludes:", "Needs:"})
    for (std::size_t at = 0; (at = help.find(word, at)) != std::string::npos;) {
      at += word.size();
      std::size_t end = at;
      std::vector<std::string> names;
      while (help.compare(end, 3, " --") == 0) {
        const std::size_t next = std::min(help.find_first_of(" \n", end + 1), help.size());
        names.push_back(help.substr(end, next - end));
        end = next;
      }
      std::sort(names.begin(), names.end());
      help.replace(at, end - at, fmt::format("{}", fmt::join(names, "")));
    }
  return help;
}
}  // namespace

std::string help_of(const RegisteredCommand& command) {
  CLI::App app;
  CommonOptions common;
  (void)add_all_options(command, app, common);
  app.name("supple " + std::string(command.name));  // what people type
  return with_sorted_lists(app.help());
}

}  // namespace supple

int main(int argc, char** argv) {
  try {
    return supple::run({argv + 1, argv + argc});
  } catch (const std::bad_alloc&) {
    return supple::report(supple::failure("there isn't enough memory for this"));
  } catch (const std::exception& problem) {
    return supple::report(supple::failure(problem.what()));
  }
}
