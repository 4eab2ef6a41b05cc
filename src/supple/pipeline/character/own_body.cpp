// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/own_body.h"

#include <fmt/format.h>

#include "supple/io/mesh/mesh_file.h"
#include "supple/offline/fitting/own_tetrahedra.h"

#include <algorithm>

namespace supple {
namespace {

/// Readers give this material to elements of which the file says nothing.
bool is_unsaid(const ElasticMaterial& material) {
  const ElasticMaterial& unsaid = default_material();
  return material.name == unsaid.name && material.young == unsaid.young && material.poisson == unsaid.poisson &&
         material.density == unsaid.density;
}

Result<TetMesh> tetrahedra_of(LoadedMesh loaded, const std::string& name) {
  if (auto* mesh = std::get_if<TetMesh>(&loaded.mesh)) return std::move(*mesh);
  if (std::holds_alternative<HexMesh>(loaded.mesh))
    return input_error(
        fmt::format("{}: the file holds bricks, but a character's body is made of tetrahedra; split each "
                    "brick, or leave \"mesh\" out",
                    name));
  return input_error(
      fmt::format("{}: the file holds a surface without tetrahedra; fill it with \"supple mesh\", or "
                  "leave \"mesh\" out, which does the same",
                  name));
}

}  // namespace

Result<OwnBody> load_own_body(const Recipe& recipe, const std::filesystem::path& folder) {
  Result<LoadedMesh> loaded = load_mesh(folder / recipe.body_mesh);
  SUPPLE_RETURN_IF_ERROR(loaded);
  OwnBody own;
  own.name = recipe.source.place("body", recipe.body_mesh, recipe.body_mesh);
  if (own.name != recipe.body_mesh) own.name += ": " + recipe.body_mesh;
  own.warnings = std::move(loaded->warnings);
  Result<TetMesh> mesh = tetrahedra_of(std::move(*loaded), own.name);
  SUPPLE_RETURN_IF_ERROR(mesh);
  own.mesh = std::move(*mesh);
  drop_loose_vertices(own.mesh);
  for (Vec3& x : own.mesh.vertices) x *= recipe.scale;
  SUPPLE_RETURN_IF_ERROR(check_tetrahedra(own.mesh, own.name));
  return own;
}

std::vector<PaintedQuantity> file_materials(const TetMesh& mesh, const ElasticMaterial& base) {
  if (std::all_of(mesh.materials.begin(), mesh.materials.end(), is_unsaid)) return {};
  std::vector<PaintedQuantity> paints = {
      {PaintQuantity::young, {}}, {PaintQuantity::poisson, {}}, {PaintQuantity::density, {}}};
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const ElasticMaterial& material = is_unsaid(mesh.material_of(e)) ? base : mesh.material_of(e);
    paints[0].values.push_back(material.young);
    paints[1].values.push_back(std::min(material.poisson, 0.499));
    paints[2].values.push_back(material.density);
  }
  return paints;
}

}  // namespace supple
