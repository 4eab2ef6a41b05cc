// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "supple/base/exit_code.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace supple {
namespace {

// Filled before main by the commands' own files, in no certain order.
std::vector<const RegisteredCommand*>& registry() {
  static std::vector<const RegisteredCommand*> commands;
  return commands;
}

}  // namespace

RegisteredCommand::RegisteredCommand(int position, std::string_view name, std::string_view brief, Add* add)
    : position(position), name(name), brief(brief), add(add) {
  registry().push_back(this);
}

std::vector<const RegisteredCommand*> registered_commands() {
  std::vector<const RegisteredCommand*> commands = registry();
  std::sort(commands.begin(), commands.end(), [](const auto* a, const auto* b) { return a->position < b->position; });
  return commands;
}

void describe(CLI::App& app, const std::string& paragraph, const std::string& examples) {
  app.description(paragraph);
  app.footer("Examples:\n" + examples);
}

int report(const Error& error) {
  std::string sentence = error.message;
  std::replace(sentence.begin(), sentence.end(), '\n', ' ');
  if (!sentence.empty() && std::string_view(".?!").find(sentence.back()) == std::string_view::npos) sentence += '.';
  fmt::print(stderr, "supple: {}\n", sentence);
  return exit_code_of(error);
}

Error about(const std::string& file, const Error& error) {
  if (error.message.find(file) != std::string::npos) return error;
  return {error.kind, file + ": " + error.message};
}

std::string counted(std::size_t count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", count, count == 1 ? singular : plural);
}

Result<std::array<double, 3>> parse_vector(const std::string& option, const std::string& text) {
  std::array<double, 3> values{};
  std::string spaced = text;
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  std::istringstream stream(spaced);
  stream.imbue(std::locale::classic());
  std::string left_over;
  if (!(stream >> values[0] >> values[1] >> values[2]) || (stream >> left_over) ||
      !std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); })) {
    return usage_error(fmt::format("{} is \"{}\", but must be three numbers such as 0,-9.81,0", option, text));
  }
  return values;
}

}  // namespace supple
