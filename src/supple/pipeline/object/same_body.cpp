// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/same_body.h"

#include "supple/asset/archive.h"
#include "supple/asset/asset_file.h"
#include "supple/io/mesh/vertex_selection.h"
#include "supple/mesh/bounds.h"
#include "supple/mesh/quality.h"
#include "supple/pipeline/object/scene_mesh.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace supple {
namespace {

constexpr double alike = 1e-6;        // what files and sums round
constexpr double same_volume = 1e-3;  // bricks that aren't boxes are integrated in two ways

/// What a scene and a model can be compared by.
struct BodyFacts {
  Bounds bounds;
  double volume = 0;                             ///< [m³]
  std::vector<std::array<double, 3>> materials;  ///< Young's modulus, Poisson's ratio, density: ascending, each once
  std::size_t parts = 0;                         ///< domains; 0 where there are none
  std::size_t elements = 0;                      ///< 0: not known, as of trees of domains
  Bounds fixed;                                  ///< of vertices that don't move, where there are any
  bool anchored = false;
  bool grounded = false;  ///< loops are closed to the ground: not only the root has fixed vertices
};

bool same(double a, double b, double share = alike) {
  return std::abs(a - b) <= share * std::max(std::abs(a), std::abs(b));
}

bool same(const Bounds& a, const Bounds& b) {
  const double most = alike * std::max(a.diagonal(), b.diagonal());
  return (a.min - b.min).norm() <= most && (a.max - b.max).norm() <= most;
}

bool same(const std::vector<std::array<double, 3>>& a, const std::vector<std::array<double, 3>>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return same(x[0], y[0]) && same(x[1], y[1]) && same(x[2], y[2]);
  });
}

void add(const ElasticMaterial& material, BodyFacts& facts) {
  facts.materials.push_back({material.young, material.poisson, material.density});
}

void sort_materials(BodyFacts& facts) {
  std::sort(facts.materials.begin(), facts.materials.end());
  facts.materials.erase(std::unique(facts.materials.begin(), facts.materials.end(),
                                    [](const auto& a, const auto& b) { return same(std::vector{a}, std::vector{b}); }),
                        facts.materials.end());
}

template <int Nodes>
void take(const VolumeMesh<Nodes>& mesh, BodyFacts& facts) {
  facts.volume = quality(mesh).volume;
  facts.elements = mesh.elements.size();
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    for (const Index v : mesh.elements[e]) facts.bounds.add(mesh.vertices[to_size(v)]);
    if (e == 0 || !mesh.element_material.empty()) add(mesh.material_of(e), facts);
  }
}

/// Joints of a tree are parts without flesh, and of no material.
bool take(const SubspaceModel& model, double scale, BodyFacts& facts) {
  double volume = 0;
  for (const MaterialGroup& group : model.groups) {
    volume += scale * scale * scale * group.moments.volume;
    if (group.moments.volume > 0) add(group.material, facts);
  }
  facts.volume += volume;
  return volume > 0;
}

BodyFacts facts_of(const SubspaceModel& model) {
  BodyFacts facts;
  for (const Index v : model.elements) facts.bounds.add(model.rest_positions[to_size(v)]);
  take(model, 1, facts);
  facts.elements = to_size(model.element_count());
  return facts;  // make_scene_body() looks at its fixed vertices
}

BodyFacts facts_of(const DomainModel& model) {
  BodyFacts facts;
  facts.bounds = bounds_of(rest_positions(model));
  for (Index d = 0; d < model.domain_count(); ++d)
    facts.parts += take(model.part_of(d), model.domains[to_size(d)].scale, facts) ? 1 : 0;
  const Domain& root = model.domains.front();
  facts.anchored = model.anchored();
  facts.grounded = std::any_of(model.closures.begin(), model.closures.end(),
                               [](const DomainClosure& closure) { return closure.second < 0; });
  for (const Index v : model.part_of(0).fixed_vertices) {
    const Vec3 turned = root.rotation * model.part_of(0).rest_positions[to_size(v)];
    facts.fixed.add(root.position + root.scale * turned);
  }
  return facts;
}

Result<BodyFacts> facts_of(const Scene& scene) {
  const Result<SceneMesh> mesh = make_scene_mesh(scene);
  SUPPLE_RETURN_IF_ERROR(mesh);
  BodyFacts facts;
  std::visit([&](const auto& solid) { take(solid, facts); }, mesh->solid);
  const std::vector<Vec3>& vertices = vertices_of(mesh->solid);
  for (const std::string& words : scene.fixed) {
    const Result<std::vector<Index>> chosen = select_vertices(words, vertices, scene.folder);
    if (!chosen.ok()) return in_scene(scene, "[[fix]]", chosen.error());
    for (const Index v : *chosen) facts.fixed.add(vertices[to_size(v)]);
    facts.anchored = facts.anchored || !chosen->empty();
  }
  facts.parts = scene.domains.parts.size();
  sort_materials(facts);
  return facts;
}

bool says_materials(const Scene& scene) {
  return scene.material.young || scene.material.poisson || scene.material.density || !scene.regions.empty();
}

Status compare(const Scene& scene, const std::filesystem::path& file, BodyFacts built) {
  const Result<BodyFacts> said = facts_of(scene);
  SUPPLE_RETURN_IF_ERROR(said);
  sort_materials(built);
  const auto refuse = [&](std::string_view what) {
    return input_error(
        fmt::format("{}: {} was built of {} than the scene has now; build it again, or name it as the scene's \"mesh\"",
                    scene.name, file.string(), what));
  };
  if (!same(said->bounds, built.bounds) || !same(said->volume, built.volume, same_volume))
    return refuse("another mesh");
  if (built.elements > 0 && said->elements != built.elements) return refuse("another mesh");
  if (built.parts > 0 && said->anchored && !(built.anchored && (built.grounded || same(said->fixed, built.fixed))))
    return refuse("other fixed vertices");
  if (says_materials(scene) && !same(said->materials, built.materials)) return refuse("other materials");
  const bool cut_by_hand = scene.domains.cut == SceneCut::by_hand && scene.domains.loops == SceneLoops::refuse;
  if (cut_by_hand && said->parts != built.parts) return refuse("other domains");
  return {};
}

}  // namespace

Status check_same_body(const Scene& scene, const std::filesystem::path& model) {
  std::error_code none;
  const bool missing = !scene.mesh.empty() && !std::filesystem::exists(scene.mesh, none);
  if (missing || is_archive(scene.mesh) || scene.voxels) return {};
  const Result<Asset> asset = load_asset(model);
  SUPPLE_RETURN_IF_ERROR(asset);
  if (const auto* object = std::get_if<SubspaceModel>(&*asset)) return compare(scene, model, facts_of(*object));
  if (const auto* tree = std::get_if<DomainModel>(&*asset)) return compare(scene, model, facts_of(*tree));
  return {};
}

}  // namespace supple
