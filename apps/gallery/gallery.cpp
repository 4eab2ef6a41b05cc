// SPDX-License-Identifier: Apache-2.0
#include "gallery.h"

#include "supple/io/file.h"
#include "supple/io/gltf/read_character.h"
#include "supple/mesh/bounds.h"
#include "supple/pictures/plot.h"
#include "supple/pictures/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace supple {
namespace {

const Color ink = hex_color(0x2b2f36);

SheetPanel blank_panel(const GallerySettings& settings, const std::string& caption) {
  SheetPanel panel{Image(settings.width, settings.height), caption, ""};
  for (std::size_t i = 0; i < panel.image.rgba.size(); ++i) panel.image.rgba[i] = i % 4 == 3 ? 255 : 0xe9;
  return panel;
}

DrawSetup setup_of(std::vector<DrawMesh> meshes, const Camera& camera, double floor) {
  DrawSetup setup;
  setup.meshes = std::move(meshes);
  setup.camera = camera;
  setup.floor_height = floor;
  return setup;
}

double lowest(const std::vector<Vec3>& points) { return bounds_of(points).min.y(); }

/// "Armature|Run" is Blender's way to say Run.
std::string short_name(const std::string& clip) { return clip.substr(clip.rfind('|') + 1); }

class RowMaker {
 public:
  RowMaker(Offscreen& offscreen, const GallerySettings& settings) : offscreen_(offscreen), settings_(settings) {}

  /// Three panels, or an error about the character.
  Result<std::vector<SheetPanel>> make(const GalleryPair& pair, GalleryRow& row) {
    Result<PlayedCharacter> rigid = PlayedCharacter::load(pair.rigid);
    SUPPLE_RETURN_IF_ERROR(rigid);
    if (!std::filesystem::exists(pair.soft)) return alone(*rigid, row);
    Result<PlayedCharacter> soft = PlayedCharacter::load(pair.soft);
    SUPPLE_RETURN_IF_ERROR(soft);
    const Result<Comparison> both = Comparison::create(std::move(*rigid), std::move(*soft));
    SUPPLE_RETURN_IF_ERROR(both);
    const Result<Comparison::Moment> moment = both->most_displaced(settings_.moments_per_second);
    SUPPLE_RETURN_IF_ERROR(moment);
    row.clip = both->clips()[moment->clip].name;
    row.time = moment->time;
    row.largest = moment->largest;
    return compared(*both, *moment, row);
  }

 private:
  Result<std::vector<SheetPanel>> compared(const Comparison& both, const Comparison::Moment& moment,
                                           const GalleryRow& row) {
    const Comparison::Positions positions = both.at(moment.clip, moment.time);
    const std::vector<double> distances = Comparison::displacement(positions);
    std::vector<Vec3> all = positions.rigid;
    all.insert(all.end(), positions.soft.begin(), positions.soft.end());
    const Camera camera = character_camera(all, settings_.width, settings_.height);
    const double floor = std::min(lowest(all), lowest(both.rigid().at_rest()));
    const double end = scale_end(moment.largest);
    const std::vector<Color> colors = displacement_colors(distances, end * both.rigid().height());
    std::vector<SheetPanel> panels;
    const std::string when = fmt::format("{} {:.2f} s", short_name(row.clip), row.time);
    SUPPLE_RETURN_IF_ERROR(add(panels, setup_of(both.rigid().drawn(positions.rigid), camera, floor), row.name, when));
    SUPPLE_RETURN_IF_ERROR(add(panels, setup_of(both.soft().drawn(positions.soft), camera, floor), "soft", ""));
    SUPPLE_RETURN_IF_ERROR(add(panels, setup_of(both.soft().drawn(positions.soft, colors), camera, floor),
                               fmt::format("{:.2f} %", 100 * row.largest), "of the height"));
    draw_color_bar(panels.back().image, end);
    return panels;
  }

  Result<std::vector<SheetPanel>> alone(const PlayedCharacter& rigid, GalleryRow& row) {
    row.fault = "not baked";
    const std::vector<Vec3> rest = rigid.at_rest();
    const Camera camera = character_camera(rest, settings_.width, settings_.height);
    std::vector<SheetPanel> panels;
    SUPPLE_RETURN_IF_ERROR(add(panels, setup_of(rigid.drawn(rest), camera, lowest(rest)), row.name, "at rest"));
    panels.push_back(blank_panel(settings_, "not baked"));
    panels.push_back(blank_panel(settings_, ""));
    return panels;
  }

  Status add(std::vector<SheetPanel>& panels, const DrawSetup& setup, const std::string& caption,
             const std::string& note) {
    Result<Image> image = offscreen_.picture(setup, {settings_.width, settings_.height, 2});
    SUPPLE_RETURN_IF_ERROR(image);
    panels.push_back({std::move(*image), caption, note});
    return {};
  }

  Offscreen& offscreen_;
  const GallerySettings& settings_;
};

}  // namespace

double scale_end(double largest) {
  const std::vector<double> ticks = nice_ticks(0, std::max(100 * largest, 0.01), 5);
  return ticks.back() / 100;
}

std::vector<Color> displacement_colors(const std::vector<double>& distances, double full) {
  std::vector<Color> colors(distances.size());
  for (std::size_t v = 0; v < colors.size(); ++v)
    colors[v] = to_linear(color_map(std::clamp(distances[v] / full, 0.0, 1.0)));
  return colors;
}

void draw_color_bar(Image& image, double end) {
  const int width = std::max(6, image.width / 36), height = image.height / 2;
  const int left = image.width - 2 * width, top = image.height / 8;
  for (int y = 0; y < height; ++y) {
    const Color color = 255 * color_map(1 - (y + 0.5) / height);
    for (int x = 0; x < width; ++x)
      for (int k = 0; k < 3; ++k) image.pixel(left + x, top + y)[k] = static_cast<std::uint8_t>(std::lround(color[k]));
  }
  const double text = std::max(7.0, image.height / 34.0);
  const auto label = [&](double y, const std::string& words) {
    draw_text(image, left - 0.6 * text - text_width(words, text), y, text, ink, words);
  };
  label(top, fmt::format("{:g} %", 100 * end));
  label(top + height - text, "0");
}

Camera character_camera(const std::vector<Vec3>& points, int width, int height, const Vec3& from) {
  const double aspect = static_cast<double>(width) / height;
  const Bounds bounds = bounds_of(points);
  std::vector<Vec3> framed = points;
  framed.push_back(bounds.center());
  framed.back().y() = bounds.min.y() - 0.06 * bounds.diagonal();  // room for the words at the bottom
  return frame_points(framed, from, aspect, 0.1, 26);
}

Result<std::vector<GalleryPair>> read_pairs(const std::filesystem::path& file) {
  const Result<std::string> text = read_file(file);
  SUPPLE_RETURN_IF_ERROR(text);
  std::vector<GalleryPair> pairs;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    const std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      return input_error(fmt::format("{}: line {} is not NAME, RIGID and SOFT with tabs between them.", file.string(),
                                     pairs.size() + 1));
    pairs.push_back({line.substr(0, first), line.substr(first + 1, second - first - 1), line.substr(second + 1)});
  }
  if (pairs.empty()) return input_error(file.string() + ": it names no characters; write a line for each.");
  return pairs;
}

Result<Gallery> make_gallery(Offscreen& offscreen, const std::vector<GalleryPair>& pairs,
                             const GallerySettings& settings, const std::function<void(const GalleryRow&)>& tell) {
  RowMaker maker(offscreen, settings);
  Gallery gallery;
  std::vector<SheetPanel> panels;
  for (const GalleryPair& pair : pairs) {
    GalleryRow row{pair.name, "", 0, 0, ""};
    Result<std::vector<SheetPanel>> made = maker.make(pair, row);
    if (made.ok()) {
      std::move(made->begin(), made->end(), std::back_inserter(panels));
    } else {
      row.fault = made.error().message;
      panels.push_back(blank_panel(settings, pair.name));
      panels.push_back(blank_panel(settings, "no picture"));
      panels.push_back(blank_panel(settings, ""));
    }
    tell(row);
    gallery.rows.push_back(std::move(row));
  }
  SheetStyle style;
  style.columns = 3 * std::max(1, settings.characters_per_row);
  style.gap = 6;
  style.text_height = std::max(7.0, settings.height / 30.0);
  style.title = settings.title;
  style.subtitle = "each at the moment of largest displacement; colours in percent of the height";
  gallery.sheet = contact_sheet(panels, style);
  return gallery;
}

std::vector<std::filesystem::path> animated_characters(const std::filesystem::path& folder) {
  constexpr std::size_t fewest_triangles = 20;
  std::vector<std::filesystem::path> files, found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, ignored))
    if (entry.path().extension() == ".glb" || entry.path().extension() == ".gltf") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    const Result<GltfDocument> document = load_gltf(file);
    if (!document.ok()) continue;
    const Result<RawCharacter> character = read_character(*document);
    if (!character.ok() || character->clips.empty()) continue;
    std::size_t triangles = 0;
    for (const CharacterMesh& mesh : character->meshes) triangles += mesh.surface.triangles.size();
    if (triangles >= fewest_triangles) found.push_back(file);
  }
  return found;
}

}  // namespace supple
