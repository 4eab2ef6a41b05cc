// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/feel.h"

#include "supple/pipeline/character/recipe.h"

#include <algorithm>
#include <iterator>

namespace supple {
namespace {

constexpr std::string_view feel_names[] = {"subtle", "natural", "bouncy", "jelly"};
constexpr FeelNumbers feel_numbers[] = {{3, 0.3, 0.6, {0.0025, 0.01, 0.05}},
                                        {2, 0.2, 1, {0.005, 0.02, 0.095}},
                                        {1.6, 0.12, 1.4, {0.0075, 0.03, 0.13}},
                                        {1.2, 0.08, 1.8, {0.01, 0.04, 0.18}}};
constexpr double least_height = 0.05, most_height = 12;

}  // namespace

std::string_view to_string(Feel feel) { return feel_names[static_cast<std::size_t>(feel)]; }

std::optional<Feel> feel_from(std::string_view name) {
  const auto* found = std::find(std::begin(feel_names), std::end(feel_names), name);
  if (found == std::end(feel_names)) return {};
  return static_cast<Feel>(found - std::begin(feel_names));
}

FeelNumbers numbers_of(Feel feel) { return feel_numbers[static_cast<std::size_t>(feel)]; }

bool is_height_credible(double height) { return height >= least_height && height <= most_height; }

double wanted_frequency(const Recipe& recipe) {
  return recipe.material.frequency.value_or(numbers_of(recipe.flesh.feel).frequency);
}

double wanted_damping(const Recipe& recipe) {
  return recipe.flesh.damping.value_or(numbers_of(recipe.flesh.feel).damping);
}

double bearable_share(const Recipe& recipe) { return recipe.flesh.limit ? numbers_of(recipe.flesh.feel).bearable : 0; }

}  // namespace supple
