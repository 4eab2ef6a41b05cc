// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/small_motion.h"

#include "supple/math/dense/decompositions.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace supple {

namespace {

/// How far the sites of loops that don't give come apart, at each of the coordinates: six rows for each loop, three for
/// one that is free to turn.
MatX openings(DomainDynamics& dynamics) {
  const PreparedTree& tree = dynamics.tree();
  const auto q = dynamics.coordinates();
  std::vector<VecX> rows;
  const auto parting = [&](const PreparedClosure& closure) {
    const auto frame = [&](std::size_t place, Mat3& R, Vec3& c) {
      dynamics.frame(tree.paths[place].domain, R, c);
      if (place > 0) return;
      c += R * closure.anchor;
      R *= closure.anchor_turn;
    };
    dynamics.update_frames();
    Mat3 from, to;
    Vec3 a, b;
    frame(closure.first, from, a);
    frame(closure.second, to, b);
    const Mat3 turn = to * from.transpose();
    VecX out(closure.radius > 0 ? 6 : 3);
    out.head<3>() = b - a;
    if (closure.radius > 0)
      out.tail<3>() =
          closure.radius / 2 * Vec3(turn(2, 1) - turn(1, 2), turn(0, 2) - turn(2, 0), turn(1, 0) - turn(0, 1));
    return out;
  };
  constexpr double e = 1e-6;
  MatX all(0, std::ssize(q));
  for (const PreparedClosure& closure : tree.closures) {
    if (closure.give > 0) continue;
    const Eigen::Index first = all.rows(), count = closure.radius > 0 ? 6 : 3;
    all.conservativeResize(first + count, Eigen::NoChange);
    for (std::size_t k = 0; k < q.size(); ++k) {
      q[k] = e;
      const VecX ahead = parting(closure);
      q[k] = -e;
      all.block(first, static_cast<Eigen::Index>(k), count, 1) = (ahead - parting(closure)) / (2 * e);
      q[k] = 0;
    }
  }
  return all;
}

/// The same in coordinates that keep loops closed.
SmallMotion within_loops(const SmallMotion& motion, const MatX& J) {
  const SymmetricEigen parts = symmetric_eigen(J.transpose() * J);
  constexpr double closed = 1e-9;
  Eigen::Index free = 0;
  while (free < parts.values.size() && parts.values[free] < closed * parts.values[parts.values.size() - 1]) ++free;
  const MatX Z = parts.vectors.leftCols(free);
  return {Z.transpose() * motion.mass * Z, Z.transpose() * motion.stiffness * Z};
}

}  // namespace

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
  if (const MatX J = openings(dynamics); J.rows() > 0) return within_loops(out, J);
  return out;
}

VecX small_motion_frequencies(const SmallMotion& motion) {
  return generalized_eigenvalues(motion.stiffness, motion.mass).cwiseMax(0).cwiseSqrt() / (2 * std::numbers::pi);
}

}  // namespace supple
