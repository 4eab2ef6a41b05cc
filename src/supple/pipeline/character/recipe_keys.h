// SPDX-License-Identifier: Apache-2.0
// Every key of a recipe, once: what the reader accepts (recipe.cpp) and what docs/recipe.md says of it are this list.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace supple {

struct RecipeKey {
  std::string_view section;   ///< "[body]", "[[pose]]"; empty for keys outside of all tables
  std::string_view names;     ///< "tets", or several that belong together: "clip, time"
  std::string_view meaning;   ///< Markdown
  std::string_view fallback;  ///< what holds without it, or "required"
};

/// In the order in which they are explained.
std::span<const RecipeKey> recipe_keys();

/// Names that a section may have, those of the recipe's sections included where `section` is empty.
std::vector<std::string_view> recipe_keys_of(std::string_view section);

}  // namespace supple
