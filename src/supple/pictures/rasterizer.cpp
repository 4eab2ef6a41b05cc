// SPDX-License-Identifier: Apache-2.0
#include "supple/pictures/rasterizer.h"

#include <Eigen/Geometry>

#include <numbers>

namespace supple::detail {

Projection::Projection(const Camera& camera, int width, int height) {
  eye_ = camera.eye;
  forward_ = (camera.target - camera.eye).normalized();
  right_ = forward_.cross(camera.up).normalized();
  up_ = right_.cross(forward_);
  orthographic_ = camera.orthographic_height > 0;
  const double half_angle = 0.5 * camera.field_of_view * std::numbers::pi / 180;
  scale_ = orthographic_ ? height / camera.orthographic_height : 0.5 * height / std::tan(half_angle);
  center_x_ = 0.5 * width;
  center_y_ = 0.5 * height;
  near_ = orthographic_ ? -1e300 : 1e-6 * (camera.target - camera.eye).norm();
}

ScreenPoint Projection::project(const Vec3& point) const {
  const Vec3 d = point - eye_;
  const double depth = d.dot(forward_);
  const double inverse = orthographic_ ? 1.0 : 1.0 / depth;
  return {center_x_ + scale_ * inverse * d.dot(right_), center_y_ - scale_ * inverse * d.dot(up_), inverse, depth};
}

void Projection::ray(double x, double y, Vec3& origin, Vec3& direction) const {
  const Vec3 offset = (x - center_x_) / scale_ * right_ - (y - center_y_) / scale_ * up_;
  origin = orthographic_ ? Vec3(eye_ + offset) : eye_;
  direction = orthographic_ ? forward_ : Vec3((forward_ + offset).normalized());
}

Canvas::Canvas(int width, int height) : width_(width), height_(height) {
  const std::size_t samples = to_size(width) * to_size(height);
  color_.assign(samples, Color::Zero());
  depth_.assign(samples, no_depth);
}

// All segments of one set go into a coverage mask first, so that overlapping ends don't darken each other.
void Canvas::draw_lines(const Projection& projection, const RenderLines& lines, double pixel, double depth_slack) {
  std::vector<float> coverage(color_.size(), 0.0f);
  for (const auto& segment : lines.segments) {
    const ScreenPoint a = projection.project(segment[0]), b = projection.project(segment[1]);
    if (!projection.in_front(a) || !projection.in_front(b)) continue;
    draw_segment(a, b, projection, lines, 0.5 * lines.width * pixel, depth_slack, coverage);
  }
  const Color ink = to_linear(lines.color);
  for (std::size_t i = 0; i < color_.size(); ++i) {
    if (coverage[i] > 0) color_[i] += coverage[i] * (ink - color_[i]);
  }
}

void Canvas::draw_segment(const ScreenPoint& a, const ScreenPoint& b, const Projection& projection,
                          const RenderLines& style, double radius, double depth_slack,
                          std::vector<float>& coverage) const {
  const auto clamped = [](double value, int limit) { return static_cast<int>(std::clamp(value, 0.0, double(limit))); };
  const double dx = b.x - a.x, dy = b.y - a.y, squared = dx * dx + dy * dy;
  const int x_end = clamped(std::max(a.x, b.x) + radius + 1, width_);
  const int y_end = clamped(std::max(a.y, b.y) + radius + 1, height_);
  for (int y = clamped(std::min(a.y, b.y) - radius - 1, height_); y < y_end; ++y) {
    for (int x = clamped(std::min(a.x, b.x) - radius - 1, width_); x < x_end; ++x) {
      const double px = x + 0.5 - a.x, py = y + 0.5 - a.y;
      const double t = squared > 0 ? std::clamp((px * dx + py * dy) / squared, 0.0, 1.0) : 0.0;
      if (std::hypot(px - t * dx, py - t * dy) > radius) continue;
      const double depth = projection.orthographic() ? a.depth + t * (b.depth - a.depth)
                                                     : 1 / (a.inverse_depth + t * (b.inverse_depth - a.inverse_depth));
      const double opacity = depth <= depth_[at(x, y)] + depth_slack ? style.opacity : style.hidden_opacity;
      coverage[at(x, y)] = std::max(coverage[at(x, y)], static_cast<float>(opacity));
    }
  }
}

}  // namespace supple::detail
