// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/plant/plant_source.h"

#include <fmt/format.h>

#include "supple/export/baked_mark.h"
#include "supple/io/gltf/read_character.h"
#include "supple/io/gltf/rest_surface.h"
#include "supple/io/gltf/write_character.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/mesh/bounds.h"
#include "supple/offline/domains/surface_pieces.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <numbers>

namespace supple {
namespace {

/// Which of y and z is up, for a file that doesn't say. Many pieces that all stand on one side, or a sheet that lies
/// under everything, tell; so does a plant that is much longer one way. Otherwise it is what such files usually have.
char likely_up(const Surface& surface, bool usually_z) {
  const Bounds all = bounds_of(surface.vertices);
  const Vec3 size = all.size();
  const std::vector<SurfacePiece> pieces = find_pieces(surface, 1e-6 * size.norm());
  const auto lies_low = [&](const SurfacePiece& piece, Eigen::Index axis) {
    constexpr double near = 0.03;
    return piece.bounds.min[axis] <= all.min[axis] + near * size[axis];
  };
  const auto stand_on = [&](Eigen::Index axis) {
    constexpr std::ptrdiff_t many = 8;
    const auto low = [&](const SurfacePiece& piece) { return lies_low(piece, axis); };
    return std::ssize(pieces) >= many && 2 * std::count_if(pieces.begin(), pieces.end(), low) >= std::ssize(pieces);
  };
  if (const bool y = stand_on(1), z = stand_on(2); y != z) return y ? 'y' : 'z';
  const auto has_sheet = [&](Eigen::Index axis) {
    constexpr double thin = 1e-3, wide = 0.8;
    return pieces.size() > 1 && std::any_of(pieces.begin(), pieces.end(), [&](const SurfacePiece& piece) {
             const Vec3 extent = piece.bounds.size();
             bool covers = lies_low(piece, axis) && extent[axis] < thin * size.norm();
             for (Eigen::Index k = 0; k < 3; ++k) covers &= k == axis || extent[k] > wide * size[k];
             return covers;
           });
  };
  if (const bool y = has_sheet(1), z = has_sheet(2); y != z) return y ? 'y' : 'z';
  constexpr double much_longer = 4.0 / 3;
  if (size.z() > much_longer * size.y()) return 'z';
  if (size.y() > much_longer * size.z()) return 'y';
  return usually_z ? 'z' : 'y';
}

/// A document of a surface; z up is turned to y by the node.
Result<GltfDocument> document_of(const Surface& surface, const std::string& name, char up) {
  RawCharacter character;
  character.name = name;
  Joint joint;
  joint.name = name;
  if (up == 'z') joint.rest.rotation = Quat(Eigen::AngleAxisd(-std::numbers::pi / 2, Vec3::UnitX()));
  character.skeleton.joints.push_back(joint);
  CharacterMesh mesh;
  mesh.name = name;
  mesh.surface.vertices = surface.vertices;
  mesh.surface.triangles = surface.triangles;
  character.meshes.push_back(std::move(mesh));
  return character_document(character);
}

Result<GltfDocument> read_document(const std::filesystem::path& path, std::optional<char>& up) {
  const std::string extension = path.extension().string();
  if (extension == ".glb" || extension == ".gltf" || extension == ".GLB" || extension == ".GLTF") {
    up.reset();  // y, always
    return load_gltf(path);
  }
  const Result<LoadedMesh> loaded = load_mesh(path);
  SUPPLE_RETURN_IF_ERROR(loaded);
  const auto* surface = std::get_if<Surface>(&loaded->mesh);
  if (surface == nullptr)
    return input_error(fmt::format("{} holds a solid; plants are baked from surfaces", path.string()));
  if (!up) up = likely_up(*surface, extension != ".obj" && extension != ".OBJ");
  return document_of(*surface, path.stem().string(), *up);
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
