// SPDX-License-Identifier: Apache-2.0
// supple reference: those parts of documents that the code knows best are written by it. They stand between marks:
//
//   <!-- keys of [body] -->    …a table of the recipe's keys…       <!-- end of keys -->
//   <!-- all commands -->      …what --help says of each command…   <!-- end of commands -->
#include "command.h"
#include "supple/io/file.h"
#include "supple/pipeline/character/recipe_keys.h"

#include <algorithm>
#include <memory>

namespace supple::reference_verb {
namespace {

struct Options {
  std::vector<std::string> files;
  bool check = false;
};

/// What --help says, cut where the options that all commands share begin and end.
struct Help {
  std::string own, common, examples;
};

Help help_in_parts(const RegisteredCommand& command) {
  const std::string text = help_of(command);
  const std::size_t common = text.find("\n\nCommon options:"), examples = text.find("\nExamples:");
  return {text.substr(0, common), text.substr(common + 2, examples - common - 2),
          text.substr(examples, text.find_last_not_of('\n') + 2 - examples)};
}

std::string commands_as_markdown() {
  std::string text;
  for (const RegisteredCommand* command : registered_commands()) {
    const Help help = help_in_parts(*command);
    if (text.empty()) text = fmt::format("\n## Options of every command\n\n```text\n{}```\n", help.common);
    text += fmt::format("\n## supple {}\n\n{}\n\n```text\n{}{}```\n", command->name, command->brief, help.own,
                        help.examples);
  }
  return text + "\n";
}

/// "clip, time" as `clip`, `time`.
std::string names_as_markdown(std::string_view names) {
  std::string text;
  for (const char c : names) text += c == ',' ? std::string("`,") : c == ' ' ? std::string(" `") : std::string(1, c);
  return "`" + text + "`";
}

/// A table; nothing for a section that no recipe has.
std::optional<std::string> keys_as_markdown(std::string_view title) {
  const std::string_view section = title == "the recipe" ? "" : title;
  std::string rows;
  for (const RecipeKey& key : recipe_keys())
    if (key.section == section)
      rows += fmt::format("| {} | {} | {} |\n", names_as_markdown(key.names), key.meaning, key.fallback);
  if (rows.empty()) return {};
  return "| key | meaning | default |\n|---|---|---|\n" + rows;
}

/// The text between the lines `open` NAME --> and `close` made anew by `make`, which is given the name. Marks stand
/// alone on their lines; elsewhere they are words.
template <class Make>
Status fill(std::string& text, const std::string& open, const std::string& close, const Make& make) {
  for (std::size_t at = 0; (at = text.find("\n" + open, at)) != std::string::npos;) {
    const std::size_t name = at + 1 + open.size(), line_end = std::min(text.find('\n', name), text.size());
    at = line_end;
    if (!text.substr(0, line_end).ends_with(" -->") && text.substr(name, line_end - name) != "-->") continue;
    const std::size_t end = text.find("\n" + close + "\n", line_end);
    if (end == std::string::npos) return input_error(fmt::format("the mark {} has no {} after it", open, close));
    const std::string title = text.substr(name, line_end - name - std::min<std::size_t>(4, line_end - name));
    const std::optional<std::string> made = make(title);
    if (!made) return input_error(fmt::format("a recipe has no section {}", title));
    text.replace(line_end + 1, end - line_end, *made);
    at = line_end + made->size();
  }
  return {};
}

Result<std::string> filled(const std::string& document) {
  std::string text = "\n" + document;  // marks begin a line
  SUPPLE_RETURN_IF_ERROR(fill(text, "<!-- keys of ", "<!-- end of keys -->", keys_as_markdown));
  SUPPLE_RETURN_IF_ERROR(fill(text, "<!-- all commands ", "<!-- end of commands -->",
                              [](const std::string&) { return std::optional(commands_as_markdown()); }));
  return text.substr(1);
}

Status reference(const Options& options, Session& session) {
  session.files.allow_replacing_inputs();  // that is what they are named for
  std::vector<std::string> changed;
  for (const std::string& file : options.files) {
    const Result<std::string> before = read_file(file);
    SUPPLE_RETURN_IF_ERROR(before);
    const Result<std::string> after = filled(*before);
    if (!after.ok()) return about(file, after.error());
    if (*after == *before) continue;
    changed.push_back(file);
    if (!options.check) SUPPLE_RETURN_IF_ERROR(write_file_atomically(file, *after));
  }
  if (options.check && !changed.empty())
    return input_error(
        fmt::format("{}: the code says otherwise; run supple reference {}", changed.front(), fmt::join(changed, " ")));
  for (const std::string& file : changed) session.line("written       {}", file);
  session.result["files"] = options.files;
  session.result["changed"] = changed;
  return {};
}

RunCommand add(CLI::App& app) {
  describe(app,
           "Brings those parts of documents up to date that tell what the code knows: the keys of recipes, and what\n"
           "--help says of every command. They stand between lines of marks, as docs/recipe.md shows; what is outside\n"
           "of marks stays.\n",
           "  supple reference docs/recipe.md docs/commands.md\n"
           "  supple reference docs/recipe.md --check\n");
  const auto options = std::make_shared<Options>();
  app.add_option("FILE", options->files, "Documents (Markdown), which are rewritten")->required()->type_name("");
  app.add_flag("--check", options->check, "Change nothing; end with 3 where a document isn't up to date");
  return [options](Session& session) { return reference(*options, session); };
}

const RegisteredCommand registered{92, "reference", "Bring documents up to date with the code.", add};

}  // namespace
}  // namespace supple::reference_verb
