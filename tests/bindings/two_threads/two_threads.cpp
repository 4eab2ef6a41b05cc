// SPDX-License-Identifier: Apache-2.0
// Two threads play two states of one character, and then both states in one batch; both come to the same numbers.
#include "supple.h"

#include <cstdio>
#include <thread>
#include <vector>

namespace {

constexpr int frames = 40;

void play(const supple_character* character, supple_character_state* state, std::vector<float>& xyz) {
  const int joint = supple_character_find_joint(character, "shoulder");
  for (int frame = 0; frame < frames; ++frame) {
    float transform[10];
    supple_character_joint_rest(character, joint, transform);
    transform[5] += 0.01F * static_cast<float>(frame % 7);
    supple_state_set_joint(state, joint, transform);
    supple_state_advance(state, 1.0 / 60);
    supple_state_positions(state, -1, xyz.data(), xyz.size());
    supple_state_set_joint(state, -1, transform);  // fails, and leaves its sentence in this thread
  }
}

void two_jobs(void*, std::int64_t count, supple_job_body body, void* context) {
  std::thread other([=] {
    for (std::int64_t i = 0; i < count; i += 2) body(context, i);
  });
  for (std::int64_t i = 1; i < count; i += 2) body(context, i);
  other.join();
}

}  // namespace

int main(int count, char** words) {
  supple_character* character = nullptr;
  if (count != 2 || supple_character_load(words[1], &character) != SUPPLE_OK) {
    std::fprintf(stderr, "%s\n", supple_last_error());
    return 2;
  }
  supple_character_state* states[2] = {nullptr, nullptr};
  for (auto& state : states)
    if (supple_state_create(character, nullptr, &state) != SUPPLE_OK) return 2;
  std::vector<float> first(3 * static_cast<std::size_t>(supple_character_vertex_count(character))), second = first;
  std::thread other([&] { play(character, states[0], first); });
  play(character, states[1], second);
  other.join();
  bool same = first == second;
  supple_step_all(states, 2, 1.0 / 60, two_jobs, nullptr);
  supple_state_positions(states[0], -1, first.data(), first.size());
  supple_state_positions(states[1], -1, second.data(), second.size());
  same = same && first == second;
  for (auto* state : states) supple_state_free(state);
  supple_character_free(character);
  if (!same) std::fprintf(stderr, "two states that were treated alike differ\n");
  return same ? 0 : 1;
}
