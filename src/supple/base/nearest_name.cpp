// SPDX-License-Identifier: Apache-2.0
#include "supple/base/nearest_name.h"

#include <algorithm>
#include <vector>

namespace supple {
namespace {

// Damerau and Levenshtein's distance, by three rows of the table of all prefixes.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] != b[j - 1] ? 1 : 0);
      row[j] = std::min({replaced, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::string_view nearest_name(std::string_view misspelt, std::span<const std::string_view> names) {
  std::string_view best;
  std::size_t best_distance = 0;
  for (const std::string_view name : names) {
    const std::size_t distance = edit_distance(misspelt, name);
    if (distance > (std::max(name.size(), misspelt.size()) + 2) / 3) continue;
    if (best.empty() || distance < best_distance) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace supple
