// SPDX-License-Identifier: Apache-2.0
// The tower, after Eiffel's: four legs of lattice work that lean together and become one, platforms, arches, a lantern.
#include "samples/shapes.h"
#include "samples/subspace_sample_parts.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple {
namespace {

constexpr double first_platform = 2.5, second_platform = 5.1, third_platform = 12.6, tip = 14.0;
constexpr double bar = 0.036, thickness = 0.03;
const Vec3 up = Vec3::UnitY();

/// Half the width of the whole tower, and of the gap between its legs.
double outer(double y) { return 0.17 + 2.53 * std::exp(-y / 2.75); }
double inner(double y) { return 1.92 * std::pow(std::max(0.0, 1 - y / 5.9), 1.35); }

/// A quarter turn about the vertical, `times`.
Vec3 turned(const Vec3& p, int times) {
  Vec3 q = p;
  for (int t = 0; t < times; ++t) q = Vec3(q.z(), q.y(), -q.x());
  return q;
}

double between(double a, double b, double t) { return a + t * (b - a); }

void add_leg(Surface& s, int quarter, double low, double high, int rows) {
  const auto corner = [&](int c, double y) {
    const double a = inner(y), b = outer(y);
    const std::array<Vec3, 4> corners = {Vec3(a, y, a), Vec3(b, y, a), Vec3(b, y, b), Vec3(a, y, b)};
    return turned(corners[to_size(c % 4)], quarter);
  };
  for (int face = 0; face < 4; ++face) {
    add_truss(s, 2, rows, bar, thickness, [&](double u, double t) {
      const double y = between(low, high, t);
      return Vec3(corner(face, y) + u * (corner(face + 1, y) - corner(face, y)));
    });
    std::vector<Vec3> edge;
    for (int r = 0; r <= 2 * rows; ++r) edge.push_back(corner(face, between(low, high, 0.5 * r / rows)));
    add_swept_beam(s, edge, 0.06, 0.06, turned(Vec3::UnitX(), quarter));
  }
}

void add_shaft(Surface& s, double low, double high, int rows) {
  for (int face = 0; face < 4; ++face) {
    const auto place = [&](double u, double t) {
      const double y = between(low, high, t);
      return turned(Vec3(between(-1, 1, u) * outer(y), y, outer(y)), face);
    };
    add_truss(s, 2, rows, bar, thickness, place);
    std::vector<Vec3> edge;
    for (int r = 0; r <= 2 * rows; ++r) edge.push_back(place(0, 0.5 * r / rows));
    add_swept_beam(s, edge, 0.06, 0.06, Vec3::UnitX());
  }
}

/// A square ring of floor with a cornice and a railing around it.
void add_platform(Surface& s, double y, double half, double hole, int posts) {
  for (int face = 0; face < 4; ++face) {
    const auto put = [&](const Vec3& from, const Vec3& to, double width, double height) {
      add_beam(s, turned(from, face), turned(to, face), width, height, up);
    };
    const double middle = 0.5 * (half + hole);
    put(Vec3(-half, y, middle), Vec3(hole, y, middle), half - hole, 0.05);
    put(Vec3(-half, y - 0.07, half), Vec3(half, y - 0.07, half), 0.06, 0.09);
    put(Vec3(-half, y + 0.14, half), Vec3(half, y + 0.14, half), 0.03, 0.02);
    for (int p = 0; p < posts; ++p) {
      const Vec3 foot(between(-half, half, (p + 0.5) / posts), y, half);
      add_beam(s, turned(foot, face), turned(foot + 0.14 * up, face), 0.012, 0.012, turned(Vec3::UnitX(), face));
    }
  }
}

/// Under the first platform, from leg to leg: two curved chords with a lattice between them.
void add_arch(Surface& s, int face) {
  const auto place = [&](double u, double rise) {
    const double angle = std::numbers::pi * between(0.06, 0.94, u);
    const double x = -1.62 * std::cos(angle), y = (2.12 + rise) * std::pow(std::sin(angle), 0.85) + rise * 0.3;
    const double slope = outer(y) - 0.04;  // in the plane of the legs' outer faces
    return turned(Vec3(x, y, slope), face);
  };
  add_truss(s, 30, 1, 0.03, thickness, [&](double u, double t) { return place(u, 0.17 * t); });
  for (const double rise : {0.0, 0.17}) {
    std::vector<Vec3> chord;
    for (int i = 0; i <= 60; ++i) chord.push_back(place(i / 60.0, rise));
    add_swept_beam(s, chord, 0.05, 0.04, turned(Vec3::UnitZ(), face));
  }
}

void add_feet(Surface& s, int quarter) {
  const double middle = 0.5 * (inner(0) + outer(0)), half = 0.5 * (outer(0) - inner(0)) + 0.06;
  add_box(s, turned(Vec3(middle, 0.09, middle), quarter), Vec3(half, 0.09, half).asDiagonal());
}

void add_lantern(Surface& s) {
  std::vector<std::vector<Vec3>> rings;
  const std::array<std::array<double, 2>, 8> profile = {{{12.60, 0.20},
                                                         {13.0, 0.20},
                                                         {13.02, 0.24},
                                                         {13.08, 0.24},
                                                         {13.25, 0.15},
                                                         {13.4, 0.06},
                                                         {13.6, 0.035},
                                                         {13.95, 0.02}}};
  for (const auto& [y, radius] : profile) {
    std::vector<Vec3> ring;
    for (int i = 0; i < 24; ++i) {
      const double angle = 2 * std::numbers::pi * i / 24;
      ring.emplace_back(radius * std::sin(angle), y, radius * std::cos(angle));
    }
    rings.push_back(ring);
  }
  add_loft(s, rings, Vec3(0, profile[0][0], 0), Vec3(0, tip, 0));
}

}  // namespace

SubspaceSample make_tower() {
  Surface surface;
  for (int quarter = 0; quarter < 4; ++quarter) {
    add_feet(surface, quarter);
    add_leg(surface, quarter, 0.15, first_platform, 12);
    add_leg(surface, quarter, first_platform, second_platform, 15);
    add_arch(surface, quarter);
  }
  add_shaft(surface, second_platform, third_platform, 34);
  add_platform(surface, first_platform, outer(first_platform) + 0.14, inner(first_platform) - 0.1, 60);
  add_platform(surface, second_platform, outer(second_platform) + 0.12, inner(second_platform), 40);
  add_platform(surface, third_platform, outer(third_platform) + 0.1, 0.02, 14);
  add_lantern(surface);
  SampleBody body;
  body.resolution = 140;
  body.fill_interior = false;
  body.material = {.name = "rubber", .young = 2e8, .poisson = 0.35, .density = 1000};
  body.fixed = [](const Vec3& p) { return p.y() < 0.16; };
  body.view_direction = Vec3(0.55, 0.2, 1);
  return finish_sample("tower", std::move(surface), body);
}

}  // namespace supple
