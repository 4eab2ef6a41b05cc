// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/flesh_frequency.h"

#include "supple/fem/linear_solver.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace supple {
namespace {

/// Of a symmetric matrix, in closed form (O. K. Smith 1961).
double largest_eigenvalue(const Mat3& A) {
  const double mean = A.trace() / 3;
  const Mat3 B = A - mean * Mat3::Identity();
  const double p = std::sqrt(B.squaredNorm() / 6);
  if (!(p > 0)) return mean;
  const double half_det = std::clamp((B / p).determinant() / 2, -1.0, 1.0);
  return mean + 2 * p * std::cos(std::acos(half_det) / 3);
}

}  // namespace

Result<VecX> flesh_compliance(const ElasticBody& body, std::span<const Index> fixed) {
  const Result<FreeVertices> free = FreeVertices::create(body, fixed);
  SUPPLE_RETURN_IF_ERROR(free);
  BlockMatrix K = body.make_matrix();
  VecX f(body.dof_count());
  body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), f, K);
  LinearSolver solver(*free, {});
  MatX sag(body.dof_count(), 3);
  for (int axis = 0; axis < 3; ++axis) {
    VecX push = VecX::Zero(body.dof_count()), way;
    for (Index v = 0; v < body.vertex_count(); ++v) push[3 * v + axis] = 1;
    if (!solver.solve(K, body.consistent_mass() * push, way).solved())
      return input_error("some flesh isn't held by any bone; mark it as rigid, or let a bone cross it");
    sag.col(axis) = way;
  }
  // The farthest over all directions, not over three axes: it doesn't change as the body turns.
  VecX compliance(body.vertex_count());
  for (Index v = 0; v < body.vertex_count(); ++v) {
    const Mat3 own = sag.middleRows<3>(3 * v);
    compliance[v] = std::sqrt(std::max(0.0, largest_eigenvalue(own.transpose() * own)));
  }
  return compliance;
}

double frequency_of(const ElasticBody& body, std::span<const Index> free, const VecX& compliance) {
  std::vector<std::pair<double, double>> ranked;  // compliance, mass
  double total = 0, seen = 0, soft = 0;
  for (const Index v : free) {
    ranked.emplace_back(compliance[v], body.lumped_mass()[3 * v]);
    total += ranked.back().second;
  }
  std::sort(ranked.begin(), ranked.end(), std::greater<>());
  for (const auto& [s, mass] : ranked) {
    soft = s;
    if ((seen += mass) >= 0.1 * total) break;
  }
  return 1 / std::sqrt(std::max(soft, 1e-300)) / (2 * std::numbers::pi);
}

Result<double> flesh_frequency(const ElasticBody& body, std::span<const Index> fixed) {
  const Result<FreeVertices> free = FreeVertices::create(body, fixed);
  SUPPLE_RETURN_IF_ERROR(free);
  const Result<VecX> compliance = flesh_compliance(body, fixed);
  SUPPLE_RETURN_IF_ERROR(compliance);
  if (free->vertices().empty()) return failure("the flesh has no mass");
  return frequency_of(body, free->vertices(), *compliance);
}

}  // namespace supple
