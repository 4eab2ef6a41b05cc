// SPDX-License-Identifier: Apache-2.0
// Elastic forces of a part of any material, from a few weighted points of its mesh (asset/domain_model.h), for four
// copies at once. With F = 1 + D q at a point, D its 9 × r gradients,
//   V = ½ qᵀC q + Σ w Ψ(F)     f = C q + Σ w Dᵀ P(F)     K = C + Σ w Dᵀ (∂P/∂F) D
#pragma once

#include "supple/asset/domain_model.h"
#include "supple/math/simd/lanes.h"

namespace supple::domains {

class LaneCubature {
 public:
  LaneCubature() = default;
  explicit LaneCubature(const PartCubature& cubature);

  bool empty() const { return weight_.empty(); }
  /// K(q) by pairs into `stiffness`, and the force.
  void evaluate(const Pack4* q, Pack4* stiffness, Pack4* force) const;
  Pack4 energy(const Pack4* q) const;

 private:
  MaterialModel material_ = MaterialModel::stvk;
  int r_ = 0;
  std::vector<double> weight_, mu_, lambda_;  ///< of each point
  std::vector<double> gradients_;             ///< 9 numbers for each coordinate, r of these for each point
  std::vector<double> correction_;            ///< C by pairs
};

}  // namespace supple::domains
