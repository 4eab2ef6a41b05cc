// SPDX-License-Identifier: Apache-2.0
// Pictures drawn by OpenGL, measured pixel by pixel against what perspective and light prescribe. Where there is no EGL
// device the tests are skipped.
#include "gallery/offscreen.h"

#include <gtest/gtest.h>

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple::offscreen_test {
namespace {

/// A ball of latitude and longitude lines.
DrawMesh ball(const Vec3& center, double radius, const Color& color) {
  constexpr int rings = 48, segments = 96;
  DrawMesh mesh;
  for (int i = 0; i <= rings; ++i) {
    for (int j = 0; j <= segments; ++j) {
      const double a = std::numbers::pi * i / rings, b = 2 * std::numbers::pi * j / segments;
      mesh.normals.emplace_back(std::sin(a) * std::cos(b), std::cos(a), std::sin(a) * std::sin(b));
      mesh.positions.emplace_back(center + radius * mesh.normals.back());
      mesh.colors.push_back(color);
      const Index v = i * (segments + 1) + j;
      if (i == rings || j == segments) continue;
      mesh.triangles.push_back({v, v + 1, v + segments + 1});
      mesh.triangles.push_back({v + 1, v + segments + 2, v + segments + 1});
    }
  }
  return mesh;
}

class OffscreenTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<Offscreen> made = Offscreen::create();
    if (!made.ok()) GTEST_SKIP() << made.error().message;
    offscreen.emplace(std::move(*made));
  }
  Image picture(const DrawSetup& setup, int oversampling = 2) {
    return offscreen->picture(setup, {200, 160, oversampling}).value();
  }
  std::optional<Offscreen> offscreen;
};

/// Seen from the side, so that the floor is no more than a line.
DrawSetup ball_setup() {
  DrawSetup setup;
  setup.camera.eye = Vec3(0, 0, 10);
  setup.camera.field_of_view = 30;
  setup.background_top = setup.background_bottom = Color(1, 1, 1);
  setup.gloss = 0;
  setup.meshes.push_back(ball(Vec3::Zero(), 1.5, Color(0, 0, 0)));
  return setup;
}

// A ball of radius r at distance d covers a disc of radius tan(asin(r/d)) / tan(fov/2) half heights.
TEST_F(OffscreenTest, ABallCoversTheDiscThatPerspectivePrescribes) {
  const Image image = picture(ball_setup());
  double dark = 0;
  for (std::size_t i = 0; i < image.rgba.size(); i += 4) {
    // Black on white: what a pixel misses in linear light is the share of it that is covered.
    dark += 1 - to_linear(Color(image.rgba[i] / 255.0f, 0, 0)).x();
  }
  const double radius = 80 * std::tan(std::asin(1.5 / 10)) / std::tan(15 * std::numbers::pi / 180);
  const double area = std::numbers::pi * radius * radius;
  EXPECT_NEAR(dark, area, 0.005 * area);
}

TEST_F(OffscreenTest, PlacesFarFromTheOriginLookTheSame) {
  DrawSetup setup = ball_setup();
  const Image here = picture(setup);
  const Vec3 away(1e6, -3e5, 2e6);
  for (Vec3& x : setup.meshes[0].positions) x += away;
  setup.camera.eye += away;
  setup.camera.target += away;
  EXPECT_EQ(picture(setup).rgba, here.rgba);
}

TEST_F(OffscreenTest, LightComesFromTheUpperLeftAndEdgesAreSmooth) {
  DrawSetup setup = ball_setup();
  setup.meshes[0] = ball(Vec3::Zero(), 1.5, Color(0.5f, 0.5f, 0.5f));
  const Image image = picture(setup, 1);
  EXPECT_GT(image.pixel(88, 64)[1], image.pixel(112, 96)[1] + 40);
  int between = 0;  // of a black ball on white every grey pixel lies on the edge
  const Image black = picture(ball_setup(), 1);
  for (int x = 0; x < black.width; ++x)
    for (int y = 0; y < black.height; ++y) between += black.pixel(x, y)[0] > 20 && black.pixel(x, y)[0] < 235 ? 1 : 0;
  EXPECT_GT(between, 100);
}

TEST_F(OffscreenTest, TheFloorIsDarkestWhereTheBallTouchesIt) {
  DrawSetup setup = ball_setup();
  setup.camera.eye = Vec3(0, 6, 10);
  const auto floor_pixel = [&](const Vec3& p) {
    const Vec3 forward = -setup.camera.eye.normalized(), right = forward.cross(Vec3::UnitY()).normalized();
    const Vec3 d = p - setup.camera.eye, up = right.cross(forward);
    const double scale = 80 / std::tan(15 * std::numbers::pi / 180) / d.dot(forward);
    return std::array<int, 2>{static_cast<int>(100 + scale * d.dot(right)), static_cast<int>(80 - scale * d.dot(up))};
  };
  setup.floor_height = -1.5;
  const auto brightness = [&](const Vec3& p) {
    const auto [x, y] = floor_pixel(p);
    return picture(setup).pixel(x, y)[1];
  };
  const int touching = brightness(Vec3(0, -1.5, 0.75)), beside = brightness(Vec3(0, -1.5, 1.8));
  EXPECT_LT(touching, beside - 10);
  setup.floor_height.reset();
  EXPECT_EQ(brightness(Vec3(0, -1.5, 1.8)), 255);
}

// Nothing of a ball takes light from another part of it; of two that touch each darkens the other where they are near.
TEST_F(OffscreenTest, LightFromAllAroundReachesABallAndNotAFold) {
  DrawSetup setup = ball_setup();
  const Color grey(0.5f, 0.5f, 0.5f);
  setup.meshes[0] = ball(Vec3::Zero(), 1.5, grey);
  const auto with_radius = [&](double radius) {
    setup.occlusion_radius = radius;
    return picture(setup);
  };
  // By how many levels a pixel is darker for it; sums of weights are rounded, which may be one.
  const auto darker = [&] {
    const Image open = with_radius(0), folded = with_radius(0.2);
    std::vector<int> levels;
    for (int y = 0; y < open.height; ++y)
      for (int x = 0; x < open.width; ++x) levels.push_back(open.pixel(x, y)[1] - folded.pixel(x, y)[1]);
    return levels;
  };
  const std::vector<int> alone = darker();
  EXPECT_LE(*std::max_element(alone.begin(), alone.end()), 1);
  // A unit is some 30 pixels: these touch at (100, 80).
  setup.meshes = {ball(Vec3(-0.8, 0, 0), 0.8, grey), ball(Vec3(0.8, 0, 0), 0.8, grey)};
  const std::vector<int> touching = darker();
  EXPECT_GE(*std::min_element(touching.begin(), touching.end()), -1) << "light came from nowhere";
  EXPECT_GT(touching[80 * 200 + 99], 15);
  for (std::size_t k = 0; k < touching.size(); ++k) {
    const double away = std::hypot(static_cast<double>(k % 200) - 99.5, static_cast<double>(k) / 200 - 79.5);
    if (away > 25) {
      EXPECT_LE(touching[k], 1) << away;
    }
  }
}

TEST_F(OffscreenTest, TexturesTintTheColours) {
  DrawSetup setup = ball_setup();
  DrawMesh& mesh = setup.meshes[0];
  mesh = ball(Vec3::Zero(), 1.5, Color(0.5f, 0.5f, 0.5f));
  mesh.texcoords.assign(mesh.positions.size(), Eigen::Vector2f(0.5f, 0.5f));
  auto texture = std::make_shared<Image>(2, 2);
  for (std::size_t i = 0; i < texture->rgba.size(); i += 4) texture->rgba[i + 1] = texture->rgba[i + 2] = 0;
  mesh.texture = texture;
  const Image red = picture(setup);
  EXPECT_GT(red.pixel(90, 70)[0], 100);
  EXPECT_EQ(red.pixel(90, 70)[1], 0);
}

TEST_F(OffscreenTest, RefusesPicturesThatTheDriverCannotHold) {
  EXPECT_EQ(offscreen->picture(ball_setup(), {1 << 20, 10, 1}).error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace supple::offscreen_test
