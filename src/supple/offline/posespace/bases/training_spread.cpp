// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/bases/training_spread.h"

#include "supple/math/dense/decompositions.h"
#include "supple/offline/modes/mass_pca.h"

#include <algorithm>
#include <limits>

namespace supple {

MatX training_spread(const TrainingInput& input, const MatX& basis, const MatX& stiffness) {
  VecX force = VecX::Ones(basis.cols());
  double most = std::numeric_limits<double>::infinity();
  if (input.accelerations.norm() > 0) {
    const MatX f = basis.transpose() * multiply_columns(input.body.consistent_mass(), input.accelerations);
    force = (f.rowwise().squaredNorm() / static_cast<double>(f.cols())).cwiseSqrt();
    force = force.cwiseMax(0.1 * force.maxCoeff()).eval();
    most = 1;
  }
  const MatX spread = PositiveFactor(stiffness).solve(MatX(force.asDiagonal()));
  const VecX squares = (basis * spread).rowwise().squaredNorm();
  double sway = 0;
  for (Eigen::Index v = 0; v < squares.size(); v += 3) sway = std::max(sway, std::sqrt(squares.segment<3>(v).sum()));
  return spread * std::min(most, 0.005 * input.height / std::max(sway, 1e-300));
}

}  // namespace supple
