// SPDX-License-Identifier: Apache-2.0
#include "samples/falling.h"

#include "supple/io/gltf/glb.h"
#include "supple/io/image/png.h"
#include "supple/pictures/contact_sheet.h"
#include "supple/pictures/render.h"

#include <fmt/format.h>

#include <array>

namespace supple {
namespace {

constexpr std::array<double, 9> shown_seconds = {0.05, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8, 1.2, 2.4};

Surface surface_of(const FallingKind& kind, const std::vector<Vec3>& positions) {
  return {positions, kind.model.surface.triangles, {}, {}};
}

RenderSetup moment(const FallingObjects& falling, const FallingFilm& film, std::size_t frame) {
  RenderSetup picture;
  for (std::size_t k = 0; k < falling.objects.size(); ++k) {
    const FallingKind& kind = falling.kinds[falling.objects[k].kind];
    RenderBody& body = picture.bodies.emplace_back();
    body.surface = surface_of(kind, film.frames[k][frame]);
    body.color = kind.color;
    body.crease_degrees = 180;
    body.gloss = 0.5;
  }
  picture.floor_height = 0.0;
  return picture;
}

Status write_picture(const FallingObjects& falling, const FallingFilm& film, const std::filesystem::path& path) {
  RenderSettings settings;
  settings.width = 480;
  settings.height = 400;
  const std::vector<Vec3> framed = {{-0.75, 0, -0.4}, {0.65, 0, 0.4}, {-0.4, 0.95, 0}, {0.4, 0.95, 0}, {0, 0, 0.5}};
  const Camera camera =
      frame_points(framed, Vec3(0.25, 0.35, 1.0), static_cast<double>(settings.width) / settings.height, 0.02);
  std::vector<SheetPanel> panels;
  for (const double seconds : shown_seconds) {
    const auto frame = to_size(seconds * film.frames_per_second + 0.5);
    if (frame >= film.frames[0].size()) break;
    RenderSetup picture = moment(falling, film, frame);
    picture.camera = camera;
    panels.push_back({render(picture, settings), fmt::format("{:.2f} s", seconds), ""});
  }
  SheetStyle style;
  style.title = "Soft objects fall";
  style.subtitle =
      fmt::format("{} bodies of {} coordinates each", falling.objects.size(), falling.kinds[0].model.size());
  return write_png(path, contact_sheet(panels, style));
}

Status write_animation(const FallingObjects& falling, const FallingFilm& film, const std::filesystem::path& path) {
  GlbModel glb;
  GlbClip clip;
  clip.name = "fall";
  for (std::size_t k = 0; k < falling.objects.size(); ++k) {
    const FallingKind& kind = falling.kinds[falling.objects[k].kind];
    GlbObject object;
    object.name = fmt::format("{} {}", kind.name, k + 1);
    object.surface = surface_of(kind, film.frames[k][0]);
    object.material.color = kind.color;
    object.material.roughness = 0.4;
    object.crease_degrees = 180;
    WeightTrack track = add_frames(object, film.frames[k], film.frames_per_second);
    track.object = k;
    clip.tracks.push_back(std::move(track));
    glb.objects.push_back(std::move(object));
  }
  GlbObject floor;
  floor.name = "floor";
  floor.surface.vertices = {{-1, 0, -1}, {-1, 0, 1}, {1, 0, 1}, {1, 0, -1}};
  floor.surface.triangles = {{0, 1, 2}, {0, 2, 3}};
  floor.material.color = hex_color(0xb9bec6);
  floor.material.double_sided = true;
  glb.objects.push_back(std::move(floor));
  glb.clips.push_back(std::move(clip));
  return write_glb(path, glb);
}

}  // namespace

Status write_falling(const FallingObjects& falling, const FallingFilm& film, const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) return failure(fmt::format("{}: cannot be made ({}).", directory.string(), error.message()));
  SUPPLE_RETURN_IF_ERROR(write_picture(falling, film, directory / "falling.png"));
  return write_animation(falling, film, directory / "falling.glb");
}

}  // namespace supple
