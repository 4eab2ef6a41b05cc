// SPDX-License-Identifier: Apache-2.0
// The human arm of the 2016 paper (figures 5, 9 and 12): three bones on a piece of the trunk. Its pose has four degrees
// of freedom, the shoulder's rotation and the elbow's yaw; ten example poses, nine of them corrected. At rest it lies
// along x with the palm forward, so that the elbow bends towards z.
#include "samples/creatures.h"
#include "samples/motion.h"

#include <cmath>
#include <numbers>

namespace supple {
namespace {

using std::numbers::pi;

const Color skin = hex_color(0xdda58a);

struct Joints {
  Index trunk, shoulder, elbow, wrist;
};

Joints add_joints(Creature& c) {
  Joints j{};
  j.trunk = c.add_joint("trunk", -1, Vec3(-0.14, -0.06, 0));
  j.shoulder = c.add_joint("shoulder", j.trunk, Vec3(0, 0, 0));
  j.elbow = c.add_joint("elbow", j.shoulder, Vec3(0.30, 0, -0.008));
  j.wrist = c.add_joint("wrist", j.elbow, Vec3(0.555, 0, 0));
  return j;
}

void add_trunk(Creature& c, const Joints& j) {
  Limb& trunk = c.add_limb("trunk", 0.06);
  trunk.color = skin;
  trunk.ball(j.trunk, Vec3(-0.155, -0.11, -0.005), Vec3(0.105, 0.20, 0.095));
  trunk.part_blend = 0.05;
  trunk.ball(j.trunk, Vec3(-0.125, -0.050, 0.058), Vec3(0.115, 0.072, 0.044), Vec3(-8, 12, 16));  // breast
  trunk.muscle(j.trunk, Vec3(-0.15, -0.23, -0.065), Vec3(-0.045, -0.05, -0.045), 0.060);          // latissimus
  trunk.muscle(j.trunk, Vec3(-0.20, 0.10, -0.035), Vec3(0.0, 0.035, -0.02), 0.050);               // trapezius
  trunk.muscle(j.trunk, Vec3(-0.20, 0.0, -0.085), Vec3(-0.04, 0.0, -0.055), 0.058);               // shoulder blade
  // Cut off towards the spine and below the ribs, by balls so large that the cuts are flat.
  trunk.carve_ball(Vec3(-5.165, 0, 0), Vec3::Constant(5), 0.02);
  trunk.carve_ball(Vec3(-1.2, -5.07, 0), Vec3::Constant(5), 0.02);
}

void add_arm(Creature& c, const Joints& j) {
  Limb& arm = c.add_limb("arm", 0.045, Vec3(-0.01, 0, 0), 0.10);
  arm.color = skin;
  arm.part_blend = 0.03;
  arm.ball(j.shoulder, Vec3(0.022, 0.018, -0.002), Vec3(0.085, 0.066, 0.066), Vec3(0, 0, -12));  // deltoid
  arm.rod(j.shoulder, Vec3(0.02, 0, -0.002), 0.050, Vec3(0.285, 0, -0.006), 0.039);
  arm.muscle(j.shoulder, Vec3(0.065, -0.002, 0.020), Vec3(0.275, -0.002, 0.022), 0.036);   // biceps
  arm.muscle(j.shoulder, Vec3(0.04, -0.008, -0.026), Vec3(0.255, -0.004, -0.028), 0.038);  // triceps
  arm.muscle(j.shoulder, Vec3(0.07, 0.016, -0.028), Vec3(0.225, 0.012, -0.030), 0.030);
  arm.ball(j.elbow, Vec3(0.302, 0, -0.012), Vec3(0.040, 0.039, 0.036));
  arm.part_blend = 0.018;
  arm.ball(j.elbow, Vec3(0.304, -0.002, -0.041), Vec3(0.020, 0.017, 0.014));  // the tip of the elbow
  arm.part_blend = 0.028;
  arm.rod(j.elbow, Vec3(0.30, 0, -0.008), 0.035, Vec3(0.545, 0, 0), 0.0235);
  arm.muscle(j.elbow, Vec3(0.255, 0.020, 0.004), Vec3(0.460, 0.018, 0.006), 0.031);    // brachioradialis
  arm.muscle(j.elbow, Vec3(0.285, -0.018, 0.004), Vec3(0.485, -0.012, 0.006), 0.033);  // flexors
  arm.muscle(j.elbow, Vec3(0.290, 0.004, -0.022), Vec3(0.470, 0.004, -0.012), 0.028);  // extensors
  arm.ball(j.wrist, Vec3(0.556, 0, -0.001), Vec3(0.032, 0.0275, 0.0195));
}

void add_finger(Limb& hand, const Joints& j, const Vec3& root, double length, double spread, double radius) {
  // Three bones, each bent a little more towards the palm.
  Vec3 from = root;
  double bend = 6;
  for (const double part : {0.46, 0.30, 0.24}) {
    const Vec3 to = from + turn_degrees(0, -bend, spread) * Vec3(length * part, 0, 0);
    hand.rod(j.wrist, from, radius, to, 0.93 * radius);
    from = to;
    bend += 11;
    radius *= 0.93;
  }
}

void add_hand(Creature& c, const Joints& j) {
  Limb& hand = c.add_limb("hand", 0.02, Vec3(0.57, 0, 0), 0.06);
  hand.color = skin;
  hand.part_blend = 0.02;
  hand.rod(j.wrist, Vec3(0.565, 0.012, 0), 0.0185, Vec3(0.640, 0.024, 0.002), 0.0155);
  hand.rod(j.wrist, Vec3(0.565, 0.0, 0), 0.0185, Vec3(0.646, 0.002, 0.002), 0.0155);
  hand.rod(j.wrist, Vec3(0.565, -0.012, 0), 0.0185, Vec3(0.636, -0.026, 0.002), 0.0145);
  hand.muscle(j.wrist, Vec3(0.560, 0.018, 0.010), Vec3(0.628, 0.040, 0.013), 0.0165);   // ball of the thumb
  hand.muscle(j.wrist, Vec3(0.562, -0.020, 0.008), Vec3(0.625, -0.032, 0.008), 0.014);  // ball of the little finger
  hand.part_blend = 0.010;
  add_finger(hand, j, Vec3(0.645, 0.0355, 0.002), 0.094, 9, 0.0104);
  add_finger(hand, j, Vec3(0.652, 0.0120, 0.002), 0.105, 2, 0.0106);
  add_finger(hand, j, Vec3(0.648, -0.0120, 0.002), 0.097, -5, 0.0102);
  add_finger(hand, j, Vec3(0.636, -0.0345, 0.002), 0.076, -14, 0.0092);
  hand.part_blend = 0.014;
  hand.rod(j.wrist, Vec3(0.592, 0.026, 0.008), 0.0150, Vec3(0.624, 0.066, 0.020), 0.0130);  // thumb
  hand.rod(j.wrist, Vec3(0.624, 0.066, 0.020), 0.0128, Vec3(0.656, 0.090, 0.028), 0.0105);
  c.focus.push_back({Vec3(0.67, 0.01, 0.01), 0.10, false});
}

// ---- poses ----------------------------------------------------------------------------------------------------------

// The shoulder's three angles and the elbow's one [deg].
std::vector<JointRotation> pose(const Joints& j, double x, double y, double z, double elbow) {
  return {{j.shoulder, turn_degrees(x, y, z)}, {j.elbow, turn_degrees(0, -elbow, 0)}};
}

// What an artist would sculpt: the biceps rises as the elbow bends, the triceps flattens, flesh gathers at the bend.
std::vector<Bulge> flexed(double elbow) {
  const double f = elbow / 110;
  return {{Vec3(0.165, 0, 0.045), Vec3(0.10, 0.055, 0.05), 0.018 * f, Vec3::Zero()},
          {Vec3(0.15, 0, -0.05), Vec3(0.11, 0.06, 0.05), -0.006 * f, Vec3::Zero()},
          {Vec3(0.375, 0, 0.025), Vec3(0.075, 0.06, 0.045), 0.006 * f, Vec3::Zero()},
          {Vec3(0.302, 0, 0.03), Vec3(0.045, 0.06, 0.03), -0.012 * f, Vec3::Zero()}};
}

void add_poses(Creature& c, const Joints& j) {
  struct Named {
    const char* name;
    double x, y, z, elbow;
  };
  c.poses.push_back({{"straight", pose(j, 0, 0, 0, 0), false}, {}});
  for (const Named& p :
       {Named{"elbow_half", 0, 0, 0, 60}, Named{"elbow_bent", 0, 0, 0, 115}, Named{"raised", 0, 0, 60, 0},
        Named{"raised_bent", 0, 0, 60, 105}, Named{"lowered", 0, 0, -55, 0}, Named{"lowered_bent", 0, 0, -55, 115},
        Named{"forward", 0, -75, 0, 0}, Named{"forward_bent", 0, -65, 0, 105}, Named{"twisted_bent", 70, 0, 0, 90}}) {
    std::vector<Bulge> bulges = p.elbow > 0 ? flexed(p.elbow) : std::vector<Bulge>{};
    if (p.z > 0) bulges.push_back({Vec3(0.02, 0.06, 0), Vec3(0.09, 0.06, 0.08), 0.012, Vec3::Zero()});
    if (p.y < 0) bulges.push_back({Vec3(-0.09, -0.03, 0.09), Vec3(0.09, 0.08, 0.07), 0.014, Vec3::Zero()});
    c.poses.push_back({{p.name, pose(j, p.x, p.y, p.z, p.elbow), true}, std::move(bulges)});
  }
}

// The hand follows a handle on a closed path: out, up beside the head, before the chest, down.
Vec3 handle(double phase) {
  const double a = 2 * pi * phase;
  return {0.36 + 0.15 * std::cos(a) - 0.05 * std::cos(2 * a), 0.01 + 0.25 * std::sin(a),
          0.20 - 0.14 * std::cos(a) + 0.06 * std::sin(2 * a)};
}

void add_clips(Creature& c, const Joints& j) {
  const Skeleton skeleton = c.skeleton();
  c.clips.push_back(make_cycle(skeleton, "reach", 4.0, 96, [&](double phase, PoseEditor& e) {
    e.reach(j.shoulder, j.elbow, j.wrist, handle(phase), Vec3(0.5, -0.6, -0.8));
  }));
  c.clips.push_back(make_cycle(skeleton, "flex", 2.0, 48, [&](double phase, PoseEditor& e) {
    const double f = wave(phase);
    e.turn(j.shoulder, 0, -12 * f, -25 + 10 * f);
    e.turn(j.elbow, 0, -118 * f, 0);
  }));
}

}  // namespace

Creature make_arm() {
  Creature c;
  c.name = "arm";
  c.symmetric = false;
  c.mottle = 0.02;
  c.weight_reach = 0.8;
  c.weight_smoothing = 14;
  const Joints j = add_joints(c);
  c.patches = {{"trunk", {"trunk"}, 15}, {"upper arm", {"shoulder"}, 15}, {"forearm", {"elbow", "wrist"}, 15}};
  add_trunk(c, j);
  add_arm(c, j);
  add_hand(c, j);
  c.spots.push_back({Vec3(0.304, -0.002, -0.06), Vec3::Constant(0.035), hex_color(0xc98a72), 0.8, false});
  c.spots.push_back({Vec3(0.70, 0.0, 0.01), Vec3::Constant(0.075), hex_color(0xe2a48c), 0.9, false});
  add_poses(c, j);
  add_clips(c, j);
  return c;
}

}  // namespace supple
