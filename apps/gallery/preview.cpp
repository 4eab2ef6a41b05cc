// SPDX-License-Identifier: Apache-2.0
#include "preview.h"

#include "gallery.h"
#include "supple/base/nearest_name.h"
#include "supple/mesh/bounds.h"
#include "supple/pictures/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace supple {
namespace {

Result<std::size_t> chosen_clip(const Comparison& both, const std::string& name) {
  if (name.empty()) {
    const Result<Comparison::Moment> moment = both.most_displaced(10);
    SUPPLE_RETURN_IF_ERROR(moment);
    return moment->clip;
  }
  std::vector<std::string_view> names;
  for (std::size_t k = 0; k < both.clips().size(); ++k) {
    if (both.clips()[k].name == name) return k;
    names.push_back(both.clips()[k].name);
  }
  const std::string_view near = nearest_name(name, names);
  return usage_error(fmt::format(
      "{}: there is no clip \"{}\"; {}", both.rigid().name(), name,
      near.empty() ? fmt::format("it has {}.", fmt::join(names, ", ")) : fmt::format("did you mean \"{}\"?", near)));
}

/// All moments of the film from a time on, with long ways taken out.
std::vector<Comparison::Positions> moments(const Comparison& both, std::size_t clip, std::size_t frames, double rate,
                                           double from) {
  const Clip& played = both.rigid().clips()[both.clips()[clip].rigid];
  std::vector<Vec3> places;
  Bounds travel;
  for (std::size_t k = 0; k < frames; ++k) {
    places.push_back(both.rigid().place(played, from + static_cast<double>(k) / rate));
    places.back().y() = 0;
    travel.add(places.back());
  }
  const bool travels = travel.diagonal() > 0.5 * both.rigid().height();
  std::vector<Comparison::Positions> all;
  for (std::size_t k = 0; k < frames; ++k) {
    all.push_back(both.at(clip, from + static_cast<double>(k) / rate));
    if (!travels) continue;
    for (Vec3& x : all.back().rigid) x -= places[k] - places[0];
    for (Vec3& x : all.back().soft) x -= places[k] - places[0];
  }
  return all;
}

/// 64 steps instead of 256 for each colour: hardly seen in motion, and a third off the file.
void coarsen(Image& image) {
  for (std::uint8_t& value : image.rgba) value = static_cast<std::uint8_t>((value & 0xfc) | value >> 6);
}

struct Panel {
  Image image;
  std::string words;
};

Image side_by_side(const std::vector<Panel>& panels) {
  const int width = panels.front().image.width, height = panels.front().image.height;
  Image all(width * static_cast<int>(panels.size()), height);
  for (std::size_t k = 0; k < panels.size(); ++k)
    for (int y = 0; y < height; ++y)
      std::copy_n(panels[k].image.pixel(0, y), std::size_t{4} * to_size(width),
                  all.pixel(width * static_cast<int>(k), y));
  coarsen(all);
  const double text = height / 26.0;
  for (std::size_t k = 0; k < panels.size(); ++k)
    draw_text(all, width * static_cast<double>(k) + 1.2 * text, height - 2.2 * text, text, hex_color(0x2b2f36),
              panels[k].words);
  return all;
}

/// The farthest that each vertex is from where it would be without softness.
std::vector<double> farthest(const std::vector<Comparison::Positions>& film) {
  std::vector<double> most;
  for (const Comparison::Positions& moment : film) {
    const std::vector<double> now = Comparison::displacement(moment);
    most.resize(now.size(), 0.0);
    for (std::size_t v = 0; v < now.size(); ++v) most[v] = std::max(most[v], now[v]);
  }
  return most;
}

}  // namespace

Result<Vec3> view_from(const std::string& text) {
  const auto looking = [](double azimuth, double elevation) {
    constexpr double degree = 3.14159265358979323846 / 180;
    const double level = std::cos(elevation * degree);
    return Vec3(level * std::sin(azimuth * degree), std::sin(elevation * degree), level * std::cos(azimuth * degree));
  };
  if (text.empty() || text == "three-quarter") return PreviewSettings{}.from;
  if (text == "front") return looking(0, 8);
  if (text == "side") return looking(90, 8);
  if (text == "back") return looking(180, 8);
  double azimuth = 0, elevation = 0;
  int used = 0;
  if (std::sscanf(text.c_str(), "%lf,%lf%n", &azimuth, &elevation, &used) == 2 && to_size(used) == text.size() &&
      std::abs(azimuth) <= 360 && std::abs(elevation) <= 89)
    return looking(azimuth, elevation);
  return usage_error(
      fmt::format("--view {}: it is front, side, back, three-quarter, or two angles in degrees such as 30,15, the "
                  "second from -89 to 89",
                  text));
}

Result<Preview> make_preview(Offscreen& offscreen, const Comparison& both, const PreviewSettings& settings,
                             const std::function<void(std::size_t done, std::size_t all)>& tell) {
  const Result<std::size_t> clip = chosen_clip(both, settings.clip);
  SUPPLE_RETURN_IF_ERROR(clip);
  const double duration = both.rigid().clips()[both.clips()[*clip].rigid].duration;
  if (settings.at && *settings.at > duration)
    return usage_error(
        fmt::format("--at {:g}: the clip {} ends at {:.3g} s", *settings.at, both.clips()[*clip].name, duration));
  const double seconds = settings.at ? 0 : std::min(duration, settings.seconds);
  const auto count = to_size(std::max(1.0, std::floor(seconds * settings.frame_rate + 1e-6)));
  const std::vector<Comparison::Positions> film =
      moments(both, *clip, count, settings.frame_rate, settings.at.value_or(0));
  Bounds stage;
  std::vector<Vec3> seen;  // some of the vertices are enough for the camera
  for (const Comparison::Positions& moment : film) {
    for (const auto* points : {&moment.rigid, &moment.soft}) {
      for (const Vec3& x : *points) stage.add(x);
      for (std::size_t v = 0; v < points->size(); v += 7) seen.push_back((*points)[v]);
    }
  }
  DrawSetup setup;
  setup.camera = character_camera(seen, settings.width, settings.height, settings.from);
  setup.floor_height = stage.min.y();
  setup.stage = stage;
  setup.background_top = setup.background_bottom;
  Preview preview{{}, both.clips()[*clip].name, 0};
  const PictureSettings picture{settings.width, settings.height, 1};
  const std::vector<double> most = farthest(film);
  preview.largest = *std::max_element(most.begin(), most.end()) / both.rigid().height();
  const double end = scale_end(preview.largest);
  const std::vector<Color> map = displacement_colors(most, end * both.rigid().height());
  for (std::size_t k = 0; k < film.size(); ++k) {
    std::vector<Panel> panels;
    const auto draw = [&](std::vector<DrawMesh> meshes, const std::string& words) -> Status {
      setup.meshes = std::move(meshes);
      Result<Image> image = offscreen.picture(setup, picture);
      SUPPLE_RETURN_IF_ERROR(image);
      panels.push_back({std::move(*image), words});
      return {};
    };
    SUPPLE_RETURN_IF_ERROR(draw(both.rigid().drawn(film[k].rigid), "rigid"));
    SUPPLE_RETURN_IF_ERROR(draw(both.soft().drawn(film[k].soft), "soft"));
    if (settings.map) {
      SUPPLE_RETURN_IF_ERROR(draw(both.soft().drawn(film[k].soft, map), "where it gives"));
      draw_color_bar(panels.back().image, end);
    }
    preview.frames.push_back(side_by_side(panels));
    tell(k + 1, film.size());
  }
  return preview;
}

}  // namespace supple
