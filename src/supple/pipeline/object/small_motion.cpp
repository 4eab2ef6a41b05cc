// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/small_motion.h"

#include "supple/math/dense/decompositions.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace supple {

SmallMotion small_motion(DomainDynamics& dynamics) {
  const auto q = dynamics.coordinates(), v = dynamics.velocities();
  const Eigen::Index n = std::ssize(q);
  constexpr double e = 1e-9;  // V is not quadratic far from rest
  // V has odd terms, too, and among stiff coordinates they are as large as what soft ones have: the mean of either sign
  // is free of them. T is quadratic at rest, to the last bit.
  const auto energies = [&](std::size_t a, std::size_t b) {
    double elastic = 0;
    for (const double step : {e, -e}) {
      q[a] += step;
      q[b] += step;
      elastic += dynamics.measure().elastic_energy / (2 * e * e);
      q[a] = q[b] = 0;
    }
    v[a] += 1;
    v[b] += 1;
    const double kinetic = dynamics.measure().kinetic_energy;
    v[a] = v[b] = 0;
    return std::pair(kinetic, elastic);
  };
  // E(a, a) is that of twice the unit vector.
  SmallMotion out{MatX(n, n), MatX(n, n)};
  for (Eigen::Index a = 0; a < n; ++a) {
    const auto [T, V] = energies(to_size(a), to_size(a));
    out.mass(a, a) = T / 2;
    out.stiffness(a, a) = V / 2;
  }
  for (Eigen::Index a = 0; a < n; ++a)
    for (Eigen::Index b = 0; b < a; ++b) {
      const auto [T, V] = energies(to_size(a), to_size(b));
      out.mass(a, b) = out.mass(b, a) = T - (out.mass(a, a) + out.mass(b, b)) / 2;
      out.stiffness(a, b) = out.stiffness(b, a) = V - (out.stiffness(a, a) + out.stiffness(b, b)) / 2;
    }
  return out;
}

VecX small_motion_frequencies(const SmallMotion& motion) {
  return generalized_eigenvalues(motion.stiffness, motion.mass).cwiseMax(0).cwiseSqrt() / (2 * std::numbers::pi);
}

}  // namespace supple
