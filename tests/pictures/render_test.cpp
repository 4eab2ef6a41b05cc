// SPDX-License-Identifier: Apache-2.0
#include "supple/pictures/render.h"

#include "supple/mesh/box.h"
#include "supple/mesh/topology.h"
#include "supple/pictures/contact_sheet.h"
#include "supple/pictures/text.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

namespace supple::render_test {
namespace {

RenderBody square_at(double z, const Color& color) {
  RenderBody body;
  body.surface.vertices = {Vec3(-1, -1, z), Vec3(1, -1, z), Vec3(1, 1, z), Vec3(-1, 1, z)};
  body.surface.triangles = {{0, 1, 2}, {0, 2, 3}};
  body.color = color;
  body.gloss = 0;
  return body;
}

RenderSettings small() {
  RenderSettings settings;
  settings.width = settings.height = 100;
  return settings;
}

double luminance(const std::uint8_t* p) { return 0.2 * p[0] + 0.7 * p[1] + 0.1 * p[2]; }

bool same_pixel(const Image& a, const Image& b, int x, int y) {
  return std::equal(a.pixel(x, y), a.pixel(x, y) + 3, b.pixel(x, y));
}

// Share of the pixels that differ between two pictures.
double changed(const Image& a, const Image& b) {
  int count = 0;
  for (int y = 0; y < a.height; ++y) {
    for (int x = 0; x < a.width; ++x) count += !same_pixel(a, b, x, y);
  }
  return count / static_cast<double>(a.width * a.height);
}

TEST(Render, PerspectiveCoversTheAreaThatGeometrySays) {
  // A square of side 2, seen from 10 away, fills (2 / (2 · 10 tan 15°))² of the picture.
  RenderSetup setup;
  setup.camera.eye = Vec3(0, 0, 10);
  const Image empty = render(setup, small());
  setup.bodies.push_back(square_at(0, Color(1, 0, 0)));
  const double side = 0.1 / std::tan(std::numbers::pi / 12);
  EXPECT_NEAR(changed(empty, render(setup, small())), side * side, 0.02);
}

TEST(Render, OrthographicSizeDoesNotDependOnDistance) {
  for (const double distance : {2.0, 50.0}) {
    RenderSetup setup;
    setup.camera.eye = Vec3(0, 0, distance);
    setup.camera.orthographic_height = 4;
    const Image empty = render(setup, small());
    setup.bodies.push_back(square_at(0, Color(1, 0, 0)));
    EXPECT_NEAR(changed(empty, render(setup, small())), 0.25, 1e-12);
  }
}

TEST(Render, NearerBodiesHideFartherOnesInAnyOrder) {
  RenderSetup setup;
  setup.bodies = {square_at(0, Color(1, 0, 0)), square_at(1, Color(0, 0, 1))};
  const Image image = render(setup, small());
  EXPECT_GT(image.pixel(50, 50)[2], 2 * image.pixel(50, 50)[0]);
  std::swap(setup.bodies[0], setup.bodies[1]);
  EXPECT_EQ(render(setup, small()).rgba, image.rgba);
}

TEST(Render, InterpenetratingPlanesMeetWherePerspectiveSays) {
  // Two squares through each other: the tilted blue one is in front of the red one on the left half only.
  RenderSetup setup;
  setup.bodies = {square_at(0, Color(1, 0, 0)), square_at(0, Color(0, 0, 1))};
  for (Vec3& p : setup.bodies[1].surface.vertices) p.z() = -0.5 * p.x();
  const Image image = render(setup, small());
  EXPECT_GT(image.pixel(48, 50)[2], image.pixel(48, 50)[0]);
  EXPECT_GT(image.pixel(52, 50)[0], image.pixel(52, 50)[2]);
}

TEST(Render, BodiesBehindTheEyeAreNotDrawn) {
  RenderSetup setup;
  const Image empty = render(setup, small());
  setup.bodies = {square_at(20, Color(1, 0, 0)), square_at(5, Color(1, 0, 0))};
  EXPECT_EQ(render(setup, small()).rgba, empty.rgba);
}

TEST(Render, FramedPointsTouchTheMarginOnTheTighterSide) {
  const HexMesh box = make_hex_box(Vec3(3, 1, 2), {1, 1, 1});
  const double margin = 0.1;
  RenderSetup setup;
  setup.camera = frame_points(box.vertices, Vec3(1, 0.7, 0.5), 1.0, margin);
  RenderBody body;
  body.surface = boundary_surface(box).surface;
  body.color = Color(0, 0, 0.2f);
  const Image empty = render(setup, small());
  setup.bodies.push_back(body);
  const Image image = render(setup, small());
  int left = 100, right = 0, top = 100, bottom = 0;
  for (int y = 0; y < 100; ++y) {
    for (int x = 0; x < 100; ++x) {
      if (same_pixel(image, empty, x, y)) continue;
      left = std::min(left, x), right = std::max(right, x), top = std::min(top, y), bottom = std::max(bottom, y);
    }
  }
  EXPECT_NEAR(std::min(left, top), 100 * margin, 1.5);
  EXPECT_NEAR(std::max(right, bottom), 100 * (1 - margin) - 1, 1.5);
  EXPECT_NEAR(left + right, 99, 2.5);
  EXPECT_NEAR(top + bottom, 99, 2.5);
}

TEST(Render, CreasesShadeSharpAndSmoothBodiesDoNot) {
  RenderBody cube;
  cube.surface = boundary_surface(make_hex_box(Vec3(1, 1, 1), {1, 1, 1})).surface;
  cube.gloss = 0;
  RenderSetup setup;
  setup.bodies = {cube};
  setup.camera = frame_points(cube.surface.vertices, Vec3(0.3, 0.1, 1), 1);
  const Image sharp = render(setup, small());
  EXPECT_NEAR(luminance(sharp.pixel(40, 40)), luminance(sharp.pixel(55, 60)), 3);  // one face, one shade
  setup.bodies[0].crease_degrees = 180;
  EXPECT_GT(changed(sharp, render(setup, small())), 0.2);
}

TEST(Render, FloorReceivesAShadowUnderTheBody) {
  RenderSetup setup;
  RenderBody cube;
  cube.surface = boundary_surface(make_hex_box(Vec3(1, 1, 1), {1, 1, 1})).surface;
  setup.bodies = {cube};
  setup.camera.eye = Vec3(0.5, 4, 9);
  setup.camera.target = Vec3(0.5, 0, 0.5);
  const Image floating = render(setup, small());
  setup.floor_height = -1;
  const Image grounded = render(setup, small());
  const double share = changed(floating, grounded);
  EXPECT_GT(share, 0.02);
  EXPECT_LT(share, 0.5);
  double darker = 0;
  for (int y = 0; y < 100; ++y) {
    for (int x = 0; x < 100; ++x) darker += luminance(floating.pixel(x, y)) - luminance(grounded.pixel(x, y));
  }
  EXPECT_GT(darker, 0);
}

TEST(Render, LinesAreHiddenByBodiesUnlessAskedNotTo) {
  RenderSetup setup;
  setup.bodies = {square_at(0, Color(1, 1, 1))};
  const Image plain = render(setup, small());
  RenderLines behind;
  behind.segments = {{Vec3(-0.8, 0, -1), Vec3(0.8, 0, -1)}};
  behind.width = 3;  // the middle of the picture lies between two rows
  setup.lines = {behind};
  EXPECT_EQ(render(setup, small()).rgba, plain.rgba);
  setup.lines[0].hidden_opacity = 1;
  EXPECT_LT(luminance(render(setup, small()).pixel(50, 50)), 120);
  setup.bodies[0].wire_opacity = 1;
  setup.lines.clear();
  EXPECT_GT(changed(render(setup, small()), plain), 0.02);
}

TEST(Color, MapIsMonotonousInLightnessAndInsideTheGamut) {
  float last = -1;
  for (int i = 0; i <= 100; ++i) {
    const Color linear = to_linear(color_map(i / 100.0));
    EXPECT_GT(linear.minCoeff(), 0);
    EXPECT_LT(linear.maxCoeff(), 1);
    const float light = linear.dot(Color(0.2126f, 0.7152f, 0.0722f));
    EXPECT_GT(light, last);
    last = light;
  }
  EXPECT_EQ(color_map(-1), color_map(0));
  EXPECT_EQ(color_map(std::nan("")), color_map(0));
}

TEST(Color, TransferFunctionsInvertEachOther) {
  for (const float x : {0.0f, 0.02f, 0.2f, 0.7f, 1.0f}) EXPECT_NEAR(to_srgb(to_linear(Color::Constant(x)))[0], x, 1e-6);
  EXPECT_NEAR(to_linear(Color::Constant(0.5f))[0], 0.214041, 1e-5);
}

TEST(Text, StaysInsideItsWidthAndEveryGlyphIsDifferent) {
  std::vector<std::vector<std::uint8_t>> seen;
  for (char c = 33; c < 127; ++c) {
    Image image(40, 40);
    draw_text(image, 4, 4, 21, Color::Zero(), std::string(1, c));
    const double width = text_width(std::string(1, c), 21);
    int ink = 0;
    for (int y = 0; y < 40; ++y) {
      for (int x = 0; x < 40; ++x) {
        if (image.pixel(x, y)[0] > 200) continue;
        ++ink;
        EXPECT_LE(x, 4 + width + 2) << c;
        EXPECT_GE(x, 2) << c;
      }
    }
    EXPECT_GT(ink, 5) << c;
    for (const auto& other : seen) EXPECT_NE(image.rgba, other) << c;
    seen.push_back(image.rgba);
  }
}

TEST(Text, OffTheEdgeIsCutOff) {
  Image image(10, 10);
  draw_text(image, -5, -5, 14, Color::Zero(), "clipped \xc3\xa9");
  draw_text(image, 1e5, 1e5, 14, Color::Zero(), "far");
}

TEST(ContactSheet, PanelsLieInRows) {
  std::vector<SheetPanel> panels(5);
  for (SheetPanel& panel : panels) panel.image = Image(60, 40);
  SheetStyle style;
  style.columns = 2;
  style.gap = 10;
  const Image sheet = contact_sheet(panels, style);
  EXPECT_EQ(sheet.width, 2 * 60 + 3 * 10);
  EXPECT_EQ(sheet.height, 3 * 40 + 4 * 10);
  EXPECT_EQ(contact_sheet({}, style).width, 1);
}

}  // namespace
}  // namespace supple::render_test
