// SPDX-License-Identifier: Apache-2.0
#include "samples/haptics_bridge.h"

#include "samples/subspace_samples.h"
#include "supple/offline/forces/cubic_forces.h"
#include "supple/offline/modes/modal_basis.h"

namespace supple {

Result<SubspaceModel> make_haptics_bridge(Progress& progress) {
  progress.stage("building the bridge");
  const SubspaceSample scene = make_bridge();
  const Result<ElasticBody> body = ElasticBody::create(scene.bricks, MaterialModel::stvk);
  SUPPLE_RETURN_IF_ERROR(body);
  const Result<ModalBasis> basis =
      build_modal_basis(*body, scene.fixed_vertices, {.linear_modes = 8, .size = 15}, progress);
  SUPPLE_RETURN_IF_ERROR(basis);
  Result<SubspaceModel> model = build_subspace_model(scene.bricks, basis->basis, progress);
  if (!model.ok()) return model;
  model->fixed_vertices = scene.fixed_vertices;
  embed_surface(*model, scene.surface, scene.embedding);
  return model;
}

}  // namespace supple
