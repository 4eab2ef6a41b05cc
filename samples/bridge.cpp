// SPDX-License-Identifier: Apache-2.0
// The bridge: riveted truss work along x with an arched top chord, a plank deck, railings and bracing overhead. Every
// part is a box, most of them three to an I-beam, so that its surface is as loose as a modeller's would be.
#include "samples/shapes.h"
#include "samples/subspace_sample_parts.h"

#include <cmath>

namespace supple {
namespace {

constexpr double voxel = 0.1;  // parts thinner than a voxel sit in the middle of one, so that they fill one layer
constexpr int panels = 16;
constexpr double half_length = 6.4, panel_length = 2 * half_length / panels;
constexpr double side = 0.85;  // of the trusses' planes from the middle
constexpr double bar = 0.06;
const Vec3 up = Vec3::UnitY();
const Vec3 along = Vec3::UnitX();

double node_x(int node) { return -half_length + 0.05 + node * (2 * half_length - 0.1) / panels; }

/// The arch over the deck at y = 0.
double top(int node) {
  const double x = node_x(node) / half_length;
  return 0.6 + 0.9 * (1 - x * x);
}

Vec3 low_node(int node, double z) { return {node_x(node), 0, z}; }
Vec3 high_node(int node, double z) { return {node_x(node), top(node), z}; }

void add_rivets(Surface& s, const Vec3& at, double z) {
  for (int r = 0; r < 32; ++r) {
    const Vec3 place = at + Vec3(0.012 * (r % 8 - 3.5), 0.02 * (r / 8 - 1.5), z > 0 ? 0.036 : -0.036);
    add_box(s, place, Vec3(0.004, 0.004, 0.006).asDiagonal());
  }
}

void add_node(Surface& s, const Vec3& at) {
  for (const double face : {-0.033, 0.033}) add_box(s, at + Vec3(0, 0, face), Vec3(0.05, 0.045, 0.003).asDiagonal());
  add_rivets(s, at, at.z());
}

/// Two flanges with bars to and fro between them.
void add_laced_beam(Surface& s, const Vec3& from, const Vec3& end, double width, const Vec3& towards) {
  constexpr int bars = 10;
  const Vec3 direction = (end - from).normalized();
  const Vec3 lift = 0.45 * width * (towards - towards.dot(direction) * direction).normalized();
  add_beam(s, from + lift, end + lift, width, 0.2 * width, towards);
  add_beam(s, from - lift, end - lift, width, 0.2 * width, towards);
  for (int b = 0; b < bars; ++b) {
    const double sign = b % 2 == 0 ? 1 : -1;
    const Vec3 a = from + static_cast<double>(b) / bars * (end - from) + sign * lift;
    const Vec3 c = from + static_cast<double>(b + 1) / bars * (end - from) - sign * lift;
    add_beam(s, a, c, 0.5 * width, 0.12 * width, towards);
  }
}

void add_side(Surface& s, double z) {
  for (int n = 0; n <= panels; ++n) {
    add_laced_beam(s, low_node(n, z), high_node(n, z), bar, along);
    add_node(s, low_node(n, z));
    add_node(s, high_node(n, z));
  }
  for (int n = 0; n < panels; ++n) {
    add_laced_beam(s, high_node(n, z), high_node(n + 1, z), bar, up);
    add_i_beam(s, low_node(n, z), low_node(n + 1, z), bar, bar, up);
    add_laced_beam(s, low_node(n, z), high_node(n + 1, z), 0.8 * bar, up);
    add_laced_beam(s, high_node(n, z), low_node(n + 1, z), 0.8 * bar, up);
  }
}

void add_railing(Surface& s, double z) {
  constexpr double height = 0.3;
  for (int n = 0; n < panels; ++n) {
    const Vec3 lift = height * up;
    add_beam(s, low_node(n, z) + lift, low_node(n + 1, z) + lift, 0.05, 0.03, up);
    for (int b = 0; b < 18; ++b) {
      const Vec3 foot = low_node(n, z) + (b + 0.5) / 18 * (low_node(n + 1, z) - low_node(n, z));
      add_beam(s, foot, foot + lift, 0.014, 0.014, along);
    }
  }
}

void add_floor(Surface& s) {
  for (int n = 0; n <= panels; ++n) add_i_beam(s, low_node(n, -side), low_node(n, side), bar, bar, up);
  for (int n = 0; n < panels; ++n) {
    for (const double z : {-0.6, -0.3, 0.0, 0.3, 0.6})
      add_i_beam(s, low_node(n, z), low_node(n + 1, z), 0.04, 0.05, up);
    for (int plank = 0; plank < 20; ++plank) {
      const Vec3 at = low_node(n, 0) + (plank + 0.5) / 20 * (low_node(n + 1, 0) - low_node(n, 0)) + 0.028 * up;
      add_box(s, at, Vec3(0.46 * panel_length / 20, 0.006, side - 0.05).asDiagonal());
    }
  }
}

void add_bracing_overhead(Surface& s) {
  // Where a lorry fits below.
  for (int n = 2; n <= panels - 2; ++n) {
    add_i_beam(s, high_node(n, -side), high_node(n, side), bar, bar, up);
    if (n != 2 && n != panels - 3) continue;  // the portals
    add_i_beam(s, high_node(n, -side), high_node(n + 1, side), 0.7 * bar, 0.7 * bar, up);
    add_i_beam(s, high_node(n, side), high_node(n + 1, -side), 0.7 * bar, 0.7 * bar, up);
  }
}

}  // namespace

SubspaceSample make_bridge() {
  Surface surface;
  for (const double z : {-side, side}) {
    add_side(surface, z);
    add_railing(surface, z);
  }
  add_floor(surface);
  add_bracing_overhead(surface);
  SampleBody body;
  body.resolution = 128;
  body.material = {.name = "rubber", .young = 3e7, .poisson = 0.35, .density = 1000};
  body.fixed = [](const Vec3& p) { return std::abs(p.x()) > half_length - 1.5 * voxel; };
  body.view_direction = Vec3(0.55, 0.42, 1);
  return finish_sample("bridge", std::move(surface), body);
}

}  // namespace supple
