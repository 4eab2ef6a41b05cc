// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/plant/plant_source.h"

#include <fmt/format.h>

#include "supple/export/baked_mark.h"
#include "supple/io/gltf/read_character.h"
#include "supple/io/gltf/rest_surface.h"
#include "supple/io/gltf/write_character.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/mesh/bounds.h"

#include <Eigen/Geometry>

#include <numbers>

namespace supple {
namespace {

/// A document of a surface; z up is turned to y by the node.
Result<GltfDocument> document_of(const Surface& surface, const std::string& name, std::optional<char> up) {
  RawCharacter character;
  character.name = name;
  Joint joint;
  joint.name = name;
  const Vec3 size = bounds_of(surface.vertices).size();
  if (up.value_or(size.z() > size.y() ? 'z' : 'y') == 'z')
    joint.rest.rotation = Quat(Eigen::AngleAxisd(-std::numbers::pi / 2, Vec3::UnitX()));
  character.skeleton.joints.push_back(joint);
  CharacterMesh mesh;
  mesh.name = name;
  mesh.surface.vertices = surface.vertices;
  mesh.surface.triangles = surface.triangles;
  character.meshes.push_back(std::move(mesh));
  return character_document(character);
}

Result<GltfDocument> read_document(const std::filesystem::path& path, std::optional<char> up) {
  const std::string extension = path.extension().string();
  if (extension == ".glb" || extension == ".gltf" || extension == ".GLB" || extension == ".GLTF")
    return load_gltf(path);
  const Result<LoadedMesh> loaded = load_mesh(path);
  SUPPLE_RETURN_IF_ERROR(loaded);
  const auto* surface = std::get_if<Surface>(&loaded->mesh);
  if (surface == nullptr)
    return input_error(fmt::format("{} holds a solid; plants are baked from surfaces", path.string()));
  return document_of(*surface, path.stem().string(), up);
}

}  // namespace

Result<PlantSource> load_plant(const std::filesystem::path& path) {
  Result<PlantRecipe> recipe = load_plant_recipe(path);
  SUPPLE_RETURN_IF_ERROR(recipe);
  PlantSource source;
  source.recipe = std::move(*recipe);
  const bool given = path.extension() == ".toml";
  const std::filesystem::path input = given ? path.parent_path() / source.recipe.input : path;
  Result<GltfDocument> document = read_document(input, source.recipe.up);
  SUPPLE_RETURN_IF_ERROR(document);
  if (is_baked(*document))
    return input_error(fmt::format("{} has soft motion already; bake the file that it was made from", input.string()));
  source.document = std::move(*document);
  Result<RawCharacter> character = read_character(source.document, {.require_skin = false});
  SUPPLE_RETURN_IF_ERROR(character);
  source.character = std::move(*character);
  for (const CharacterMesh& mesh : source.character.meshes)
    if (mesh.skin >= 0)
      return input_error(
          fmt::format("{} has a skin: it is a character, not a plant; leave [plant] out", input.string()));
  Result<Surface> surface = rest_surface(source.character);
  SUPPLE_RETURN_IF_ERROR(surface);
  source.surface = std::move(*surface);
  for (Vec3& v : source.surface.vertices) v *= source.recipe.scale;
  if (source.recipe.base) {
    Result<BaseMotion> base = BaseMotion::load(*source.recipe.base, path.parent_path(), source.recipe.scale);
    SUPPLE_RETURN_IF_ERROR(base);
    source.recipe.body.base = base->place();
    source.base = std::move(*base);
  }
  return source;
}

}  // namespace supple
