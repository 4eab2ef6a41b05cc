// SPDX-License-Identifier: Apache-2.0
#include "samples/creatures.h"

#include <array>

namespace supple {

std::span<const CreatureExample> creature_examples() {
  static constexpr std::array<CreatureExample, 5> examples = {{
      {"mascot", "A round, soft creature that walks, hops and waves", 9000, 14000, make_mascot},
      {"arm", "A human arm on its shoulder: 4 degrees of freedom, 9 corrected poses", 10525, 8122, make_arm},
      {"x_shape", "A letter X that bends: 1 degree of freedom", 2362, 10300, make_x_shape},
      {"bear", "A polar bear on wires of 36 handles: 144 degrees of freedom, 7 corrected poses", 6876, 13500,
       make_bear},
      {"gorilla", "A gorilla of 16 joints: 60 degrees of freedom, 2 corrected poses", 15774, 15200, make_gorilla},
  }};
  return examples;
}

const CreatureExample* find_creature_example(std::string_view name) {
  for (const CreatureExample& example : creature_examples())
    if (example.name == name) return &example;
  return nullptr;
}

}  // namespace supple
