// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "supple/base/exit_code.h"
#include "supple/io/file.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace supple {
namespace {

/// Of a vector on the command line: a thousand times what a crash exerts, as an acceleration in m/s².
constexpr double largest_component = 1e6;

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
  // Not fmt::print, which throws where standard error is a file on a full disk.
  std::fputs(fmt::format("supple: {}\n", sentence).c_str(), stderr);
  return exit_code_of(error);
}

Error about(const std::string& file, const Error& error) {
  if (error.message.find(file) != std::string::npos) return error;
  return {error.kind, file + ": " + error.message};
}

std::string counted(std::size_t count, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", count, count == 1 ? singular : plural);
}

namespace {

/// The whole text as a finite number.
std::optional<double> number_in(const std::string& text) {
  std::istringstream stream(text);
  stream.imbue(std::locale::classic());
  double value = 0;
  if (!(stream >> value) || !(stream >> std::ws).eof() || !std::isfinite(value)) return std::nullopt;
  return value;
}

CLI::Validator in_words(std::function<bool(double)> good, const std::string& words) {
  return CLI::Validator(
      [good = std::move(good), words](std::string& text) {
        const std::optional<double> value = number_in(text);
        return value && good(*value) ? std::string() : fmt::format("\"{}\" is not {}", text, words);
      },
      "");
}

}  // namespace

CLI::Validator positive(double most) {
  return in_words([=](double value) { return value > 0 && value <= most; },
                  fmt::format("a number above 0 and at most {:g}", most));
}

CLI::Validator between(double least, double most) {
  return in_words([=](double value) { return value >= least && value <= most; },
                  fmt::format("a number from {:g} to {:g}", least, most));
}

Status check_output(const Session& session, const std::string& output, const std::vector<std::string>& inputs) {
  std::error_code none;
  for (const std::string& input : inputs)
    if (!session.force && std::filesystem::equivalent(input, output, none))
      return usage_error(fmt::format("{} is the input itself; name another output, or --force to replace it", output));
  return check_output(output);
}

Status check_unnamed_output(const Session& session, const std::filesystem::path& output, std::string_view mark) {
  std::error_code none;
  if (session.force || !std::filesystem::exists(output, none)) return {};
  std::string start(mark.size(), '\0');
  std::ifstream file(output, std::ios::binary);
  if (!mark.empty() && file.read(start.data(), std::ssize(start)) && start == mark) return {};
  return usage_error(
      fmt::format("{} is there already and isn't ours; move it, name another output, or --force", output.string()));
}

Result<std::array<double, 3>> parse_vector(const std::string& option, const std::string& text) {
  std::array<double, 3> values{};
  std::string spaced = text;
  std::replace(spaced.begin(), spaced.end(), ',', ' ');
  std::istringstream stream(spaced);
  stream.imbue(std::locale::classic());
  std::string left_over;
  if (!(stream >> values[0] >> values[1] >> values[2]) || (stream >> left_over) ||
      !std::all_of(values.begin(), values.end(), [](double v) { return std::abs(v) <= largest_component; })) {
    return usage_error(fmt::format("{} is \"{}\", but must be three numbers such as 0,-9.81,0, each at most {:g}",
                                   option, text, largest_component));
  }
  return values;
}

}  // namespace supple
