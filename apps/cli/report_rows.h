// SPDX-License-Identifier: Apache-2.0
// ReportRows: what `inspect` says, as aligned lines for people and as JSON for programs.
#pragma once

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace supple {

class ReportRows {
 public:
  static constexpr std::size_t most_lines = 12;  ///< of any list; --json has them all

  template <class... Args>
  void row(std::string_view label, fmt::format_string<Args...> format, Args&&... args) {
    text += fmt::format("  {:<14}{}\n", label, fmt::format(format, std::forward<Args>(args)...));
  }
  /// The label once, then the entries below one another.
  void list(std::string_view label, const std::vector<std::string>& entries) {
    const std::size_t shown = entries.size() > most_lines ? most_lines - 1 : entries.size();
    for (std::size_t k = 0; k < shown; ++k) row(k == 0 ? label : "", "{}", entries[k]);
    if (shown < entries.size()) row("", "… and {} more (all in --json)", entries.size() - shown);
  }

  std::string text;
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
};

}  // namespace supple
