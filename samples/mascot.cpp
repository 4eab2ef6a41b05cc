// SPDX-License-Identifier: Apache-2.0
// The mascot: a small round creature with a belly, cheeks, floppy ears and a fluffy tail, all of which have reason to
// jiggle when it walks, hops and waves.
#include "samples/creatures.h"
#include "samples/motion.h"

#include <cmath>
#include <numbers>

namespace supple {
namespace {

using std::numbers::pi;

struct Joints {
  Index root, hips, belly, chest, head, sprout, tail, tail_tip;
  Index ear, ear_tip, arm, forearm, hand, thigh, shin, foot;
};

const Color fur = hex_color(0x58b7ad), cream = hex_color(0xfff1d6), pink = hex_color(0xf59a92);

Joints add_joints(Creature& c) {
  Joints j{};
  j.root = c.add_joint("root", -1, Vec3(0, 0, 0));
  j.hips = c.add_joint("hips", j.root, Vec3(0, 0.27, 0));
  j.belly = c.add_joint("belly", j.hips, Vec3(0, 0.36, 0.06));
  j.chest = c.add_joint("chest", j.hips, Vec3(0, 0.52, 0));
  j.head = c.add_joint("head", j.chest, Vec3(0, 0.68, 0));
  j.sprout = c.add_joint("sprout", j.head, Vec3(0, 1.06, 0));
  j.tail = c.add_joint("tail", j.hips, Vec3(0, 0.22, -0.22));
  j.tail_tip = c.add_joint("tail_tip", j.tail, Vec3(0, 0.27, -0.36));
  j.ear = c.add_joint("left_ear", j.head, Vec3(0.14, 1.03, -0.03));
  j.ear_tip = c.add_joint("left_ear_tip", j.ear, Vec3(0.33, 1.04, -0.06));
  j.arm = c.add_joint("left_arm", j.chest, Vec3(0.19, 0.58, 0.02));
  j.forearm = c.add_joint("left_forearm", j.arm, Vec3(0.30, 0.49, 0.05));
  j.hand = c.add_joint("left_hand", j.forearm, Vec3(0.37, 0.40, 0.10));
  j.thigh = c.add_joint("left_thigh", j.hips, Vec3(0.14, 0.22, 0));
  j.shin = c.add_joint("left_shin", j.thigh, Vec3(0.16, 0.14, 0.03));
  j.foot = c.add_joint("left_foot", j.shin, Vec3(0.16, 0.06, 0.0));
  c.mirror_joints();
  return j;
}

void add_trunk(Creature& c, const Joints& j) {
  Limb& body = c.add_limb("body", 0.09);
  body.color = fur;
  body.ball(j.hips, Vec3(0, 0.27, -0.02), Vec3(0.25, 0.19, 0.22));
  body.ball(j.belly, Vec3(0, 0.35, 0.05), Vec3(0.265, 0.235, 0.225));
  body.ball(j.chest, Vec3(0, 0.54, 0), Vec3(0.20, 0.17, 0.17));
  body.part_blend = 0.07;
  body.ball(j.head, Vec3(0, 0.86, 0.01), Vec3(0.265, 0.215, 0.225));
  body.ball(j.head, Vec3(0.155, 0.785, 0.085), Vec3(0.125, 0.105, 0.115));  // cheeks
  body.part_blend = 0.04;
  body.ball(j.head, Vec3(0, 0.79, 0.205), Vec3(0.09, 0.062, 0.066));  // muzzle
  body.part_blend = 0.03;                                             // a sprout of two leaves
  body.color = hex_color(0x7fc25c);
  body.rod(j.sprout, Vec3(0, 1.05, 0.0), 0.026, Vec3(0, 1.155, 0.012), 0.019);
  body.part_blend = 0.02;
  body.ball(j.sprout, Vec3(0.068, 1.185, 0.02), Vec3(0.080, 0.022, 0.046), Vec3(0, -12, 24));
}

void add_limbs(Creature& c, const Joints& j) {
  Limb& ear = c.add_limb("ear", 0.05, Vec3(0.14, 1.02, -0.03), 0.12);
  ear.color = fur;
  ear.part_blend = 0.05;
  ear.rod(j.ear, Vec3(0.13, 1.0, -0.03), 0.045, Vec3(0.21, 1.10, -0.04), 0.045);
  ear.rod(j.ear, Vec3(0.21, 1.10, -0.04), 0.045, Vec3(0.32, 1.07, -0.06), 0.052);
  ear.ball(j.ear_tip, Vec3(0.40, 0.92, -0.06), Vec3(0.078, 0.165, 0.045), Vec3(0, 0, 14));
  Limb& arm = c.add_limb("arm", 0.05, Vec3(0.2, 0.58, 0.02), 0.12);
  arm.color = fur;
  arm.rod(j.arm, Vec3(0.17, 0.59, 0.01), 0.068, Vec3(0.30, 0.49, 0.05), 0.060);
  arm.rod(j.forearm, Vec3(0.30, 0.49, 0.05), 0.060, Vec3(0.365, 0.41, 0.095), 0.056);
  arm.part_blend = 0.03;
  arm.ball(j.hand, Vec3(0.39, 0.375, 0.115), Vec3(0.062, 0.066, 0.06));
  arm.ball(j.hand, Vec3(0.345, 0.385, 0.16), Vec3(0.026, 0.03, 0.034));  // thumb
  Limb& leg = c.add_limb("leg", 0.06, Vec3(0.14, 0.22, 0), 0.2);
  leg.color = fur;
  leg.rod(j.thigh, Vec3(0.13, 0.22, 0), 0.115, Vec3(0.155, 0.14, 0.02), 0.095);
  leg.rod(j.shin, Vec3(0.155, 0.14, 0.02), 0.090, Vec3(0.16, 0.07, 0.0), 0.072);
  leg.part_blend = 0.05;
  leg.ball(j.foot, Vec3(0.168, 0.058, 0.075), Vec3(0.095, 0.058, 0.145), Vec3(0, 10, 0));
  leg.part_blend = 0.02;
  for (const double side : {-1.0, 0.0, 1.0})  // toes
    leg.ball(j.foot, Vec3(0.19 + 0.052 * side, 0.048, 0.195 - 0.012 * side * side), Vec3(0.034, 0.036, 0.04));
  Limb& tail = c.add_limb("tail", 0.05);
  tail.color = fur;
  tail.rod(j.tail, Vec3(0, 0.22, -0.2), 0.065, Vec3(0, 0.25, -0.33), 0.055);
  tail.part_blend = 0.06;
  tail.color = cream;
  tail.ball(j.tail_tip, Vec3(0, 0.31, -0.42), Vec3(0.125, 0.125, 0.12));
}

void add_paint(Creature& c) {
  c.spots.push_back({Vec3(0, 0.36, 0.26), Vec3(0.205, 0.245, 0.17), cream, 0.25, true});
  c.spots.push_back({Vec3(0, 0.765, 0.25), Vec3(0.115, 0.075, 0.11), cream, 0.35, true});
  c.spots.push_back({Vec3(0.205, 0.785, 0.175), Vec3(0.062, 0.048, 0.07), pink, 0.6, true});
  c.spots.push_back({Vec3(0.405, 0.91, 0.0), Vec3(0.055, 0.125, 0.06), pink, 0.5, true});
  const Color deep = hex_color(0x3c948f);
  c.spots.push_back({Vec3(0, 0.56, -0.2), Vec3(0.075, 0.05, 0.09), deep, 0.35, true});
  c.spots.push_back({Vec3(0, 0.45, -0.22), Vec3(0.095, 0.05, 0.09), deep, 0.35, true});
  c.spots.push_back({Vec3(0, 0.345, -0.24), Vec3(0.08, 0.045, 0.09), deep, 0.35, true});
  c.spots.push_back({Vec3(0.19, 0.04, 0.25), Vec3(0.11, 0.06, 0.075), cream, 0.4, true});
}

void add_face(Creature& c, const Joints& j) {
  const Color dark = hex_color(0x2a2430);
  Detail eye;
  eye.a = Vec3(0.102, 0.872, 0.212);
  eye.radii = Vec3(0.042, 0.053, 0.026);
  eye.turn = Vec3(-8, 22, 0);
  eye.joint = j.head;
  eye.color = dark;
  eye.segments = 18;
  c.details.push_back(eye);
  eye.a = Vec3(0.094, 0.893, 0.236);
  eye.radii = Vec3::Constant(0.0125);
  eye.color = Color::Ones();
  eye.segments = 10;
  c.details.push_back(eye);
  eye.a = Vec3(0.118, 0.852, 0.232);
  eye.radii = Vec3::Constant(0.0065);
  c.details.push_back(eye);
  Detail nose;
  nose.a = Vec3(0, 0.822, 0.252);
  nose.radii = Vec3(0.030, 0.020, 0.020);
  nose.joint = j.head;
  nose.color = hex_color(0x4a2d35);
  nose.both_sides = false;
  c.details.push_back(nose);
  c.focus.push_back({Vec3(0, 0.80, 0.2), 0.16, true});
  c.focus.push_back({Vec3(0, 1.19, 0.02), 0.17, true});
  c.focus.push_back({Vec3(0.18, 0.05, 0.18), 0.10, true});
  Detail smile;
  smile.shape = Detail::Shape::claw;
  smile.a = Vec3(0, 0.774, 0.272);
  smile.b = Vec3(0.064, 0.800, 0.240);
  smile.curve = Vec3(0, -0.011, 0.009);
  smile.radii = Vec3::Constant(0.0055);
  smile.joint = j.head;
  smile.color = dark;
  smile.segments = 6;
  c.details.push_back(smile);
}

// ---- motion ---------------------------------------------------------------------------------------------------------

struct Stepper {
  const Creature* c;
  const Joints* j;

  void plant(PoseEditor& e, bool right, const Vec3& offset, double pitch) const {
    const Index foot = c->on_side(j->foot, right);
    e.reach(c->on_side(j->thigh, right), c->on_side(j->shin, right), foot, c->place(foot) + offset,
            Vec3(right ? -0.3 : 0.3, 0, 1));
    e.face(foot, turn_degrees(pitch, 0, 0));
  }
};

void follow_through(PoseEditor& e, const Stepper& s, double phase, double amount) {
  const double swing = std::sin(2 * pi * phase);
  for (const bool right : {false, true}) {
    const double out = right ? -1 : 1;
    e.turn(s.c->on_side(s.j->ear, right), 4 * amount * swing, 0, out * 7 * amount * std::sin(4 * pi * phase - 0.8));
    e.turn(s.c->on_side(s.j->ear_tip, right), 6 * amount * swing, 0,
           out * 12 * amount * std::sin(4 * pi * phase - 1.6));
  }
  e.turn(s.j->sprout, 5 * amount * std::sin(4 * pi * phase - 1.0), 0, 7 * amount * std::sin(2 * pi * phase - 0.6));
  e.turn(s.j->tail, 8 * amount * std::sin(4 * pi * phase), 14 * amount * swing, 0);
  e.turn(s.j->tail_tip, 8 * amount * std::sin(4 * pi * phase - 0.7), 16 * amount * std::sin(2 * pi * phase - 0.8), 0);
}

void walk(const Stepper& s, double phase, PoseEditor& e) {
  const double swing = std::sin(2 * pi * phase), bounce = std::cos(4 * pi * (phase - 0.08));
  e.shift(s.j->hips, Vec3(0.022 * std::cos(2 * pi * phase), -0.034 + 0.018 * bounce, 0));
  e.turn(s.j->hips, 3, 7 * swing, 4 * std::cos(2 * pi * phase));
  e.turn(s.j->chest, 2, -14 * swing, -7 * std::cos(2 * pi * phase));
  e.turn(s.j->head, -4 - 2 * bounce, 7 * swing, 4 * std::cos(2 * pi * phase - 0.5));
  for (const bool right : {false, true}) {
    const double own = phase + (right ? 0.5 : 0.0);
    const Vec3 step = step_path(own, 0.58, 0.12, 0.05);
    const double p = own - std::floor(own);
    const double pitch = p < 0.58 ? 0.0 : 22 * std::sin(2 * pi * (p - 0.58) / 0.42);
    s.plant(e, right, step, pitch);
    const double out = right ? -1 : 1, forward = std::cos(2 * pi * own);
    e.turn(s.c->on_side(s.j->arm, right), 26 * forward, 0, out * 6);
    e.turn(s.c->on_side(s.j->forearm, right), -14 + 8 * forward, 0, 0);
  }
  follow_through(e, s, phase, 1.0);
}

// Crouch, spring, fly, land: heights over the phase.
double hop_height(double phase) {
  if (phase < 0.3) return -0.055 * wave(phase / 0.3 * 0.5 + 0.0);
  if (phase < 0.38) return -0.055 + 0.055 * (phase - 0.3) / 0.08;
  if (phase < 0.72) {
    const double t = (phase - 0.38) / 0.34;
    return 0.34 * 4 * t * (1 - t);
  }
  const double t = (phase - 0.72) / 0.28;
  return -0.06 * std::exp(-3.2 * t) * std::sin(pi * std::min(1.0, 1.6 * t)) * (1 - t);
}

void hop(const Stepper& s, double phase, PoseEditor& e) {
  const double height = hop_height(phase), air = std::max(height, 0.0) / 0.34, crouch = std::max(-height, 0.0) / 0.055;
  e.shift(s.j->hips, Vec3(0, height, -0.015 * crouch));
  e.turn(s.j->hips, 8 * crouch - 6 * air, 0, 0);
  e.turn(s.j->chest, 8 * crouch - 8 * air, 0, 0);
  e.turn(s.j->head, -10 * crouch - 8 * air, 0, 0);
  for (const bool right : {false, true}) {
    const double out = right ? -1 : 1;
    s.plant(e, right, Vec3(out * 0.02 * air, std::max(height - 0.02 * air, 0.0), 0.02 * air), 28 * air);
    e.turn(s.c->on_side(s.j->arm, right), 24 * crouch - 20 * air, 0, out * (70 * air - 8 * crouch));
    e.turn(s.c->on_side(s.j->forearm, right), -20 * air, 0, out * 25 * air);
    e.turn(s.c->on_side(s.j->ear, right), 0, 0, out * (18 * air - 8 * crouch));
    e.turn(s.c->on_side(s.j->ear_tip, right), 0, 0, out * (30 * air - 14 * crouch));
  }
  e.turn(s.j->sprout, 10 * crouch - 14 * air, 0, 0);
  e.turn(s.j->tail, -16 * crouch + 22 * air, 0, 0);
}

void greet(const Stepper& s, double phase, PoseEditor& e) {
  const double up = std::min(1.0, 1.6 * wave(phase)), flutter = std::sin(8 * pi * phase) * up;
  e.shift(s.j->hips, Vec3(0.012 * up, 0.006 * std::sin(4 * pi * phase), 0));
  e.turn(s.j->chest, 0, -5 * up, -5 * up);
  e.turn(s.j->head, -3 * up, -6 * up, 10 * up + 2 * flutter);
  e.turn(s.j->arm, 0, 0, 100 * up);
  e.turn(s.j->forearm, 0, 0, 25 * up + 26 * flutter);
  e.turn(s.j->hand, 0, 0, 10 * flutter);
  for (const bool right : {false, true}) s.plant(e, right, Vec3::Zero(), 0);
  follow_through(e, s, phase, 0.6);
}

}  // namespace

Creature make_mascot() {
  Creature c;
  c.name = "mascot";
  c.mottle = 0.03;
  c.frequency = 2.5;
  const Joints j = add_joints(c);
  add_trunk(c, j);
  add_limbs(c, j);
  add_paint(c);
  add_face(c, j);
  const Skeleton skeleton = c.skeleton();
  const Stepper stepper{&c, &j};
  c.clips.push_back(make_cycle(skeleton, "walk", 0.72, 24, [&](double p, PoseEditor& e) { walk(stepper, p, e); }));
  c.clips.push_back(make_cycle(skeleton, "hop", 1.2, 36, [&](double p, PoseEditor& e) { hop(stepper, p, e); }));
  c.clips.push_back(make_cycle(skeleton, "wave", 2.4, 60, [&](double p, PoseEditor& e) { greet(stepper, p, e); }));
  return c;
}

}  // namespace supple
