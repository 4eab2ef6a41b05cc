// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/full_archive.h"

#include "supple/asset/rig_archive.h"
#include "supple/asset/soft_mesh_archive.h"

#include <algorithm>

namespace supple {
namespace {

constexpr std::string_view full_kind = "full";

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
      if (!is_sound(own.back())) return reader.misfit("material_poses.young");
    }
  }
}

void add_frame_sites(ArchiveWriter& writer, const FrameSites& frames) {
  std::vector<std::array<Index, FrameBlend::most>> places;
  std::vector<std::array<double, FrameBlend::most>> weights;
  for (const FrameBlend& blend : frames.vertices) {
    places.push_back(blend.site);
    weights.push_back(blend.weight);
  }
  add_quadruples(writer, "frames.sites", frames.sites);
  add_quadruples(writer, "frames.blended", places);
  add_weights(writer, "frames.weights", weights);
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

}  // namespace

Result<std::string> encode_full_model(const FullModel& model) {
  ArchiveWriter writer(full_kind);
  SUPPLE_RETURN_IF_ERROR(add_whole_mesh(writer, model));
  writer.add("material", to_string(model.material));
  writer.add_number("flesh_frequency", model.flesh_frequency);
  writer.add_number("damping", model.damping);
  writer.add_number("most_acceleration", model.most_acceleration);
  writer.add_number("gain", model.gain);
  writer.add_number("exaggeration", model.exaggeration);
  add_pose_materials(writer, model);
  add_frame_sites(writer, model.frames);
  return writer.bytes();
}

Result<FullModel> decode_full_model(const Archive& archive) {
  if (archive.kind() != full_kind)
    return input_error("the asset holds a \"" + archive.kind() + "\", not a full simulation");
  ArchiveReader reader(archive);
  FullModel model;
  read_whole_mesh(archive, reader, model);
  const std::optional<MaterialModel> material = material_model_from(reader.text("material"));
  if (!material) reader.misfit("material");
  model.material = material.value_or(MaterialModel::flesh);
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
  if (!(model.flesh_frequency >= 0)) reader.misfit("flesh_frequency");
  if (!(model.damping >= 0)) reader.misfit("damping");
  if (reader.ok()) read_pose_materials(reader, model);
  if (reader.ok()) model.frames = read_frame_sites(reader, model.vertex_count());
  SUPPLE_RETURN_IF_ERROR(reader.status());
  return model;
}

}  // namespace supple
