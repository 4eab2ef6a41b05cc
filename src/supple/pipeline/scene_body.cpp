// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/scene_body.h"

#include <fmt/format.h>

#include "supple/base/nearest_name.h"
#include "supple/fem/loads.h"
#include "supple/io/mesh_file.h"
#include "supple/mesh/box.h"
#include "supple/mesh/topology.h"
#include "supple/mesh/vertex_selection.h"

namespace supple {
namespace {

using Solid = std::variant<TetMesh, HexMesh>;

Error in_scene(const Scene& scene, std::string_view part, const Error& error) {
  return {error.kind, fmt::format("{}: {}{}{}", scene.name, part, part.empty() ? "" : ": ", error.message)};
}

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

// Elements of the set get copies of their materials with the region's changes.
template <int Nodes>
Status apply_region(const SceneRegion& region, VolumeMesh<Nodes>& mesh) {
  const auto set = std::find_if(mesh.sets.begin(), mesh.sets.end(),
                                [&](const ElementSet& candidate) { return candidate.name == region.set; });
  if (set == mesh.sets.end()) return unknown_set(region, mesh.sets);
  ensure_material_per_element(mesh);
  std::vector<Index> changed(mesh.materials.size(), -1);
  for (const Index element : set->elements) {
    Index& material = mesh.element_material[static_cast<std::size_t>(element)];
    Index& copy = changed[static_cast<std::size_t>(material)];
    if (copy < 0) {
      copy = static_cast<Index>(mesh.materials.size());
      ElasticMaterial made = mesh.materials[static_cast<std::size_t>(material)];
      made.name = fmt::format("{} in {}", made.name, region.set);
      apply(region.material, made);
      mesh.materials.push_back(std::move(made));
    }
    material = copy;
  }
  return {};
}

Status apply_materials(const Scene& scene, Solid& mesh) {
  override_materials(mesh, scene.material);
  for (const SceneRegion& region : scene.regions) {
    const Status status = std::visit([&](auto& m) { return apply_region(region, m); }, mesh);
    if (!status.ok()) return in_scene(scene, "[[region]]", status.error());
  }
  return {};
}

Solid make_box(const SceneBox& box) {
  if (box.bricks) return make_hex_box(box.size, box.cells);
  return make_tet_box(box.size, box.cells);
}

// ---- selections -----------------------------------------------------------------------------------------------------

/// A part of the boundary that loads act on: forces on its triangles count `weight` times.
struct LoadedPatch {
  std::vector<Triangle> triangles;  // of solid vertices, outward
  double weight = 1;
};

// A load on two triangles isn't the load on the quad they halve: it favours the diagonal's ends. Half of either way to
// cut the quad is right for flat faces (a quarter of the load at each corner).
void cut_quads_both_ways(std::vector<Triangle>& triangles) {
  std::vector<Triangle> both;
  for (std::size_t k = 0; k + 1 < triangles.size(); k += 2) {
    const auto [a, b, c] = triangles[k];  // a b c and a c d
    const Index d = triangles[k + 1][2];
    both.insert(both.end(), {{a, b, c}, {a, c, d}, {b, c, d}, {b, d, a}});
  }
  triangles = std::move(both);
}

Result<LoadedPatch> selected_patch(const BoundarySurface& skin, std::span<const Index> vertices,
                                   std::size_t vertex_count, bool quads, const std::string& select) {
  std::vector<char> chosen(vertex_count, 0);
  for (const Index v : vertices) chosen[static_cast<std::size_t>(v)] = 1;
  const std::size_t step = quads ? 2 : 1;  // triangles per face
  LoadedPatch patch;
  std::vector<Triangle> face(step);
  for (std::size_t t = 0; t + step <= skin.surface.triangles.size(); t += step) {
    bool all = true;
    for (std::size_t k = 0; k < 3 * step; ++k) {
      const Index v = skin.volume_vertex[static_cast<std::size_t>(skin.surface.triangles[t + k / 3][k % 3])];
      face[k / 3][k % 3] = v;
      all = all && chosen[static_cast<std::size_t>(v)];
    }
    if (all) patch.triangles.insert(patch.triangles.end(), face.begin(), face.end());
  }
  if (patch.triangles.empty()) {
    return input_error(fmt::format("\"{}\" selects {} vertices, but no boundary face has all its corners among them",
                                   select, vertices.size()));
  }
  if (quads) {
    cut_quads_both_ways(patch.triangles);
    patch.weight = 0.5;
  }
  return patch;
}

struct Selector {
  const Scene& scene;
  SceneBody& out;
  std::optional<BoundarySurface> skin;

  std::span<const Vec3> vertices() const { return vertices_of(out.mesh); }

  Result<std::vector<Index>> select(std::string_view part, const std::string& words) const {
    Result<std::vector<Index>> chosen = select_vertices(words, vertices(), scene.folder);
    if (!chosen.ok()) return in_scene(scene, part, chosen.error());
    return chosen;
  }

  Result<LoadedPatch> patch(std::string_view part, const std::string& words) {
    const Result<std::vector<Index>> chosen = select(part, words);
    if (!chosen.ok()) return chosen.error();
    if (!skin) skin = std::visit([](const auto& mesh) { return boundary_surface(mesh); }, out.mesh);
    const bool quads = std::holds_alternative<HexMesh>(out.mesh);
    Result<LoadedPatch> found = selected_patch(*skin, *chosen, vertices().size(), quads, words);
    if (!found.ok()) return in_scene(scene, part, found.error());
    return found;
  }

  Status fix() {
    for (const std::string& words : scene.fixed) {
      const Result<std::vector<Index>> chosen = select("[[fix]]", words);
      if (!chosen.ok()) return chosen.error();
      out.fixed_selections.push_back({words, chosen->size()});
      out.fixed.insert(out.fixed.end(), chosen->begin(), chosen->end());
    }
    std::sort(out.fixed.begin(), out.fixed.end());
    out.fixed.erase(std::unique(out.fixed.begin(), out.fixed.end()), out.fixed.end());
    return {};
  }

  Status load() {
    for (const SceneForce& force : scene.forces) {
      Result<std::vector<Index>> chosen = select("[[force]]", force.select);
      if (!chosen.ok()) return chosen.error();
      const double share = force.per_vertex ? 1.0 : 1.0 / static_cast<double>(chosen->size());
      out.forces.push_back({std::move(*chosen), share * force.newtons, force.window});
    }
    for (const SceneTraction& traction : scene.tractions) {
      Result<LoadedPatch> found = patch("[[traction]]", traction.select);
      if (!found.ok()) return found.error();
      out.tractions.push_back({std::move(found->triangles), found->weight * traction.pascals, traction.window});
    }
    for (const ScenePressure& pressure : scene.pressures) {
      Result<LoadedPatch> found = patch("[[pressure]]", pressure.select);
      if (!found.ok()) return found.error();
      out.pressures.push_back({std::move(found->triangles), found->weight * pressure.pascals, pressure.window});
    }
    return {};
  }

  Status track() {
    for (const SceneTrack& entry : scene.tracks) {
      Result<std::vector<Index>> chosen = select("[[track]]", entry.select);
      if (!chosen.ok()) return chosen.error();
      out.tracks.push_back(std::move(*chosen));
    }
    return {};
  }
};

}  // namespace

const std::vector<Vec3>& vertices_of(const Solid& mesh) {
  return std::visit([](const auto& m) -> const std::vector<Vec3>& { return m.vertices; }, mesh);
}

std::size_t SceneBody::element_count() const {
  return std::visit([](const auto& m) { return m.elements.size(); }, mesh);
}

VecX SceneBody::external_force(const VecX& u, double time) const {
  VecX force = gravity_force;
  for (const SelectedForce& load : forces) {
    if (!load.window.contains(time)) continue;
    for (const Index v : load.vertices) add_point_force(force, v, load.newtons);
  }
  for (const SelectedTraction& load : tractions)
    if (load.window.contains(time)) add_traction(force, body, load.triangles, load.pascals);
  for (const SelectedPressure& load : pressures)
    if (load.window.contains(time)) add_pressure(force, body, u, load.triangles, load.pascals);
  return force;
}

Result<Solid> load_solid(const std::filesystem::path& path, std::vector<std::string>& warnings) {
  Result<LoadedMesh> loaded = load_mesh(path);
  if (!loaded.ok()) return loaded.error();
  warnings.insert(warnings.end(), loaded->warnings.begin(), loaded->warnings.end());
  if (auto* tets = std::get_if<TetMesh>(&loaded->mesh)) return Solid(std::move(*tets));
  if (auto* bricks = std::get_if<HexMesh>(&loaded->mesh)) return Solid(std::move(*bricks));
  return input_error(
      fmt::format("{} is a surface without an inside; a solid mesh is needed, of tetrahedra or bricks (.veg, .msh, "
                  ".mesh, .node)",
                  path.string()));
}

void override_materials(Solid& mesh, const SceneMaterial& material) {
  if (!material.young && !material.poisson && !material.density) return;
  std::visit(
      [&](auto& m) {
        if (m.materials.empty()) m.materials.push_back(default_material());
        for (ElasticMaterial& each : m.materials) apply(material, each);
      },
      mesh);
}

Result<SceneBody> make_scene_body(const Scene& scene) {
  std::vector<std::string> warnings;
  Result<Solid> mesh = scene.mesh.empty() ? Result<Solid>(make_box(scene.box)) : load_solid(scene.mesh, warnings);
  if (!mesh.ok()) return mesh.error();
  SUPPLE_RETURN_IF_ERROR(apply_materials(scene, *mesh));
  const Result<ElasticBody> body =
      std::visit([&](const auto& m) { return ElasticBody::create(m, scene.model); }, *mesh);
  if (!body.ok()) {
    const std::string name = scene.mesh.empty() ? scene.name : scene.mesh.string();
    return Error{body.error().kind, fmt::format("{}: {}", name, body.error().message)};
  }
  SceneBody out;
  out.mesh = std::move(*mesh);
  out.body = *body;
  out.warnings = std::move(warnings);
  out.gravity_force = gravity_force(out.body, scene.gravity);
  Selector selector{scene, out, {}};
  SUPPLE_RETURN_IF_ERROR(selector.fix());
  SUPPLE_RETURN_IF_ERROR(selector.load());
  SUPPLE_RETURN_IF_ERROR(selector.track());
  return out;
}

}  // namespace supple
