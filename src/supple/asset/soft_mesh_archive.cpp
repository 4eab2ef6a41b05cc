// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/soft_mesh_archive.h"

#include "supple/asset/rig_archive.h"

#include <algorithm>

namespace supple {

bool is_sound(const ElasticMaterial& m) { return m.young > 0 && m.poisson > -1 && m.poisson < 0.5 && m.density > 0; }

void add_quadruples(ArchiveWriter& writer, const std::string& name, std::span<const std::array<Index, 4>> rows) {
  std::vector<Index> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  writer.add(name, all);
}

std::vector<std::array<Index, 4>> read_quadruples(ArchiveReader& reader, const std::string& name, Index limit) {
  std::vector<std::array<Index, 4>> rows;
  const std::vector<Index> all = reader.indices(name, ArchiveReader::any, limit, 4);
  for (std::size_t k = 0; k + 3 < all.size(); k += 4) rows.push_back({all[k], all[k + 1], all[k + 2], all[k + 3]});
  return rows;
}

void add_weights(ArchiveWriter& writer, const std::string& name, std::span<const std::array<double, 4>> rows) {
  MatX columns(4, std::ssize(rows));
  for (std::size_t v = 0; v < rows.size(); ++v)
    columns.col(static_cast<Eigen::Index>(v)) = Eigen::Map<const Eigen::Vector4d>(rows[v].data());
  writer.add(name, columns);
}

namespace {

void add_soft_mesh(ArchiveWriter& writer, const TetMesh& mesh, const std::vector<Index>& fixed) {
  writer.add("vertices", columns_of(mesh.vertices));
  add_quadruples(writer, "tets", mesh.elements);
  MatX numbers(3, std::ssize(mesh.materials));
  for (std::size_t m = 0; m < mesh.materials.size(); ++m) {
    const ElasticMaterial& material = mesh.materials[m];
    numbers.col(static_cast<Eigen::Index>(m)) << material.young, material.poisson, material.density;
  }
  writer.add("materials", numbers);
  writer.add("tet_material", mesh.element_material);
  writer.add("fixed", fixed);
}

void read_soft_mesh(ArchiveReader& reader, TetMesh& mesh, std::vector<Index>& fixed) {
  mesh.vertices = reader.points("vertices", ArchiveReader::any);
  const auto vertices = static_cast<Index>(mesh.vertices.size());
  mesh.elements = read_quadruples(reader, "tets", vertices);
  if (mesh.elements.empty()) reader.misfit("tets");
  const MatX numbers = reader.matrix("materials", 3, ArchiveReader::any);
  for (Eigen::Index m = 0; m < numbers.cols(); ++m) {
    mesh.materials.push_back({"", numbers(0, m), numbers(1, m), numbers(2, m)});
    if (!is_sound(mesh.materials.back())) reader.misfit("materials");
  }
  mesh.element_material = reader.indices("tet_material", ArchiveReader::any, static_cast<Index>(mesh.materials.size()));
  if (mesh.materials.empty()) reader.misfit("materials");
  if (!mesh.element_material.empty() && mesh.element_material.size() != mesh.elements.size())
    reader.misfit("tet_material");
  fixed = reader.indices("fixed", ArchiveReader::any, vertices);
  const auto not_ascending = [](Index a, Index b) { return a >= b; };
  if (std::adjacent_find(fixed.begin(), fixed.end(), not_ascending) != fixed.end()) reader.misfit("fixed");
}

void add_hanging_skin(ArchiveWriter& writer, std::span<const std::array<Index, 4>> vertices,
                      std::span<const std::array<double, 4>> weights) {
  add_quadruples(writer, "surface.vertices", vertices);
  add_weights(writer, "surface.weights", weights);
}

void read_hanging_skin(ArchiveReader& reader, Index mesh_vertices, std::vector<std::array<Index, 4>>& vertices,
                       std::vector<std::array<double, 4>>& weights) {
  vertices = read_quadruples(reader, "surface.vertices", mesh_vertices);
  const MatX found = reader.matrix("surface.weights", 4, std::ssize(vertices));
  for (Eigen::Index v = 0; v < found.cols() && reader.ok(); ++v)
    weights.push_back({found(0, v), found(1, v), found(2, v), found(3, v)});
}

}  // namespace

Status add_whole_mesh(ArchiveWriter& writer, const WholeMeshModel& model) {
  writer.add("name", std::string_view(model.name));
  writer.add_number("extent", model.extent);
  add_soft_mesh(writer, model.mesh, model.fixed);
  add_hanging_skin(writer, model.surface_vertex, model.surface_weight);
  add_sentences(writer, "warnings", model.warnings);
  add_made_for(writer, model.made_for);
  return RigArchive::write(writer, "rest", *model.rest);
}

void read_whole_mesh(const Archive& archive, ArchiveReader& reader, WholeMeshModel& model) {
  model.name = reader.text("name");
  model.extent = reader.number("extent");
  if (!(model.extent > 0)) reader.misfit("extent");
  read_soft_mesh(reader, model.mesh, model.fixed);
  read_hanging_skin(reader, model.vertex_count(), model.surface_vertex, model.surface_weight);
  model.warnings = read_sentences(reader, "warnings");
  model.made_for = read_made_for(archive, reader);
  if (reader.ok()) model.rest = RigArchive::read(reader, "rest");
  if (reader.ok() && model.rest->vertex_count() != model.vertex_count()) reader.misfit("rest");
}

void add_sentences(ArchiveWriter& writer, const std::string& name, const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += sentence + "\n";
  writer.add(name, std::string_view(text));
}

std::vector<std::string> read_sentences(ArchiveReader& reader, const std::string& name) {
  const std::string text = reader.text(name);
  std::vector<std::string> sentences;
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    sentences.push_back(text.substr(at, end - at));
  return sentences;
}

}  // namespace supple
