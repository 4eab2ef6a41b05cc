// SPDX-License-Identifier: Apache-2.0
// The gorilla of the 2016 paper (figure 1): a silverback on its knuckles. 16 joints; ten of them, from the chest
// outwards, make up its pose (60 degrees of freedom); hips, spine, hands and feet only keep it on the ground.
#include "scenes/creatures.h"
#include "scenes/motion.h"

#include <cmath>
#include <numbers>

namespace supple {
namespace {

constexpr double pi = std::numbers::pi;

const Color fur = hex_color(0x46434a), hide = hex_color(0x756769), silver = hex_color(0x9fa0a5);

struct Joints {
  Index hips, spine, chest, head, arm, forearm, hand, thigh, shin, foot;
};

Joints add_joints(Creature& c) {
  Joints j{};
  j.hips = c.add_joint("hips", -1, Vec3(0, 0.66, -0.40));
  j.spine = c.add_joint("spine", j.hips, Vec3(0, 0.80, -0.18));
  j.chest = c.add_joint("chest", j.spine, Vec3(0, 0.95, 0.06));
  j.head = c.add_joint("head", j.chest, Vec3(0, 1.16, 0.38));
  j.arm = c.add_joint("left_arm", j.chest, Vec3(0.29, 1.02, 0.20));
  j.forearm = c.add_joint("left_forearm", j.arm, Vec3(0.40, 0.60, 0.16));
  j.hand = c.add_joint("left_hand", j.forearm, Vec3(0.38, 0.20, 0.29));
  j.thigh = c.add_joint("left_thigh", j.hips, Vec3(0.16, 0.62, -0.38));
  j.shin = c.add_joint("left_shin", j.thigh, Vec3(0.25, 0.36, -0.16));
  j.foot = c.add_joint("left_foot", j.shin, Vec3(0.23, 0.09, -0.36));
  c.mirror_joints();
  return j;
}

void add_trunk(Creature& c, const Joints& j) {
  Limb& body = c.add_limb("body", 0.12);
  body.color = fur;
  body.ball(j.hips, Vec3(0, 0.66, -0.38), Vec3(0.22, 0.19, 0.20));
  body.ball(j.spine, Vec3(0, 0.76, -0.16), Vec3(0.25, 0.23, 0.24), Vec3(-30, 0, 0));
  body.ball(j.spine, Vec3(0, 0.65, -0.09), Vec3(0.27, 0.20, 0.24));  // belly
  body.ball(j.chest, Vec3(0, 0.93, 0.08), Vec3(0.29, 0.25, 0.24), Vec3(-35, 0, 0));
  body.part_blend = 0.06;
  body.ball(j.chest, Vec3(0.13, 0.90, 0.25), Vec3(0.15, 0.12, 0.085), Vec3(-25, 25, 0));  // breast
  body.part_blend = 0.10;
  body.muscle(j.chest, Vec3(0.02, 1.16, 0.20), Vec3(0.30, 1.06, 0.14), 0.095);            // trapezius
  body.ball(j.chest, Vec3(0.16, 0.94, -0.03), Vec3(0.14, 0.15, 0.21), Vec3(-20, 0, 10));  // back
  body.rod(j.chest, Vec3(0, 1.04, 0.16), 0.175, Vec3(0, 1.13, 0.35), 0.14);               // neck
}

void add_head(Creature& c, const Joints& j) {
  Limb& head = c.add_limb("head", 0.05);
  head.color = fur;
  head.part_blend = 0.05;
  head.ball(j.head, Vec3(0, 1.220, 0.435), Vec3(0.120, 0.135, 0.145), Vec3(15, 0, 0));
  head.ball(j.head, Vec3(0, 1.312, 0.388), Vec3(0.072, 0.085, 0.125), Vec3(22, 0, 0));  // crest
  head.ball(j.head, Vec3(0.085, 1.170, 0.455), Vec3(0.062, 0.10, 0.075));               // jaw muscles
  head.color = hide;
  head.part_blend = 0.025;
  head.ball(j.head, Vec3(0, 1.150, 0.550), Vec3(0.088, 0.072, 0.075), Vec3(20, 0, 0));   // muzzle
  head.ball(j.head, Vec3(0, 1.095, 0.540), Vec3(0.075, 0.045, 0.065), Vec3(-10, 0, 0));  // chin
  head.rod(j.head, Vec3(0, 1.262, 0.570), 0.029, Vec3(0.085, 1.253, 0.533), 0.026);      // brow
  head.ball(j.head, Vec3(0, 1.212, 0.570), Vec3(0.030, 0.055, 0.035), Vec3(-14, 0, 0));  // bridge
  head.part_blend = 0.014;
  head.ball(j.head, Vec3(0.028, 1.186, 0.613), Vec3(0.028, 0.021, 0.020));  // nose wings
  head.carve_ball(Vec3(0.052, 1.218, 0.587), Vec3(0.026, 0.019, 0.026), 0.02);
  head.carve_ball(Vec3(0.026, 1.182, 0.635), Vec3(0.011, 0.009, 0.014), 0.008);
  Part& mouth = head.rod(j.head, Vec3(0, 1.118, 0.627), 0.009, Vec3(0.07, 1.112, 0.580), 0.008);
  mouth.carve = true;
  mouth.blend = 0.014;
  head.part_blend = 0.015;
  head.ball(j.head, Vec3(0.132, 1.225, 0.410), Vec3(0.016, 0.034, 0.026), Vec3(0, 20, 0));  // ears
}

void add_arm(Creature& c, const Joints& j) {
  Limb& arm = c.add_limb("arm", 0.09, Vec3(0.29, 1.02, 0.20), 0.24);
  arm.color = fur;
  arm.part_blend = 0.06;
  arm.ball(j.arm, Vec3(0.315, 1.00, 0.18), Vec3(0.135, 0.165, 0.14), Vec3(0, 0, 12));  // deltoid
  arm.rod(j.arm, Vec3(0.32, 0.96, 0.185), 0.105, Vec3(0.40, 0.62, 0.165), 0.082);
  arm.muscle(j.arm, Vec3(0.33, 0.95, 0.245), Vec3(0.395, 0.62, 0.215), 0.075);  // biceps
  arm.muscle(j.arm, Vec3(0.34, 0.95, 0.125), Vec3(0.405, 0.62, 0.105), 0.078);  // triceps
  arm.ball(j.forearm, Vec3(0.40, 0.60, 0.155), Vec3::Constant(0.082));
  arm.rod(j.forearm, Vec3(0.40, 0.60, 0.16), 0.080, Vec3(0.385, 0.24, 0.275), 0.058);
  arm.muscle(j.forearm, Vec3(0.425, 0.66, 0.185), Vec3(0.40, 0.27, 0.285), 0.083);
  arm.muscle(j.forearm, Vec3(0.38, 0.60, 0.13), Vec3(0.375, 0.29, 0.25), 0.072);
  arm.color = hide;
  arm.part_blend = 0.03;
  // The back of the hand, then fingers folded under it: it stands on the middle bones.
  arm.ball(j.hand, Vec3(0.38, 0.135, 0.315), Vec3(0.068, 0.088, 0.042), Vec3(-22, 0, 0));
  arm.part_blend = 0.016;
  for (int k = 0; k < 4; ++k) {
    const double x = 0.332 + 0.0345 * k, forward = 0.012 * (k == 1 || k == 2 ? 1 : 0);
    arm.rod(j.hand, Vec3(x, 0.085, 0.335 + forward), 0.024, Vec3(x, 0.030, 0.362 + forward), 0.023);
    arm.rod(j.hand, Vec3(x, 0.030, 0.362 + forward), 0.023, Vec3(x, 0.026, 0.295 + forward), 0.021);
  }
  arm.rod(j.hand, Vec3(0.335, 0.15, 0.30), 0.022, Vec3(0.300, 0.095, 0.335), 0.017);  // thumb
}

void add_leg(Creature& c, const Joints& j) {
  Limb& leg = c.add_limb("leg", 0.07, Vec3(0.16, 0.62, -0.38), 0.22);
  leg.color = fur;
  leg.part_blend = 0.06;
  leg.rod(j.thigh, Vec3(0.15, 0.62, -0.38), 0.145, Vec3(0.245, 0.37, -0.165), 0.095);
  leg.muscle(j.thigh, Vec3(0.16, 0.66, -0.44), Vec3(0.25, 0.38, -0.22), 0.125);
  leg.ball(j.shin, Vec3(0.25, 0.365, -0.160), Vec3::Constant(0.088));
  leg.rod(j.shin, Vec3(0.25, 0.36, -0.165), 0.082, Vec3(0.23, 0.10, -0.355), 0.056);
  leg.muscle(j.shin, Vec3(0.25, 0.38, -0.22), Vec3(0.235, 0.14, -0.39), 0.075);  // calf
  leg.color = hide;
  leg.part_blend = 0.035;
  leg.rod(j.foot, Vec3(0.23, 0.055, -0.40), 0.055, Vec3(0.255, 0.045, -0.20), 0.048);
  leg.ball(j.foot, Vec3(0.255, 0.045, -0.19), Vec3(0.075, 0.042, 0.075));
  leg.part_blend = 0.014;
  for (int k = 0; k < 4; ++k)
    leg.rod(j.foot, Vec3(0.235 + 0.030 * k, 0.036, -0.140 - 0.012 * k), 0.023,
            Vec3(0.245 + 0.034 * k, 0.024, -0.075 - 0.02 * k), 0.020);
  leg.rod(j.foot, Vec3(0.195, 0.040, -0.225), 0.028, Vec3(0.150, 0.030, -0.150), 0.025);  // big toe, apart
}

void add_paint(Creature& c, const Joints& j) {
  c.patches.push_back({Vec3(0, 0.98, -0.26), Vec3(0.42, 0.30, 0.38), silver, 0.6, true});
  c.patches.push_back({Vec3(0.12, 0.90, 0.33), Vec3(0.15, 0.12, 0.10), hide, 0.4, true});
  c.patches.push_back({Vec3(0, 1.19, 0.60), Vec3(0.098, 0.092, 0.085), hide, 0.3, true});
  c.focus.push_back({Vec3(0, 1.17, 0.58), 0.13, true});
  Detail eye;
  eye.a = Vec3(0.051, 1.219, 0.559);
  eye.radii = Vec3::Constant(0.0165);
  eye.joint = j.head;
  eye.color = hex_color(0x2a1408);
  eye.segments = 14;
  c.details.push_back(eye);
  eye.a = Vec3(0.048, 1.226, 0.573);
  eye.radii = Vec3::Constant(0.0035);
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
  both(reach, j.thigh, 20, 0, 0);
  c.poses.push_back({{"arms_forward", reach, false}, {}});
  both(curl, j.arm, -30, 0, 20);
  both(curl, j.forearm, -100, 0, 0);
  c.poses.push_back({{"arms_bent", curl, true},
                     {{Vec3(0.36, 0.79, 0.26), Vec3(0.12, 0.17, 0.11), 0.03, Vec3::Zero()},
                      {Vec3(-0.36, 0.79, 0.26), Vec3(0.12, 0.17, 0.11), 0.03, Vec3::Zero()}}});
  both(crouch, j.thigh, -40, 0, 10);
  both(crouch, j.shin, 55, 0, 0);
  c.poses.push_back({{"crouched", crouch, true},
                     {{Vec3(0.24, 0.26, -0.32), Vec3(0.11, 0.14, 0.11), 0.02, Vec3::Zero()},
                      {Vec3(-0.24, 0.26, -0.32), Vec3(0.11, 0.14, 0.11), 0.02, Vec3::Zero()}}});
}

}  // namespace

Creature make_gorilla() {
  Creature c;
  c.name = "gorilla";
  c.mottle = 0.08;
  const Joints j = add_joints(c);
  add_trunk(c, j);
  add_head(c, j);
  add_arm(c, j);
  add_leg(c, j);
  add_paint(c, j);
  add_poses(c, j);
  const Skeleton skeleton = c.skeleton();
  const Animal animal{&c, &j};
  c.clips.push_back(make_cycle(skeleton, "walk", 1.3, 39, [&](double p, PoseEditor& e) { walk(animal, p, e); }));
  c.clips.push_back(make_cycle(skeleton, "display", 3.0, 90, [&](double p, PoseEditor& e) { display(animal, p, e); }));
  return c;
}

}  // namespace supple
