// SPDX-License-Identifier: Apache-2.0
// ReportLines: aligned lines for people beside JSON for programs.
#pragma once

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace supple {

class ReportLines {
 public:
  template <class... Args>
  void row(std::string_view label, fmt::format_string<Args...> format, Args&&... args) {
    text += fmt::format("  {:<14}{}\n", label, fmt::format(format, std::forward<Args>(args)...));
  }
  /// The label once, then the entries below one another.
  void list(std::string_view label, const std::vector<std::string>& entries) {
    constexpr std::size_t most_lines = 12;  // --json has them all
    const std::size_t shown = entries.size() > most_lines ? most_lines - 1 : entries.size();
    for (std::size_t k = 0; k < shown; ++k) row(k == 0 ? label : "", "{}", entries[k]);
    if (shown < entries.size()) row("", "… and {} more (all in --json)", entries.size() - shown);
  }

  std::string text;
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
};

}  // namespace supple
