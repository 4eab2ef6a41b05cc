// SPDX-License-Identifier: Apache-2.0
// The nearest of some names to a misspelt one: what "did you mean" says.
#pragma once

#include <span>
#include <string_view>

namespace supple {

/// The name with the fewest insertions, deletions, replacements and swaps of neighbours, the earliest of equals.
/// Empty when even the best differs in more than a third of its letters, rounded up: a wild guess helps nobody.
std::string_view nearest_name(std::string_view misspelt, std::span<const std::string_view> names);

}  // namespace supple
