// SPDX-License-Identifier: Apache-2.0
// What a game does with a soft character in every frame: it moves a target, turns a limb's joints after it by inverse
// kinematics, tells the flesh where the joints are, and reads how far every vertex of the skin has swung.
//
//   supple example arm -o out && supple build out/arm.toml -o out/arm.supple
//   drive_arm out/arm.supple shoulder wrist 5
//
// Nothing here waits for a screen: frames are computed as fast as they come. drive_arm.c is the same program in C.
#include <supple/runtime/character.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int frames_per_second = 90;
using Vector = std::array<float, 3>;

int fail(const std::string& sentence, int exit_code) {
  std::fprintf(stderr, "drive_arm: %s\n", sentence.c_str());
  return exit_code;
}

float length(const Vector& a) { return std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]); }
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Vector scaled(const Vector& a, float s) { return {s * a[0], s * a[1], s * a[2]}; }

/// A circle before the root of the chain, three quarters of the chain's length away: one round a second.
struct Circle {
  Vector centre, side, up;

  Circle(const Vector& root, const Vector& tip) {
    const Vector along = {tip[0] - root[0], tip[1] - root[1], tip[2] - root[2]};
    const Vector axis = std::abs(along[1]) < 0.9F * length(along) ? Vector{0, 1, 0} : Vector{1, 0, 0};
    const Vector normal = cross(along, axis);
    side = scaled(normal, 0.25F * length(along) / length(normal));
    up = scaled(cross(along, side), 1 / length(along));
    for (std::size_t i = 0; i < 3; ++i) centre[i] = root[i] + 0.75F * along[i];
  }
  Vector at(double seconds) const {
    const auto angle = static_cast<float>(2 * 3.14159265358979 * (seconds - std::floor(seconds)));
    Vector place;
    for (std::size_t i = 0; i < 3; ++i) place[i] = centre[i] + std::cos(angle) * side[i] + std::sin(angle) * up[i];
    return place;
  }
};

/// The farthest of some vectors.
float farthest(const std::vector<float>& xyz) {
  float most = 0;
  for (std::size_t v = 0; v + 2 < xyz.size(); v += 3) most = std::max(most, length({xyz[v], xyz[v + 1], xyz[v + 2]}));
  return most;
}

void tell_extent(const std::vector<float>& xyz) {
  Vector low = {xyz[0], xyz[1], xyz[2]}, high = low;
  for (std::size_t k = 0; k < xyz.size(); ++k) {
    low[k % 3] = std::min(low[k % 3], xyz[k]);
    high[k % 3] = std::max(high[k % 3], xyz[k]);
  }
  std::printf("%d vertices lie between (%.3f %.3f %.3f) and (%.3f %.3f %.3f)\n", static_cast<int>(xyz.size() / 3),
              low[0], low[1], low[2], high[0], high[1], high[2]);
}

int drive(supple::CharacterState& state, int root, int tip, int seconds) {
  const supple::Character& character = state.character();
  const Circle circle(state.joint_position(root), state.joint_position(tip));
  std::vector<float> swing(3 * static_cast<std::size_t>(character.vertex_count()));
  for (int second = 0; second < seconds; ++second) {
    double missed = 0, spent = 0;
    float largest = 0;
    for (int frame = 0; frame < frames_per_second; ++frame) {
      // From the animation's pose, here the rest, so that the same target gives the same pose again.
      for (int joint = tip; joint >= root; joint = character.joint_parent(joint))
        state.set_joint(joint, character.joint_rest(joint));
      const double left = state.reach(root, tip, circle.at(second + static_cast<double>(frame) / frames_per_second));
      if (left < 0) return fail("the tip doesn't hang below the root; name joints of one limb", 2);
      missed = std::max(missed, left);

      const auto start = std::chrono::steady_clock::now();
      const supple::AdvanceReport report = state.advance(1.0 / frames_per_second);
      spent += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      if (report.recovered) return fail("a step broke down", 4);

      // In the world, to be added to skinned vertices; a vertex shader takes bind_displacements() before skinning.
      state.displacements(swing);
      largest = std::max(largest, farthest(swing));
    }
    std::printf("second %d: flesh swings by up to %.2f mm, target missed by %.3f mm, %.3f ms per frame's step\n",
                second + 1, 1e3 * largest, 1e3 * missed, 1e3 * spent / frames_per_second);
  }
  state.positions(swing);
  tell_extent(swing);
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) return fail("write: drive_arm ASSET.supple ROOT TIP SECONDS", 2);
  // The character is shared by all of its instances; each has a state of its own.
  const supple::Result<supple::Character> character = supple::Character::load(words[1]);
  if (!character.ok()) return fail(character.error().message, 3);
  supple::Result<supple::CharacterState> state = supple::CharacterState::create(*character);
  if (!state.ok()) return fail(state.error().message, 3);
  const int root = character->find_joint(words[2]), tip = character->find_joint(words[3]);
  if (root < 0 || tip < 0) return fail("the character has no joint of that name", 2);
  return drive(*state, root, tip, std::max(1, std::atoi(words[4])));
}
