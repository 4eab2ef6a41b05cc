// SPDX-License-Identifier: Apache-2.0
// The spoon: cross-sections along x, from the far end of the handle (x = 0) to the tip of the bowl.
#include "samples/shapes.h"
#include "samples/subspace_sample_parts.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple {
namespace {

constexpr double length = 2.5;
constexpr double bowl_middle = 0.82, bowl_reach = 0.18;  // as fractions of the length

struct Section {
  double half_width, thickness, depth, height;
};

// Round ends: an ellipse's height over its axis, 0 outside.
double ellipse(double x) { return std::sqrt(std::max(0.0, 1 - x * x)); }

double eased(double x) {
  x = std::clamp(x, 0.0, 1.0);
  return x * x * (3 - 2 * x);
}

Section section_at(double u) {
  // An egg: the bowl is widest a little towards the handle.
  const double b = (u - bowl_middle) / bowl_reach;
  const double bowl = 0.240 * ellipse(b) * (1 - 0.13 * b);
  const double end = ellipse(std::max(0.0, 0.03 - u) / 0.03);
  const double handle = (0.072 - 0.038 * eased(u / 0.55)) * end * (1 - eased((u - 0.75) / 0.2));
  Section s{};
  s.half_width = std::pow(std::pow(bowl, 4) + std::pow(handle, 4), 0.25);
  s.thickness = 0.018 + 0.014 * (1 - eased((u - 0.5) / 0.3));
  s.thickness *= std::min(1.0, 0.25 + s.half_width / 0.03);
  s.depth = 0.14 * std::pow(ellipse(b * 1.02), 1.6);
  s.height = 0.20 * std::sin(std::numbers::pi * std::min(1.0, u / 0.66)) * (1 - u) + 0.10 * eased(1 - u / 0.5);
  return s;
}

std::vector<Vec3> ring_of(double u, int points) {
  const Section s = section_at(u);
  std::vector<Vec3> ring;
  for (int i = 0; i < points; ++i) {
    const double angle = 2 * std::numbers::pi * i / points;
    const double across = std::cos(angle), around = std::sin(angle);
    const double middle = s.height - s.depth * (1 - across * across);
    const double skin = 0.5 * s.thickness * std::copysign(std::pow(std::abs(around), 0.6), around);
    ring.emplace_back(length * u, middle + skin, -s.half_width * across);
  }
  return ring;
}

}  // namespace

SubspaceSample make_spoon(int resolution) {
  constexpr int rings = 83, points = 40;
  std::vector<std::vector<Vec3>> sections;
  for (int r = 0; r < rings; ++r) {
    const double t = (r + 0.5) / rings;
    const double u = t - 0.115 * std::sin(2 * std::numbers::pi * t) / std::numbers::pi;  // denser at both ends
    sections.push_back(ring_of(std::clamp(u, 0.0, 1.0), points));
  }
  const auto pole = [](double u) {
    const Section s = section_at(u);
    return Vec3(length * u, s.height, 0);
  };
  Surface surface;
  add_loft(surface, sections, pole(0), pole(1));
  SampleBody body;
  body.resolution = resolution;
  body.material = {.name = "soft plastic", .young = 1e9, .poisson = 0.4, .density = 1000};
  body.fixed = [](const Vec3& p) { return p.x() < 0.06 * length; };
  body.view_direction = Vec3(0.35, 0.75, 1);
  return finish_sample("spoon", std::move(surface), body);
}

}  // namespace supple
