// SPDX-License-Identifier: Apache-2.0
// The X of the 2016 paper (figure 13): a thick letter whose rig has one parameter, how far it is bent. The bend towards
// z turns every slice by the same angle against the last; a chain of joints along the letter does so in any viewer.
#include "scenes/creatures.h"
#include "scenes/motion.h"

#include <cmath>
#include <numbers>

namespace supple {
namespace {

constexpr int links = 16;
constexpr double half_height = 0.5;
constexpr double bend_limit = 135;

// The middle joint is the root; those above and below turn by equal parts of the angle, away from each other.
std::vector<JointRotation> bend_rotations(const std::vector<Index>& chain, double degrees) {
  std::vector<JointRotation> rotations;
  for (int k = 0; k <= links; ++k) {
    if (k == links / 2) continue;
    const double part = degrees / links * (k > links / 2 ? 1 : -1);
    rotations.push_back({chain[static_cast<std::size_t>(k)], turn_degrees(part, 0, 0)});
  }
  return rotations;
}

void add_chain(Creature& x) {
  const auto place = [](int k) { return Vec3(0, half_height * (2.0 * k / links - 1), 0); };
  const Index middle = x.add_joint("middle", -1, place(links / 2));
  x.chain.assign(links + 1, middle);
  Index above = middle, below = middle;
  for (int k = 1; k <= links / 2; ++k) {
    above = x.add_joint("up_" + std::to_string(k), above, place(links / 2 + k));
    below = x.add_joint("down_" + std::to_string(k), below, place(links / 2 - k));
    x.chain[static_cast<std::size_t>(links / 2 + k)] = above;
    x.chain[static_cast<std::size_t>(links / 2 - k)] = below;
  }
}

}  // namespace

Creature make_x_shape() {
  Creature x;
  x.name = "x_shape";
  x.symmetric = false;
  add_chain(x);
  Limb& bars = x.add_limb("bars", 0.06);
  bars.color = hex_color(0x3f8fd2);
  for (const Vec3& end : {Vec3(1, 1, 0), Vec3(-1, 1, 0), Vec3(1, -1, 0), Vec3(-1, -1, 0)})
    bars.rod(0, Vec3(0, 0, 0), 0.12, end.cwiseProduct(Vec3(0.31, 0.39, 0)), 0.115);
  x.patches.push_back({Vec3(0.36, 0.44, 0), Vec3::Constant(0.26), hex_color(0x8ccbe8), 0.8, true});
  x.patches.push_back({Vec3(0.36, -0.44, 0), Vec3::Constant(0.26), hex_color(0x2c64a8), 0.8, true});
  x.poses.push_back({{"straight", {}, false}, {}});
  x.poses.push_back({{"bent_back", bend_rotations(x.chain, -bend_limit), false}, {}});
  x.poses.push_back({{"bent_forward", bend_rotations(x.chain, bend_limit), false}, {}});
  x.clips.push_back(make_clip(x.skeleton(), "bend", 4.0, 80, [&](double phase, PoseEditor& editor) {
    const double angle = bend_limit * std::sin(2 * std::numbers::pi * phase);
    for (const JointRotation& r : bend_rotations(x.chain, angle))
      editor.pose[static_cast<std::size_t>(r.joint)].rotation = r.rotation;
  }));
  return x;
}

}  // namespace supple
