// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/domain_archive.h"

#include "supple/asset/archive_reader.h"
#include "supple/asset/subspace_archive.h"

#include <limits>

namespace supple {
namespace {

constexpr std::string_view domain_kind = "domains";
constexpr Eigen::Index place_rows = 17;  // scale, stiffness, rotation, position, interface's centre

std::string part_prefix(std::size_t part) { return "part" + std::to_string(part) + "."; }

void add_cubature(ArchiveWriter& writer, const std::string& prefix, const PartCubature& points) {
  writer.add(prefix + "material", to_string(points.material));
  writer.add(prefix + "point_weights", MatX(points.weight));
  writer.add(prefix + "point_lame", points.lame);
  writer.add(prefix + "point_gradients", points.gradients);
  writer.add(prefix + "correction", points.correction);
}

PartCubature read_cubature(ArchiveReader& reader, const std::string& prefix, Index r) {
  PartCubature points;
  if (!reader.ok() || !reader.archive().has(prefix + "material")) return points;
  const std::string word = reader.text(prefix + "material");
  const std::optional<MaterialModel> material = material_model_from(word);
  if (!material) {
    reader.note(input_error("the asset has a part of an unknown material, \"" + word + "\"; build it again"));
    return points;
  }
  points.material = *material;
  points.weight = reader.matrix(prefix + "point_weights", ArchiveReader::any, 1);
  const Eigen::Index count = points.weight.size();
  points.lame = reader.matrix(prefix + "point_lame", 2, count);
  points.gradients = reader.matrix(prefix + "point_gradients", 9 * count, r);
  points.correction = reader.matrix(prefix + "correction", r, r);
  return points;
}

void add_tree(ArchiveWriter& writer, const DomainModel& model) {
  std::vector<Index> parts, parents;
  MatX places(place_rows, model.domain_count());
  Eigen::Index coefficients = 0;
  for (Index d = 0; d < model.domain_count(); ++d) {
    const Domain& domain = model.domains[to_size(d)];
    parts.push_back(domain.part);
    parents.push_back(domain.parent);
    places.col(d) << domain.scale, domain.stiffness, domain.rotation.reshaped(), domain.position,
        domain.interface.centre;
    coefficients += domain.interface.move.cols();
  }
  // â and A_l of all interfaces, one after the other; how many columns each has is told by its parent's part.
  MatX interfaces(12, coefficients);
  Eigen::Index at = 0;
  for (const Domain& domain : model.domains) {
    const Eigen::Index r = domain.interface.move.cols();
    if (r == 0) continue;
    interfaces.block(0, at, 3, r) = domain.interface.move;
    interfaces.block(3, at, 9, r) = domain.interface.turn;
    at += r;
  }
  writer.add("domain_parts", parts);
  writer.add("domain_parents", parents);
  writer.add("domain_places", places);
  writer.add("interfaces", interfaces);
}

void read_tree(ArchiveReader& reader, DomainModel& model) {
  const auto parts_limit = static_cast<Index>(model.parts.size());
  const std::vector<Index> parts = reader.indices("domain_parts", ArchiveReader::any, parts_limit);
  const Eigen::Index count = std::ssize(parts);
  const std::vector<Index> parents = reader.indices("domain_parents", count, static_cast<Index>(count), 1, -1);
  const MatX places = reader.matrix("domain_places", place_rows, count);
  const MatX interfaces = reader.matrix("interfaces", 12, ArchiveReader::any);
  if (!reader.ok()) return;
  Eigen::Index at = 0;
  for (Eigen::Index d = 0; d < count; ++d) {
    Domain domain;
    domain.part = parts[to_size(d)];
    domain.parent = parents[to_size(d)];
    if (domain.parent >= d || (d > 0 && domain.parent < 0)) return reader.misfit("domain_parents");
    domain.scale = places(0, d);
    domain.stiffness = places(1, d);
    domain.rotation = places.col(d).segment<9>(2).reshaped(3, 3);
    domain.position = places.col(d).segment<3>(11);
    domain.interface.centre = places.col(d).segment<3>(14);
    const Eigen::Index r =
        domain.parent < 0 ? 0 : model.parts[to_size(model.domains[to_size(domain.parent)].part)].size();
    if (at + r > interfaces.cols()) return reader.misfit("interfaces");
    if (domain.parent >= 0) {
      domain.interface.move = interfaces.block(0, at, 3, r);
      domain.interface.turn = interfaces.block(3, at, 9, r);
    }
    at += r;
    model.domains.push_back(std::move(domain));
  }
  if (at != interfaces.cols()) reader.misfit("interfaces");
}

void add_closures(ArchiveWriter& writer, const DomainModel& model) {
  if (model.closures.empty()) return;
  std::vector<Index> sites;
  MatX numbers(2, std::ssize(model.closures));
  Eigen::Index column = 0;
  for (const DomainClosure& closure : model.closures) {
    sites.push_back(closure.first);
    sites.push_back(closure.second);
    numbers.col(column++) << closure.give, closure.radius;
  }
  writer.add("closure_sites", sites);
  writer.add("closures", numbers);
}

void read_closures(ArchiveReader& reader, DomainModel& model) {
  if (!reader.archive().has("closures")) return;
  const std::vector<Index> sites = reader.indices("closure_sites", ArchiveReader::any, model.domain_count(), 2, -1);
  const MatX numbers = reader.matrix("closures", 2, std::ssize(sites) / 2);
  if (!reader.ok()) return;
  for (Eigen::Index k = 0; k < numbers.cols(); ++k)
    model.closures.push_back({sites[to_size(2 * k)], sites[to_size(2 * k + 1)], numbers(0, k), numbers(1, k)});
}

Eigen::Index sources_of(const DomainModel& model) { return std::ssize(model.surface.weight); }

/// Surfaces whose vertices are weighted sums.
void read_weights(ArchiveReader& reader, DomainSurface& shown) {
  if (!reader.archive().has("surface.weight")) return;
  const MatX weight = reader.matrix("surface.weight", 1, std::ssize(shown.domain));
  shown.weight.assign(weight.data(), weight.data() + weight.size());
  const std::vector<Index> seams =
      reader.indices("surface.seams", ArchiveReader::any, std::numeric_limits<Index>::max(), 4);
  for (std::size_t k = 0; k + 3 < seams.size(); k += 4)
    shown.seams.push_back({seams[k], seams[k + 1], seams[k + 2], seams[k + 3]});
}

void read_shown(ArchiveReader& reader, DomainModel& model) {
  DomainSurface& shown = model.surface;
  shown.domain = reader.indices("surface.domain", ArchiveReader::any, model.domain_count());
  const Eigen::Index sources = std::ssize(shown.domain);
  shown.vertex = reader.indices("surface.vertex", sources, std::numeric_limits<Index>::max());
  shown.first = reader.indices("surface.first", ArchiveReader::any, static_cast<Index>(sources) + 1);
  if (!reader.ok()) return;
  if (shown.first.empty() || shown.first.front() != 0 || shown.first.back() != sources)
    return reader.misfit("surface.first");
  for (std::size_t v = 0; v + 1 < shown.first.size(); ++v)
    if (shown.first[v] >= shown.first[v + 1]) return reader.misfit("surface.first");
  const std::vector<Index> corners = reader.indices("surface.triangles", ArchiveReader::any, shown.vertex_count(), 3);
  for (std::size_t k = 0; k + 2 < corners.size(); k += 3)
    shown.triangles.push_back({corners[k], corners[k + 1], corners[k + 2]});
  read_weights(reader, shown);
}

}  // namespace

std::string encode_domain_model(const DomainModel& model) {
  ArchiveWriter writer(domain_kind);
  writer.add_number("parts", static_cast<Index>(model.parts.size()));
  for (std::size_t p = 0; p < model.parts.size(); ++p) {
    writer.add(part_prefix(p) + "part_name", std::string_view(model.part_names[p]));
    add_subspace_model(writer, part_prefix(p), model.parts[p]);
    if (const PartCubature* points = model.cubature_of(p)) add_cubature(writer, part_prefix(p), *points);
  }
  add_tree(writer, model);
  add_closures(writer, model);
  writer.add("surface.first", model.surface.first);
  writer.add("surface.domain", model.surface.domain);
  writer.add("surface.vertex", model.surface.vertex);
  std::vector<Index> corners;
  for (const Triangle& t : model.surface.triangles) corners.insert(corners.end(), t.begin(), t.end());
  writer.add("surface.triangles", corners);
  if (model.surface.weight.empty()) return writer.bytes();
  writer.add("surface.weight", MatX(Eigen::Map<const MatX>(model.surface.weight.data(), 1, sources_of(model))));
  std::vector<Index> seams;
  for (const auto& seam : model.surface.seams) seams.insert(seams.end(), seam.begin(), seam.end());
  writer.add("surface.seams", seams);
  return writer.bytes();
}

Result<DomainModel> decode_domain_model(const Archive& archive) {
  if (archive.kind() != domain_kind)
    return input_error("the asset holds a \"" + archive.kind() + "\", not an object made of domains");
  ArchiveReader reader(archive);
  DomainModel model;
  const Index parts = reader.index("parts", 1'000'000);
  for (Index p = 0; p < parts && reader.ok(); ++p) {
    model.part_names.push_back(reader.text(part_prefix(to_size(p)) + "part_name"));
    Result<SubspaceModel> part = read_subspace_model(archive, part_prefix(to_size(p)));
    SUPPLE_RETURN_IF_ERROR(part);
    model.parts.push_back(std::move(*part));
    model.cubature.push_back(read_cubature(reader, part_prefix(to_size(p)), model.parts.back().size()));
  }
  if (reader.ok()) read_tree(reader, model);
  if (reader.ok()) read_closures(reader, model);
  if (reader.ok()) read_shown(reader, model);
  SUPPLE_RETURN_IF_ERROR(reader.status());
  SUPPLE_RETURN_IF_ERROR(check_domain_model(model));
  return model;
}

}  // namespace supple
