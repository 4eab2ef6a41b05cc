// SPDX-License-Identifier: Apache-2.0
// Sums over the elements of a body: energy, internal force, stiffness, and the Hessian of the force contracted twice.
// Implemented once for both elements in fem/assembly_kernels.h; callers normally go through ElasticBody.
#pragma once

#include "supple/fem/element_batch.h"

namespace supple {

template <int Nodes>
struct Assembly {
  using Batches = ElementBatches<Nodes>;

  /// Σ ∫ Ψ dV; infinite where the energy is undefined (an inverted neo-Hookean element).
  static double energy(const Batches& batches, MaterialModel model, const VecX& u);

  /// Overwrites f with the internal force ∂energy/∂u.
  static void force(const Batches& batches, MaterialModel model, const VecX& u, VecX& f);

  /// f and K = ∂f/∂u; `project` replaces each element's material Jacobian by its nearest positive semi-definite matrix.
  static void force_and_stiffness(const Batches& batches, MaterialModel model, const VecX& u, bool project, VecX& f,
                                  BlockMatrix& K);

  /// result = (H : a) b, H = ∂K/∂u: the change of K(u) b as u moves along a.
  static void hessian_product(const Batches& batches, MaterialModel model, const VecX& u, const VecX& a, const VecX& b,
                              VecX& result);

  /// The smallest det F over all quadrature points: ≤ 0 means something is inverted.
  static double smallest_volume_ratio(const Batches& batches, const VecX& u);
};

extern template struct Assembly<4>;
extern template struct Assembly<8>;

}  // namespace supple
