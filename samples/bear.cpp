// SPDX-License-Identifier: Apache-2.0
// The polar bear of the 2016 paper (figure 2): heavy behind, long neck, small ears. The paper moves it by wires with
// 144 degrees of freedom; so do we, an offset and a twist for each of 36 handles. Files can't hold wires: in other
// people's viewers 24 joints carry the skin, and the handles are those and the ends that hang on them.
#include "samples/creatures.h"
#include "samples/motion.h"

#include <cmath>
#include <numbers>

namespace supple {
namespace {

using std::numbers::pi;

const Color fur = hex_color(0xf3ecdc), shade = hex_color(0xe6dac0), black = hex_color(0x221e20);

struct Joints {
  Index hips, lumbar, spine, chest, neck, nape, head, jaw, tail, belly;
  Index ear, shoulder, elbow, wrist, hip, knee, ankle;
};

Joints add_joints(Creature& c) {
  Joints j{};
  j.hips = c.add_joint("hips", -1, Vec3(0, 0.98, -0.62));
  j.lumbar = c.add_joint("lumbar", j.hips, Vec3(0, 1.02, -0.36));
  j.spine = c.add_joint("spine", j.lumbar, Vec3(0, 1.02, -0.06));
  j.chest = c.add_joint("chest", j.spine, Vec3(0, 1.00, 0.26));
  j.neck = c.add_joint("neck", j.chest, Vec3(0, 1.06, 0.58));
  j.nape = c.add_joint("nape", j.neck, Vec3(0, 1.13, 0.82));
  j.head = c.add_joint("head", j.nape, Vec3(0, 1.17, 1.02));
  j.jaw = c.add_joint("jaw", j.head, Vec3(0, 1.10, 1.08));
  j.tail = c.add_joint("tail", j.hips, Vec3(0, 0.98, -0.92));
  j.belly = c.add_joint("belly", j.spine, Vec3(0, 0.72, -0.08));
  j.ear = c.add_joint("left_ear", j.head, Vec3(0.115, 1.28, 1.01));
  j.shoulder = c.add_joint("left_shoulder", j.chest, Vec3(0.24, 0.86, 0.40));
  j.elbow = c.add_joint("left_elbow", j.shoulder, Vec3(0.28, 0.54, 0.33));
  j.wrist = c.add_joint("left_wrist", j.elbow, Vec3(0.28, 0.15, 0.39));
  j.hip = c.add_joint("left_hip", j.hips, Vec3(0.23, 0.86, -0.62));
  j.knee = c.add_joint("left_knee", j.hip, Vec3(0.28, 0.50, -0.48));
  j.ankle = c.add_joint("left_ankle", j.knee, Vec3(0.27, 0.14, -0.66));
  c.add_joint("muzzle", j.head, Vec3(0, 1.16, 1.18));
  c.add_joint("nose", j.head, Vec3(0, 1.14, 1.36));
  c.add_joint("jaw_tip", j.jaw, Vec3(0, 1.07, 1.33));
  c.add_joint("tail_tip", j.tail, Vec3(0, 0.90, -1.03));
  c.add_joint("belly_front", j.belly, Vec3(0, 0.72, 0.22));
  c.add_joint("belly_back", j.belly, Vec3(0, 0.72, -0.38));
  c.add_joint("left_ear_tip", j.ear, Vec3(0.135, 1.35, 1.0));
  c.add_joint("left_front_toes", j.wrist, Vec3(0.28, 0.06, 0.58));
  c.add_joint("left_hind_toes", j.ankle, Vec3(0.27, 0.06, -0.42));
  c.mirror_joints();
  return j;
}

void add_wires(Creature& c) {
  c.wires = {
      {"back", {"tail_tip", "tail", "hips", "lumbar", "spine", "chest", "neck", "nape", "head", "muzzle", "nose"}},
      {"jaw", {"jaw", "jaw_tip"}},
      {"belly", {"belly_back", "belly", "belly_front"}}};
  for (const std::string side : {"left_", "right_"}) {
    c.wires.push_back({side + "ear", {side + "ear", side + "ear_tip"}});
    c.wires.push_back({side + "front", {side + "shoulder", side + "elbow", side + "wrist", side + "front_toes"}});
    c.wires.push_back({side + "hind", {side + "hip", side + "knee", side + "ankle", side + "hind_toes"}});
  }
}

// The paper's six patches and their modes.
void add_patches(Creature& c) {
  c.patches = {{"body", {"hips", "lumbar", "spine", "chest", "belly"}, 20},
               {"head", {"neck", "nape", "head", "jaw"}, 20}};
  for (const std::string side : {"left", "right"}) {
    c.patches.push_back({side + " arm", {side + "_shoulder", side + "_elbow", side + "_wrist"}, 15});
    c.patches.push_back({side + " leg", {side + "_hip", side + "_knee", side + "_ankle"}, 15});
  }
}

void add_trunk(Creature& c, const Joints& j) {
  Limb& body = c.add_limb("body", 0.18);
  body.color = fur;
  body.ball(j.hips, Vec3(0, 0.96, -0.62), Vec3(0.33, 0.33, 0.33));
  body.ball(j.lumbar, Vec3(0, 0.96, -0.36), Vec3(0.35, 0.34, 0.30));
  body.ball(j.spine, Vec3(0, 0.95, -0.05), Vec3(0.36, 0.34, 0.30));
  body.ball(j.chest, Vec3(0, 0.95, 0.27), Vec3(0.32, 0.32, 0.29));
  body.ball(j.belly, Vec3(0, 0.76, -0.08), Vec3(0.31, 0.22, 0.42));
  body.part_blend = 0.14;
  body.rod(j.neck, Vec3(0, 0.99, 0.46), 0.235, Vec3(0, 1.07, 0.72), 0.19);
  body.rod(j.nape, Vec3(0, 1.07, 0.72), 0.19, Vec3(0, 1.15, 0.96), 0.155);
  body.ball(j.neck, Vec3(0, 0.86, 0.50), Vec3(0.17, 0.20, 0.17));  // breast
  body.part_blend = 0.07;
  body.rod(j.tail, Vec3(0, 1.00, -0.90), 0.07, Vec3(0, 0.90, -1.01), 0.05);
}

void add_head(Creature& c, const Joints& j) {
  Limb& head = c.add_limb("head", 0.10);
  head.color = fur;
  head.part_blend = 0.07;
  head.ball(j.head, Vec3(0, 1.185, 1.03), Vec3(0.145, 0.135, 0.165));
  head.ball(j.head, Vec3(0.085, 1.135, 1.04), Vec3(0.085, 0.085, 0.105));       // cheeks
  head.rod(j.head, Vec3(0, 1.175, 1.14), 0.094, Vec3(0, 1.135, 1.335), 0.066);  // muzzle
  head.part_blend = 0.03;
  head.ball(j.head, Vec3(0.034, 1.105, 1.325), Vec3(0.045, 0.042, 0.068));  // lips
  head.ball(j.jaw, Vec3(0, 1.072, 1.235), Vec3(0.062, 0.036, 0.125), Vec3(-4, 0, 0));
  head.carve_ball(Vec3(0.082, 1.222, 1.168), Vec3(0.025, 0.021, 0.025), 0.03);
  head.part_blend = 0.03;
  head.ball(j.ear, Vec3(0.120, 1.300, 1.0), Vec3(0.058, 0.064, 0.044), Vec3(0, 22, -22));
}

void add_front_leg(Creature& c, const Joints& j) {
  Limb& leg = c.add_limb("front", 0.13, Vec3(0.22, 0.88, 0.40), 0.30);
  leg.color = fur;
  leg.part_blend = 0.09;
  leg.ball(j.shoulder, Vec3(0.22, 0.86, 0.37), Vec3(0.15, 0.24, 0.20));
  leg.rod(j.shoulder, Vec3(0.245, 0.80, 0.37), 0.15, Vec3(0.28, 0.54, 0.33), 0.128);
  leg.rod(j.elbow, Vec3(0.28, 0.54, 0.33), 0.128, Vec3(0.28, 0.17, 0.385), 0.105);
  leg.muscle(j.elbow, Vec3(0.285, 0.58, 0.33), Vec3(0.285, 0.24, 0.36), 0.128);
  leg.part_blend = 0.06;
  leg.ball(j.wrist, Vec3(0.28, 0.085, 0.425), Vec3(0.128, 0.085, 0.155));
  leg.part_blend = 0.025;
  for (int k = 0; k < 4; ++k)
    leg.ball(j.wrist, Vec3(0.193 + 0.058 * k, 0.058, 0.535 + (k == 1 || k == 2 ? 0.025 : 0)),
             Vec3(0.034, 0.045, 0.055));
}

void add_hind_leg(Creature& c, const Joints& j) {
  Limb& leg = c.add_limb("hind", 0.14, Vec3(0.22, 0.88, -0.62), 0.32);
  leg.color = fur;
  leg.part_blend = 0.09;
  leg.ball(j.hip, Vec3(0.22, 0.82, -0.60), Vec3(0.165, 0.27, 0.25), Vec3(-20, 0, 0));
  leg.rod(j.hip, Vec3(0.24, 0.74, -0.57), 0.18, Vec3(0.28, 0.50, -0.49), 0.138);
  leg.rod(j.knee, Vec3(0.28, 0.50, -0.49), 0.135, Vec3(0.27, 0.17, -0.64), 0.096);
  leg.muscle(j.knee, Vec3(0.28, 0.52, -0.54), Vec3(0.275, 0.22, -0.66), 0.115);
  leg.part_blend = 0.06;
  leg.ball(j.ankle, Vec3(0.27, 0.082, -0.60), Vec3(0.118, 0.082, 0.175));
  leg.part_blend = 0.025;
  for (int k = 0; k < 4; ++k)
    leg.ball(j.ankle, Vec3(0.189 + 0.054 * k, 0.055, -0.465 + (k == 1 || k == 2 ? 0.022 : 0)),
             Vec3(0.032, 0.042, 0.052));
}

void add_details(Creature& c, const Joints& j) {
  c.spots.push_back({Vec3(0, 0.62, -0.1), Vec3(0.4, 0.16, 0.9), shade, 0.8, true});
  c.spots.push_back({Vec3(0, 1.12, 1.38), Vec3(0.09, 0.075, 0.11), hex_color(0xd8ccb8), 0.7, true});
  c.spots.push_back({Vec3(0.128, 1.305, 1.045), Vec3(0.042, 0.048, 0.035), hex_color(0xb5a493), 0.6, true});
  c.focus.push_back({Vec3(0, 1.18, 1.16), 0.27, true});
  c.focus.push_back({Vec3(0.28, 0.05, 0.52), 0.13, true});
  Detail eye;
  eye.a = Vec3(0.078, 1.223, 1.158);
  eye.radii = Vec3::Constant(0.0205);
  eye.joint = j.head;
  eye.color = black;
  c.details.push_back(eye);
  eye.a = Vec3(0.082, 1.233, 1.173);
  eye.radii = Vec3::Constant(0.0045);
  eye.color = Color::Ones();
  eye.segments = 6;
  c.details.push_back(eye);
  Detail nose;
  nose.a = Vec3(0, 1.160, 1.392);
  nose.radii = Vec3(0.043, 0.031, 0.030);
  nose.turn = Vec3(-20, 0, 0);
  nose.joint = j.head;
  nose.color = black;
  nose.both_sides = false;
  c.details.push_back(nose);
  Detail mouth;
  mouth.shape = Detail::Shape::claw;
  mouth.a = Vec3(0, 1.092, 1.384);
  mouth.b = Vec3(0.092, 1.098, 1.225);
  mouth.curve = Vec3(0.026, -0.008, 0.012);
  mouth.radii = Vec3::Constant(0.007);
  mouth.joint = j.head;
  mouth.color = black;
  mouth.segments = 5;
  c.details.push_back(mouth);
  Detail claw;
  claw.shape = Detail::Shape::claw;
  claw.color = hex_color(0x3a3231);
  claw.segments = 5;
  claw.radii = Vec3::Constant(0.013);
  claw.curve = Vec3(0, 0.010, 0);
  for (int k = 0; k < 4; ++k) {
    const double ahead = k == 1 || k == 2 ? 1.0 : 0.0;
    claw.joint = j.wrist;
    claw.a = Vec3(0.193 + 0.058 * k, 0.052, 0.580 + 0.025 * ahead);
    claw.b = claw.a + Vec3(0, -0.040, 0.048);
    c.details.push_back(claw);
    claw.joint = j.ankle;
    claw.a = Vec3(0.189 + 0.054 * k, 0.050, -0.423 + 0.022 * ahead);
    claw.b = claw.a + Vec3(0, -0.038, 0.050);
    c.details.push_back(claw);
  }
}

// ---- motion ---------------------------------------------------------------------------------------------------------

struct Animal {
  const Creature* c;
  const Joints* j;

  void step(PoseEditor& e, bool right, bool front, const Vec3& offset, double pitch) const {
    const double out = right ? -1 : 1;
    const Index end = c->on_side(front ? j->wrist : j->ankle, right);
    e.reach(c->on_side(front ? j->shoulder : j->hip, right), c->on_side(front ? j->elbow : j->knee, right), end,
            c->place(end) + offset, Vec3(out * 0.15, 0, front ? -1 : 1));
    e.face(end, turn_degrees(pitch, 0, 0));
  }
};

// A walk of four beats: left hind, left front, right hind, right front.
void walk(const Animal& a, double phase, PoseEditor& e) {
  constexpr double duty = 0.66;
  const double swing = std::sin(2 * pi * phase), across = std::cos(2 * pi * phase), twice = std::cos(4 * pi * phase);
  e.shift(a.j->hips, Vec3(0.02 * swing, -0.035 + 0.012 * twice, 0));
  e.turn(a.j->hips, 0.8 * twice, 3.5 * across, 3 * swing);
  e.turn(a.j->lumbar, 0, -2.5 * across, -1.5 * swing);
  e.turn(a.j->spine, -0.8 * twice, -3 * across, -1.5 * swing);
  e.turn(a.j->chest, 0, -1.5 * across, 2.0 * std::sin(2 * pi * (phase - 0.25)));
  e.turn(a.j->neck, 2 + 2.0 * std::cos(4 * pi * (phase - 0.1)), 3.5 * across, 0);
  e.turn(a.j->nape, 2 - 1.5 * std::cos(4 * pi * (phase - 0.15)), 4 * std::cos(2 * pi * phase - 0.5), 0);
  e.turn(a.j->head, -4 - 1.5 * std::cos(4 * pi * (phase - 0.2)), 2 * across, 2 * swing);
  e.turn(a.j->tail, 3 * twice, 8 * swing, 0);
  e.shift(a.j->belly, Vec3(0.012 * std::sin(2 * pi * phase - 0.9), 0.010 * std::cos(4 * pi * phase - 1.2), 0));
  for (const bool right : {false, true}) {
    const double hind = phase + (right ? 0.5 : 0.0), front = hind - 0.25;
    a.step(e, right, false, step_path(hind, duty, 0.50, 0.12), swing_pitch(hind, duty, 32));
    a.step(e, right, true, step_path(front, duty, 0.50, 0.13), swing_pitch(front, duty, 42));
  }
}

// A gallop: hind legs together under the belly, then the front legs; the back bends and stretches.
void run(const Animal& a, double phase, PoseEditor& e) {
  constexpr double duty = 0.42;
  const double gather = std::cos(2 * pi * (phase - 0.03)), rise = std::sin(2 * pi * (phase - 0.55));
  e.shift(a.j->hips, Vec3(0, -0.05 + 0.055 * rise, 0));
  e.turn(a.j->hips, 4 * rise + 6 * gather, 0, 0);
  for (const Index j : {a.j->lumbar, a.j->spine, a.j->chest}) e.turn(j, -5 * gather - 1.5 * rise, 0, 0);
  e.turn(a.j->neck, 4 + 7 * gather, 0, 0);
  e.turn(a.j->nape, 4 + 4 * gather, 0, 0);
  e.turn(a.j->head, -8 - 4 * gather, 0, 0);
  e.turn(a.j->jaw, 5 + 3 * gather, 0, 0);
  e.turn(a.j->tail, 10 * rise, 0, 0);
  e.shift(a.j->belly, Vec3(0, 0.022 * std::sin(2 * pi * (phase - 0.75)), 0));
  for (const bool right : {false, true}) {
    const double lag = right ? 0.09 : 0.0, hind = phase - lag, front = phase - lag - 0.48;
    a.step(e, right, false, step_path(hind, duty, 0.74, 0.20) + Vec3(0, 0, 0.06), swing_pitch(hind, duty, 45));
    a.step(e, right, true, step_path(front, duty, 0.70, 0.20) + Vec3(0, 0, -0.02), swing_pitch(front, duty, 60));
    e.turn(a.c->on_side(a.j->ear, right), -10 * gather, 0, 0);
  }
}

void add_poses(Creature& c, const Joints& j) {
  const auto both = [&](Index left, double degrees) {
    return std::vector<JointRotation>{{left, turn_degrees(degrees, 0, 0)}, {c.twin(left), turn_degrees(degrees, 0, 0)}};
  };
  const auto join = [](std::vector<JointRotation> a, const std::vector<JointRotation>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  const auto add = [&](const char* name, std::vector<JointRotation> r, std::vector<Bulge> bulges) {
    for (std::size_t k = 0, n = bulges.size(); k < n; ++k) {
      Bulge other = bulges[k];
      other.center.x() = -other.center.x();
      if (other.center.x() != 0) bulges.push_back(other);
    }
    c.poses.push_back({{name, std::move(r), true}, std::move(bulges)});
  };
  const Bulge forearm{Vec3(0.28, 0.40, 0.40), Vec3(0.17, 0.2, 0.17), 0.02, Vec3::Zero()};
  const Bulge calf{Vec3(0.28, 0.36, -0.62), Vec3(0.17, 0.2, 0.17), 0.02, Vec3::Zero()};
  const Bulge thigh{Vec3(0.25, 0.7, -0.5), Vec3(0.2, 0.2, 0.2), 0.025, Vec3::Zero()};
  const Bulge blade{Vec3(0.27, 0.94, 0.38), Vec3(0.2, 0.2, 0.2), 0.02, Vec3::Zero()};
  const Bulge haunch{Vec3(0.28, 0.92, -0.66), Vec3(0.22, 0.22, 0.22), 0.02, Vec3::Zero()};
  const Bulge paunch{Vec3(0, 0.62, -0.1), Vec3(0.4, 0.25, 0.45), 0.0, Vec3(0, -0.03, 0)};
  c.poses.push_back({{"stance", {}, false}, {}});
  add("front_forward", both(j.shoulder, -35), {});
  add("front_back", both(j.shoulder, 35), {blade});
  add("front_bent", join(both(j.shoulder, 12), both(j.elbow, -70)), {forearm});
  add("hind_forward", both(j.hip, -35), {thigh, haunch});
  add("hind_back", both(j.hip, 30), {});
  add("hind_bent", join(both(j.hip, -22), both(j.knee, 55)), {calf, thigh});
  add("back_rounded",
      {{j.lumbar, turn_degrees(12, 0, 0)}, {j.spine, turn_degrees(12, 0, 0)}, {j.chest, turn_degrees(10, 0, 0)}},
      {paunch});
}

}  // namespace

Creature make_bear() {
  Creature c;
  c.name = "bear";
  c.mottle = 0.025;
  c.frequency = 2.5;  // fat under a loose coat
  const Joints j = add_joints(c);
  add_wires(c);
  add_patches(c);
  add_trunk(c, j);
  add_head(c, j);
  add_front_leg(c, j);
  add_hind_leg(c, j);
  add_details(c, j);
  add_poses(c, j);
  const Skeleton skeleton = c.skeleton();
  const Animal animal{&c, &j};
  c.clips.push_back(make_cycle(skeleton, "walk", 1.1, 33, [&](double p, PoseEditor& e) { walk(animal, p, e); }));
  c.clips.push_back(make_cycle(skeleton, "run", 0.75, 30, [&](double p, PoseEditor& e) { run(animal, p, e); }));
  return c;
}

}  // namespace supple
