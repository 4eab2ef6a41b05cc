// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/full/build_full.h"

#include "supple/fem/elastic_body.h"
#include "supple/offline/fitting/flesh_frequency.h"
#include "supple/offline/fitting/flesh_stiffness.h"
#include "supple/offline/fitting/whole_mesh.h"

#include <algorithm>

namespace supple {
namespace {

Result<std::shared_ptr<const Rig>> rest_shape(const EmbeddedBody& body, const CharacterRig& rig,
                                              const FullSettings& settings, Progress& progress) {
  if (settings.fitted_poses.empty()) return carry_rig(rig.rig(), body.carry, body.mesh.vertices);
  Result<FittedPoses> fitted = fit_poses(body, rig.rig(), settings.fitted_poses, {}, progress, {}, *settings.store);
  SUPPLE_RETURN_IF_ERROR(fitted);
  return std::move(fitted->rig);
}

std::vector<Index> free_vertices(const FullModel& model) {
  std::vector<Index> free;
  for (Index v = 0; v < model.vertex_count(); ++v)
    if (!std::binary_search(model.fixed.begin(), model.fixed.end(), v)) free.push_back(v);
  return free;
}

/// Sites that follow the rotations of the rest shape in poses of the clips.
FrameSites frames_for(const FullModel& model, std::span<const Index> free, const RawCharacter& character,
                      const CharacterRig& rig, const FullSettings& settings) {
  std::vector<std::vector<Vec3>> shapes = typical_shapes(*model.rest, character, rig);
  for (const std::vector<double>& p : settings.fitted_poses) shapes.push_back(evaluate_all(*model.rest, p));
  return choose_frame_sites(model.mesh, free, shapes, settings.frames);
}

Status set_pose_materials(const FullSettings& settings, FullModel& model) {
  if (settings.material_poses.empty()) return {};
  std::vector<std::vector<double>> poses = {model.rest->layout().neutral};
  poses.insert(poses.end(), settings.material_poses.begin(), settings.material_poses.end());
  Result<PoseSpaceWeights> weights = PoseSpaceWeights::create(model.rest->layout(), std::move(poses));
  SUPPLE_RETURN_IF_ERROR(weights);
  model.poses = std::move(*weights);
  auto& neutral = model.pose_materials.emplace_back();
  for (std::size_t e = 0; e < model.mesh.elements.size(); ++e) neutral.push_back(model.mesh.material_of(e));
  for (std::size_t i = 0; i < settings.material_poses.size(); ++i)
    model.pose_materials.push_back(settings.materials_in_pose(model.mesh, i));
  return {};
}

}  // namespace

Result<FullModel> build_full(const EmbeddedBody& body, const RawCharacter& character, const CharacterRig& rig,
                             const FullSettings& settings, Progress& progress) {
  FullModel model;
  model.material = settings.material;
  SUPPLE_RETURN_IF_ERROR(take_mesh(body, settings.material, settings.frequency, settings.base_young, progress, model));
  if (settings.bearable_share > 0) {
    const Result<double> bearable =
        bearable_acceleration(model.mesh, body.fixed_vertices, settings.material, settings.bearable_share);
    SUPPLE_RETURN_IF_ERROR(bearable);
    model.most_acceleration = *bearable;
  }
  const Result<ElasticBody> elastic = ElasticBody::create(model.mesh, model.material);
  SUPPLE_RETURN_IF_ERROR(elastic);
  const Result<double> frequency = flesh_frequency(*elastic, model.fixed);
  SUPPLE_RETURN_IF_ERROR(frequency);
  model.flesh_frequency = *frequency;
  Result<std::shared_ptr<const Rig>> rest = rest_shape(body, rig, settings, progress);
  SUPPLE_RETURN_IF_ERROR(rest);
  model.rest = std::move(*rest);
  SUPPLE_RETURN_IF_ERROR(set_pose_materials(settings, model));
  progress.stage("following the pose");
  model.frames = frames_for(model, free_vertices(model), character, rig, settings);
  return model;
}

}  // namespace supple
