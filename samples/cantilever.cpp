// SPDX-License-Identifier: Apache-2.0
#include "samples/cantilever.h"

#include "samples/vibration.h"
#include "supple/io/gltf/glb.h"
#include "supple/io/image/png.h"
#include "supple/mesh/bounds.h"
#include "supple/mesh/box.h"
#include "supple/mesh/edges.h"
#include "supple/mesh/topology.h"
#include "supple/pictures/contact_sheet.h"
#include "supple/pictures/render.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace supple {
namespace {

constexpr std::size_t shown_modes = 6;
constexpr double first_damping_ratio = 0.05;

// ---- what both files show -------------------------------------------------------------------------------------------

Surface wall_beside(const Bounds& beam) {
  const double thickness = 0.05 * beam.size().x();
  const double overhang = 0.9 * beam.size().y();
  const Vec3 size(thickness, beam.size().y() + 2 * overhang, beam.size().z() + 2 * overhang);
  Surface wall = boundary_surface(make_hex_box(size, {1, 1, 1})).surface;
  for (Vec3& p : wall.vertices) p += beam.min - Vec3(thickness, overhang, overhang);
  return wall;
}

std::vector<Vec3> on_surface(const BoundarySurface& skin, const VecX& field, double scale) {
  std::vector<Vec3> values;
  for (const Index v : skin.volume_vertex) values.emplace_back(scale * field.segment<3>(3 * v));
  return values;
}

std::vector<Color> colors_by_length(const std::vector<Vec3>& displacements, double full_scale) {
  std::vector<Color> colors;
  for (const Vec3& u : displacements) colors.push_back(color_map(u.norm() / full_scale));
  return colors;
}

double largest(const std::vector<Vec3>& displacements) {
  double length = 1e-300;
  for (const Vec3& u : displacements) length = std::max(length, u.norm());
  return length;
}

// ---- picture --------------------------------------------------------------------------------------------------------

RenderLines outline_of(const Surface& surface) {
  RenderLines lines;
  for (const auto& [a, b] : feature_edges(surface, 30))
    lines.segments.push_back({surface.vertices[to_size(a)], surface.vertices[to_size(b)]});
  lines.color = hex_color(0x3a4250);
  lines.width = 1.1;
  lines.opacity = 0.55;
  lines.hidden_opacity = 0.10;
  return lines;
}

RenderSetup mode_picture(const TetMesh& mesh, const BoundarySurface& skin, const VecX& shape) {
  const double length = bounds_of(mesh.vertices).size().x();
  const std::vector<Vec3> displacements = on_surface(skin, shape, visible_scale(mesh, shape, 0.17 * length, 0.9));
  RenderSetup picture;
  RenderBody& beam = picture.bodies.emplace_back();
  beam.surface = skin.surface;
  for (std::size_t v = 0; v < displacements.size(); ++v) beam.surface.vertices[v] += displacements[v];
  beam.colors = colors_by_length(displacements, largest(displacements));
  RenderBody& wall = picture.bodies.emplace_back();
  wall.surface = wall_beside(bounds_of(skin.surface.vertices));
  wall.color = hex_color(0x8d949e);
  wall.gloss = 0.05;
  picture.lines.push_back(outline_of(skin.surface));
  return picture;
}

Status write_picture(const TetMesh& mesh, const BoundarySurface& skin, const std::vector<VecX>& shapes,
                     const std::vector<double>& frequencies, const std::filesystem::path& path) {
  RenderSettings settings;
  settings.width = 560;
  settings.height = 330;
  const Bounds bounds = bounds_of(mesh.vertices);
  const Vec3 room(0, 0.13 * bounds.size().x(), 0.13 * bounds.size().x());
  const std::vector<Vec3> corners =
      boundary_surface(make_hex_box(Vec3(bounds.size() + 2 * room), {1, 1, 1})).surface.vertices;
  std::vector<Vec3> framed;
  for (const Vec3& p : corners) framed.push_back(p + bounds.min - room);
  // One camera for all, that sees every shape whole.
  std::vector<RenderSetup> pictures;
  for (std::size_t i = 0; i < std::min(shown_modes, shapes.size()); ++i) {
    const RenderSetup& picture = pictures.emplace_back(mode_picture(mesh, skin, shapes[i]));
    const std::vector<Vec3>& beam = picture.bodies.front().surface.vertices;
    framed.insert(framed.end(), beam.begin(), beam.end());
  }
  const Camera camera =
      frame_points(framed, Vec3(0.62, 0.42, 1.0), static_cast<double>(settings.width) / settings.height, 0.05);
  std::vector<SheetPanel> panels;
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    pictures[i].camera = camera;
    pictures[i].floor_height = bounds.min.y() - 1.6 * room.y();
    panels.push_back(
        {render(pictures[i], settings), fmt::format("mode {}", i + 1), fmt::format("{:.2f} Hz", frequencies[i])});
  }
  SheetStyle style;
  style.title = "Vibration modes of a soft cantilever";
  style.subtitle = fmt::format("{} tetrahedra, colour: displacement", mesh.elements.size());
  return write_png(path, contact_sheet(panels, style));
}

// ---- animation ------------------------------------------------------------------------------------------------------

// Damping grows with frequency, as in flesh and rubber: stiffness-proportional, kept below critical.
double damping_ratio(double frequency, double first_frequency) {
  return std::min(0.3, first_damping_ratio * frequency / first_frequency);
}

struct Release {
  double pull, hold, length;  // [s]: bent within `pull`, let go after `hold` more, over at `length`
};

// Weight at a time: eased in from rest, held, then ringing.
double plucked(double time, const Release& release, double frequency, double damping) {
  if (time < release.pull) return 0.5 - 0.5 * std::cos(std::numbers::pi * time / release.pull);
  return ring(time - release.pull - release.hold, frequency, damping);
}

// One clip in which mode i has the amplitude amplitudes[i]; the others rest. Keys are dense enough that the straight
// lines between them stay within 2 % of the fastest mode's sine.
GlbClip pluck_clip(std::string name, const std::vector<double>& amplitudes, const std::vector<double>& frequencies) {
  double fastest = 0, slowest = 1e300;
  for (std::size_t i = 0; i < amplitudes.size(); ++i) {
    if (amplitudes[i] == 0) continue;
    fastest = std::max(fastest, frequencies[i]);
    slowest = std::min(slowest, frequencies[i]);
  }
  const double decay = 2 * std::numbers::pi * slowest * damping_ratio(slowest, frequencies[0]);
  Release release{0.7, 0.15, 0};
  release.length = release.pull + release.hold + std::clamp(4.5 / decay, 1.0, 20.0);  // e^-4.5 is one per cent
  const double rate = std::clamp(16 * fastest, 30.0, 480.0);
  const auto keys = to_size(std::ceil(release.length * rate));
  WeightTrack track;
  for (std::size_t k = 0; k <= keys; ++k) {
    const double time = release.length * static_cast<double>(k) / static_cast<double>(keys);
    track.times.push_back(time);
    for (std::size_t i = 0; i < amplitudes.size(); ++i) {
      const double damping = damping_ratio(frequencies[i], frequencies[0]);
      track.weights.push_back(k == keys ? 0 : amplitudes[i] * plucked(time, release, frequencies[i], damping));
    }
  }
  return {std::move(name), {std::move(track)}};
}

std::vector<Index> tip_vertices(const TetMesh& mesh) {
  const Bounds bounds = bounds_of(mesh.vertices);
  std::vector<Index> tip;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    if (mesh.vertices[v].x() > bounds.max.x() - 1e-6 * bounds.size().x()) tip.push_back(static_cast<Index>(v));
  }
  return tip;
}

// Amplitudes of a pluck, as weights of targets that are `scales[i]` times the shapes, so large that the tip moves by
// `reach`.
std::vector<double> pluck_weights(const TetMesh& mesh, const std::vector<VecX>& shapes,
                                  const std::vector<double>& frequencies, const std::vector<double>& scales,
                                  double reach) {
  const std::vector<Index> tip = tip_vertices(mesh);
  std::vector<double> weights = pluck_amplitudes(mesh, shapes, frequencies, tip, Vec3(0, -1, 0.35).normalized());
  Vec3 moved = Vec3::Zero();
  for (std::size_t i = 0; i < shapes.size(); ++i) moved += weights[i] * shapes[i].segment<3>(3 * tip[0]);
  for (std::size_t i = 0; i < shapes.size(); ++i) weights[i] *= reach / (std::max(moved.norm(), 1e-300) * scales[i]);
  return weights;
}

Status write_animation(const TetMesh& mesh, const BoundarySurface& skin, const std::vector<VecX>& shapes,
                       const std::vector<double>& frequencies, const std::filesystem::path& path) {
  const double length = bounds_of(mesh.vertices).size().x();
  GlbModel model;
  GlbObject beam;
  beam.name = "beam";
  beam.surface = skin.surface;
  std::vector<double> scales;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    scales.push_back(visible_scale(mesh, shapes[i], 0.2 * length, 0.9));
    beam.targets.push_back({fmt::format("mode {}", i + 1), on_surface(skin, shapes[i], scales[i])});
  }
  const std::vector<double> weights = pluck_weights(mesh, shapes, frequencies, scales, 0.25 * length);
  std::vector<Vec3> reach(skin.surface.vertices.size(), Vec3(Vec3::Zero()));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (std::size_t v = 0; v < reach.size(); ++v) reach[v] += weights[i] * beam.targets[i].displacements[v];
  }
  beam.colors = colors_by_length(reach, largest(reach));
  beam.material.color = Color::Ones();
  beam.material.roughness = 0.45;
  model.objects.push_back(std::move(beam));
  GlbObject& wall = model.objects.emplace_back();
  wall.name = "wall";
  wall.surface = wall_beside(bounds_of(skin.surface.vertices));
  wall.material.color = hex_color(0x8d949e);
  model.clips.push_back(pluck_clip("pluck", weights, frequencies));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    std::vector<double> alone(shapes.size(), 0.0);
    alone[i] = 1;
    model.clips.push_back(pluck_clip(fmt::format("mode {} ({:.2f} Hz)", i + 1, frequencies[i]), alone, frequencies));
  }
  return write_glb(path, model);
}

Status check_modes(const TetMesh& mesh, const std::vector<VecX>& shapes, const std::vector<double>& frequencies) {
  if (shapes.empty() || shapes.size() != frequencies.size())
    return usage_error(fmt::format("A vibration needs as many frequencies as mode shapes, at least one; got {} and {}.",
                                   frequencies.size(), shapes.size()));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].size() != static_cast<Eigen::Index>(3 * mesh.vertices.size()) || !shapes[i].allFinite())
      return usage_error(fmt::format("Mode shape {} doesn't have three finite numbers per vertex.", i + 1));
    if (!(frequencies[i] > 0) || !std::isfinite(frequencies[i]))
      return usage_error(fmt::format("Mode {} has no positive frequency; leave rigid modes out.", i + 1));
  }
  return {};
}

}  // namespace

double Cantilever::beam_theory_frequency(int n) const {
  // Newton on cos λ + 1 / cosh λ = 0 from the asymptote λ_n → (n - 1/2) π.
  double lambda = (n - 0.5) * std::numbers::pi;
  for (int round = 0; round < 20; ++round) {
    const double value = std::cos(lambda) + 1 / std::cosh(lambda);
    const double slope = -std::sin(lambda) - std::tanh(lambda) / std::cosh(lambda);
    lambda -= value / slope;
  }
  const double radius_of_gyration = size.y() / std::sqrt(12.0);
  return lambda * lambda / (2 * std::numbers::pi * size.x() * size.x()) * radius_of_gyration *
         std::sqrt(material.young / material.density);
}

Cantilever make_cantilever(int cells) {
  Cantilever beam;
  beam.mesh = make_tet_box(beam.size, {10 * cells, cells, cells});
  set_uniform_material(beam.mesh, beam.material);
  for (std::size_t v = 0; v < beam.mesh.vertices.size(); ++v) {
    if (beam.mesh.vertices[v].x() == 0) beam.fixed_vertices.push_back(static_cast<Index>(v));
  }
  return beam;
}

Status write_vibration(const TetMesh& mesh, const std::vector<VecX>& mode_shapes,
                       const std::vector<double>& frequencies_hz, const std::filesystem::path& directory) {
  SUPPLE_RETURN_IF_ERROR(check_modes(mesh, mode_shapes, frequencies_hz));
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return failure(fmt::format("{}: cannot be made ({}).", directory.string(), error.message()));
  const BoundarySurface skin = boundary_surface(mesh);
  SUPPLE_RETURN_IF_ERROR(write_picture(mesh, skin, mode_shapes, frequencies_hz, directory / "cantilever.png"));
  return write_animation(mesh, skin, mode_shapes, frequencies_hz, directory / "cantilever.glb");
}

}  // namespace supple
