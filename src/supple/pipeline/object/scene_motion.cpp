// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/scene_motion.h"

#include <fmt/format.h>

#include "supple/fem/rigid_motions.h"

namespace supple {
namespace {

/// A model of a body on a point or a hinge has the deformations of a free one: without a frame it would not swing.
Status check_hold(const Scene& scene, const SceneBody& body) {
  const Result<FreeVertices> free = FreeVertices::create(body.body, body.fixed);
  SUPPLE_RETURN_IF_ERROR(free);
  const Eigen::Index ways = rigid_motions(body.body, *free).cols();
  if (ways == 0) return {};
  return input_error(
      fmt::format("{}: the fixed vertices leave the body {} to turn, which a reduced model can't follow; build it with "
                  "three or more fixed vertices that aren't in one line, or with none",
                  scene.name, ways == 1 ? "one way" : fmt::format("{} ways", ways)));
}

}  // namespace

Result<std::unique_ptr<SceneMotion>> SceneMotion::create(const Scene& scene, const SceneBody& body) {
  if (!body.model->anchored()) return make_free_motion(scene, body);
  SUPPLE_RETURN_IF_ERROR(check_hold(scene, body));
  return make_held_motion(scene, body);
}

}  // namespace supple
