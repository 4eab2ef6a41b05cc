// SPDX-License-Identifier: Apache-2.0
// The z-buffer under render.h: projects points, fills triangles, draws lines. For render.cpp.
#pragma once

#include "supple/pictures/render.h"

namespace supple::detail {

/// A point as the camera sees it.
struct ScreenPoint {
  double x = 0, y = 0;       ///< in samples, from the top left
  double inverse_depth = 0;  ///< 1 / distance along the view, linear over the screen; constant 1 if orthographic
  double depth = 0;          ///< distance along the view
};

class Projection {
 public:
  Projection(const Camera& camera, int width, int height);

  ScreenPoint project(const Vec3& point) const;
  bool in_front(const ScreenPoint& p) const { return p.depth > near_; }
  /// A ray through the sample (x, y): origin and unit direction.
  void ray(double x, double y, Vec3& origin, Vec3& direction) const;

  const Vec3& right() const { return right_; }
  const Vec3& up() const { return up_; }
  const Vec3& forward() const { return forward_; }
  bool orthographic() const { return orthographic_; }

 private:
  Vec3 eye_, right_, up_, forward_;
  double scale_, center_x_, center_y_, near_;
  bool orthographic_;
};

/// What is interpolated between the corners of a triangle.
struct ShadedVertex {
  Vec3 position;
  Vec3 normal;
  Color albedo;  ///< linear
};

class Canvas {
 public:
  Canvas(int width, int height);

  /// Calls shade(position, normal, albedo) -> linear Color for every visible sample of the triangle.
  template <class Shade>
  void fill_triangle(const Projection& projection, const std::array<ShadedVertex, 3>& corners, const Shade& shade);

  void draw_lines(const Projection& projection, const RenderLines& lines, double pixel, double depth_slack);

  int width() const { return width_; }
  int height() const { return height_; }
  Color& color(int x, int y) { return color_[at(x, y)]; }
  bool covered(int x, int y) const { return depth_[at(x, y)] < no_depth; }

 private:
  static constexpr double no_depth = 1e300;
  std::size_t at(int x, int y) const { return to_size(y) * to_size(width_) + to_size(x); }
  void draw_segment(const ScreenPoint& a, const ScreenPoint& b, const Projection& projection, const RenderLines& style,
                    double radius, double depth_slack, std::vector<float>& coverage) const;

  int width_, height_;
  std::vector<Color> color_;
  std::vector<double> depth_;
};

// ---- implementation -------------------------------------------------------------------------------------------------

template <class Shade>
void Canvas::fill_triangle(const Projection& projection, const std::array<ShadedVertex, 3>& corners,
                           const Shade& shade) {
  std::array<ScreenPoint, 3> p;
  for (std::size_t k = 0; k < 3; ++k) {
    p[k] = projection.project(corners[k].position);
    if (!projection.in_front(p[k])) return;
  }
  const double area = (p[1].x - p[0].x) * (p[2].y - p[0].y) - (p[2].x - p[0].x) * (p[1].y - p[0].y);
  if (!(std::abs(area) > 0)) return;
  const auto low = [](double a, double b, double c, int limit) {
    return static_cast<int>(std::clamp(std::floor(std::min({a, b, c})), 0.0, double(limit)));
  };
  const auto high = [](double a, double b, double c, int limit) {
    return static_cast<int>(std::clamp(std::ceil(std::max({a, b, c})), 0.0, double(limit)));
  };
  const int x_end = high(p[0].x, p[1].x, p[2].x, width_), y_end = high(p[0].y, p[1].y, p[2].y, height_);
  for (int y = low(p[0].y, p[1].y, p[2].y, height_); y < y_end; ++y) {
    for (int x = low(p[0].x, p[1].x, p[2].x, width_); x < x_end; ++x) {
      // Barycentric coordinates on the screen, then in space: dividing by depth makes perspective linear.
      std::array<double, 3> weight;
      for (std::size_t k = 0; k < 3; ++k) {
        const ScreenPoint &a = p[(k + 1) % 3], &b = p[(k + 2) % 3];
        weight[k] = ((a.x - x - 0.5) * (b.y - y - 0.5) - (b.x - x - 0.5) * (a.y - y - 0.5)) / area;
      }
      if (weight[0] < 0 || weight[1] < 0 || weight[2] < 0) continue;
      double sum = 0;
      for (std::size_t k = 0; k < 3; ++k) sum += weight[k] *= p[k].inverse_depth;
      for (double& w : weight) w /= sum;
      const double depth = weight[0] * p[0].depth + weight[1] * p[1].depth + weight[2] * p[2].depth;
      if (depth >= depth_[at(x, y)]) continue;
      depth_[at(x, y)] = depth;
      Vec3 position = Vec3::Zero(), normal = Vec3::Zero();
      Color albedo = Color::Zero();
      for (std::size_t k = 0; k < 3; ++k) {
        position += weight[k] * corners[k].position;
        normal += weight[k] * corners[k].normal;
        albedo += static_cast<float>(weight[k]) * corners[k].albedo;
      }
      color_[at(x, y)] = shade(position, normal, albedo);
    }
  }
}

}  // namespace supple::detail
