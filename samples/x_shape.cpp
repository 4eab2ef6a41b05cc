// SPDX-License-Identifier: Apache-2.0
// The X of the 2016 paper (figure 13): a thick letter whose rig has one parameter, how far it is bent. The bend towards
// z turns every slice by the same angle against the last; a chain of joints along the letter does so in any viewer.
#include "samples/creatures.h"
#include "samples/motion.h"

#include <cmath>
#include <numbers>

namespace supple {
namespace {

constexpr int links = 16;
constexpr double half_height = 0.5;
constexpr double bend_limit = 135;

// Links lie at equal heights; each turns against the one nearer to the middle, half way between them, by an equal part
// of the angle. So at a link's centre the letter has turned as far as in the bend deformer.
void add_chain(Creature& x) {
  constexpr double link = 2 * half_height / links;
  const Index middle = x.add_joint("middle", -1, Vec3::Zero());
  x.chain.assign(links + 1, {middle, Vec3::Zero()});
  Index above = middle, below = middle;
  for (int k = 1; k <= links / 2; ++k) {
    above = x.add_joint("up_" + std::to_string(k), above, Vec3(0, (k - 0.5) * link, 0));
    below = x.add_joint("down_" + std::to_string(k), below, Vec3(0, (0.5 - k) * link, 0));
    x.chain[to_size(links / 2 + k)] = {above, Vec3(0, k * link, 0)};
    x.chain[to_size(links / 2 - k)] = {below, Vec3(0, -k * link, 0)};
  }
}

std::vector<JointRotation> bend_rotations(const std::vector<ChainLink>& chain, double degrees) {
  std::vector<JointRotation> rotations;
  for (const ChainLink& link : chain) {
    if (link.center.y() == 0) continue;
    const double part = degrees / links * (link.center.y() > 0 ? 1 : -1);
    rotations.push_back({link.joint, turn_degrees(part, 0, 0)});
  }
  return rotations;
}

}  // namespace

Creature make_x_shape() {
  Creature x;
  x.name = "x_shape";
  x.symmetric = false;
  x.frequency = 2.5;  // rubber: the arms of the letter come after its middle
  add_chain(x);
  Limb& bars = x.add_limb("bars", 0.06);
  bars.color = hex_color(0x3f8fd2);
  for (const Vec3& end : {Vec3(1, 1, 0), Vec3(-1, 1, 0), Vec3(1, -1, 0), Vec3(-1, -1, 0)})
    bars.rod(0, Vec3(0, 0, 0), 0.12, end.cwiseProduct(Vec3(0.31, 0.39, 0)), 0.115);
  x.spots.push_back({Vec3(0.36, 0.44, 0), Vec3::Constant(0.26), hex_color(0x8ccbe8), 0.8, true});
  x.spots.push_back({Vec3(0.36, -0.44, 0), Vec3::Constant(0.26), hex_color(0x2c64a8), 0.8, true});
  x.poses.push_back({{"straight", {}, false}, {}});
  x.poses.push_back({{"bent_back", bend_rotations(x.chain, -bend_limit), false}, {}});
  x.poses.push_back({{"bent_forward", bend_rotations(x.chain, bend_limit), false}, {}});
  x.clips.push_back(make_cycle(x.skeleton(), "bend", 1.0, 40, [&](double phase, PoseEditor& editor) {
    const double angle = bend_limit * std::sin(2 * std::numbers::pi * phase);
    for (const JointRotation& r : bend_rotations(x.chain, angle)) editor.pose[to_size(r.joint)].rotation = r.rotation;
  }));
  return x;
}

}  // namespace supple
