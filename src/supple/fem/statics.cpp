// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/statics.h"

#include "supple/fem/rigid_motions.h"
#include "supple/fem/rounding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

struct Newton {
  const ElasticBody& body;
  const StaticsSettings& settings;
  LinearSolver solver;
  BlockMatrix K;
  VecX force, residual, step, trial;

  double potential(const VecX& u, const VecX& load) const { return body.energy(u) - load.dot(u); }

  /// |f_ext − f(u)| over the free vertices; the residual itself is left in `residual`.
  double evaluate(const VecX& u, const VecX& load, HessianProjection projection) {
    body.internal_force_and_stiffness(u, force, K, projection);
    residual = load - force;
    solver.free().clear_fixed(residual);
    return residual.norm();
  }

  double residual_norm(const VecX& u, const VecX& load) {
    body.internal_force(u, force);
    VecX r = load - force;
    solver.free().clear_fixed(r);
    return r.norm();
  }

  /// A descent direction, with projected element Hessians where the true ones give none.
  bool find_direction(const VecX& u, const VecX& load) {
    for (const auto projection : {HessianProjection::none, HessianProjection::positive_semidefinite}) {
      if (projection != HessianProjection::none) evaluate(u, load, projection);
      step.setZero(residual.size());
      const LinearReport report = solver.solve(K, residual, step);
      if (report.outcome != LinearReport::Outcome::indefinite && step.allFinite() && step.dot(residual) > 0)
        return true;
    }
    return false;
  }

  /// Armijo backtracking on the potential. Near the solution its differences drown in rounding, so a smaller residual
  /// is accepted as well.
  bool line_search(VecX& u, const VecX& load, double current_norm) {
    const double start = potential(u, load);
    const double slope = step.dot(residual);
    for (double t = 1; t > 1e-8; t *= 0.5) {
      trial = u + t * step;
      if (potential(trial, load) <= start - 1e-4 * t * slope ||
          residual_norm(trial, load) < (1 - 0.1 * t) * current_norm) {
        u = trial;
        return true;
      }
    }
    return false;
  }

  /// True on convergence to |r| ≤ target, or to what rounding leaves; u is the best found.
  bool run(VecX& u, const VecX& load, double target, int& iterations) {
    for (int k = 0; k < settings.max_iterations; ++k) {
      const double norm = evaluate(u, load, HessianProjection::none);
      if (!std::isfinite(norm)) return false;
      if (norm <= std::max(target, force_rounding(body, solver.free(), K, u))) return true;
      if (!find_direction(u, load) || !line_search(u, load, norm)) return false;
      ++iterations;
    }
    return evaluate(u, load, HessianProjection::none) <= target;
  }
};

/// Whether some part can move without strain although the body as a whole can't: K at rest is singular. One step of
/// inverse iteration then finds an eigenvalue at the level of rounding.
bool has_loose_part(Newton& newton) {
  const ElasticBody& body = newton.body;
  newton.evaluate(VecX::Zero(body.dof_count()), VecX::Zero(body.dof_count()), HessianProjection::none);
  VecX x(body.dof_count());
  for (Eigen::Index k = 0; k < x.size(); ++k) x[k] = std::sin(1.0 + 12.9898 * static_cast<double>(k));
  VecX y;
  if (newton.solver.solve(newton.K, body.consistent_mass() * x, y).outcome == LinearReport::Outcome::indefinite)
    return true;
  const VecX Ky = newton.K * y;
  const double lowest = y.dot(Ky) / y.dot(body.consistent_mass() * y);
  const double largest_entry = *std::max_element(newton.K.values().begin(), newton.K.values().end());
  const double highest = largest_entry / (body.lumped_mass().sum() / static_cast<double>(body.dof_count()));
  return lowest < 1e-13 * highest;
}

std::string why_not(const ElasticBody& body, const VecX& u, double load) {
  const double ratio = body.smallest_volume_ratio(u);
  const std::string shape = ratio <= 0
                                ? "an element has collapsed or turned inside out"
                                : fmt::format("the most squeezed element keeps {:.0f} % of its volume", 100 * ratio);
  const bool stable = body.material() == MaterialModel::stable_neo_hookean || body.material() == MaterialModel::flesh;
  return fmt::format(
      "no equilibrium was found beyond {:.1f} % of the load ({}); apply less load, use more load steps{}", 100 * load,
      shape, stable ? " or a finer mesh" : ", a finer mesh, or the stable_neo_hookean material");
}

}  // namespace

Result<StaticsResult> solve_static(const ElasticBody& body, std::span<const Index> fixed, const VecX& external_force,
                                   const StaticsSettings& settings, Progress& progress) {
  Result<FreeVertices> free = FreeVertices::create(body, fixed);
  SUPPLE_RETURN_IF_ERROR(free);
  if (settings.load_steps < 1) return input_error("at least one load step is needed");
  if (rigid_motions(body, *free).cols() > 0) {
    return input_error(
        "the body can still move or turn as a whole, so a static load has no answer; fix at least three "
        "vertices of each connected piece that are not in one line");
  }
  Newton newton{body, settings, LinearSolver(std::move(free).value(), settings.linear), body.make_matrix(), {}, {},
                {},   {}};
  VecX load = external_force;
  newton.solver.free().clear_fixed(load);
  const double scale = load.norm();
  if (!std::isfinite(scale)) return input_error("the load is not finite; check the forces on the body");

  StaticsResult result;
  result.u = VecX::Zero(body.dof_count());
  progress.stage("solving for equilibrium");
  double applied = 0;
  double increment = 1.0 / settings.load_steps;
  const double smallest = increment / std::pow(2.0, settings.max_halvings);
  while (applied < 1 && scale > 0) {
    if (progress.cancelled()) return failure("cancelled");
    const double next = std::min(1.0, applied + increment * (1 + 1e-12));
    VecX u = result.u;
    if (newton.run(u, next * load, settings.tolerance * scale, result.newton_iterations)) {
      result.u = u;
      applied = next;
      ++result.load_steps;
      progress.update(applied);
    } else if ((increment *= 0.5) < smallest) {
      if (applied == 0 && has_loose_part(newton)) {
        return input_error(
            "a part of the mesh hangs by a vertex or an edge and can swing freely, so a static load has no answer; "
            "join "
            "it by faces, fix it, or remove it");
      }
      return input_error(why_not(body, u, applied));
    }
  }
  result.residual = scale > 0 ? newton.residual_norm(result.u, load) / scale : 0.0;
  result.energy = body.energy(result.u);
  result.smallest_volume_ratio = body.smallest_volume_ratio(result.u);
  return result;
}

}  // namespace supple
