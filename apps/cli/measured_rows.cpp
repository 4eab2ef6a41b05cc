// SPDX-License-Identifier: Apache-2.0
#include "measured_rows.h"

#include "supple/io/file.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

namespace supple {
namespace {

constexpr std::string_view header = "table,row,metric,value,unit,paper,peer,target,error";

/// The fields of the next line, which is taken off the text; nothing where a quote stays open. A quoted field may hold
/// commas, line ends, and quotes that are written twice.
std::optional<std::vector<std::string>> take_line(std::string_view& text) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  std::size_t k = 0;
  for (; k < text.size() && (quoted || text[k] != '\n'); ++k) {
    const char c = text[k];
    if (quoted && c == '"' && k + 1 < text.size() && text[k + 1] == '"')
      fields.back() += text[k++];
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      fields.emplace_back();
    else if (c != '\r' || quoted)
      fields.back() += c;
  }
  text.remove_prefix(std::min(text.size(), k + 1));
  if (quoted) return {};
  return fields;
}

bool is_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(value);
}

Error fault(const std::string& name, std::size_t line, const std::string& what) {
  return input_error(fmt::format("{}, line {}: {}; measure it again with supple bench", name, line, what));
}

}  // namespace

Result<std::vector<MeasuredRow>> parse_measured_rows(const std::string& name, std::string_view text) {
  const auto first = take_line(text);
  if (!first || fmt::format("{}", fmt::join(*first, ",")) != header)
    return fault(name, 1, fmt::format("the columns aren't {}", header));
  std::vector<MeasuredRow> rows;
  for (std::size_t line = 2; !text.empty(); ++line) {
    const auto fields = take_line(text);
    if (!fields) return fault(name, line, "a quote is never closed");
    if (fields->size() == 1 && fields->front().empty()) continue;
    if (fields->size() != 9) return fault(name, line, fmt::format("there are {} fields instead of 9", fields->size()));
    const std::vector<std::string>& f = *fields;
    for (const std::size_t number : {3, 5, 6, 7})
      if (!f[number].empty() && !is_number(f[number]))
        return fault(name, line, fmt::format("\"{}\" is not a number", f[number]));
    rows.push_back({f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]});
  }
  return rows;
}

Result<std::vector<MeasuredRun>> read_measured_runs(const std::filesystem::path& folder,
                                                    const std::vector<std::string>& benches) {
  std::vector<MeasuredRun> runs;
  for (const std::string& bench : benches) {
    MeasuredRun run{.bench = bench};
    const std::filesystem::path csv = folder / (bench + ".csv"), about = folder / (bench + ".json");
    if (std::filesystem::exists(csv)) {
      const Result<std::string> text = read_file(csv);
      SUPPLE_RETURN_IF_ERROR(text);
      Result<std::vector<MeasuredRow>> rows = parse_measured_rows(csv.string(), *text);
      SUPPLE_RETURN_IF_ERROR(rows);
      run.rows = std::move(*rows);
      run.there = true;
    }
    if (run.there && std::filesystem::exists(about)) {
      const Result<std::string> text = read_file(about);
      SUPPLE_RETURN_IF_ERROR(text);
      run.about = nlohmann::json::parse(*text, nullptr, false);
      if (!run.about.is_object())
        return input_error(fmt::format("{}: it isn't what supple bench writes; measure it again", about.string()));
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace supple
