// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/scene_mesh.h"

#include <fmt/format.h>

#include "supple/asset/archive.h"
#include "supple/asset/asset_file.h"
#include "supple/base/nearest_name.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/io/mesh/vertex_selection.h"
#include "supple/mesh/box.h"
#include "supple/mesh/material_regions.h"
#include "supple/mesh/triangle_tree.h"

#include <algorithm>

namespace supple {
namespace {

// ---- materials ------------------------------------------------------------------------------------------------------

void apply(const SceneMaterial& change, ElasticMaterial& material) {
  if (change.young) material.young = *change.young;
  if (change.poisson) material.poisson = *change.poisson;
  if (change.density) material.density = *change.density;
}

template <int Nodes>
void ensure_material_per_element(VolumeMesh<Nodes>& mesh) {
  if (mesh.materials.empty()) mesh.materials.push_back(default_material());
  if (mesh.element_material.empty()) mesh.element_material.assign(mesh.elements.size(), 0);
}

Error unknown_set(const SceneRegion& region, std::span<const ElementSet> sets) {
  std::vector<std::string_view> names;
  for (const ElementSet& set : sets) names.push_back(set.name);
  const std::string_view near = nearest_name(region.set, names);
  const std::string hint = names.empty()  ? "the mesh has none"
                           : near.empty() ? fmt::format("the mesh has {}", fmt::join(names, ", "))
                                          : fmt::format("did you mean \"{}\"?", near);
  return input_error(fmt::format("there is no element set \"{}\"; {}", region.set, hint));
}

constexpr std::string_view painted_by = "paint:";

/// Elements for which the nearest vertex of the nearest triangle of the surface is painted.
Result<ElementSet> painted_elements(const std::string& words, const std::vector<Vec3>& centres,
                                    const Surface* surface) {
  if (surface == nullptr) return input_error("\"paint:\" is for bodies that are made around a surface, with [voxels]");
  const Result<std::vector<Index>> painted =
      painted_vertices(*surface, std::string_view(words).substr(painted_by.size()));
  SUPPLE_RETURN_IF_ERROR(painted);
  const TriangleTree tree(*surface);
  ElementSet set{words, {}};
  for (std::size_t e = 0; e < centres.size(); ++e) {
    const TriangleTree::Nearest nearest = tree.nearest(centres[e]);
    if (nearest.triangle < 0) continue;
    const Triangle& corners = surface->triangles[to_size(nearest.triangle)];
    const Index corner = *std::min_element(corners.begin(), corners.end(), [&](Index a, Index b) {
      return (surface->vertices[to_size(a)] - nearest.point).norm() <
             (surface->vertices[to_size(b)] - nearest.point).norm();
    });
    if (std::binary_search(painted->begin(), painted->end(), corner)) set.elements.push_back(static_cast<Index>(e));
  }
  if (set.elements.empty()) return input_error(fmt::format("\"{}\" is the nearest paint of no element", words));
  return set;
}

/// The elements of a region, and what it is called.
template <int Nodes>
Result<ElementSet> region_elements(const SceneRegion& region, const Scene& scene, const VolumeMesh<Nodes>& mesh,
                                   const Surface* surface_of_mesh) {
  if (!region.set.empty()) {
    const auto set = std::find_if(mesh.sets.begin(), mesh.sets.end(),
                                  [&](const ElementSet& candidate) { return candidate.name == region.set; });
    if (set == mesh.sets.end()) return unknown_set(region, mesh.sets);
    return *set;
  }
  if (!region.select.empty()) {
    std::vector<Vec3> centres;
    for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
      Vec3 sum = Vec3::Zero();
      for (const Index v : mesh.elements[e]) sum += mesh.vertices[to_size(v)];
      centres.push_back(sum / Nodes);
    }
    if (region.select.starts_with(painted_by)) return painted_elements(region.select, centres, surface_of_mesh);
    Result<std::vector<Index>> chosen = select_vertices(region.select, centres, scene.folder);
    SUPPLE_RETURN_IF_ERROR(chosen);
    return ElementSet{region.select, std::move(*chosen)};
  }
  Result<LoadedMesh> closed = load_mesh(region.surface);
  SUPPLE_RETURN_IF_ERROR(closed);
  const auto* surface = std::get_if<Surface>(&closed->mesh);
  if (!surface) return input_error(fmt::format("{} is not a surface", region.surface.string()));
  std::vector<Index> inside = elements_in(mesh, *surface);
  if (inside.empty()) return input_error(fmt::format("no element's centre is inside {}", region.surface.string()));
  return ElementSet{region.surface.stem().string(), std::move(inside)};
}

// Elements of the region get copies of their materials with its changes.
template <int Nodes>
Status apply_region(const SceneRegion& region, const Scene& scene, VolumeMesh<Nodes>& mesh, const Surface* surface) {
  const Result<ElementSet> chosen = region_elements(region, scene, mesh, surface);
  SUPPLE_RETURN_IF_ERROR(chosen);
  const std::string& name = chosen->name;
  ensure_material_per_element(mesh);
  std::vector<Index> changed(mesh.materials.size(), -1);
  for (const Index element : chosen->elements) {
    Index& material = mesh.element_material[to_size(element)];
    Index& copy = changed[to_size(material)];
    if (copy < 0) {
      copy = static_cast<Index>(mesh.materials.size());
      ElasticMaterial made = mesh.materials[to_size(material)];
      made.name = fmt::format("{} in {}", made.name, name);
      apply(region.material, made);
      mesh.materials.push_back(std::move(made));
    }
    material = copy;
  }
  return {};
}

Status apply_materials(const Scene& scene, SceneMesh& mesh) {
  override_materials(mesh.solid, scene.material);
  const Surface* surface = mesh.surface ? &*mesh.surface : nullptr;
  for (const SceneRegion& region : scene.regions) {
    const Status status = std::visit([&](auto& m) { return apply_region(region, scene, m, surface); }, mesh.solid);
    if (!status.ok()) return in_scene(scene, "[[region]]", status.error());
  }
  return {};
}

SolidMesh make_box(const SceneBox& box) {
  if (box.bricks) return make_hex_box(box.size, box.cells);
  return make_tet_box(box.size, box.cells);
}

// ---- bodies ---------------------------------------------------------------------------------------------------------

Result<SolidMesh> solid_of(LoadedMesh loaded, const std::filesystem::path& path) {
  if (auto* tets = std::get_if<TetMesh>(&loaded.mesh)) return SolidMesh(std::move(*tets));
  if (auto* bricks = std::get_if<HexMesh>(&loaded.mesh)) return SolidMesh(std::move(*bricks));
  return input_error(
      fmt::format("{} is a surface without an inside; a solid mesh is needed, of tetrahedra or bricks (.veg, .msh, "
                  ".mesh, .node), or [voxels] in the scene",
                  path.string()));
}

/// Bricks around the surface, which rides on them.
Result<SceneMesh> voxel_mesh(const Scene& scene, Surface surface) {
  Result<VoxelBody> bricks = voxelize(surface, *scene.voxels);
  SUPPLE_RETURN_IF_ERROR(bricks);
  Result<Embedding> embedding = embed(bricks->mesh, surface.vertices);
  SUPPLE_RETURN_IF_ERROR(embedding);
  SceneMesh mesh;
  if (bricks->dropped_bricks > 0) {
    mesh.warnings.push_back(
        fmt::format("the surface makes {} separate pieces, of which only the largest is kept; a lower "
                    "resolution may join them",
                    bricks->pieces));
  }
  mesh.solid = std::move(bricks->mesh);
  mesh.embedding = std::move(*embedding);
  mesh.surface = std::move(surface);
  return mesh;
}

template <int Nodes>
SolidMesh mesh_inside(const SubspaceModel& model) {
  VolumeMesh<Nodes> mesh;
  mesh.vertices = model.rest_positions;
  mesh.elements.resize(to_size(model.element_count()));
  for (std::size_t k = 0; k < model.elements.size(); ++k) mesh.elements[k / Nodes][k % Nodes] = model.elements[k];
  for (const MaterialGroup& group : model.groups) mesh.materials.push_back(group.material);
  mesh.element_material = model.element_group;
  return mesh;
}

Status change_groups(const Scene& scene, SubspaceModel& model) {
  std::vector<std::string_view> names;
  for (const MaterialGroup& group : model.groups) names.push_back(group.material.name);
  for (const SceneGroup& change : scene.groups) {
    bool found = false;
    for (MaterialGroup& group : model.groups) {
      if (!change.name.empty() && group.material.name != change.name) continue;
      apply(change.material, group.material);
      found = true;
    }
    if (!found)
      return in_scene(scene, "[[group]]",
                      input_error(fmt::format("there is no material group \"{}\"; the model has \"{}\"", change.name,
                                              fmt::join(names, "\", \""))));
  }
  return {};
}

Result<SceneMesh> model_mesh(const Scene& scene) {
  Result<SubspaceModel> model = load_asset_of<SubspaceModel>(scene.mesh);
  SUPPLE_RETURN_IF_ERROR(model);
  SUPPLE_RETURN_IF_ERROR(change_groups(scene, *model));
  SceneMesh mesh;
  mesh.solid = model->nodes_per_element == 4 ? mesh_inside<4>(*model) : mesh_inside<8>(*model);
  mesh.model = std::move(*model);
  return mesh;
}

Result<SceneMesh> file_mesh_or_box(const Scene& scene) {
  if (scene.mesh.empty()) {
    SceneMesh box;
    box.solid = make_box(scene.box);
    return box;
  }
  Result<LoadedMesh> loaded = load_mesh(scene.mesh);
  SUPPLE_RETURN_IF_ERROR(loaded);
  const std::vector<std::string> warnings = std::move(loaded->warnings);
  SceneMesh mesh;
  if (auto* surface = std::get_if<Surface>(&loaded->mesh); surface && scene.voxels) {
    Result<SceneMesh> made = voxel_mesh(scene, std::move(*surface));
    if (!made.ok()) return Error{made.error().kind, fmt::format("{}: {}", scene.mesh.string(), made.error().message)};
    mesh = std::move(*made);
  } else {
    Result<SolidMesh> solid = solid_of(std::move(*loaded), scene.mesh);
    SUPPLE_RETURN_IF_ERROR(solid);
    mesh.solid = std::move(*solid);
  }
  mesh.warnings.insert(mesh.warnings.begin(), warnings.begin(), warnings.end());
  return mesh;
}

}  // namespace

Result<SolidMesh> load_solid(const std::filesystem::path& path, std::vector<std::string>& warnings) {
  Result<LoadedMesh> loaded = load_mesh(path);
  SUPPLE_RETURN_IF_ERROR(loaded);
  warnings.insert(warnings.end(), loaded->warnings.begin(), loaded->warnings.end());
  return solid_of(std::move(*loaded), path);
}

void override_materials(SolidMesh& mesh, const SceneMaterial& material) {
  if (!material.young && !material.poisson && !material.density) return;
  std::visit(
      [&](auto& m) {
        if (m.materials.empty()) m.materials.push_back(default_material());
        for (ElasticMaterial& each : m.materials) apply(material, each);
      },
      mesh);
}

Result<std::vector<Index>> elements_of(const SceneRegion& region, const Scene& scene, const SolidMesh& mesh,
                                       const Surface* surface) {
  Result<ElementSet> found =
      std::visit([&](const auto& m) { return region_elements(region, scene, m, surface); }, mesh);
  SUPPLE_RETURN_IF_ERROR(found);
  return std::move(found->elements);
}

const std::vector<Vec3>& vertices_of(const SolidMesh& mesh) {
  return std::visit([](const auto& m) -> const std::vector<Vec3>& { return m.vertices; }, mesh);
}

std::size_t element_count_of(const SolidMesh& mesh) {
  return std::visit([](const auto& m) { return m.elements.size(); }, mesh);
}

Error in_scene(const Scene& scene, std::string_view part, const Error& error) {
  return {error.kind, fmt::format("{}: {}{}{}", scene.name, part, part.empty() ? "" : ": ", error.message)};
}

Result<SceneMesh> make_scene_mesh(const Scene& scene) {
  if (is_archive(scene.mesh)) return model_mesh(scene);
  Result<SceneMesh> mesh = file_mesh_or_box(scene);
  if (mesh.ok()) SUPPLE_RETURN_IF_ERROR(apply_materials(scene, *mesh));
  return mesh;
}

}  // namespace supple
