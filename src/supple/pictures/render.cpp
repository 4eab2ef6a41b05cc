// SPDX-License-Identifier: Apache-2.0
#include "supple/pictures/render.h"

#include "supple/base/assert.h"
#include "supple/mesh/bounds.h"
#include "supple/mesh/edges.h"
#include "supple/mesh/normals.h"
#include "supple/pictures/rasterizer.h"

#include <Eigen/Geometry>

#include <numbers>

namespace supple {
namespace {

using detail::Canvas;
using detail::Projection;
using detail::ShadedVertex;

struct Lights {
  Vec3 key, fill, sky;  // unit vectors towards them

  // They move with the camera, so that every picture is lit from the upper left.
  explicit Lights(const Projection& view)
      : key((-0.45 * view.right() + 0.75 * view.up() - 0.55 * view.forward()).normalized()),
        fill((0.80 * view.right() + 0.05 * view.up() - 0.60 * view.forward()).normalized()),
        sky(Vec3::UnitY()) {}
};

double wrapped_cosine(const Vec3& normal, const Vec3& light, double wrap) {
  return std::max(0.0, (normal.dot(light) + wrap) / (1 + wrap));
}

Color lit(const Lights& lights, const Vec3& to_eye, Vec3 normal, const Color& albedo, double gloss) {
  normal.normalize();
  if (normal.dot(to_eye) < 0) normal = -normal;  // soups have no reliable outside: light both sides
  const auto key = static_cast<float>(0.95 * wrapped_cosine(normal, lights.key, 0.15));
  const auto fill = static_cast<float>(0.22 * wrapped_cosine(normal, lights.fill, 0.3));
  const auto sky = static_cast<float>(0.30 * (0.62 + 0.38 * normal.dot(lights.sky)));
  const Color light =
      key * Color(1.0f, 0.965f, 0.90f) + fill * Color(0.80f, 0.90f, 1.0f) + sky * Color(0.93f, 0.97f, 1.0f);
  const double highlight = std::pow(std::max(0.0, normal.dot((lights.key + to_eye).normalized())), 48);
  const double rim = 0.35 * std::pow(1 - std::abs(normal.dot(to_eye)), 4);
  return albedo.cwiseProduct(light) + static_cast<float>(gloss * (highlight + 0.5 * rim)) * Color::Ones();
}

// ---- floor shadow ---------------------------------------------------------------------------------------------------

// How much of the sky and key light the bodies take away from the floor: their projection along the light, blurred.
class FloorShadow {
 public:
  FloorShadow(const RenderSetup& setup, double height) : height_(height), grid_(cells * cells, 0.0f) {
    const Vec3 light = Vec3(-0.18, 1.0, -0.10);
    const auto on_floor = [&](const Vec3& p) { return Vec3(p - (p.y() - height) / light.y() * light); };
    Bounds bounds;
    for (const RenderBody& body : setup.bodies) {
      for (const Vec3& p : body.surface.vertices) bounds.add(on_floor(p));
    }
    if (bounds.empty()) return;
    const double extent = std::max(bounds.size().x(), bounds.size().z());
    cell_ = 1.5 * extent / cells;
    origin_ = bounds.center() - Vec3(0.75 * extent, 0, 0.75 * extent);
    for (const RenderBody& body : setup.bodies) {
      for (const Triangle& t : body.surface.triangles) {
        std::array<Vec3, 3> p;
        for (std::size_t k = 0; k < 3; ++k) p[k] = on_floor(body.surface.vertices[to_size(t[k])]);
        splat(p);
      }
    }
    for (int pass = 0; pass < 3; ++pass) blur(cells / 56);  // three box blurs are nearly a Gaussian
  }

  double at(const Vec3& p) const {
    if (cell_ <= 0) return 0;
    const double x = (p.x() - origin_.x()) / cell_ - 0.5, z = (p.z() - origin_.z()) / cell_ - 0.5;
    const int i = static_cast<int>(std::floor(std::clamp(x, -2.0, cells + 1.0)));
    const int j = static_cast<int>(std::floor(std::clamp(z, -2.0, cells + 1.0)));
    const double u = x - i, v = z - j;
    return (1 - v) * ((1 - u) * value(i, j) + u * value(i + 1, j)) +
           v * ((1 - u) * value(i, j + 1) + u * value(i + 1, j + 1));
  }

  double height() const { return height_; }

 private:
  static constexpr int cells = 512;

  double value(int i, int j) const { return i < 0 || j < 0 || i >= cells || j >= cells ? 0.0 : grid_[index(i, j)]; }
  static std::size_t index(int i, int j) { return to_size(j) * cells + to_size(i); }

  void splat(const std::array<Vec3, 3>& p) {
    std::array<Eigen::Vector2d, 3> q;
    for (std::size_t k = 0; k < 3; ++k) q[k] = Eigen::Vector2d(p[k].x() - origin_.x(), p[k].z() - origin_.z()) / cell_;
    const auto side = [&](std::size_t a, std::size_t b, double x, double y) {
      return (q[b].x() - q[a].x()) * (y - q[a].y()) - (q[b].y() - q[a].y()) * (x - q[a].x());
    };
    const Eigen::Vector2d low = q[0].cwiseMin(q[1]).cwiseMin(q[2]), high = q[0].cwiseMax(q[1]).cwiseMax(q[2]);
    for (int j = std::max(0, static_cast<int>(low.y())); j <= std::min(cells - 1, static_cast<int>(high.y())); ++j) {
      for (int i = std::max(0, static_cast<int>(low.x())); i <= std::min(cells - 1, static_cast<int>(high.x())); ++i) {
        const double a = side(0, 1, i + 0.5, j + 0.5), b = side(1, 2, i + 0.5, j + 0.5),
                     c = side(2, 0, i + 0.5, j + 0.5);
        if ((a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0)) grid_[index(i, j)] = 1;
      }
    }
  }

  void blur(int radius) {
    blur_lines(radius, 1, cells);
    blur_lines(radius, cells, 1);
  }

  // A running mean along lines whose cells lie `step` apart and whose starts lie `stride` apart.
  void blur_lines(int radius, std::size_t step, std::size_t stride) {
    std::vector<float> line(cells);
    for (std::size_t k = 0; k < cells; ++k) {
      float* start = grid_.data() + k * stride;
      for (std::size_t i = 0; i < cells; ++i) line[i] = start[i * step];
      float sum = 0;
      for (int i = -radius; i < cells; ++i) {
        if (i + radius < cells) sum += line[to_size(i + radius)];
        if (i - radius - 1 >= 0) sum -= line[to_size(i - radius - 1)];
        if (i >= 0) start[to_size(i) * step] = sum / static_cast<float>(2 * radius + 1);
      }
    }
  }

  double height_, cell_ = 0;
  Vec3 origin_ = Vec3::Zero();
  std::vector<float> grid_;
};

// ---- passes ---------------------------------------------------------------------------------------------------------

void draw_body(Canvas& canvas, const Projection& view, const Lights& lights, const RenderBody& body) {
  SUPPLE_ASSERT(body.colors.empty() || body.colors.size() == body.surface.vertices.size());
  const CreasedSurface split = split_at_creases(body.surface, body.crease_degrees);
  const std::vector<Vec3> normals = vertex_normals(split.surface.triangles, split.surface.vertices);
  const auto shade = [&](const Vec3& position, const Vec3& normal, const Color& albedo) {
    Vec3 origin, direction;
    const detail::ScreenPoint p = view.project(position);
    view.ray(p.x, p.y, origin, direction);
    return lit(lights, -direction, normal, albedo, body.gloss);
  };
  for (const Triangle& t : split.surface.triangles) {
    std::array<ShadedVertex, 3> corners;
    for (std::size_t k = 0; k < 3; ++k) {
      const auto v = to_size(t[k]);
      const auto source = to_size(split.source_vertex[v]);
      corners[k] = {split.surface.vertices[v], normals[v],
                    to_linear(body.colors.empty() ? body.color : body.colors[source])};
    }
    canvas.fill_triangle(view, corners, shade);
  }
}

RenderLines wire_of(const RenderBody& body) {
  RenderLines wire;
  wire.opacity = body.wire_opacity;
  wire.width = 0.7;
  for_each_edge(sorted_edge_uses(body.surface.triangles), [&](std::span<const EdgeUse> uses) {
    wire.segments.push_back(
        {body.surface.vertices[to_size(uses[0].low)], body.surface.vertices[to_size(uses[0].high)]});
  });
  return wire;
}

void paint_background(Canvas& canvas, const Projection& view, const RenderSettings& settings,
                      const FloorShadow* shadow) {
  const Color top = to_linear(settings.background_top), bottom = to_linear(settings.background_bottom);
  for (int y = 0; y < canvas.height(); ++y) {
    const float t = static_cast<float>(y) / static_cast<float>(canvas.height());
    const Color sky = top + t * t * (3 - 2 * t) * (bottom - top);
    for (int x = 0; x < canvas.width(); ++x) {
      if (canvas.covered(x, y)) continue;
      canvas.color(x, y) = sky;
      if (!shadow) continue;
      Vec3 origin, direction;
      view.ray(x + 0.5, y + 0.5, origin, direction);
      const double distance = (shadow->height() - origin.y()) / direction.y();
      if (!(distance > 0) || !std::isfinite(distance)) continue;
      const double dark = settings.shadow_strength * shadow->at(origin + distance * direction);
      canvas.color(x, y) *= static_cast<float>(1 - dark);
    }
  }
}

Image resolve(Canvas& canvas, int width, int height, int samples) {
  Image image(width, height);
  const float share = 1.0f / static_cast<float>(samples * samples);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      Color sum = Color::Zero();
      for (int j = 0; j < samples; ++j) {
        for (int i = 0; i < samples; ++i) sum += canvas.color(x * samples + i, y * samples + j).cwiseMin(1.0f);
      }
      const Color color = 255.0f * to_srgb(share * sum);
      for (int k = 0; k < 3; ++k) image.pixel(x, y)[k] = static_cast<std::uint8_t>(std::lround(color[k]));
    }
  }
  return image;
}

double setup_diagonal(const RenderSetup& setup) {
  Bounds bounds;
  for (const RenderBody& body : setup.bodies) {
    for (const Vec3& p : body.surface.vertices) bounds.add(p);
  }
  return bounds.diagonal();
}

}  // namespace

Camera frame_points(std::span<const Vec3> points, const Vec3& direction, double aspect, double margin,
                    double field_of_view) {
  Camera camera;
  camera.field_of_view = field_of_view;
  camera.target = bounds_of(points).center();
  const double tangent = std::tan(0.5 * field_of_view * std::numbers::pi / 180) * (1 - 2 * margin);
  const Vec3 back = direction.normalized();
  const Vec3 right = camera.up.cross(back).normalized();
  const Vec3 up = back.cross(right);
  // Moving the target sideways changes how far away the eye must be and the reverse: a few rounds settle it.
  double distance = 0;
  for (int round = 0; round < 8; ++round) {
    distance = 1e-9;
    for (const Vec3& p : points) {
      const Vec3 d = p - camera.target;
      distance =
          std::max(distance, d.dot(back) + std::max(std::abs(d.dot(right)) / aspect, std::abs(d.dot(up))) / tangent);
    }
    double x_min = 0, x_max = 0, y_min = 0, y_max = 0;
    for (const Vec3& p : points) {
      const Vec3 d = p - camera.target;
      const double away = distance - d.dot(back);
      x_min = std::min(x_min, d.dot(right) / away), x_max = std::max(x_max, d.dot(right) / away);
      y_min = std::min(y_min, d.dot(up) / away), y_max = std::max(y_max, d.dot(up) / away);
    }
    camera.target += 0.5 * distance * ((x_min + x_max) * right + (y_min + y_max) * up);
  }
  camera.eye = camera.target + distance * back;
  return camera;
}

Image render(const RenderSetup& setup, const RenderSettings& settings) {
  const int samples = std::max(1, settings.samples);
  Canvas canvas(settings.width * samples, settings.height * samples);
  const Projection view(setup.camera, canvas.width(), canvas.height());
  const Lights lights(view);
  for (const RenderBody& body : setup.bodies) draw_body(canvas, view, lights, body);
  std::optional<FloorShadow> shadow;
  if (setup.floor_height) shadow.emplace(setup, *setup.floor_height);
  paint_background(canvas, view, settings, shadow ? &*shadow : nullptr);
  const double slack = 2e-3 * setup_diagonal(setup);
  for (const RenderBody& body : setup.bodies) {
    if (body.wire_opacity > 0) canvas.draw_lines(view, wire_of(body), samples, slack);
  }
  for (const RenderLines& lines : setup.lines) canvas.draw_lines(view, lines, samples, slack);
  return resolve(canvas, settings.width, settings.height, samples);
}

}  // namespace supple
