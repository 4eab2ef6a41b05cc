// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/plant/plant_recipe.h"

#include "supple/io/file.h"
#include "supple/io/gltf/gltf_content.h"
#include "supple/io/gltf/gltf_document.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/pipeline/toml_reader.h"

#include <algorithm>

namespace supple {
namespace {

using PlantKeys = std::vector<std::string_view>;

/// A number above zero and at most `most`.
void read_between(TomlReader& toml, const toml::table& table, std::string_view key, double& value, double most) {
  toml.read(table, key, value);
  if (table.contains(key) && !(value > 0 && value <= most))
    toml.fail(*table.get(key), fmt::format("\"{}\" must be above 0 and at most {:g}", key, most));
}

void read_between(TomlReader& toml, const toml::table& table, std::string_view key, std::optional<double>& value,
                  double most) {
  if (!table.contains(key)) return;
  value = 0.0;
  read_between(toml, table, key, *value, most);
}

void read_percent(TomlReader& toml, const toml::table& table, std::string_view key, double& share, double most) {
  double percent = 100 * share;
  read_between(toml, table, key, percent, most);
  share = percent / 100;
}

void read_body(TomlReader& toml, const toml::table& root, PlantRecipe& recipe) {
  const toml::table* table = toml.table(root, "plant");
  if (!table) return toml.require(root, "a plant's recipe", "plant");
  toml.only_keys(*table, "[plant]",
                 PlantKeys{"up", "frequency", "sway", "damping", "split", "tets", "branch_size", "whole_size",
                           "leaf_size", "rate"});
  if (const auto up = toml.read_word(*table, "up", PlantKeys{"y", "z"})) recipe.up = *up == 0 ? 'y' : 'z';
  read_between(toml, *table, "frequency", recipe.frequency, 20);
  read_percent(toml, *table, "sway", recipe.sway, 20);
  read_percent(toml, *table, "damping", recipe.damping, 100);
  read_between(toml, *table, "rate", recipe.rate, 240);
  toml.read(*table, "split", recipe.body.split);
  toml.read(*table, "tets", recipe.body.tets, 600);
  toml.read(*table, "branch_size", recipe.body.branch_size, 1);
  toml.read(*table, "whole_size", recipe.body.whole_size, 1);
  toml.read(*table, "leaf_size", recipe.body.leaf_size, 0);
  constexpr int most_coordinates = 40;
  for (const char* key : {"branch_size", "whole_size", "leaf_size"})
    if (const toml::node* node = table->get(key); node && node->value_or(0) > most_coordinates)
      toml.fail(*node, fmt::format("\"{}\" must be at most {}", key, most_coordinates));
  if (const toml::node* node = table->get("tets"); node && node->value_or(0) > 200000)
    toml.fail(*node, "\"tets\" must be at most 200000");
}

void read_air(TomlReader& toml, const toml::table& root, PlantRecipe& recipe) {
  const toml::table* table = toml.table(root, "wind");
  if (!table) return;
  toml.only_keys(*table, "[wind]", PlantKeys{"direction", "speed", "gusts", "turbulence", "eddy_size", "period"});
  PlantWind& wind = recipe.wind;
  toml.read(*table, "direction", wind.direction);
  if (const double length = wind.direction.norm(); table->contains("direction") && !(length > 1e-9 && length < 1e9))
    toml.fail(*table->get("direction"), "\"direction\" must be a direction, such as [1, 0, 0.5]");
  read_between(toml, *table, "speed", wind.speed, 1000);
  read_between(toml, *table, "eddy_size", wind.eddy_size, 1e6);
  read_between(toml, *table, "period", wind.period, 120);
  for (double* value : {&wind.gusts, &wind.turbulence}) {
    const char* key = value == &wind.gusts ? "gusts" : "turbulence";
    toml.read(*table, key, *value);
    if (!(*value >= 0 && *value <= 2)) toml.fail(*table->get(key), fmt::format("\"{}\" must be from 0 to 2", key));
  }
}

void read_base(TomlReader& toml, const toml::table& root, PlantRecipe& recipe) {
  const toml::table* table = toml.table(root, "base");
  if (!table) return;
  toml.only_keys(*table, "[base]", PlantKeys{"character", "joint", "clip"});
  for (const char* key : {"character", "joint"}) toml.require(*table, "[base]", key);
  BaseBone& base = recipe.base.emplace();
  toml.read(*table, "character", base.character);
  toml.read(*table, "joint", base.joint);
  toml.read(*table, "clip", base.clip);
}

bool has_extension(const std::filesystem::path& path, std::string_view extension) {
  std::string own = path.extension().string();
  std::transform(own.begin(), own.end(), own.begin(), [](unsigned char c) { return std::tolower(c); });
  return own == extension;
}

bool is_still(const std::filesystem::path& path) {
  const Result<GltfDocument> document = load_gltf(path);
  if (!document.ok()) return false;
  const GltfSummary seen = summarize(*document);
  return seen.skins == 0 && seen.animations == 0 && seen.triangles > 0;
}

}  // namespace

Result<PlantRecipe> parse_plant_recipe(std::string_view text, const std::string& name) {
  TomlReader toml(name);
  const toml::table* root = toml.parse(text);
  if (!root) return toml.error();
  PlantRecipe recipe;
  toml.only_keys(*root, "a plant's recipe", PlantKeys{"input", "scale", "plant", "wind", "base"});
  toml.require(*root, "a plant's recipe", "input");
  toml.read(*root, "input", recipe.input);
  read_between(toml, *root, "scale", recipe.scale, 1e6);
  read_body(toml, *root, recipe);
  read_air(toml, *root, recipe);
  read_base(toml, *root, recipe);
  SUPPLE_RETURN_IF_ERROR(toml);
  return recipe;
}

std::string write_plant_recipe(const PlantRecipe& recipe, const PlantFindings& found) {
  std::string text;
  const auto line = [&](const std::string& what) { text += what + "\n"; };
  const auto unless = [](const std::optional<double>& value, std::string_view key, double shown) {
    return fmt::format("{}{} = {:.3g}", value ? "" : "# ", key, value.value_or(shown));
  };
  line("# A plant in the wind (docs/plants.md): supple bake THIS.toml -o OUT.glb");
  line(fmt::format(
      "# Found: {:.3g} m high, {} pieces, {} of them copies; {} stand on the ground; {} were filled and cut "
      "into {} branches more.",
      found.height, found.pieces, found.copies, found.grounded, found.large, found.branches));
  line(fmt::format("input = \"{}\"", recipe.input));
  line(fmt::format("scale = {:g}  # metres that a unit of the file has", recipe.scale));
  line("");
  line("[plant]");
  line(fmt::format("{}up = \"{}\"  # which axis points up", recipe.up ? "" : "# ", recipe.up.value_or('y')));
  line(unless(recipe.frequency, "frequency", std::clamp(2 / std::sqrt(std::max(found.height, 1e-9)), 0.5, 2.5)) +
       "  # the slowest swing [Hz]; otherwise 2 / √height, from 0.5 to 2.5");
  line(
      fmt::format("sway = {:g}  # how far the upper quarter goes to either side [% of the height]", 100 * recipe.sway));
  line(fmt::format("damping = {:g}  # [% of the critical one]", 100 * recipe.damping));
  line(fmt::format("split = {}  # cut pieces where they branch", recipe.body.split));
  line(fmt::format("tets = {}  # tetrahedra of all branches together", recipe.body.tets));
  line(fmt::format("branch_size = {}  # coordinates of a branch", recipe.body.branch_size));
  line(fmt::format("whole_size = {}  # of a plant that is in one part", recipe.body.whole_size));
  line(fmt::format("leaf_size = {}  # of a leaf; 0: leaves are rigid", recipe.body.leaf_size));
  line(fmt::format("rate = {:g}  # frames per second", recipe.rate));
  line("");
  line("[wind]");
  const Vec3& d = recipe.wind.direction;
  line(fmt::format("direction = [{:g}, {:g}, {:g}]", d.x(), d.y(), d.z()));
  line(unless(recipe.wind.speed, "speed", 5) + "  # [m/s]; otherwise as much as the sway needs");
  line(fmt::format("gusts = {:g}  # by how much of it the wind rises and falls", recipe.wind.gusts));
  line(fmt::format("turbulence = {:g}  # speed of eddies, as a part of the wind's", recipe.wind.turbulence));
  line(unless(recipe.wind.eddy_size, "eddy_size", 1) + "  # [m]; otherwise they pass as fast as the plant swings");
  line(fmt::format("period = {:g}  # of the loop [s]", recipe.wind.period));
  return text;
}

bool is_plant(const std::filesystem::path& path) {
  if (has_extension(path, ".toml")) {
    const Result<std::string> text = read_file(path);
    if (!text.ok()) return false;
    const toml::parse_result parsed = toml::parse(*text);
    return parsed && parsed.table().contains("plant");
  }
  if (has_extension(path, ".glb") || has_extension(path, ".gltf")) return is_still(path);
  for (const char* surface : {".obj", ".off", ".ply", ".stl"})
    if (has_extension(path, surface)) return true;
  return false;
}

Result<PlantRecipe> load_plant_recipe(const std::filesystem::path& path) {
  if (has_extension(path, ".toml")) {
    const Result<std::string> text = read_file(path);
    SUPPLE_RETURN_IF_ERROR(text);
    return parse_plant_recipe(*text, path.string());
  }
  PlantRecipe recipe;
  recipe.input = path.string();
  return recipe;
}

}  // namespace supple
