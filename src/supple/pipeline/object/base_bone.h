// SPDX-License-Identifier: Apache-2.0
// BaseBone: a bone of a character that carries what is held, in place of the ground: antlers, a tail, a backpack, a
// plant on a cart. What it carries is drawn where it is when the character is at rest.
#pragma once

#include <string>

namespace supple {

struct BaseBone {
  std::string character;  ///< its file, from the folder of the recipe or scene
  std::string joint;
  std::string clip;  ///< empty: the first
};

}  // namespace supple
