// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/recipe.h"

#include <fmt/format.h>
#include "supple/fem/material_limits.h"

#include "supple/io/file.h"
#include "supple/io/text_scanner.h"
#include "supple/pipeline/bake_file.h"
#include "supple/pipeline/character/recipe_keys.h"
#include "supple/pipeline/toml_units.h"

#include <algorithm>

namespace supple {
namespace {

using Keys = std::vector<std::string_view>;

// ---- lists and files ------------------------------------------------------------------------------------------------

int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

/// `kind`: of what the names are, for whoever looks for it in the character.
void read_names(TomlReader& toml, const toml::table& table, std::string_view key, std::string_view kind,
                std::vector<std::string>& names, RecipeSource& source) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return;
  names.clear();
  const toml::array* list = node->as_array();
  bool good = list != nullptr;
  for (std::size_t k = 0; good && k < list->size(); ++k) {
    const auto* text = (*list)[k].as_string();
    good = text != nullptr && !text->get().empty();
    if (!good) break;
    names.push_back(text->get());
    source.note(kind, text->get(), line_of(*text));
  }
  if (!good) toml.fail(*node, fmt::format("\"{}\" must be a list of names, such as [\"one\", \"two\"]", key));
}

/// One name; see read_names().
void read_name(TomlReader& toml, const toml::table& table, std::string_view key, std::string_view kind,
               std::string& name, RecipeSource& source) {
  toml.read(table, key, name);
  if (!name.empty() && table.contains(key)) source.note(kind, name, line_of(*table.get(key)));
}

void read_path(TomlReader& toml, const toml::table& table, std::string_view key, const std::filesystem::path& folder,
               std::string& path) {
  toml.read(table, key, path);
  std::error_code unknown;
  if (!path.empty() && !std::filesystem::is_regular_file(folder / path, unknown))
    toml.fail(*table.get(key), fmt::format("\"{}\" names the file {}, which doesn't exist; paths are relative to "
                                           "the recipe's folder",
                                           key, path));
}

template <class T>
void read_pair(TomlReader& toml, const toml::table& table, std::string_view key, std::string_view what,
               std::optional<std::array<T, 2>>& pair) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return;
  const toml::array* list = node->as_array();
  std::array<T, 2> values{};
  bool good = list && list->size() == 2;
  for (std::size_t k = 0; good && k < 2; ++k) {
    const toml::node& entry = (*list)[k];
    const std::optional<T> number =
        std::is_integral_v<T> && !entry.is_integer() ? std::nullopt : entry.template value<T>();
    good = number && entry.is_number() && std::isfinite(static_cast<double>(*number));
    if (good) values[k] = *number;
  }
  if (good)
    pair = values;
  else
    toml.fail(*node, fmt::format("\"{}\" must be {}", key, what));
}

// ---- the sections ---------------------------------------------------------------------------------------------------

/// A recipe that says what the flesh is made of means all of it, unless it says otherwise.
void read_own_body(TomlReader& toml, const toml::table& root, const toml::table& body,
                   const std::filesystem::path& folder, Recipe& recipe) {
  read_path(toml, body, "mesh", folder, recipe.body_mesh);
  if (recipe.body_mesh.empty()) {
    if (body.contains("materials"))
      toml.fail(*body.get("materials"), "\"materials\" are those of a \"mesh\"; name one, or leave it out");
    return;
  }
  recipe.source.note("body", recipe.body_mesh, line_of(*body.get("mesh")));
  if (const toml::table* material = toml.table(root, "material"))
    for (const char* key : {"young", "frequency", "poisson", "density"})
      if (material->contains(key)) recipe.file_materials = false;
  if (const auto whose = toml.read_word(body, "materials", Keys{"mesh", "recipe"})) recipe.file_materials = *whose == 0;
}

void read_body(TomlReader& toml, const toml::table& root, const std::filesystem::path& folder, Recipe& recipe) {
  const toml::table* body = toml.table(root, "body");
  if (!body) return;
  toml.only_keys(*body, "[body]", recipe_keys_of("[body]"));
  read_own_body(toml, root, *body, folder, recipe);
  toml.read(*body, "tets", recipe.tets, TetMeshingOptions::min_tets);
  if (recipe.tets > TetMeshingOptions::max_tets)
    toml.fail(*body->get("tets"), fmt::format("\"tets\" must be at most {}", TetMeshingOptions::max_tets));
  toml.read(*body, "keep_separate", recipe.keep_separate);
  toml.read(*body, "graded", recipe.graded);
  read_names(toml, *body, "exclude", "mesh", recipe.exclude, recipe.source);
}

void read_paths(TomlReader& toml, const toml::table& table, std::string_view key, const std::filesystem::path& folder,
                std::vector<std::string>& paths, RecipeSource& source) {
  read_names(toml, table, key, key, paths, source);
  for (const std::string& path : paths)
    if (std::error_code unknown; !std::filesystem::is_regular_file(folder / path, unknown))
      toml.fail(*table.get(key), fmt::format("\"{}\" names the file {}, which doesn't exist; paths are relative to "
                                             "the recipe's folder",
                                             key, path));
}

void read_handles(TomlReader& toml, const toml::table& rig, const std::filesystem::path& folder, Recipe& recipe) {
  RecipeHandles& handles = recipe.handles;
  read_path(toml, rig, "handles", folder, handles.file);
  for (const char* key : {"weights", "motions", "rate"})
    if (rig.contains(key) && handles.file.empty())
      toml.fail(*rig.get(key), fmt::format("\"{}\" belongs to \"handles\"; name their file, or leave it out", key));
  if (handles.file.empty()) return;
  recipe.source.note("handles", handles.file, line_of(*rig.get("handles")));
  read_path(toml, rig, "weights", folder, handles.weights);
  read_paths(toml, rig, "motions", folder, handles.motions, recipe.source);
  read_between(toml, rig, "rate", "frames per second", 1, 1e4, handles.rate);
}

void read_rig(TomlReader& toml, const toml::table& root, const std::filesystem::path& folder, Recipe& recipe) {
  if (const toml::table* rig = toml.table(root, "rig")) {
    toml.only_keys(*rig, "[rig]", recipe_keys_of("[rig]"));
    read_handles(toml, *rig, folder, recipe);
    recipe.dual_quaternions = toml.read_word(*rig, "skinning", Keys{"linear", "dual_quaternion"}).value_or(0) == 1;
  }
  const toml::table* bones = toml.table(root, "bones");
  if (!bones) return;
  toml.only_keys(*bones, "[bones]", recipe_keys_of("[bones]"));
  read_between(toml, *bones, "radius", "a share of the body's diagonal", 0, 0.5, recipe.bone_radius);
  read_names(toml, *bones, "soft", "joint", recipe.soft, recipe.source);
  if (bones->contains("rigid")) read_names(toml, *bones, "rigid", "joint", recipe.rigid.emplace(), recipe.source);
  toml.read(*bones, "find_hard_parts", recipe.find_hard_parts);
}

void read_material(TomlReader& toml, const toml::table& root, RecipeMaterial& material) {
  const toml::table* table = toml.table(root, "material");
  if (!table) return;
  toml.only_keys(*table, "[material]", recipe_keys_of("[material]"));
  const Keys models{"linear", "corotational", "stvk", "neo_hookean", "stable_neo_hookean", "flesh"};
  if (const auto model = toml.read_word(*table, "model", models)) material.model = *material_model_from(models[*model]);
  if (table->contains("young") && table->contains("frequency"))
    toml.fail(*table->get("frequency"), "\"frequency\" is there to find \"young\"; leave one of them out");
  if (table->contains("young")) read_between(toml, *table, "young", "pascals", 1, 1e12, material.young.emplace(0.0));
  if (table->contains("frequency"))
    read_between(toml, *table, "frequency", "hertz", 0.01, 1e4, material.frequency.emplace(0.0));
  read_number(toml, *table, "poisson", "no unit", material.poisson);
  if (!(material.poisson > -1 && material.poisson <= highest_poisson))
    toml.fail(*table->get("poisson"),
              fmt::format("\"poisson\" must be greater than -1 and less than 0.5, at most {:g}", highest_poisson));
  read_between(toml, *table, "density", "kg/m³", 1, 1e5, material.density);
}

constexpr std::string_view quality_names[] = {"draft", "good", "final"};

/// A gain, or "5 %" of the height.
void read_amount(TomlReader& toml, const toml::table& table, RecipeFlesh& flesh) {
  const toml::node* amount = table.get("amount");
  if (amount == nullptr) return;
  const std::string text =
      amount->is_string() ? *amount->value<std::string>() : fmt::format("{}", amount->value<double>().value_or(-1));
  if (!set_amount(text, flesh))
    toml.fail(*amount, "\"amount\" is a gain from 0 to 20, or a share of the height such as \"5 %\", up to 50 %");
}

void read_flesh(TomlReader& toml, const toml::table& root, Recipe& recipe) {
  if (const toml::table* table = toml.table(root, "flesh")) {
    toml.only_keys(*table, "[flesh]", recipe_keys_of("[flesh]"));
    if (const auto feel = toml.read_word(*table, "feel", Keys{"subtle", "natural", "bouncy", "jelly"}))
      recipe.flesh.feel = static_cast<Feel>(*feel);
    read_amount(toml, *table, recipe.flesh);
    toml.read(*table, "limit", recipe.flesh.limit);
    toml.read(*table, "poses", recipe.flesh.poses, 0);
    if (recipe.flesh.poses > 64) toml.fail(*table->get("poses"), "\"poses\" must be at most 64");
    read_between(toml, *table, "angle", "degrees", 0, 90, recipe.flesh.angle);
    toml.read(*table, "fit", recipe.flesh.fit);
    std::string directions = recipe.flesh.directions == BasisDirections::world ? "world" : "rotating";
    toml.read(*table, "directions", directions);
    if (directions != "rotating" && directions != "world")
      toml.fail(*table->get("directions"), "\"directions\" must be \"rotating\" or \"world\"");
    recipe.flesh.directions = directions == "world" ? BasisDirections::world : BasisDirections::rotating;
    toml.read(*table, "local", recipe.flesh.local);
    toml.read(*table, "contact", recipe.flesh.contact);
    read_between(toml, *table, "friction", "a coefficient", 0, 10, recipe.flesh.friction);
    toml.read(*table, "inertia", recipe.flesh.inertia);
    if (const auto turns = toml.read_word(*table, "turns", Keys{"skin", "biharmonic"}))
      recipe.flesh.biharmonic = *turns == 1;
    std::string quality(to_string(recipe.flesh.quality));
    toml.read(*table, "quality", quality);
    const std::optional<Quality> known = quality_from(quality);
    if (!known) toml.fail(*table->get("quality"), "\"quality\" must be \"draft\", \"good\" or \"final\"");
    recipe.flesh.quality = known.value_or(Quality::good);
    toml.read(*table, "size", recipe.flesh.size, 0);
    if (recipe.flesh.size > 400) toml.fail(*table->get("size"), "\"size\" must be at most 400");
    if (table->contains("damping"))
      read_between(toml, *table, "damping", "a ratio", 0, 10, recipe.flesh.damping.emplace(0.0));
  }
  toml.tables(root, "region", [&](const toml::table& table) {
    toml.only_keys(table, "[[region]]", recipe_keys_of("[[region]]"));
    toml.require(table, "[[region]]", "joints");
    toml.require(table, "[[region]]", "softness");
    RecipeRegion& region = recipe.regions.emplace_back();
    read_names(toml, table, "joints", "joint", region.joints, recipe.source);
    read_between(toml, table, "softness", "a factor", 1e-3, 1e3, region.softness);
  });
}

constexpr double farthest_place = 1e9;  // [m]: beyond, nothing is a millimetre away from anything

void read_place(TomlReader& toml, const toml::table& table, std::string_view key, Vec3& place) {
  toml.read(table, key, place);
  if (table.contains(key) && !(place.cwiseAbs().maxCoeff() <= farthest_place))
    toml.fail(*table.get(key), fmt::format("\"{}\" must be at most {:g} m away", key, farthest_place));
}

void read_collider_mesh(TomlReader& toml, const toml::table& table, const std::filesystem::path& folder,
                        RecipeSource& source, Collider& collider) {
  collider.shape = Collider::Shape::mesh;
  read_path(toml, table, "mesh", folder, collider.mesh);
  read_between(toml, table, "scale", "metres per unit of the mesh", 1e-6, 1e6, collider.scale);
  for (const char* key : {"shape", "to", "normal", "size", "radius"})
    if (table.contains(key))
      toml.fail(*table.get(key), fmt::format("\"{}\" is of other colliders than a \"mesh\"; leave one out", key));
  source.note("collider", collider.mesh, line_of(*table.get("mesh")));
}

void read_collider_shape(TomlReader& toml, const toml::table& table, Collider& collider) {
  toml.require(table, "[[collider]]", "shape");
  const auto shape = toml.read_word(table, "shape", Keys{"plane", "sphere", "box", "capsule"});
  if (shape) collider.shape = static_cast<Collider::Shape>(*shape);
  read_place(toml, table, "to", collider.to);
  toml.read(table, "normal", collider.normal);
  toml.read(table, "size", collider.size);
  read_between(toml, table, "radius", "metres", 1e-6, 1e6, collider.radius);
  if (table.contains("scale")) toml.fail(*table.get("scale"), "\"scale\" is of a \"mesh\"; leave it out");
  if (const double length = collider.normal.norm(); !(length > 1e-9 && length < 1e9))
    toml.fail(*table.get("normal"), "\"normal\" must be a direction, such as [0, 1, 0]");
  if (!(collider.size.minCoeff() > 0 && collider.size.maxCoeff() <= farthest_place))
    toml.fail(*table.get("size"),
              fmt::format("\"size\" must be three lengths above zero, at most {:g} m", farthest_place));
  const auto needs = [&](Collider::Shape of, const char* key) {
    if (shape && collider.shape == of) toml.require(table, "[[collider]]", key);
  };
  needs(Collider::Shape::sphere, "radius");
  needs(Collider::Shape::capsule, "radius");
  needs(Collider::Shape::capsule, "to");
  needs(Collider::Shape::box, "size");
}

void read_colliders(TomlReader& toml, const toml::table& root, const std::filesystem::path& folder, Recipe& recipe) {
  toml.tables(root, "collider", [&](const toml::table& table) {
    toml.only_keys(table, "[[collider]]", recipe_keys_of("[[collider]]"));
    Collider& collider = recipe.colliders.emplace_back();
    read_place(toml, table, "at", collider.at);
    read_between(toml, table, "friction", "a coefficient", 0, 10, collider.friction);
    toml.read(table, "joint", collider.joint);
    if (table.contains("joint")) recipe.source.note("joint", collider.joint, line_of(*table.get("joint")));
    if (table.contains("mesh"))
      read_collider_mesh(toml, table, folder, recipe.source, collider);
    else
      read_collider_shape(toml, table, collider);
  });
}

/// Places in the list `node`, each three numbers.
bool read_places(const toml::node& node, std::vector<Vec3>& places) {
  const toml::array* list = node.as_array();
  if (list == nullptr) return false;
  for (const toml::node& entry : *list) {
    const toml::array* numbers = entry.as_array();
    if (numbers == nullptr || numbers->size() != 3) return false;
    Vec3& place = places.emplace_back();
    for (std::size_t k = 0; k < 3; ++k) {
      const toml::node& number = (*numbers)[k];
      if (!number.is_number() || !std::isfinite(*number.value<double>())) return false;
      place[static_cast<Eigen::Index>(k)] = *number.value<double>();
    }
  }
  return true;
}

void read_handle(TomlReader& toml, const toml::table& table, RecipeLocal& local) {
  if (const toml::node* points = table.get("points"); points && !read_places(*points, local.points))
    toml.fail(*points, "\"points\" must be a list of places in metres, such as [[0, 1.6, 0.1]]");
  const toml::node* segments = table.get("segments");
  if (segments == nullptr) return;
  bool good = segments->is_array();
  for (std::size_t k = 0; good && k < segments->as_array()->size(); ++k) {
    std::vector<Vec3> ends;
    good = read_places((*segments->as_array())[k], ends) && ends.size() == 2;
    if (good) local.segments.push_back({ends[0], ends[1]});
  }
  if (!good)
    toml.fail(*segments,
              "\"segments\" must be a list of pairs of places in metres, such as [[[0, 1, 0], [0, 1.5, 0]]]");
}

void read_locals(TomlReader& toml, const toml::table& root, Recipe& recipe) {
  toml.tables(root, "local", [&](const toml::table& table) {
    toml.only_keys(table, "[[local]]", recipe_keys_of("[[local]]"));
    toml.require(table, "[[local]]", "name");
    RecipeLocal local;
    read_name(toml, table, "name", "local", local.name, recipe.source);
    read_names(toml, table, "joints", "joint", local.joints, recipe.source);
    read_handle(toml, table, local);
    if (local.joints.empty() && local.points.empty() && local.segments.empty())
      toml.fail(table, "[[local]] needs \"joints\", \"points\" or \"segments\" to say where it is");
    toml.read(table, "modes", local.modes, 1);
    if (local.modes > 400) toml.fail(*table.get("modes"), "\"modes\" must be at most 400");
    for (const RecipeLocal& other : recipe.locals)
      if (other.name == local.name)
        toml.fail(table, fmt::format("two patches ([[local]]) are named \"{}\"", local.name));
    recipe.locals.push_back(std::move(local));
  });
  if (recipe.locals.empty()) return;
  const toml::table* flesh = toml.table(root, "flesh");
  if (flesh != nullptr && flesh->contains("local") && !recipe.flesh.local)
    toml.fail(*flesh->get("local"),
              "[[local]] names parts of the body, which \"local = false\" would not use; leave one out");
  recipe.flesh.local = true;
}

RecipePaint read_paint(TomlReader& toml, const toml::table& table, const std::filesystem::path& folder,
                       RecipeSource& source) {
  toml.only_keys(table, "[[paint]]", recipe_keys_of("[[paint]]"));
  toml.require(table, "[[paint]]", "quantity");
  RecipePaint paint;
  if (const auto quantity =
          toml.read_word(table, "quantity", Keys(std::begin(paint_quantity_names), std::end(paint_quantity_names))))
    paint.quantity = static_cast<PaintQuantity>(*quantity);
  if (table.contains("attribute") + table.contains("file") + table.contains("tets") != 1)
    toml.fail(table, "[[paint]] needs one of \"attribute\", \"file\" and \"tets\"");
  toml.read(table, "attribute", paint.attribute);
  if (table.contains("channel") && paint.attribute.empty())
    toml.fail(*table.get("channel"), "\"channel\" is for paint from an \"attribute\"");
  paint.channel = static_cast<int>(toml.read_word(table, "channel", Keys{"r", "g", "b", "a"}).value_or(0));
  read_path(toml, table, "file", folder, paint.file);
  read_path(toml, table, "tets", folder, paint.tets);
  if (!paint.tets.empty() && table.contains("smoothness"))
    toml.fail(*table.get("smoothness"), "\"smoothness\" is for paint on the skin, not on \"tets\"");
  toml.read(table, "pose", paint.pose);
  if (!paint.pose.empty() && (paint.quantity == PaintQuantity::fixity || paint.quantity == PaintQuantity::density))
    toml.fail(*table.get("pose"), "what is fixed and what it weighs is the same in all poses; leave \"pose\" out");
  read_pair(toml, table, "range", "two numbers, the values of paint 0 and paint 1, such as [1, 10]", paint.range);
  if (paint.range) {
    for (const double end : *paint.range)
      if (const Status status = check_quantity(paint.quantity, end); !status.ok())
        toml.fail(*table.get("range"), status.error().message);
  }
  read_between(toml, table, "smoothness", "a share of the body's diagonal", 1e-6, 100, paint.smoothness);
  for (const char* key : {"attribute", "file", "tets"})
    if (table.contains(key)) source.note("paint", paint_name(paint), line_of(*table.get(key)));
  return paint;
}

RecipePose read_pose(TomlReader& toml, const toml::table& table, RecipeSource& source) {
  toml.only_keys(table, "[[pose]]", recipe_keys_of("[[pose]]"));
  toml.require(table, "[[pose]]", "name");
  RecipePose pose;
  read_name(toml, table, "name", "pose", pose.name, source);
  read_name(toml, table, "clip", "clip", pose.clip, source);
  if (table.contains("time") != table.contains("clip"))
    toml.fail(table, "[[pose]] needs \"clip\" and \"time\" together, or neither for a pose that the file names");
  read_between(toml, table, "time", "seconds", 0, 1e6, pose.time);
  return pose;
}

RecipeMotion read_motion(TomlReader& toml, const toml::table& table, const std::filesystem::path& folder) {
  toml.only_keys(table, "[[motion]]", recipe_keys_of("[[motion]]"));
  toml.require(table, "[[motion]]", "file");
  RecipeMotion motion;
  read_path(toml, table, "file", folder, motion.file);
  toml.read(table, "name", motion.name);
  read_path(toml, table, "joint_map", folder, motion.joint_map);
  read_pair(toml, table, "frames", "two whole numbers, the first and the last frame", motion.frames);
  if (motion.frames && !((*motion.frames)[0] >= 0 && (*motion.frames)[0] < (*motion.frames)[1]))
    toml.fail(*table.get("frames"), "\"frames\" counts from 0, the first below the last");
  toml.read(table, "level_floor", motion.level_floor);
  if (!equals_ignoring_case(std::filesystem::path(motion.file).extension().string(), ".bvh")) {
    for (const char* key : {"name", "joint_map", "frames", "level_floor"})
      if (table.contains(key)) toml.fail(*table.get(key), fmt::format("\"{}\" is for BVH files", key));
  }
  return motion;
}

RecipeKeyframes read_keyframes(TomlReader& toml, const toml::table& table, RecipeSource& source) {
  toml.only_keys(table, "[[keyframes]]", recipe_keys_of("[[keyframes]]"));
  toml.require(table, "[[keyframes]]", "name");
  toml.require(table, "[[keyframes]]", "key");
  RecipeKeyframes clip;
  toml.read(table, "name", clip.name);
  constexpr Interpolation kinds[] = {Interpolation::step, Interpolation::linear, Interpolation::cubic};
  if (const auto kind = toml.read_word(table, "interpolation", Keys{"step", "linear", "cubic"}))
    clip.interpolation = kinds[*kind];
  toml.tables(table, "key", [&](const toml::table& entry) {
    toml.only_keys(entry, "[[keyframes.key]]", recipe_keys_of("[[keyframes.key]]"));
    toml.require(entry, "[[keyframes.key]]", "joint");
    toml.require(entry, "[[keyframes.key]]", "time");
    Keyframe& key = clip.keys.emplace_back();
    read_name(toml, entry, "joint", "joint", key.joint, source);
    read_between(toml, entry, "time", "seconds", 0, 1e6, key.time);
    read_vector(toml, entry, "rotation", "degrees", key.rotation_degrees);
    read_vector(toml, entry, "translation", "metres", key.translation);
    read_vector(toml, entry, "scale", "no unit", key.scale);
    if (!key.rotation_degrees && !key.translation && !key.scale)
      toml.fail(entry, "a key needs \"rotation\", \"translation\" or \"scale\"");
  });
  return clip;
}

/// The list `key` of numbers from 0 to 1.
void read_shares(TomlReader& toml, const toml::table& table, std::string_view key, std::vector<double>& shares) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return;
  const toml::array* list = node->as_array();
  bool good = list != nullptr;
  for (std::size_t k = 0; good && k < list->size(); ++k) {
    const toml::node& entry = (*list)[k];
    shares.push_back(entry.is_number() ? entry.value<double>().value_or(-1) : -1);
    good = shares.back() >= 0 && shares.back() <= 1;
  }
  if (!good) toml.fail(*node, fmt::format("\"{}\" must be a list of numbers from 0 to 1, such as [0.8, 0]", key));
}

void read_reach_keys(TomlReader& toml, const toml::table& table, RecipeReach& reach) {
  toml.tables(table, "key", [&](const toml::table& entry) {
    toml.only_keys(entry, "[[reach.key]]", recipe_keys_of("[[reach.key]]"));
    toml.require(entry, "[[reach.key]]", "time");
    toml.require(entry, "[[reach.key]]", "target");
    RecipeReachKey key;
    read_between(toml, entry, "time", "seconds", 0, 3600, key.time);
    std::optional<Vec3> target;
    read_vector(toml, entry, "target", "metres", target);
    key.target = target.value_or(Vec3::Zero());
    if (!reach.keys.empty() && entry.contains("time") && !(key.time > reach.keys.back().time))
      toml.fail(*entry.get("time"), fmt::format("keys of a reach stand in the order of their times, but {:g} s comes "
                                                "after {:g} s",
                                                key.time, reach.keys.back().time));
    reach.keys.push_back(key);
  });
  const toml::node* keys = table.get("key");
  if (keys != nullptr && reach.keys.empty()) toml.fail(*keys, "[[reach]] needs a [[reach.key]] at least");
}

void read_reaches(TomlReader& toml, const toml::table& root, Recipe& recipe) {
  toml.tables(root, "reach", [&](const toml::table& table) {
    toml.only_keys(table, "[[reach]]", recipe_keys_of("[[reach]]"));
    for (const char* key : {"name", "root", "tip", "key"}) toml.require(table, "[[reach]]", key);
    RecipeReach reach;
    toml.read(table, "name", reach.name);
    read_name(toml, table, "root", "joint", reach.root, recipe.source);
    read_name(toml, table, "tip", "joint", reach.tip, recipe.source);
    read_name(toml, table, "clip", "clip", reach.clip, recipe.source);
    read_between(toml, table, "rate", "frames per second", 1, 1000, reach.rate);
    read_shares(toml, table, "stiffness", reach.stiffness);
    read_vector(toml, table, "pole", "metres", reach.pole);
    if (reach.pole && !reach.stiffness.empty())
      toml.fail(*table.get("pole"), "\"pole\" is for two free bones, \"stiffness\" for chains; leave one of them out");
    read_reach_keys(toml, table, reach);
    for (const char* key : {"tip", "stiffness", "pole"})
      if (table.contains(key)) recipe.source.note(key, reach.name, line_of(*table.get(key)));
    for (const RecipeReach& other : recipe.reaches)
      if (other.name == reach.name) toml.fail(table, fmt::format("two reaches are named \"{}\"", reach.name));
    recipe.reaches.push_back(std::move(reach));
  });
}

void read_wires(TomlReader& toml, const toml::table& root, Recipe& recipe) {
  toml.tables(root, "wire", [&](const toml::table& table) {
    toml.only_keys(table, "[[wire]]", recipe_keys_of("[[wire]]"));
    toml.require(table, "[[wire]]", "name");
    toml.require(table, "[[wire]]", "handles");
    RecipeWire wire;
    read_name(toml, table, "name", "wire", wire.name, recipe.source);
    read_names(toml, table, "handles", "joint", wire.handles, recipe.source);
    if (table.contains("handles") && wire.handles.size() < 2)
      toml.fail(*table.get("handles"), "a wire needs two handles or more");
    for (const RecipeWire& other : recipe.wires)
      if (other.name == wire.name) toml.fail(table, fmt::format("two wires are named \"{}\"", wire.name));
    recipe.wires.push_back(std::move(wire));
  });
  if (!recipe.wires.empty() && recipe.dual_quaternions)
    toml.fail(*root.get("wire"), "wires take the place of skinning; leave [rig] skinning out");
}

void read_poses(TomlReader& toml, const toml::table& root, Recipe& recipe) {
  toml.tables(root, "pose", [&](const toml::table& table) {
    RecipePose pose = read_pose(toml, table, recipe.source);
    for (const RecipePose& other : recipe.poses)
      if (other.name == pose.name) toml.fail(table, fmt::format("two poses are named \"{}\"", pose.name));
    recipe.poses.push_back(std::move(pose));
  });
}

/// "joint" or "joints", "rotation" or "rotations": one of each kind.
void read_turns(TomlReader& toml, const toml::table& table, RecipeCorrection& correction, RecipeSource& source) {
  std::string joint;
  read_name(toml, table, "joint", "joint", joint, source);
  read_names(toml, table, "joints", "joint", correction.joints, source);
  std::optional<Vec3> rotation;
  read_vector(toml, table, "rotation", "degrees", rotation);
  if (const toml::node* node = table.get("rotations"); node && !read_places(*node, correction.rotations))
    toml.fail(*node, "\"rotations\" must be a list of angles in degrees, such as [[0, 0, 30], [0, 0, 90]]");
  for (const Vec3& turn : correction.rotations)
    if (turn.cwiseAbs().maxCoeff() > most_degrees)
      toml.fail(*table.get("rotations"), fmt::format("\"rotations\" are at most {:g} degrees", most_degrees));
  if (!joint.empty() && table.contains("joints"))
    toml.fail(*table.get("joints"), "[[correction]] has \"joint\" or \"joints\", not both");
  if (rotation && table.contains("rotations"))
    toml.fail(*table.get("rotations"), "[[correction]] has \"rotation\" or \"rotations\", not both");
  if (!joint.empty()) correction.joints = {joint};
  if (rotation) correction.rotations = {*rotation};
}

RecipeCorrection read_correction(TomlReader& toml, const toml::table& table, RecipeSource& source) {
  toml.only_keys(table, "[[correction]]", recipe_keys_of("[[correction]]"));
  toml.require(table, "[[correction]]", "target");
  RecipeCorrection correction;
  read_name(toml, table, "target", "morph target", correction.target, source);
  read_turns(toml, table, correction, source);
  read_name(toml, table, "clip", "clip", correction.clip, source);
  if (table.contains("time") != table.contains("clip"))
    toml.fail(table, "[[correction]] needs \"clip\" and \"time\" together");
  read_between(toml, table, "time", "seconds", 0, 1e6, correction.time);
  read_between(toml, table, "reach", "degrees", 0.1, 1000, correction.reach);
  if (!correction.clip.empty() && !correction.rotations.empty())
    toml.fail(table, "the pose of a [[correction]] is that of \"clip\" or that of rotations; leave one of them out");
  if (correction.clip.empty() && (correction.joints.empty() || correction.rotations.size() != correction.joints.size()))
    toml.fail(table,
              "[[correction]] needs the pose that it is for: \"joint\" and \"rotation\", as many \"joints\" as "
              "\"rotations\", or \"clip\" and \"time\"");
  return correction;
}

void read_corrections(TomlReader& toml, const toml::table& root, Recipe& recipe) {
  if (!root.contains("correction")) return;
  recipe.corrections.emplace();
  toml.tables(root, "correction", [&](const toml::table& table) {
    RecipeCorrection correction = read_correction(toml, table, recipe.source);
    for (const RecipeCorrection& other : *recipe.corrections)
      if (other.target == correction.target)
        toml.fail(table, fmt::format("two corrections have the target \"{}\"", correction.target));
    recipe.corrections->push_back(std::move(correction));
  });
}

void read_paints(TomlReader& toml, const toml::table& root, const std::filesystem::path& folder, Recipe& recipe) {
  toml.tables(root, "paint", [&](const toml::table& table) {
    const RecipePaint paint = read_paint(toml, table, folder, recipe.source);
    for (const RecipePaint& other : recipe.paints)
      if (other.quantity == paint.quantity && other.pose == paint.pose)
        toml.fail(table, fmt::format("{} is painted twice", paint_name(paint)));
    recipe.paints.push_back(paint);
    const bool known = std::any_of(recipe.poses.begin(), recipe.poses.end(),
                                   [&](const RecipePose& pose) { return pose.name == paint.pose; });
    if (!paint.pose.empty() && !known)
      toml.fail(*table.get("pose"), fmt::format("there is no [[pose]] named \"{}\"", paint.pose));
  });
}

}  // namespace

std::string paint_name(const RecipePaint& paint) {
  const std::string quantity(paint_quantity_names[to_size(paint.quantity)]);
  return paint.pose.empty() ? quantity : fmt::format("{} in the pose \"{}\"", quantity, paint.pose);
}

void RecipeSource::note(std::string_view kind, std::string_view name, int line) {
  lines.try_emplace(fmt::format("{} {}", kind, name), line);
}

std::string RecipeSource::place(std::string_view kind, std::string_view name, const std::string& otherwise) const {
  const auto found = lines.find(fmt::format("{} {}", kind, name));
  return found == lines.end() ? otherwise : fmt::format("{}, line {}", file, found->second);
}

void Recipe::apply(const FleshSettings& settings) {
  if (settings.frequency) {
    material.frequency = *settings.frequency;
    material.young.reset();
    file_materials = false;
  }
  flesh.quality = quality_from(settings.quality).value_or(flesh.quality);
  if (settings.damping) flesh.damping = *settings.damping;
  flesh.feel = feel_from(settings.feel).value_or(flesh.feel);
  if (!settings.amount.empty()) set_amount(settings.amount, flesh);
  if (!settings.limit) flesh.limit = false;
  if (settings.coordinates) flesh.size = *settings.coordinates;
  if (settings.tets) tets = *settings.tets;
}

TetMeshingOptions Recipe::meshing() const {
  TetMeshingOptions options;
  options.tets = tets;
  options.keep_separate = keep_separate;
  options.graded = graded;
  return options;
}

BoneSettings Recipe::bones() const {
  return {bone_radius, soft, rigid.value_or(std::vector<std::string>{}), find_hard_parts};
}

bool set_amount(std::string_view text, RecipeFlesh& flesh) {
  const bool percent = text.find('%') != text.npos;
  const std::string number(text.substr(0, text.find('%')));
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  while (end != nullptr && *end == ' ') ++end;
  if (number.empty() || *end != '\0' || !(value >= 0)) return false;
  if (percent ? !(value > 0 && value <= 50) : value > 20) return false;
  flesh.amount = percent ? 1 : value;
  flesh.share = percent ? value / 100 : 0;
  return true;
}

std::string_view to_string(Quality quality) { return quality_names[to_size(static_cast<int>(quality))]; }

std::optional<Quality> quality_from(std::string_view name) {
  const auto found = std::find(std::begin(quality_names), std::end(quality_names), name);
  if (found == std::end(quality_names)) return {};
  return static_cast<Quality>(found - std::begin(quality_names));
}

ElasticMaterial Recipe::base_material(double size) const {
  const double young =
      material.young.value_or(young_for_frequency(wanted_frequency(*this), size, material.poisson, material.density));
  return {"flesh", young, material.poisson, material.density};
}

double young_for_frequency(double frequency, double size, double poisson, double density) {
  const double wave_speed = 4 * (0.1 * size) * frequency;
  return 2 * (1 + poisson) * density * wave_speed * wave_speed;
}

Result<Recipe> parse_recipe(std::string_view text, const std::string& name, const std::filesystem::path& folder) {
  TomlReader toml(name);
  const toml::table* parsed = toml.parse(text);
  if (!parsed) return toml.error();
  const toml::table& root = *parsed;
  Recipe recipe;
  recipe.source.file = name;
  toml.only_keys(root, "a recipe", recipe_keys_of(""));
  toml.require(root, "a recipe", "input");
  read_path(toml, root, "input", folder, recipe.input);
  read_between(toml, root, "scale", "metres per unit of the input", 1e-6, 1e6, recipe.scale);
  if (root.contains("clips")) read_names(toml, root, "clips", "clip", recipe.clips.emplace(), recipe.source);
  read_body(toml, root, folder, recipe);
  read_rig(toml, root, folder, recipe);
  read_wires(toml, root, recipe);
  read_material(toml, root, recipe.material);
  read_flesh(toml, root, recipe);
  read_colliders(toml, root, folder, recipe);
  read_locals(toml, root, recipe);
  read_poses(toml, root, recipe);
  read_corrections(toml, root, recipe);
  read_paints(toml, root, folder, recipe);
  toml.tables(root, "motion",
              [&](const toml::table& table) { recipe.motions.push_back(read_motion(toml, table, folder)); });
  toml.tables(root, "keyframes", [&](const toml::table& table) {
    recipe.keyframes.push_back(read_keyframes(toml, table, recipe.source));
  });
  read_reaches(toml, root, recipe);
  SUPPLE_RETURN_IF_ERROR(toml);
  return recipe;
}

bool looks_like_recipe(std::string_view text) {
  TomlReader toml("text");
  const toml::table* root = toml.parse(text);
  return root != nullptr && root->contains("input");
}

Result<Recipe> load_recipe(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path);
  SUPPLE_RETURN_IF_ERROR(text);
  return parse_recipe(*text, path.string(), path.parent_path());
}

}  // namespace supple
