// SPDX-License-Identifier: Apache-2.0
// Still pictures without a graphics card: a small z-buffer renderer for demos, reports and tests of looks.
//
// Bodies are lit per pixel by a warm key light, a cool fill light and the sky, in linear light. A soft shadow on an
// invisible floor gives them a place to be. Every pixel is the mean of several samples.
#pragma once

#include "supple/io/image/color.h"
#include "supple/io/image/image.h"
#include "supple/mesh/surface.h"

#include <optional>
#include <span>

namespace supple {

struct Camera {
  Vec3 eye = Vec3(0, 0, 5);
  Vec3 target = Vec3::Zero();
  Vec3 up = Vec3::UnitY();
  double field_of_view = 30;       ///< vertical, degrees; used unless orthographic_height is set
  double orthographic_height = 0;  ///< height of the picture in units of the setup; 0 means perspective
};

/// A perspective camera that looks against `direction` (from the subject to the eye) and just holds all points, with
/// `margin` of the picture free on each side.
Camera frame_points(std::span<const Vec3> points, const Vec3& direction, double aspect, double margin = 0.06,
                    double field_of_view = 24);

struct RenderBody {
  Surface surface;
  std::vector<Color> colors;              ///< one per vertex, or empty
  Color color = Color(0.8f, 0.8f, 0.8f);  ///< where `colors` is empty
  double crease_degrees = 40;             ///< edges bent more than this shade sharp: 0 is flat, 180 smooth
  double gloss = 0.25;                    ///< strength of the highlight
  double wire_opacity = 0;                ///< draws the triangles' edges over the body
};

/// Lines in space, drawn with a width in pixels.
struct RenderLines {
  std::vector<std::array<Vec3, 2>> segments;
  Color color = Color::Zero();
  double width = 1.2;
  double opacity = 1;
  double hidden_opacity = 0;  ///< where a body is in front
};

struct RenderSetup {
  std::vector<RenderBody> bodies;
  std::vector<RenderLines> lines;
  Camera camera;
  std::optional<double> floor_height;  ///< y of the floor that receives the shadow; none: no shadow
};

struct RenderSettings {
  int width = 960;
  int height = 540;
  int samples = 3;  ///< per pixel and axis
  Color background_top = hex_color(0xf4f2ee);
  Color background_bottom = hex_color(0xd5d9de);
  double shadow_strength = 0.55;
};

/// Triangles that reach behind the eye are left out.
Image render(const RenderSetup& setup, const RenderSettings& settings);

}  // namespace supple
