// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/subspace_archive.h"

#include "supple/asset/archive_reader.h"

namespace supple {
namespace {

constexpr std::string_view subspace_kind = "subspace";

std::string group_name(const std::string& prefix, std::size_t group, std::string_view what) {
  return prefix + "group" + std::to_string(group) + "." + std::string(what);
}

void add_polynomial(ArchiveWriter& writer, const std::string& name, const StiffnessPolynomial& polynomial) {
  writer.add(name + ".constant", polynomial.constant);
  writer.add(name + ".linear", polynomial.linear);
  writer.add(name + ".quadratic", polynomial.quadratic);
}

StiffnessPolynomial read_polynomial(ArchiveReader& reader, const std::string& name, Index r) {
  const Index pairs = pair_count(r);
  return {reader.matrix(name + ".constant", pairs, 1), reader.matrix(name + ".linear", pairs, r),
          reader.matrix(name + ".quadratic", pairs, pairs)};
}

MaterialGroup read_group(ArchiveReader& reader, const std::string& prefix, std::size_t group, Index r) {
  MaterialGroup result;
  result.material.name = reader.text(group_name(prefix, group, "name"));
  const MatX numbers = reader.matrix(group_name(prefix, group, "material"), 3, 1);
  if (numbers.size() == 3) {
    result.material.young = numbers(0);
    result.material.poisson = numbers(1);
    result.material.density = numbers(2);
  }
  result.lambda = read_polynomial(reader, group_name(prefix, group, "lambda"), r);
  result.mu = read_polynomial(reader, group_name(prefix, group, "mu"), r);
  result.moments.volume = reader.number(group_name(prefix, group, "volume"));
  result.moments.first = reader.matrix(group_name(prefix, group, "first_moments"), 3, r + 1);
  result.moments.second = reader.matrix(group_name(prefix, group, "second_moments"), 3 * (r + 1), 3 * (r + 1));
  return result;
}

DisplaySurface read_object_surface(ArchiveReader& reader, const std::string& prefix, Index r) {
  DisplaySurface surface;
  surface.rest_positions = reader.points(prefix + "surface.rest_positions", ArchiveReader::any);
  surface.basis = reader.matrix(prefix + "surface.basis", 3 * surface.vertex_count(), r);
  const std::vector<Index> corners =
      reader.indices(prefix + "surface.triangles", ArchiveReader::any, surface.vertex_count(), 3);
  for (std::size_t k = 0; k + 2 < corners.size(); k += 3)
    surface.triangles.push_back({corners[k], corners[k + 1], corners[k + 2]});
  return surface;
}

void read_object_elements(ArchiveReader& reader, const std::string& prefix, Index groups, SubspaceModel& model) {
  model.nodes_per_element = reader.index(prefix + "nodes_per_element", 9);
  if (model.nodes_per_element != 4 && model.nodes_per_element != 8) {
    reader.misfit(prefix + "nodes_per_element");
    return;
  }
  model.elements =
      reader.indices(prefix + "elements", ArchiveReader::any, model.vertex_count(), model.nodes_per_element);
  model.element_group = reader.indices(prefix + "element_group", model.element_count(), groups);
  model.fixed_vertices = reader.indices(prefix + "fixed_vertices", ArchiveReader::any, model.vertex_count());
}

void add_object_surface(ArchiveWriter& writer, const std::string& prefix, const DisplaySurface& surface) {
  writer.add(prefix + "surface.rest_positions", columns_of(surface.rest_positions));
  std::vector<Index> corners;
  for (const Triangle& triangle : surface.triangles) corners.insert(corners.end(), triangle.begin(), triangle.end());
  writer.add(prefix + "surface.triangles", corners);
  writer.add(prefix + "surface.basis", surface.basis);
}

}  // namespace

void add_subspace_model(ArchiveWriter& writer, const std::string& prefix, const SubspaceModel& model) {
  writer.add(prefix + "rest_positions", columns_of(model.rest_positions));
  writer.add(prefix + "basis", model.basis);
  writer.add(prefix + "nodes_per_element", std::span<const Index>(&model.nodes_per_element, 1));
  writer.add(prefix + "elements", model.elements);
  writer.add(prefix + "element_group", model.element_group);
  writer.add(prefix + "fixed_vertices", model.fixed_vertices);
  add_object_surface(writer, prefix, model.surface);
  const auto groups = static_cast<Index>(model.groups.size());
  writer.add(prefix + "groups", std::span<const Index>(&groups, 1));
  for (std::size_t g = 0; g < model.groups.size(); ++g) {
    const MaterialGroup& group = model.groups[g];
    writer.add(group_name(prefix, g, "name"), std::string_view(group.material.name));
    writer.add(group_name(prefix, g, "material"),
               Vec3(group.material.young, group.material.poisson, group.material.density));
    add_polynomial(writer, group_name(prefix, g, "lambda"), group.lambda);
    add_polynomial(writer, group_name(prefix, g, "mu"), group.mu);
    writer.add(group_name(prefix, g, "volume"), MatX::Constant(1, 1, group.moments.volume));
    writer.add(group_name(prefix, g, "first_moments"), group.moments.first);
    writer.add(group_name(prefix, g, "second_moments"), group.moments.second);
  }
}

std::string encode_subspace_model(const SubspaceModel& model) {
  ArchiveWriter writer(subspace_kind);
  add_subspace_model(writer, "", model);
  return writer.bytes();
}

Result<SubspaceModel> read_subspace_model(const Archive& archive, const std::string& prefix) {
  const auto basis = archive.matrix(prefix + "basis");
  SUPPLE_RETURN_IF_ERROR(basis);
  const auto groups = archive.indices(prefix + "groups");
  SUPPLE_RETURN_IF_ERROR(groups);
  const auto r = static_cast<Index>(basis->cols());
  ArchiveReader reader(archive);
  SubspaceModel model;
  model.basis = reader.matrix(prefix + "basis", basis->rows(), r);
  model.rest_positions = reader.points(prefix + "rest_positions", basis->rows() / 3);
  const Index count = groups->empty() ? 0 : groups->front();
  read_object_elements(reader, prefix, count, model);
  model.surface = read_object_surface(reader, prefix, r);
  for (Index g = 0; g < count && reader.status().ok(); ++g)
    model.groups.push_back(read_group(reader, prefix, to_size(g), r));
  if (model.groups.empty()) reader.note(input_error("the asset has no materials; build it again"));
  SUPPLE_RETURN_IF_ERROR(reader.status());
  return model;
}

Result<SubspaceModel> decode_subspace_model(const Archive& archive) {
  if (archive.kind() != subspace_kind) {
    return input_error("the asset holds a \"" + archive.kind() + "\", not a subspace model");
  }
  return read_subspace_model(archive, "");
}

Result<SubspaceModel> load_subspace_model(const std::filesystem::path& path) {
  const Result<Archive> archive = Archive::open(path);
  SUPPLE_RETURN_IF_ERROR(archive);
  Result<SubspaceModel> model = decode_subspace_model(*archive);
  if (!model.ok()) return Error{model.error().kind, path.string() + ": " + model.error().message};
  return model;
}

}  // namespace supple
