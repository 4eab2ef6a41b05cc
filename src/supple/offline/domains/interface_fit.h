// SPDX-License-Identifier: Apache-2.0
// The frame of an interface as a function of the parent's coordinates (2011 paper, Eq. 1 to 4): the centroid of its
// vertices, and the linear map that fits their motion best,
//   x(q) = x̂ + â q       A(q) = Σ_k w_k (X_k + U_k q − x(q)) (X_k − x̂)ᵀ C⁻¹,   C = Σ_k w_k (X_k − x̂) (X_k − x̂)ᵀ
// A flat interface says nothing about its normal. The paper adds a point above the centre that stays where it is, which
// resists turning. Here the normal tilts with the plane and shortens as the elements next to it do, so that A is
// exactly a rotation when the interface turns rigidly, however far.
#pragma once

#include "supple/asset/domain_model.h"
#include "supple/base/result.h"

#include <span>

namespace supple {

/// The interface that these vertices of the parent's part form. Fails where they are fewer than three, or on a line:
/// they don't hold a child. `weights` stand beside the vertices; none: all count the same.
Result<DomainInterface> fit_interface(const SubspaceModel& parent, std::span<const Index> vertices,
                                      std::span<const double> weights = {});

/// The interface at a point of the parent, such as a leaf's on its branch: the point moves with the element that it is
/// in or next to, and turns with the vertices around it, within `radius` but at least those of that element.
Result<DomainInterface> attach_at(const SubspaceModel& parent, const Vec3& point, double radius);

}  // namespace supple
