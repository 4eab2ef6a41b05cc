// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/flesh_frequency.h"

#include "supple/fem/linear_solver.h"
#include "supple/math/dense/decompositions.h"

#include <algorithm>
#include <numbers>

namespace supple {

Result<VecX> flesh_compliance(const ElasticBody& body, std::span<const Index> fixed) {
  const Result<FreeVertices> free = FreeVertices::create(body, fixed);
  SUPPLE_RETURN_IF_ERROR(free);
  BlockMatrix K = body.make_matrix();
  VecX f(body.dof_count());
  body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), f, K);
  LinearSolver solver(*free, {});
  MatX sags(body.dof_count(), 3);
  for (int axis = 0; axis < 3; ++axis) {
    VecX push = VecX::Zero(body.dof_count());
    for (Index v = 0; v < body.vertex_count(); ++v) push[3 * v + axis] = 1;
    VecX sag;
    if (!solver.solve(K, body.consistent_mass() * push, sag).solved())
      return input_error("some flesh isn't held by any bone; mark it as rigid, or let a bone cross it");
    sags.col(axis) = sag;
  }
  // Of the direction in which it gives way most: the largest singular value knows no axes.
  VecX compliance(body.vertex_count());
  for (Index v = 0; v < body.vertex_count(); ++v) {
    const Mat3 S = sags.middleRows<3>(3 * v);
    compliance[v] = std::sqrt(std::max(0.0, symmetric_eigen(S.transpose() * S).values[2]));
  }
  return compliance;
}

Result<double> flesh_frequency(const ElasticBody& body, std::span<const Index> fixed) {
  const Result<FreeVertices> free = FreeVertices::create(body, fixed);
  SUPPLE_RETURN_IF_ERROR(free);
  const Result<VecX> compliance = flesh_compliance(body, fixed);
  SUPPLE_RETURN_IF_ERROR(compliance);
  std::vector<std::pair<double, double>> ranked;  // compliance, mass
  double total = 0;
  for (const Index v : free->vertices()) {
    ranked.emplace_back((*compliance)[v], body.lumped_mass()[3 * v]);
    total += ranked.back().second;
  }
  std::sort(ranked.begin(), ranked.end(), std::greater<>());
  double seen = 0;
  for (const auto& [s, mass] : ranked) {
    seen += mass;
    if (seen >= 0.1 * total) return 1 / std::sqrt(std::max(s, 1e-300)) / (2 * std::numbers::pi);
  }
  return failure("the flesh has no mass");
}

}  // namespace supple
