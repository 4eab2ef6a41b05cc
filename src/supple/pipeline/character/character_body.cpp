// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/character_body.h"

#include <fmt/format.h>

#include "supple/offline/painting/paint_sources.h"
#include "supple/pipeline/character/own_body.h"

#include <algorithm>

namespace supple {
namespace {

/// The same error, with the line of the recipe that asks for the paint.
Error at_paint(const Recipe& recipe, const RecipePaint& paint, Error error) {
  error.message = fmt::format("{}: {}", recipe.source.place("paint", paint_name(paint), "the recipe"), error.message);
  return error;
}

Result<std::vector<double>> skin_paint(const RecipePaint& paint, const std::filesystem::path& folder,
                                       const RawCharacter& character) {
  return paint.file.empty() ? paint_from_attribute(character, paint.attribute, paint.channel)
                            : load_paint(character, folder / paint.file);
}

Result<std::vector<double>> carried_paint(const RecipePaint& paint, const std::filesystem::path& folder,
                                          const RawCharacter& character, const EmbeddedBody& body) {
  if (!paint.tets.empty()) return load_tet_paint(folder / paint.tets, body.mesh.elements.size());
  const Result<std::vector<double>> skin = skin_paint(paint, folder, character);
  SUPPLE_RETURN_IF_ERROR(skin);
  return carry_paint(body.mesh, body.skin, body.embedding, *skin, {paint.smoothness});
}

Result<std::vector<double>> painted_values(const RecipePaint& paint, const std::filesystem::path& folder,
                                           const RawCharacter& character, const EmbeddedBody& body) {
  const Result<std::vector<double>> carried = carried_paint(paint, folder, character, body);
  SUPPLE_RETURN_IF_ERROR(carried);
  return to_quantity(paint.quantity, *carried, paint.range);
}

double value_in(const ElasticMaterial& material, PaintQuantity quantity) {
  switch (quantity) {
    case PaintQuantity::young:
      return material.young;
    case PaintQuantity::poisson:
      return material.poisson;
    case PaintQuantity::density:
      return material.density;
    default:
      return 1;
  }
}

void hold_more(std::span<const Index> more, std::vector<Index>& fixed) {
  std::vector<Index> all;
  std::set_union(fixed.begin(), fixed.end(), more.begin(), more.end(), std::back_inserter(all));
  fixed = std::move(all);
}

using NamedPaint = std::pair<std::string, std::vector<double>>;

Status add_pose_paint(const Recipe& recipe, PaintQuantity quantity, std::span<const PaintedQuantity> everywhere,
                      const std::vector<NamedPaint>& painted, CharacterBody& result) {
  if (painted.empty()) return {};
  std::vector<double> neutral(result.body.mesh.elements.size(), value_in(result.base, quantity));
  for (const PaintedQuantity& paint : everywhere)
    if (paint.quantity == quantity) neutral = paint.values;
  std::vector<std::string> names;
  for (const RecipePose& pose : recipe.poses) names.push_back(pose.name);
  if (recipe.corrections)
    for (const RecipeCorrection& correction : *recipe.corrections) names.push_back(correction.target);
  Result<PosePaint> made = make_pose_paint(names, neutral, painted);
  SUPPLE_RETURN_IF_ERROR(made);
  result.pose_paints.emplace_back(quantity, std::move(*made));
  return {};
}

Result<std::vector<Index>> joints_of(const Recipe& recipe, const RecipeRegion& region, const Skeleton& skeleton) {
  std::vector<Index> joints;
  for (const std::string& name : region.joints) {
    joints.push_back(find_joint(skeleton, name));
    if (joints.back() < 0) return no_such_thing(recipe, "joint", name, skeleton.joints);
  }
  return joints;
}

/// A region for each material of the tetrahedra that somebody brought.
std::vector<BodyRegion> regions_of_file(const TetMesh& mesh) {
  std::vector<BodyRegion> regions;
  if (mesh.materials.size() < 2) return regions;
  for (const ElasticMaterial& material : mesh.materials)
    regions.push_back({material.name, std::vector<double>(mesh.elements.size(), 0.0)});
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) regions[to_size(mesh.element_material[e])].share[e] = 1;
  return regions;
}

/// Softness of regions, multiplied into what was painted.
Status apply_regions(const Recipe& recipe, const RawCharacter& character, CharacterBody& result,
                     std::vector<PaintedQuantity>& everywhere) {
  const EmbeddedBody& body = result.body;
  for (const RecipeRegion& region : recipe.regions) {
    const Result<std::vector<Index>> joints = joints_of(recipe, region, character.skeleton);
    SUPPLE_RETURN_IF_ERROR(joints);
    Result<std::vector<double>> carried =
        carry_paint(body.mesh, body.skin, body.embedding, share_of_joints(character, *joints));
    SUPPLE_RETURN_IF_ERROR(carried);
    multiply_softness(region.softness, *carried, everywhere);
    result.regions.push_back(
        {fmt::format("{}: softness {:g}", fmt::join(region.joints, ", "), region.softness), std::move(*carried)});
  }
  return {};
}

Status apply_paints(const Recipe& recipe, const std::filesystem::path& folder, const RawCharacter& character,
                    CharacterBody& result) {
  std::vector<PaintedQuantity> everywhere;
  if (!recipe.body_mesh.empty()) result.regions = regions_of_file(result.body.mesh);
  if (!recipe.body_mesh.empty() && recipe.file_materials) everywhere = file_materials(result.body.mesh, result.base);
  result.file_materials = !everywhere.empty();
  std::map<PaintQuantity, std::vector<NamedPaint>> in_poses;
  for (const RecipePaint& paint : recipe.paints) {
    Result<std::vector<double>> values = painted_values(paint, folder, character, result.body);
    if (!values.ok()) return at_paint(recipe, paint, values.error());
    if (!paint.pose.empty())
      in_poses[paint.quantity].emplace_back(paint.pose, std::move(*values));
    else if (paint.quantity == PaintQuantity::fixity)
      hold_more(vertices_fixed_by(result.body.mesh, *values), result.body.fixed_vertices);
    else
      everywhere.push_back({paint.quantity, std::move(*values)});
  }
  // Before regions: what is painted in a pose replaces paint, and regions soften whatever is painted.
  for (const auto& [quantity, painted] : in_poses)
    SUPPLE_RETURN_IF_ERROR(add_pose_paint(recipe, quantity, everywhere, painted, result));
  SUPPLE_RETURN_IF_ERROR(apply_regions(recipe, character, result, everywhere));
  paint_materials(result.body.mesh, result.base, everywhere);
  return {};
}

}  // namespace

std::vector<ElasticMaterial> materials_in_pose(const CharacterBody& body, const TetMesh& tuned, std::size_t pose) {
  std::vector<ElasticMaterial> materials;
  if (body.pose_paints.empty()) return materials;
  for (std::size_t e = 0; e < tuned.elements.size(); ++e) {
    ElasticMaterial& own = materials.emplace_back(tuned.material_of(e));
    for (const auto& [quantity, paint] : body.pose_paints) {
      const auto row = static_cast<Eigen::Index>(e);
      const double here = paint.values(row, static_cast<Eigen::Index>(pose)), neutral = paint.neutral[row];
      if (quantity == PaintQuantity::young) own.young *= here / neutral;
      if (quantity == PaintQuantity::softness) own.young *= neutral / here;
      if (quantity == PaintQuantity::poisson) own.poisson = here;
    }
  }
  return materials;
}

Status check_paints(const Recipe& recipe, const std::filesystem::path& folder, const RawCharacter& character) {
  for (const RecipePaint& paint : recipe.paints) {
    if (!paint.tets.empty()) continue;
    const Result<std::vector<double>> skin = skin_paint(paint, folder, character);
    if (!skin.ok()) return at_paint(recipe, paint, skin.error());
  }
  return {};
}

Result<CharacterBody> make_body(const CharacterSource& source, Progress& progress, StageStore& store) {
  const Recipe& recipe = source.recipe;
  EmbedSettings settings;
  settings.meshing = recipe.meshing();
  settings.bones = recipe.bones();
  settings.store = &store;
  std::vector<std::string> warnings;
  if (!recipe.body_mesh.empty()) {
    Result<OwnBody> own = load_own_body(recipe, source.folder);
    SUPPLE_RETURN_IF_ERROR(own);
    for (Vec3& x : own->mesh.vertices) x -= source.place;
    settings.own = {std::move(own->mesh), std::move(own->name)};
    warnings = std::move(own->warnings);
  }
  Result<EmbeddedBody> body = embed_character(source.character, source.rig, settings, progress);
  SUPPLE_RETURN_IF_ERROR(body);
  body->warnings.insert(body->warnings.begin(), warnings.begin(), warnings.end());
  CharacterBody result{.body = std::move(*body), .base = {}, .pose_paints = {}, .regions = {}};
  result.base = recipe.base_material(result.body.extent());
  SUPPLE_RETURN_IF_ERROR(apply_paints(recipe, source.folder, source.character, result));
  return result;
}

bool tunes_stiffness(const Recipe& recipe) {
  return !recipe.material.young &&
         std::none_of(recipe.paints.begin(), recipe.paints.end(),
                      [](const RecipePaint& paint) { return paint.quantity == PaintQuantity::young; });
}

}  // namespace supple
