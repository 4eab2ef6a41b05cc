// SPDX-License-Identifier: Apache-2.0
// The stiffness polynomial of a whole body, of all its materials.
#pragma once

#include "supple/asset/subspace_model.h"
#include "supple/fem/material.h"

namespace supple {

/// Gives Σ_groups λ · (λ part) + μ · (μ part).
inline StiffnessPolynomial body_stiffness(const SubspaceModel& model) {
  StiffnessPolynomial total = StiffnessPolynomial::zero(model.size());
  for (const MaterialGroup& group : model.groups) {
    const Lame<double> lame = lame_from(group.material.young, group.material.poisson);
    total.add(lame.lambda, group.lambda);
    total.add(lame.mu, group.mu);
  }
  return total;
}

}  // namespace supple
