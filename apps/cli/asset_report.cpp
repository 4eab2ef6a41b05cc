// SPDX-License-Identifier: Apache-2.0
#include "asset_report.h"

#include "pose_report.h"
#include "report_rows.h"
#include "supple/math/dense/decompositions.h"
#include "supple/runtime/subspace/reduced_forces.h"

#include <numbers>

namespace supple {
namespace {

/// Of the reduced object at rest: K0 x = (2πf)² M̃ x.
VecX frequencies_of(const SubspaceModel& model) {
  ReducedForces<double> forces(model);
  const VecX rest = VecX::Zero(model.size());
  forces.evaluate(rest.data());
  MatX stiffness(model.size(), model.size());
  for (Index b = 0; b < model.size(); ++b)
    for (Index a = 0; a < model.size(); ++a) stiffness(a, b) = forces.stiffness()[to_size(pair_index(a, b))];
  return generalized_eigenvalues(stiffness, mass_moments(model).reduced_mass()).cwiseMax(0).cwiseSqrt() /
         (2 * std::numbers::pi);
}

void add_groups(ReportRows& out, const SubspaceModel& model) {
  std::vector<std::string> lines;
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  for (const MaterialGroup& group : model.groups) {
    const ElasticMaterial& m = group.material;
    lines.push_back(fmt::format("{}: E {:g} Pa, ν {:g}, ρ {:g} kg/m³, {:.5g} m³", m.name.empty() ? "(no name)" : m.name,
                                m.young, m.poisson, m.density, group.moments.volume));
    groups.push_back({{"name", m.name},
                      {"young", m.young},
                      {"poisson", m.poisson},
                      {"density", m.density},
                      {"volume", group.moments.volume}});
  }
  out.list(lines.size() == 1 ? "material" : "materials", lines);
  out.json["materials"] = std::move(groups);
}

void add_model(ReportRows& out, const SubspaceModel& model) {
  const VecX frequencies = frequencies_of(model);
  const bool bricks = model.nodes_per_element == 8;
  out.row("coordinates", "{}", model.size());
  out.row("body", "{} vertices, {} {}, {:.5g} kg", model.vertex_count(), model.element_count(),
          bricks ? "bricks" : "tetrahedra", mass_moments(model).volume);
  out.row("surface", "{} vertices, {} triangles", model.surface.vertex_count(), model.surface.triangles.size());
  if (model.anchored())
    out.row("fixed", "{} vertices", model.fixed_vertices.size());
  else
    out.row("fixed", "nothing: the object is free");
  add_groups(out, model);
  out.row("frequencies", "{:.5g} to {:.5g} Hz at rest", frequencies[0], frequencies[frequencies.size() - 1]);
  const std::size_t bytes = ReducedForces<double>(model).bytes_read();
  out.row("step reads", "{:.1f} KiB of coefficients in double precision", static_cast<double>(bytes) / 1024);
  out.json["coordinates"] = model.size();
  out.json["vertices"] = model.vertex_count();
  out.json["elements"] = model.element_count();
  out.json["element"] = bricks ? "brick" : "tet";
  out.json["mass"] = mass_moments(model).volume;
  out.json["surface_vertices"] = model.surface.vertex_count();
  out.json["surface_triangles"] = model.surface.triangles.size();
  out.json["fixed_vertices"] = model.fixed_vertices.size();
  out.json["frequencies_hz"] = std::vector<double>(frequencies.begin(), frequencies.end());
  out.json["coefficient_bytes"] = bytes;
}

void add_character(ReportRows& out, const CharacterAsset& asset) {
  const PoseSpaceModel& model = *asset.model;
  const CharacterFacts& facts = asset.facts;
  const PoseLayout& layout = model.rest->layout();
  const bool rotating = model.directions == BasisDirections::rotating;
  out.row("character", "{}, {:.3g} m large, {} parameters of its rig", asset.name, model.height, layout.groups.size());
  out.row("coordinates", "{} around {} {}, {}", model.size(), model.pose_count(),
          model.pose_count() == 1 ? "pose" : "poses",
          rotating ? "turning with the body" : "in directions of the world");
  out.list("poses", pose_lines(facts));
  out.row("body", "{} tetrahedra, {} of {} vertices held by bones", facts.tets, facts.held_vertices, facts.vertices);
  out.row("flesh", "{}, sways at {:.3g} Hz, damping ratio {:g}", to_string(model.material), asset.flesh_frequency,
          asset.damping);
  out.row("cubature", "{} elements in {} blocks, {:.1f} % off on unseen samples; {} vertices, {:.1f} %",
          model.element_count(), model.elements.size(), 100 * facts.elastic_error, model.inertial_vertex_count(),
          100 * facts.inertial_error);
  if (facts.estimated_error)
    out.row("truth", "about {:.0f} % off the simulation of every vertex, in motion it hasn't learnt from",
            100 * *facts.estimated_error);
  out.row("rest shape", "{} points of the rig, {} of them turn the bases", model.points.size(), model.sites.size());
  out.row("surface", "{} vertices on {} blocks", model.surface.vertex_count(), model.surface.blocks.size());
  out.json["name"] = asset.name;
  out.json["extent_m"] = model.height;
  out.json["parameters"] = nlohmann::ordered_json::array();
  for (const ParameterGroup& group : layout.groups) out.json["parameters"].push_back(group.name);
  out.json["coordinates"] = model.size();
  out.json["poses"] = model.pose_count();
  out.json["pose_list"] = poses_json(facts);
  out.json["directions"] = rotating ? "rotating" : "world";
  out.json["material"] = to_string(model.material);
  out.json["frequency_hz"] = asset.flesh_frequency;
  out.json["damping"] = asset.damping;
  out.json["tets"] = facts.tets;
  out.json["vertices"] = facts.vertices;
  out.json["held_vertices"] = facts.held_vertices;
  out.json["cubature"] = {{"elements", model.element_count()},
                          {"elastic_error", facts.elastic_error},
                          {"vertices", model.inertial_vertex_count()},
                          {"inertial_error", facts.inertial_error}};
  if (facts.estimated_error) out.json["estimated_error"] = *facts.estimated_error;
  out.json["points"] = model.points.size();
  out.json["surface_vertices"] = model.surface.vertex_count();
  out.json["frequencies_hz"] = std::vector<double>(facts.frequencies.begin(), facts.frequencies.end());
}

void fill_full(const FullModel& model, Json& out) {
  out["tets"] = model.mesh.elements.size();
  out["vertices"] = model.vertex_count();
  out["held_vertices"] = model.fixed.size();
  out["surface_vertices"] = model.surface_vertex_count();
  out["frequency_hz"] = model.flesh_frequency;
}

void fill_still(const QuasistaticModel& model, Json& out) {
  out["tets"] = model.mesh.elements.size();
  out["vertices"] = model.vertex_count();
  out["held_vertices"] = model.fixed.size();
  out["surface_vertices"] = model.surface_vertex_count();
  out["turning_sites"] = model.site_count();
}

void add_still(ReportRows& out, const QuasistaticModel& model) {
  out.row("character", "{}, {:.3g} m large, {} parameters of its rig", model.name, model.extent,
          model.rest->layout().groups.size());
  out.row("body", "{} tetrahedra, {} of {} vertices held by bones", model.mesh.elements.size(), model.fixed.size(),
          model.vertex_count());
  out.row("flesh", "at rest in every pose, turned by {} sites", model.site_count());
  fill_still(model, out.json);
}

void add_full(ReportRows& out, const FullModel& model) {
  const std::size_t held = model.fixed.size();
  out.row("character", "{}, {:.3g} m large, {} parameters of its rig", model.name, model.extent,
          model.rest->layout().groups.size());
  out.row("body", "{} tetrahedra, {} of {} vertices held by bones", model.mesh.elements.size(), held,
          model.vertex_count());
  out.row("flesh", "{}, sways at {:.3g} Hz, damping ratio {:g}; every vertex is simulated", to_string(model.material),
          model.flesh_frequency, model.damping);
  out.row("surface", "{} vertices", model.surface_vertex_count());
  out.json["name"] = model.name;
  out.json["extent_m"] = model.extent;
  out.json["material"] = to_string(model.material);
  out.json["damping"] = model.damping;
  fill_full(model, out.json);
}

void add_domains(ReportRows& out, const DomainModel& model) {
  std::vector<int> copies(model.parts.size(), 0);
  for (const Domain& domain : model.domains) ++copies[to_size(domain.part)];
  out.row("tree", "{} domains, {} levels below the root, {:.5g} kg, {}", model.domain_count(), model.depth(),
          model.mass(), model.anchored() ? "held" : "free");
  out.row("coordinates", "{}", model.size());
  std::vector<std::string> lines;
  out.json["parts"] = nlohmann::ordered_json::array();
  for (std::size_t p = 0; p < model.parts.size(); ++p) {
    const SubspaceModel& part = model.parts[p];
    lines.push_back(fmt::format("{}: {}, {} elements, {}", model.part_names[p],
                                copies[p] == 1 ? "once" : fmt::format("{} times", copies[p]), part.element_count(),
                                part.size() == 0 ? "rigid" : fmt::format("{} coordinates", part.size())));
    out.json["parts"].push_back({{"name", model.part_names[p]},
                                 {"copies", copies[p]},
                                 {"elements", part.element_count()},
                                 {"coordinates", part.size()}});
  }
  out.list("parts", lines);
  if (!model.closures.empty()) out.row("loops", "{} held together", model.closures.size());
  out.row("surface", "{} vertices, {} triangles", model.surface.vertex_count(), model.surface.triangles.size());
  out.json["domains"] = model.domain_count();
  out.json["loops"] = model.closures.size();
  out.json["depth"] = model.depth();
  out.json["coordinates"] = model.size();
  out.json["mass"] = model.mass();
  out.json["surface_vertices"] = model.surface.vertex_count();
}

// ---- characters that were just built --------------------------------------------------------------------------------

/// What would bring a model nearer to the full simulation.
std::string_view what_limits(const CharacterAsset& asset) {
  if (asset.facts.posed_error > 0.5 * *asset.facts.estimated_error) return "more elements would help most";
  return "more coordinates, --quality final or --engine full are nearer";
}

void tell_reduced(const CharacterAsset& asset, Session& session) {
  const CharacterFacts& facts = asset.facts;
  const PoseSpaceModel& model = *asset.model;
  const double lowest = facts.frequencies.size() > 0 ? facts.frequencies[0] : 0;
  session.line("body          {} tetrahedra, {} of {} vertices held by bones", facts.tets, facts.held_vertices,
               facts.vertices);
  session.line("flesh         sways at {:.3g} Hz; {} coordinates around {} from {:.3g} to {:.3g} Hz",
               asset.flesh_frequency, model.size(), counted(to_size(model.pose_count()), "pose", "poses"), lowest,
               std::sqrt(model.stiffness[model.size() - 1]) / (2 * std::numbers::pi));
  for (const std::string& line : pose_lines(facts)) session.line("pose          {}", line);
  session.line("cubature      {} elements, {:.1f} % off on unseen samples; {} vertices, {:.1f} %",
               model.element_count(), 100 * facts.elastic_error, model.inertial_vertex_count(),
               100 * facts.inertial_error);
  if (facts.estimated_error)
    session.line("truth         about {:.0f} % off the simulation of every vertex, in motion it hasn't learnt from; {}",
                 100 * *facts.estimated_error, what_limits(asset));
}

void fill_reduced(const CharacterAsset& asset, Json& out) {
  const CharacterFacts& facts = asset.facts;
  const PoseSpaceModel& model = *asset.model;
  out["coordinates"] = model.size();
  out["poses"] = model.pose_count();
  out["pose_list"] = poses_json(facts);
  out["tets"] = facts.tets;
  out["vertices"] = facts.vertices;
  out["held_vertices"] = facts.held_vertices;
  out["surface_vertices"] = model.surface.vertex_count();
  out["frequency_hz"] = asset.flesh_frequency;
  out["young_pa"] = facts.young;
  out["cubature"] = {{"elements", model.element_count()},
                     {"elastic_error", facts.elastic_error},
                     {"posed_error", facts.posed_error},
                     {"vertices", model.inertial_vertex_count()},
                     {"inertial_error", facts.inertial_error}};
  if (facts.estimated_error) out["estimated_error"] = *facts.estimated_error;
}

}  // namespace

void tell_body(const Asset& asset, Session& session) {
  if (const auto* reduced = std::get_if<CharacterAsset>(&asset)) tell_reduced(*reduced, session);
  if (const auto* full = std::get_if<FullModel>(&asset)) {
    session.line("body          {} tetrahedra, {} of {} vertices held by bones", full->mesh.elements.size(),
                 full->fixed.size(), full->vertex_count());
    session.line("flesh         sways at {:.3g} Hz; every vertex is simulated", full->flesh_frequency);
  }
  if (const auto* still = std::get_if<QuasistaticModel>(&asset))
    session.line("body          {} tetrahedra, {} of {} vertices held by bones; at rest in every frame",
                 still->mesh.elements.size(), still->fixed.size(), still->vertex_count());
}

void fill_body(const Asset& asset, Json& out) {
  if (const auto* reduced = std::get_if<CharacterAsset>(&asset)) fill_reduced(*reduced, out);
  if (const auto* full = std::get_if<FullModel>(&asset)) fill_full(*full, out);
  if (const auto* still = std::get_if<QuasistaticModel>(&asset)) fill_still(*still, out);
}

Result<MeshReport> describe_asset(const std::filesystem::path& path) {
  const Result<Archive> archive = Archive::open(path);
  SUPPLE_RETURN_IF_ERROR(archive);
  ReportRows out;
  out.row("format", "Supple archive, kind \"{}\", every byte checked", archive->kind());
  out.row("size", "{:.2f} MiB in {} arrays", static_cast<double>(archive->size_in_bytes()) / (1 << 20),
          archive->names().size());
  out.json["format"] = "Supple archive";
  out.json["kind"] = archive->kind();
  out.json["bytes"] = archive->size_in_bytes();
  out.json["arrays"] = archive->names();
  if (!holds_asset(*archive)) return MeshReport{std::move(out.text), std::move(out.json)};
  const Result<Asset> asset = decode_asset(*archive);
  SUPPLE_RETURN_IF_ERROR(asset);
  out.row("holds", "{}", contents_of(*asset));
  if (const auto* object = std::get_if<SubspaceModel>(&*asset)) add_model(out, *object);
  if (const auto* character = std::get_if<CharacterAsset>(&*asset)) add_character(out, *character);
  if (const auto* full = std::get_if<FullModel>(&*asset)) add_full(out, *full);
  if (const auto* still = std::get_if<QuasistaticModel>(&*asset)) add_still(out, *still);
  if (const auto* domains = std::get_if<DomainModel>(&*asset)) add_domains(out, *domains);
  return MeshReport{std::move(out.text), std::move(out.json)};
}

}  // namespace supple
