// SPDX-License-Identifier: Apache-2.0
// The example characters: the arm, the X, the polar bear and the gorilla of the 2016 paper at its sizes (Table 3), and
// the mascot.
#pragma once

#include "samples/creature.h"

#include <span>
#include <string_view>

namespace supple {

Creature make_arm();
Creature make_x_shape();
Creature make_bear();
Creature make_gorilla();
Creature make_mascot();

struct CreatureExample {
  std::string_view name;
  std::string_view brief;
  Index vertices;  ///< of its triangle meshes together
  Index tets;      ///< to ask for, so that both tetrahedra and their vertices come near the paper's
  Creature (*make)();
};

std::span<const CreatureExample> creature_examples();
/// The example of that name, or null.
const CreatureExample* find_creature_example(std::string_view name);

}  // namespace supple
