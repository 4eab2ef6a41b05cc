// SPDX-License-Identifier: Apache-2.0
// The gorilla of the 2016 paper (figure 1): a silverback on its knuckles. 16 joints; ten of them, from the chest
// outwards, make up its pose (60 degrees of freedom); hips, spine, hands and feet only keep it on the ground.
#include "samples/creatures.h"
#include "samples/motion.h"

#include <cmath>
#include <numbers>

namespace supple {
namespace {

using std::numbers::pi;

const Color fur = hex_color(0x46434a), hide = hex_color(0x756769), silver = hex_color(0x9fa0a5);

struct Joints {
  Index hips, spine, chest, head, arm, forearm, hand, thigh, shin, foot;
};

// The paper's six patches and their modes.
void add_patches(Creature& c) {
  c.patches = {{"body", {"hips", "spine", "chest"}, 20}, {"head", {"head"}, 20}};
  for (const std::string side : {"left", "right"}) {
    c.patches.push_back({side + " arm", {side + "_arm", side + "_forearm", side + "_hand"}, 20});
    c.patches.push_back({side + " leg", {side + "_thigh", side + "_shin", side + "_foot"}, 10});
  }
}

Joints add_joints(Creature& c) {
  Joints j{};
  j.hips = c.add_joint("hips", -1, Vec3(0.0, 0.568, -0.40));
  j.spine = c.add_joint("spine", j.hips, Vec3(0.0, 0.688, -0.18));
  j.chest = c.add_joint("chest", j.spine, Vec3(0.0, 0.817, 0.06));
  j.head = c.add_joint("head", j.chest, Vec3(0.0, 0.998, 0.38));
  j.arm = c.add_joint("left_arm", j.chest, Vec3(0.386, 0.877, 0.20));
  j.forearm = c.add_joint("left_forearm", j.arm, Vec3(0.532, 0.516, 0.16));
  j.hand = c.add_joint("left_hand", j.forearm, Vec3(0.505, 0.172, 0.29));
  j.thigh = c.add_joint("left_thigh", j.hips, Vec3(0.213, 0.533, -0.38));
  j.shin = c.add_joint("left_shin", j.thigh, Vec3(0.333, 0.31, -0.16));
  j.foot = c.add_joint("left_foot", j.shin, Vec3(0.306, 0.077, -0.36));
  c.mirror_joints();
  return j;
}

void add_trunk(Creature& c, const Joints& j) {
  Limb& body = c.add_limb("body", 0.12);
  body.color = fur;
  body.ball(j.hips, Vec3(0.0, 0.568, -0.38), Vec3(0.299, 0.258, 0.272));
  body.ball(j.spine, Vec3(0.0, 0.654, -0.16), Vec3(0.34, 0.313, 0.326), Vec3(-30, 0, 0));
  body.ball(j.spine, Vec3(0.0, 0.559, -0.09), Vec3(0.367, 0.272, 0.326));  // belly
  body.ball(j.chest, Vec3(0.0, 0.8, 0.08), Vec3(0.394, 0.34, 0.326), Vec3(-35, 0, 0));
  body.part_blend = 0.06;
  body.ball(j.chest, Vec3(0.177, 0.774, 0.25), Vec3(0.204, 0.163, 0.116), Vec3(-25, 25, 0));  // breast
  body.part_blend = 0.10;
  body.muscle(j.chest, Vec3(0.027, 0.998, 0.20), Vec3(0.408, 0.912, 0.14), 0.129);            // trapezius
  body.ball(j.chest, Vec3(0.218, 0.808, -0.03), Vec3(0.19, 0.204, 0.286), Vec3(-20, 0, 10));  // back
  body.rod(j.chest, Vec3(0.0, 0.894, 0.16), 0.238, Vec3(0.0, 0.972, 0.35), 0.19);             // neck
}

void add_head(Creature& c, const Joints& j) {
  Limb& head = c.add_limb("head", 0.05);
  head.color = fur;
  head.part_blend = 0.05;
  head.ball(j.head, Vec3(0.0, 1.064, 0.432), Vec3(0.144, 0.162, 0.174), Vec3(15, 0, 0));
  head.ball(j.head, Vec3(0.0, 1.174, 0.376), Vec3(0.086, 0.102, 0.15), Vec3(22, 0, 0));  // crest
  head.ball(j.head, Vec3(0.102, 1.004, 0.456), Vec3(0.074, 0.12, 0.09));                 // jaw muscles
  head.color = hide;
  head.part_blend = 0.025;
  head.ball(j.head, Vec3(0.0, 0.98, 0.57), Vec3(0.106, 0.086, 0.09), Vec3(20, 0, 0));      // muzzle
  head.ball(j.head, Vec3(0.0, 0.914, 0.558), Vec3(0.09, 0.054, 0.078), Vec3(-10, 0, 0));   // chin
  head.rod(j.head, Vec3(0.0, 1.114, 0.594), 0.035, Vec3(0.102, 1.103, 0.55), 0.031);       // brow
  head.ball(j.head, Vec3(0.0, 1.054, 0.594), Vec3(0.036, 0.066, 0.042), Vec3(-14, 0, 0));  // bridge
  head.part_blend = 0.014;
  head.ball(j.head, Vec3(0.036, 1.023, 0.646), Vec3(0.034, 0.025, 0.024));  // nose wings
  head.carve_ball(Vec3(0.062, 1.061, 0.614), Vec3(0.031, 0.023, 0.031), 0.02);
  head.carve_ball(Vec3(0.031, 1.018, 0.672), Vec3(0.013, 0.011, 0.017), 0.008);
  Part& mouth = head.rod(j.head, Vec3(0.0, 0.941, 0.662), 0.011, Vec3(0.084, 0.934, 0.606), 0.01);
  mouth.carve = true;
  mouth.blend = 0.014;
  head.part_blend = 0.015;
  head.ball(j.head, Vec3(0.158, 1.07, 0.402), Vec3(0.019, 0.041, 0.031), Vec3(0, 20, 0));  // ears
}

void add_arm(Creature& c, const Joints& j) {
  Limb& arm = c.add_limb("arm", 0.09, Vec3(0.386, 0.877, 0.20), 0.24);
  arm.color = fur;
  arm.part_blend = 0.06;
  arm.ball(j.arm, Vec3(0.419, 0.86, 0.18), Vec3(0.209, 0.256, 0.217), Vec3(0, 0, 12));  // deltoid
  arm.rod(j.arm, Vec3(0.426, 0.826, 0.185), 0.163, Vec3(0.532, 0.533, 0.165), 0.127);
  arm.muscle(j.arm, Vec3(0.439, 0.817, 0.245), Vec3(0.525, 0.533, 0.215), 0.116);  // biceps
  arm.muscle(j.arm, Vec3(0.452, 0.817, 0.125), Vec3(0.539, 0.533, 0.105), 0.121);  // triceps
  arm.ball(j.forearm, Vec3(0.532, 0.516, 0.155), Vec3::Constant(0.127));
  arm.rod(j.forearm, Vec3(0.532, 0.516, 0.16), 0.124, Vec3(0.512, 0.206, 0.275), 0.09);
  arm.muscle(j.forearm, Vec3(0.565, 0.568, 0.185), Vec3(0.532, 0.232, 0.285), 0.129);
  arm.muscle(j.forearm, Vec3(0.505, 0.516, 0.13), Vec3(0.499, 0.249, 0.25), 0.112);
  arm.color = hide;
  arm.part_blend = 0.03;
  // The back of the hand, then fingers folded under it: it stands on the middle bones.
  arm.ball(j.hand, Vec3(0.505, 0.135, 0.315), Vec3(0.094, 0.122, 0.058), Vec3(-22, 0, 0));
  arm.part_blend = 0.016;
  for (int k = 0; k < 4; ++k) {
    const double x = 0.439 + 0.048 * k, forward = 0.012 * (k == 1 || k == 2 ? 1 : 0);
    arm.rod(j.hand, Vec3(x, 0.085, 0.335 + forward), 0.033, Vec3(x, 0.030, 0.362 + forward), 0.032);
    arm.rod(j.hand, Vec3(x, 0.030, 0.362 + forward), 0.032, Vec3(x, 0.026, 0.295 + forward), 0.029);
  }
  arm.rod(j.hand, Vec3(0.446, 0.15, 0.30), 0.03, Vec3(0.399, 0.095, 0.335), 0.024);  // thumb
}

void add_leg(Creature& c, const Joints& j) {
  Limb& leg = c.add_limb("leg", 0.07, Vec3(0.213, 0.533, -0.38), 0.22);
  leg.color = fur;
  leg.part_blend = 0.06;
  leg.rod(j.thigh, Vec3(0.2, 0.533, -0.38), 0.235, Vec3(0.326, 0.318, -0.165), 0.154);
  leg.muscle(j.thigh, Vec3(0.213, 0.568, -0.44), Vec3(0.333, 0.327, -0.22), 0.203);
  leg.ball(j.shin, Vec3(0.333, 0.314, -0.160), Vec3::Constant(0.143));
  leg.rod(j.shin, Vec3(0.333, 0.31, -0.165), 0.133, Vec3(0.306, 0.086, -0.355), 0.091);
  leg.muscle(j.shin, Vec3(0.333, 0.327, -0.22), Vec3(0.313, 0.12, -0.39), 0.121);  // calf
  leg.color = hide;
  leg.part_blend = 0.035;
  leg.rod(j.foot, Vec3(0.306, 0.055, -0.40), 0.079, Vec3(0.339, 0.045, -0.20), 0.069);
  leg.ball(j.foot, Vec3(0.339, 0.045, -0.19), Vec3(0.108, 0.06, 0.108));
  leg.part_blend = 0.014;
  for (int k = 0; k < 4; ++k)
    leg.rod(j.foot, Vec3(0.311 + 0.034 * k, 0.038, -0.140 - 0.012 * k), 0.027,
            Vec3(0.321 + 0.038 * k, 0.028, -0.085 - 0.02 * k), 0.025);
  leg.rod(j.foot, Vec3(0.259, 0.04, -0.225), 0.04, Vec3(0.2, 0.03, -0.150), 0.036);  // big toe, apart
}

void add_paint(Creature& c, const Joints& j) {
  c.spots.push_back({Vec3(0, 0.843, -0.3), Vec3(0.50, 0.34, 0.42), silver, 0.6, true});
  c.spots.push_back({Vec3(0.14, 0.774, 0.386), Vec3(0.15, 0.12, 0.10), hide, 0.4, true});
  c.spots.push_back({Vec3(0.0, 1.028, 0.63), Vec3(0.118, 0.11, 0.102), hide, 0.3, true});
  c.focus.push_back({Vec3(0.0, 1.004, 0.606), 0.156, true});
  Detail eye;
  eye.a = Vec3(0.061, 1.062, 0.581);
  eye.radii = Vec3::Constant(0.0198);
  eye.joint = j.head;
  eye.color = hex_color(0x2a1408);
  eye.segments = 14;
  c.details.push_back(eye);
  eye.a = Vec3(0.058, 1.071, 0.598);
  eye.radii = Vec3::Constant(0.0042);
  eye.color = Color::Ones();
  eye.segments = 8;
  c.details.push_back(eye);
}

// ---- motion ---------------------------------------------------------------------------------------------------------

struct Animal {
  const Creature* c;
  const Joints* j;

  void stand(PoseEditor& e, bool right, const Vec3& hand, const Vec3& foot, double foot_pitch,
             double hand_pitch) const {
    const double out = right ? -1 : 1;
    const Index h = c->on_side(j->hand, right), f = c->on_side(j->foot, right);
    e.reach(c->on_side(j->arm, right), c->on_side(j->forearm, right), h, c->place(h) + hand, Vec3(out * 0.9, 0, -1));
    e.face(h, turn_degrees(hand_pitch, 0, 0));
    e.reach(c->on_side(j->thigh, right), c->on_side(j->shin, right), f, c->place(f) + foot, Vec3(out * 0.35, 0, 1));
    e.face(f, turn_degrees(foot_pitch, 0, 0));
  }
};

// Knuckle walk: hand and opposite foot move nearly together.
void walk(const Animal& a, double phase, PoseEditor& e) {
  constexpr double duty = 0.62;
  const double swing = std::sin(2 * pi * phase), twice = std::cos(4 * pi * phase);
  e.shift(a.j->hips, Vec3(0.02 * std::cos(2 * pi * phase), -0.02 + 0.014 * twice, 0));
  e.turn(a.j->hips, 1.5 * twice, 5 * swing, 3 * std::cos(2 * pi * phase));
  e.turn(a.j->chest, -1.5 * twice, -9 * swing, -4 * std::cos(2 * pi * phase));
  e.turn(a.j->head, -2 + 2 * twice, 4 * swing, 1.5 * std::cos(2 * pi * phase));
  for (const bool right : {false, true}) {
    const double hand = phase + (right ? 0.5 : 0.0), foot = phase + (right ? 0.0 : 0.5) + 0.06;
    a.stand(e, right, step_path(hand, duty, 0.34, 0.085), step_path(foot, duty, 0.34, 0.07),
            swing_pitch(foot, duty, 28), swing_pitch(hand, duty, 30));
  }
}

// Rises, beats its chest with both fists in turn, comes down.
void display(const Animal& a, double phase, PoseEditor& e) {
  const double up = std::min(1.0, 1.9 * wave(phase)), smooth = up * up * (3 - 2 * up);
  const double beat = std::sin(2 * pi * 9 * phase) * std::max(0.0, 1.6 * smooth - 0.6);
  e.shift(a.j->hips, Vec3(0, 0.03, 0.06) * smooth);
  e.turn(a.j->hips, -42 * smooth, 0, 0);
  e.turn(a.j->chest, -14 * smooth, 0, 3 * beat);
  e.turn(a.j->head, 40 * smooth, 5 * beat, 0);
  for (const bool right : {false, true}) {
    const double out = right ? -1 : 1, own = right ? -beat : beat;
    const Index foot = a.c->on_side(a.j->foot, right), hand = a.c->on_side(a.j->hand, right);
    e.reach(a.c->on_side(a.j->thigh, right), a.c->on_side(a.j->shin, right), foot, a.c->place(foot),
            Vec3(out * 0.5, 0, 1));
    e.face(foot, Quat::Identity());
    const Vec3 chest = e.world(a.j->chest).translation();
    const Vec3 fist = chest + Vec3(out * 0.21, 0.12, 0.30 + 0.07 * own);
    const Vec3 target = (1 - smooth) * a.c->place(hand) + smooth * fist;
    e.reach(a.c->on_side(a.j->arm, right), a.c->on_side(a.j->forearm, right), hand, target,
            Vec3(out, -0.6 * smooth, -1 + 0.7 * smooth));
    e.turn(hand, 10 * smooth, 0, 0);
  }
}

void add_poses(Creature& c, const Joints& j) {
  const auto both = [&](std::vector<JointRotation>& r, Index left, double x, double y, double z) {
    r.push_back({left, turn_degrees(x, y, z)});
    r.push_back({c.twin(left), turn_degrees(x, -y, -z)});
  };
  c.poses.push_back({{"stance", {}, false}, {}});
  std::vector<JointRotation> reach, curl, crouch;
  both(reach, j.arm, -45, 0, 15);
  both(reach, j.thigh, 10, 0, 0);
  c.poses.push_back({{"arms_forward", reach, false}, {}});
  both(curl, j.arm, -30, 0, 20);
  both(curl, j.forearm, -72, 0, 0);
  c.poses.push_back({{"arms_bent", curl, true},
                     {{Vec3(0.48, 0.68, 0.30), Vec3(0.18, 0.20, 0.17), 0.03, Vec3::Zero()},
                      {Vec3(-0.48, 0.68, 0.30), Vec3(0.18, 0.20, 0.17), 0.03, Vec3::Zero()}}});
  both(crouch, j.thigh, -25, 0, 10);
  both(crouch, j.shin, 35, 0, 0);
  c.poses.push_back({{"crouched", crouch, true},
                     {{Vec3(0.32, 0.22, -0.34), Vec3(0.17, 0.17, 0.17), 0.006, Vec3::Zero()},
                      {Vec3(-0.32, 0.22, -0.34), Vec3(0.17, 0.17, 0.17), 0.006, Vec3::Zero()}}});
}

}  // namespace

Creature make_gorilla() {
  Creature c;
  c.name = "gorilla";
  c.mottle = 0.08;
  c.frequency = 2.5;  // heavy: a belly that one sees following
  const Joints j = add_joints(c);
  add_patches(c);
  add_trunk(c, j);
  add_head(c, j);
  add_arm(c, j);
  add_leg(c, j);
  add_paint(c, j);
  add_poses(c, j);
  const Skeleton skeleton = c.skeleton();
  const Animal animal{&c, &j};
  c.clips.push_back(make_cycle(skeleton, "walk", 1.1, 33, [&](double p, PoseEditor& e) { walk(animal, p, e); }));
  c.clips.push_back(make_cycle(skeleton, "display", 3.0, 90, [&](double p, PoseEditor& e) { display(animal, p, e); }));
  return c;
}

}  // namespace supple
