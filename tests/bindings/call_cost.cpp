// SPDX-License-Identifier: Apache-2.0
// call_cost ASSET c|cpp FRAMES: the same frames through either door.
#include "supple.h"
#include "supple/runtime/character.h"

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

supple::JointTransform turned(supple::JointTransform rest, int frame) {
  const float angle = 0.3F * std::sin(0.1F * static_cast<float>(frame));
  rest.rotation = {0, 0, std::sin(angle / 2), std::cos(angle / 2)};
  return rest;
}

int run_cpp(const char* path, int frames) {
  const auto character = supple::Character::load(path);
  if (!character.ok()) return 1;
  auto state = supple::CharacterState::create(*character).value();
  std::vector<float> xyz(3 * static_cast<std::size_t>(character->vertex_count()));
  const int joint = character->joint_count() - 1;
  for (int frame = 0; frame < frames; ++frame) {
    state.set_joint(joint, turned(character->joint_rest(joint), frame));
    state.advance(1.0 / 90);
    state.displacements(xyz);
  }
  return 0;
}

int run_c(const char* path, int frames) {
  supple_character* character = nullptr;
  supple_character_state* state = nullptr;
  if (supple_character_load(path, &character) != SUPPLE_OK) return 1;
  if (supple_state_create(character, nullptr, &state) != SUPPLE_OK) return 1;
  std::vector<float> xyz(3 * static_cast<std::size_t>(supple_character_vertex_count(character)));
  const int joint = supple_character_joint_count(character) - 1;
  for (int frame = 0; frame < frames; ++frame) {
    supple::JointTransform rest;
    supple_character_joint_rest(character, joint, rest.translation.data());
    rest = turned(rest, frame);
    supple_state_set_joint(state, joint, rest.translation.data());
    supple_state_advance(state, 1.0 / 90);
    supple_state_displacements(state, -1, xyz.data(), xyz.size());
  }
  supple_state_free(state);
  supple_character_free(character);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return 2;
  return words[2] == std::string("c") ? run_c(words[1], std::atoi(words[3])) : run_cpp(words[1], std::atoi(words[3]));
}
