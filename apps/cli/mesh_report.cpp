// SPDX-License-Identifier: Apache-2.0
#include "mesh_report.h"
#include "report_rows.h"

#include "supple/mesh/quality.h"
#include "supple/mesh/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace supple {
namespace {

using Json = nlohmann::ordered_json;
using Report = ReportRows;

std::string plural(std::int64_t count, std::string_view singular, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? singular : many);
}

Json to_json(const Vec3& v) { return {v.x(), v.y(), v.z()}; }
Json to_json(const Spread& s) { return {{"min", s.min}, {"max", s.max}, {"mean", s.mean}}; }

// "9 of these, 3 of those", or what to say when there are none.
std::string tally(std::initializer_list<std::pair<std::int64_t, std::string_view>> counts, std::string_view none) {
  std::string text;
  for (const auto& [count, what] : counts)
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  return text.empty() ? std::string(none) : text;
}

void add_bounds(Report& out, const Bounds& bounds) {
  const Vec3 size = bounds.size();
  out.row("size", "{:.5g} × {:.5g} × {:.5g} m", size.x(), size.y(), size.z());
  out.row("", "from ({:.5g}, {:.5g}, {:.5g}) to ({:.5g}, {:.5g}, {:.5g})", bounds.min.x(), bounds.min.y(),
          bounds.min.z(), bounds.max.x(), bounds.max.y(), bounds.max.z());
  out.json["bounding_box"] = {{"min", to_json(bounds.min)}, {"max", to_json(bounds.max)}};
}

void add_topology(Report& out, const SurfaceTopology& topology, std::string_view label) {
  const SurfaceTopology& t = topology;
  const std::string state = t.watertight()      ? "watertight"
                            : t.closed()        ? "closed, but not manifold"
                            : t.edge_manifold() ? "open"
                                                : "open and not manifold";
  out.row(label, "{}, {}{}", state, plural(t.components, "piece", "pieces"),
          t.holes > 0 ? ", " + plural(t.holes, "hole", "holes") : "");
  const std::string edges = tally({{t.boundary_edges, "boundary"},
                                   {t.nonmanifold_edges, "with three or more triangles"},
                                   {t.inconsistent_edges, "between triangles of opposite orientation"}},
                                  "");
  out.row("edges", "{}{}{}", t.edges, edges.empty() ? "" : "; ", edges);
  const std::string faults = tally({{t.degenerate_triangles, "degenerate triangles"},
                                    {t.duplicate_triangles, "repeated triangles"},
                                    {t.nonmanifold_vertices, "vertices where only corners touch"},
                                    {t.unreferenced_vertices, "unused vertices"}},
                                   "");
  if (!faults.empty()) out.row("faults", "{}", faults);
  out.json["topology"] = {{"watertight", t.watertight()},
                          {"closed", t.closed()},
                          {"edge_manifold", t.edge_manifold()},
                          {"consistently_wound", t.consistently_wound()},
                          {"vertices", t.vertices},
                          {"triangles", t.triangles},
                          {"components", t.components},
                          {"holes", t.holes},
                          {"edges", t.edges},
                          {"boundary_edges", t.boundary_edges},
                          {"nonmanifold_edges", t.nonmanifold_edges},
                          {"inconsistent_edges", t.inconsistent_edges},
                          {"nonmanifold_vertices", t.nonmanifold_vertices},
                          {"degenerate_triangles", t.degenerate_triangles},
                          {"duplicate_triangles", t.duplicate_triangles},
                          {"unreferenced_vertices", t.unreferenced_vertices},
                          {"euler_characteristic", t.euler_characteristic}};
}

// ---- surfaces -------------------------------------------------------------------------------------------------------

void add_parts(Report& out, const Surface& surface) {
  // A file may come back to the same part many times; a reader wants it once.
  std::vector<std::pair<std::string, Index>> named;
  std::map<std::string, std::size_t> place;
  Json parts = Json::array();
  for (const SurfacePart& part : surface.parts) {
    const auto [found, is_new] = place.emplace(part.name, named.size());
    if (is_new) named.emplace_back(part.name.empty() ? "(no name)" : part.name, 0);
    named[found->second].second += part.triangle_count;
    parts.push_back({{"name", part.name}, {"triangles", part.triangle_count}});
  }
  std::vector<std::string> lines;
  for (const auto& [name, triangles] : named)
    lines.push_back(fmt::format("{}: {}", name, plural(triangles, "triangle", "triangles")));
  if (lines.size() > 1 || (lines.size() == 1 && !surface.parts[0].name.empty())) out.list("parts", lines);
  out.json["parts"] = std::move(parts);
  std::vector<std::string> names;
  Json attributes = Json::array();
  for (const VertexAttribute& attribute : surface.attributes) {
    names.push_back(fmt::format("{} ({} per vertex)", attribute.name, attribute.components));
    attributes.push_back({{"name", attribute.name}, {"components", attribute.components}});
  }
  out.list("attributes", names);
  out.json["attributes"] = std::move(attributes);
}

void add_mesh(Report& out, const Surface& surface) {
  const SurfaceQualityReport q = quality(surface);
  const WeldedSurface welded = weld(surface);
  const std::size_t distinct = welded.surface.vertices.size();
  out.json["kind"] = "surface";
  out.json["vertices"] = q.vertices;
  out.json["distinct_vertices"] = distinct;
  out.json["triangles"] = q.triangles;
  if (distinct == surface.vertices.size())
    out.row("vertices", "{}", q.vertices);
  else
    out.row("vertices", "{} at {} places (seams were joined for what follows)", q.vertices, distinct);
  out.row("triangles", "{}", q.triangles);
  add_parts(out, surface);
  add_bounds(out, q.bounds);
  out.row("area", "{:.5g} m²", q.area);
  out.json["area"] = q.area;
  const SurfaceTopology topology = surface_topology(welded.surface);
  add_topology(out, topology, "surface");
  if (topology.watertight() && topology.consistently_wound())
    out.row("volume", "{:.5g} m³{}", q.enclosed_volume, q.enclosed_volume < 0 ? " (the triangles face inward)" : "");
  out.json["enclosed_volume"] = q.enclosed_volume;
  out.row("edge length", "{:.4g} to {:.4g} m, mean {:.4g}", q.edge_length.min, q.edge_length.max, q.edge_length.mean);
  out.row("angles", "{:.2f}° to {:.2f}°{}", q.angle.min, q.angle.max,
          q.degenerate > 0
              ? fmt::format("; {}", plural(q.degenerate, "triangle without area", "triangles without area"))
              : "");
  out.json["quality"] = {
      {"edge_length", to_json(q.edge_length)}, {"angle_degrees", to_json(q.angle)}, {"degenerate", q.degenerate}};
}

// ---- solids ---------------------------------------------------------------------------------------------------------

template <int Nodes>
void add_materials(Report& out, const VolumeMesh<Nodes>& mesh) {
  std::vector<std::size_t> uses(std::max<std::size_t>(1, mesh.materials.size()), 0);
  for (std::size_t e = 0; e < mesh.elements.size(); ++e)
    ++uses[mesh.element_material.empty() ? 0 : to_size(mesh.element_material[e])];
  std::vector<std::string> lines;
  Json materials = Json::array();
  for (std::size_t k = 0; k < mesh.materials.size(); ++k) {
    const ElasticMaterial& m = mesh.materials[k];
    lines.push_back(fmt::format("{}: E {:g} Pa, ν {:g}, ρ {:g} kg/m³, {}", m.name, m.young, m.poisson, m.density,
                                plural(static_cast<std::int64_t>(uses[k]), "element", "elements")));
    materials.push_back(
        {{"name", m.name}, {"young", m.young}, {"poisson", m.poisson}, {"density", m.density}, {"elements", uses[k]}});
  }
  if (lines.empty()) {
    const ElasticMaterial& m = default_material();
    lines.push_back(
        fmt::format("none in the file; E {:g} Pa, ν {:g}, ρ {:g} kg/m³ are assumed", m.young, m.poisson, m.density));
  }
  out.list("materials", lines);
  out.json["materials"] = std::move(materials);
}

template <int Nodes>
void add_sets(Report& out, const VolumeMesh<Nodes>& mesh) {
  std::vector<std::string> lines;
  Json sets = Json::array();
  for (const ElementSet& set : mesh.sets) {
    lines.push_back(
        fmt::format("{}: {}", set.name, plural(static_cast<std::int64_t>(set.elements.size()), "element", "elements")));
    sets.push_back({{"name", set.name}, {"elements", set.elements.size()}});
  }
  out.list("sets", lines);
  out.json["sets"] = std::move(sets);
  std::vector<std::string> region_lines;
  Json regions = Json::array();
  for (const Region& region : mesh.regions) {
    const std::string& set = mesh.sets[to_size(region.set)].name;
    const std::string& material = mesh.materials[to_size(region.material)].name;
    region_lines.push_back(fmt::format("{} is made of {}", set, material));
    regions.push_back({{"set", set}, {"material", material}});
  }
  out.list("regions", region_lines);
  out.json["regions"] = std::move(regions);
}

// One block per 10 degrees, as high as its share of the angles.
std::string sparkline(const std::array<Index, 18>& histogram) {
  constexpr std::string_view blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const Index highest = std::max<Index>(1, *std::max_element(histogram.begin(), histogram.end()));
  std::string text;
  for (const Index count : histogram)
    text += count == 0 ? std::string_view("·") : blocks[to_size(7.0 * count / highest + 0.5)];
  return text;
}

void add_element_quality(Report& out, const QualityReport& q, bool bricks) {
  out.row("elements", "volume {:.4g} to {:.4g} m³, mean {:.4g}", q.element_volume.min, q.element_volume.max,
          q.element_volume.mean);
  out.row("edge length", "{:.4g} to {:.4g} m, mean {:.4g}", q.edge_length.min, q.edge_length.max, q.edge_length.mean);
  out.row("dihedral", "{:.2f}° to {:.2f}°   0° {} 180°", q.dihedral.min, q.dihedral.max,
          sparkline(q.dihedral_histogram));
  out.row("shape", "{:.3f} to {:.3f}, mean {:.3f} ({})", q.shape.min, q.shape.max, q.shape.mean,
          bricks ? "scaled Jacobian, 1 is a cube" : "3 inradius / circumradius, 1 is regular");
  out.row(
      "health", "{}",
      tally({{q.inverted, "inverted"}, {q.degenerate, "without volume"}, {q.slivers, "slivers (an angle below 5°)"}},
            "no inverted, flat or sliver elements"));
  Json histogram = Json::array();
  for (const Index count : q.dihedral_histogram) histogram.push_back(count);
  out.json["quality"] = {{"inverted", q.inverted},
                         {"degenerate", q.degenerate},
                         {"slivers", q.slivers},
                         {"element_volume", to_json(q.element_volume)},
                         {"edge_length", to_json(q.edge_length)},
                         {"dihedral_degrees", to_json(q.dihedral)},
                         {"dihedral_histogram_10_degrees", std::move(histogram)},
                         {"shape", to_json(q.shape)}};
  if (bricks) out.json["quality"]["min_jacobian"] = q.min_jacobian;
}

template <int Nodes>
void add_mesh(Report& out, const VolumeMesh<Nodes>& mesh) {
  constexpr bool bricks = Nodes == 8;
  const QualityReport q = quality(mesh);
  out.json["kind"] = bricks ? "bricks" : "tetrahedra";
  out.json["vertices"] = q.vertices;
  out.json["elements"] = q.elements;
  out.row("vertices", "{}", q.vertices);
  out.row(bricks ? "bricks" : "tetrahedra", "{}", q.elements);
  add_materials(out, mesh);
  add_sets(out, mesh);
  add_bounds(out, q.bounds);
  out.row("volume", "{:.5g} m³, mass {:.5g} kg", q.volume, q.mass);
  out.json["volume"] = q.volume;
  out.json["mass"] = q.mass;
  add_element_quality(out, q, bricks);
  const BoundarySurface skin = boundary_surface(mesh);
  const Components pieces = connected_components(mesh);
  const std::size_t unused = unreferenced_vertices(mesh).size();
  out.row("pieces", "{}{}{}", pieces.count,
          unused > 0
              ? fmt::format("; {} used by no element", plural(static_cast<std::int64_t>(unused), "vertex", "vertices"))
              : "",
          skin.crowded_faces > 0 ? fmt::format("; {}", plural(skin.crowded_faces, "face of three or more elements",
                                                              "faces of three or more elements"))
                                 : "");
  out.json["components"] = pieces.count;
  out.json["unreferenced_vertices"] = unused;
  out.json["crowded_faces"] = skin.crowded_faces;
  const SurfaceQualityReport area = quality(skin.surface);
  out.row("boundary", "{} triangles, area {:.5g} m²", skin.surface.triangles.size(), area.area);
  out.json["boundary_triangles"] = skin.surface.triangles.size();
  out.json["boundary_area"] = area.area;
  add_topology(out, surface_topology(skin.surface), "");
}

}  // namespace

MeshReport describe_mesh(const LoadedMesh& loaded) {
  Report out;
  out.row("format", "{}", loaded.format);
  out.json["format"] = loaded.format;
  std::visit([&](const auto& mesh) { add_mesh(out, mesh); }, loaded.mesh);
  out.list(loaded.warnings.size() == 1 ? "warning" : "warnings", loaded.warnings);
  out.json["warnings"] = loaded.warnings;
  return {std::move(out.text), std::move(out.json)};
}

}  // namespace supple
