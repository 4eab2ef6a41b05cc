// SPDX-License-Identifier: Apache-2.0
// Weights of handles on a skin, wherever they come from: given for its own vertices, for those of tetrahedra around it,
// for another surface near it, or for nothing at all.
#pragma once

#include "supple/base/result.h"
#include "supple/io/motion/handle_rig.h"
#include "supple/mesh/surface.h"
#include "supple/mesh/volume_mesh.h"
#include "supple/rig/skin.h"

#include <span>

namespace supple {

/// Carries weights of tetrahedra to points in or near them. Rows of the result are points.
Result<MatX> weights_from_tets(const TetMesh& mesh, const MatX& weights, std::span<const Vec3> points);

/// Carries weights of a surface to the points nearest to it.
MatX weights_from_surface(const Surface& surface, const MatX& weights, std::span<const Vec3> points);

/// Bounded biharmonic weights of all handles on the tetrahedra's vertices. Fails where a handle has no vertex of its
/// own. `name` is the file of the handles.
Result<MatX> biharmonic_weights(const TetMesh& mesh, const HandleRig& rig, const std::string& name);

/// Weights as a skin has them: positive, of sum one, without those too small to see. A vertex that no handle wants goes
/// with the nearest; `lost` counts these.
SkinWeights skin_weights(const MatX& weights, std::span<const Vec3> points, const HandleRig& rig, std::size_t& lost);

}  // namespace supple
