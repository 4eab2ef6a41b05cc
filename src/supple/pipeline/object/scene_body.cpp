// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/scene_body.h"

#include <fmt/format.h>

#include "supple/fem/loads.h"
#include "supple/io/mesh/vertex_selection.h"
#include "supple/mesh/topology.h"

namespace supple {
namespace {

constexpr std::string_view paint_prefix = "paint:";

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
  for (const Index v : vertices) chosen[to_size(v)] = 1;
  const std::size_t step = quads ? 2 : 1;  // triangles per face
  LoadedPatch patch;
  std::vector<Triangle> face(step);
  for (std::size_t t = 0; t + step <= skin.surface.triangles.size(); t += step) {
    bool all = true;
    for (std::size_t k = 0; k < 3 * step; ++k) {
      const Index v = skin.volume_vertex[to_size(skin.surface.triangles[t + k / 3][k % 3])];
      face[k / 3][k % 3] = v;
      all = all && chosen[to_size(v)];
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
    Result<std::vector<Index>> chosen = words.starts_with(paint_prefix)
                                            ? under_paint(words.substr(paint_prefix.size()))
                                            : select_vertices(words, vertices(), scene.folder);
    if (!chosen.ok()) return in_scene(scene, part, chosen.error());
    return chosen;
  }

  /// Vertices of the bricks under the painted part of the surface around which they were made.
  Result<std::vector<Index>> under_paint(const std::string& attribute) const {
    if (!out.surface) return input_error("\"paint:\" is for bodies that are made around a surface, with [voxels]");
    const Result<std::vector<Index>> painted = painted_vertices(*out.surface, attribute);
    SUPPLE_RETURN_IF_ERROR(painted);
    return std::visit([&](const auto& mesh) { return vertices_under_paint(mesh, *out.surface, *painted); }, out.mesh);
  }

  Result<LoadedPatch> patch(std::string_view part, const std::string& words) {
    const Result<std::vector<Index>> chosen = select(part, words);
    SUPPLE_RETURN_IF_ERROR(chosen);
    if (!skin) skin = std::visit([](const auto& mesh) { return boundary_surface(mesh); }, out.mesh);
    const bool quads = std::holds_alternative<HexMesh>(out.mesh);
    Result<LoadedPatch> found = selected_patch(*skin, *chosen, vertices().size(), quads, words);
    if (!found.ok()) return in_scene(scene, part, found.error());
    return found;
  }

  Status fix() {
    if (out.model && scene.fixed.empty()) {
      out.fixed = out.model->fixed_vertices;
      return {};
    }
    for (const std::string& words : scene.fixed) {
      const Result<std::vector<Index>> chosen = select("[[fix]]", words);
      SUPPLE_RETURN_IF_ERROR(chosen);
      out.fixed_selections.push_back({words, chosen->size()});
      out.fixed.insert(out.fixed.end(), chosen->begin(), chosen->end());
    }
    std::sort(out.fixed.begin(), out.fixed.end());
    out.fixed.erase(std::unique(out.fixed.begin(), out.fixed.end()), out.fixed.end());
    if (out.model && out.fixed != out.model->fixed_vertices) {
      return in_scene(
          scene, "[[fix]]",
          input_error(fmt::format("{} was built with other fixed vertices; build it again, or leave [[fix]] "
                                  "out",
                                  scene.mesh.string())));
    }
    return {};
  }

  Status load() {
    for (const SceneForce& force : scene.forces) {
      Result<std::vector<Index>> chosen = select("[[force]]", force.select);
      SUPPLE_RETURN_IF_ERROR(chosen);
      const double share = force.per_vertex ? 1.0 : 1.0 / static_cast<double>(chosen->size());
      out.forces.push_back({std::move(*chosen), share * force.newtons, force.window});
    }
    for (const SceneTraction& traction : scene.tractions) {
      Result<LoadedPatch> found = patch("[[traction]]", traction.select);
      SUPPLE_RETURN_IF_ERROR(found);
      out.tractions.push_back({std::move(found->triangles), found->weight * traction.pascals, traction.window});
    }
    for (const ScenePressure& pressure : scene.pressures) {
      Result<LoadedPatch> found = patch("[[pressure]]", pressure.select);
      SUPPLE_RETURN_IF_ERROR(found);
      out.pressures.push_back({std::move(found->triangles), found->weight * pressure.pascals, pressure.window});
    }
    return {};
  }

  Status track() {
    for (const SceneTrack& entry : scene.tracks) {
      Result<std::vector<Index>> chosen = select("[[track]]", entry.select);
      SUPPLE_RETURN_IF_ERROR(chosen);
      out.tracks.push_back(std::move(*chosen));
    }
    return {};
  }
};

}  // namespace

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

Result<SceneBody> make_scene_body(const Scene& scene) {
  Result<SceneMesh> mesh = make_scene_mesh(scene);
  SUPPLE_RETURN_IF_ERROR(mesh);
  const Result<ElasticBody> body =
      std::visit([&](const auto& m) { return ElasticBody::create(m, scene.model); }, mesh->solid);
  if (!body.ok()) {
    const std::string name = scene.mesh.empty() ? scene.name : scene.mesh.string();
    return Error{body.error().kind, fmt::format("{}: {}", name, body.error().message)};
  }
  SceneBody out;
  out.mesh = std::move(mesh->solid);
  out.surface = std::move(mesh->surface);
  out.embedding = std::move(mesh->embedding);
  out.model = std::move(mesh->model);
  out.body = *body;
  out.warnings = std::move(mesh->warnings);
  out.gravity_force = gravity_force(out.body, scene.gravity);
  Selector selector{scene, out, {}};
  SUPPLE_RETURN_IF_ERROR(selector.fix());
  SUPPLE_RETURN_IF_ERROR(selector.load());
  SUPPLE_RETURN_IF_ERROR(selector.track());
  return out;
}

}  // namespace supple
