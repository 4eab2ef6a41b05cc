// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/full_archive.h"

#include "supple/asset/rig_archive.h"

#include <algorithm>
#include <numeric>

namespace supple {
namespace {

constexpr std::string_view full_kind = "full";
constexpr Eigen::Index material_rows = 3;

template <std::size_t Width>
std::vector<Index> flattened(const std::vector<std::array<Index, Width>>& rows) {
  std::vector<Index> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

/// Runs of four that all lie below `limit`.
std::vector<std::array<Index, 4>> read_quadruples(ArchiveReader& reader, const std::string& name, Index limit) {
  std::vector<std::array<Index, 4>> rows;
  const std::vector<Index> all = reader.indices(name, ArchiveReader::any, limit, 4);
  for (std::size_t k = 0; k + 3 < all.size(); k += 4) rows.push_back({all[k], all[k + 1], all[k + 2], all[k + 3]});
  return rows;
}

MatX weight_columns(std::size_t count, const auto& weight_of) {
  MatX columns(4, static_cast<Eigen::Index>(count));
  for (std::size_t v = 0; v < count; ++v)
    columns.col(static_cast<Eigen::Index>(v)) = Eigen::Map<const Eigen::Vector4d>(weight_of(v).data());
  return columns;
}

void add_mesh(ArchiveWriter& writer, const FullModel& model) {
  writer.add("vertices", supple::columns_of(model.mesh.vertices));
  writer.add("tets", flattened(model.mesh.elements));
  MatX numbers(material_rows, std::ssize(model.mesh.materials));
  for (std::size_t m = 0; m < model.mesh.materials.size(); ++m) {
    const ElasticMaterial& material = model.mesh.materials[m];
    const auto c = static_cast<Eigen::Index>(m);
    numbers(0, c) = material.young, numbers(1, c) = material.poisson, numbers(2, c) = material.density;
  }
  writer.add("materials", numbers);
  writer.add("tet_material", model.mesh.element_material);
  writer.add("fixed", model.fixed);
}

bool sound(const ElasticMaterial& m) { return m.young > 0 && m.poisson > -1 && m.poisson < 0.5 && m.density > 0; }

void read_mesh(ArchiveReader& reader, FullModel& model) {
  model.mesh.vertices = reader.points("vertices", ArchiveReader::any);
  model.mesh.elements = read_quadruples(reader, "tets", model.vertex_count());
  const MatX numbers = reader.matrix("materials", material_rows, ArchiveReader::any);
  for (Eigen::Index m = 0; m < numbers.cols(); ++m) {
    model.mesh.materials.push_back({"", numbers(0, m), numbers(1, m), numbers(2, m)});
    if (!sound(model.mesh.materials.back())) reader.misfit("materials");
  }
  model.mesh.element_material =
      reader.indices("tet_material", ArchiveReader::any, static_cast<Index>(model.mesh.materials.size()));
  if (model.mesh.materials.empty()) reader.misfit("materials");
  if (!model.mesh.element_material.empty() && model.mesh.element_material.size() != model.mesh.elements.size())
    reader.misfit("tet_material");
  model.fixed = reader.indices("fixed", ArchiveReader::any, model.vertex_count());
  const auto not_ascending = [](Index a, Index b) { return a >= b; };
  if (std::adjacent_find(model.fixed.begin(), model.fixed.end(), not_ascending) != model.fixed.end())
    reader.misfit("fixed");
}

void add_pose_materials(ArchiveWriter& writer, const FullModel& model) {
  add_pose_weights(writer, "material_poses", model.poses);
  if (!model.poses) return;
  const auto elements = std::ssize(model.mesh.elements), poses = std::ssize(model.pose_materials);
  MatX young(elements, poses), poisson(elements, poses);
  for (Eigen::Index i = 0; i < poses; ++i) {
    for (Eigen::Index e = 0; e < elements; ++e) {
      const ElasticMaterial& material = model.pose_materials[to_size(i)][to_size(e)];
      young(e, i) = material.young, poisson(e, i) = material.poisson;
    }
  }
  writer.add("material_poses.young", young);
  writer.add("material_poses.poisson", poisson);
}

void read_pose_materials(ArchiveReader& reader, FullModel& model) {
  model.poses = read_pose_weights(reader, "material_poses", model.rest->layout());
  if (!model.poses || !reader.ok()) return;
  const auto elements = std::ssize(model.mesh.elements);
  const Index poses = model.poses->pose_count();
  const MatX young = reader.matrix("material_poses.young", elements, poses);
  const MatX poisson = reader.matrix("material_poses.poisson", elements, poses);
  for (Index i = 0; i < poses && reader.ok(); ++i) {
    auto& own = model.pose_materials.emplace_back();
    for (std::size_t e = 0; e < model.mesh.elements.size(); ++e) {
      const auto row = static_cast<Eigen::Index>(e);
      const std::vector<Index>& material = model.mesh.element_material;
      const double density = model.mesh.materials[material.empty() ? 0 : to_size(material[e])].density;
      own.push_back({"", young(row, i), poisson(row, i), density});
      if (!sound(own.back())) return reader.misfit("material_poses.young");
    }
  }
}

void add_frame_sites(ArchiveWriter& writer, const FrameSites& frames) {
  std::vector<std::array<Index, FrameBlend::most>> places;
  for (const FrameBlend& blend : frames.vertices) places.push_back(blend.site);
  writer.add("frames.sites", flattened(frames.sites));
  writer.add("frames.blended", flattened(places));
  writer.add("frames.weights",
             weight_columns(
                 frames.vertices.size(), [&](std::size_t v) -> const auto& { return frames.vertices[v].weight; }));
}

FrameSites read_frame_sites(ArchiveReader& reader, Index vertices) {
  FrameSites frames;
  frames.sites = read_quadruples(reader, "frames.sites", vertices);
  const auto places = read_quadruples(reader, "frames.blended", static_cast<Index>(frames.sites.size()));
  const MatX weights = reader.matrix("frames.weights", FrameBlend::most, vertices);
  if (std::ssize(places) != vertices) reader.misfit("frames.blended");
  if (!reader.ok()) return {};
  for (std::size_t v = 0; v < places.size(); ++v) {
    FrameBlend& blend = frames.vertices.emplace_back();
    blend.site = places[v];
    for (std::size_t k = 0; k < FrameBlend::most; ++k)
      blend.weight[k] = weights(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(v));
  }
  return frames;
}

void read_skin(ArchiveReader& reader, FullModel& model) {
  model.surface_vertex = read_quadruples(reader, "surface.vertices", model.vertex_count());
  const MatX weights = reader.matrix("surface.weights", FullModel::nodes, std::ssize(model.surface_vertex));
  for (Eigen::Index v = 0; v < weights.cols() && reader.ok(); ++v)
    model.surface_weight.push_back({weights(0, v), weights(1, v), weights(2, v), weights(3, v)});
}

std::string in_lines(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += sentence + "\n";
  return text;
}
std::vector<std::string> from_lines(const std::string& text) {
  std::vector<std::string> sentences;
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
    sentences.push_back(text.substr(at, end - at));
  return sentences;
}

}  // namespace

Result<std::string> encode_full_model(const FullModel& model) {
  ArchiveWriter writer(full_kind);
  writer.add("name", std::string_view(model.name));
  writer.add("material", to_string(model.material));
  writer.add_number("extent", model.extent);
  writer.add_number("flesh_frequency", model.flesh_frequency);
  writer.add_number("damping", model.damping);
  writer.add_number("most_acceleration", model.most_acceleration);
  writer.add_number("gain", model.gain);
  writer.add_number("exaggeration", model.exaggeration);
  add_mesh(writer, model);
  std::vector<Index> all(model.mesh.vertices.size());
  std::iota(all.begin(), all.end(), 0);
  SUPPLE_RETURN_IF_ERROR(RigArchive::write(writer, "rest", *model.rest, all));
  add_pose_materials(writer, model);
  add_frame_sites(writer, model.frames);
  writer.add("surface.vertices", flattened(model.surface_vertex));
  writer.add("surface.weights",
             weight_columns(
                 model.surface_weight.size(), [&](std::size_t v) -> const auto& { return model.surface_weight[v]; }));
  writer.add("warnings", std::string_view(in_lines(model.warnings)));
  add_made_for(writer, model.made_for);
  return writer.bytes();
}

Result<FullModel> decode_full_model(const Archive& archive) {
  if (archive.kind() != full_kind)
    return input_error("the asset holds a \"" + archive.kind() + "\", not a full simulation");
  ArchiveReader reader(archive);
  FullModel model;
  model.name = reader.text("name");
  const std::optional<MaterialModel> material = material_model_from(reader.text("material"));
  if (!material) reader.misfit("material");
  model.material = material.value_or(MaterialModel::flesh);
  model.extent = reader.number("extent");
  model.flesh_frequency = reader.number("flesh_frequency");
  model.damping = reader.number("damping");
  // Archives of earlier versions have no limit.
  if (archive.has("most_acceleration")) {
    model.most_acceleration = reader.number("most_acceleration");
    model.gain = reader.number("gain");
  }
  if (archive.has("exaggeration")) model.exaggeration = reader.number("exaggeration");
  if (!(model.most_acceleration >= 0) || !(model.gain >= 0)) reader.misfit("most_acceleration");
  if (!(model.exaggeration >= 0)) reader.misfit("exaggeration");
  if (!(model.extent > 0)) reader.misfit("extent");
  if (!(model.flesh_frequency >= 0)) reader.misfit("flesh_frequency");
  if (!(model.damping >= 0)) reader.misfit("damping");
  read_mesh(reader, model);
  if (reader.ok()) model.rest = RigArchive::read(reader, "rest");
  if (reader.ok() && model.rest->vertex_count() != model.vertex_count()) reader.misfit("rest");
  if (reader.ok()) read_pose_materials(reader, model);
  if (reader.ok()) model.frames = read_frame_sites(reader, model.vertex_count());
  read_skin(reader, model);
  model.warnings = from_lines(reader.text("warnings"));
  model.made_for = read_made_for(archive, reader);
  SUPPLE_RETURN_IF_ERROR(reader.status());
  return model;
}

}  // namespace supple
