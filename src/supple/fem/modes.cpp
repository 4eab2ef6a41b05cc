// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/modes.h"

#include "supple/fem/eigen_problem.h"
#include "supple/fem/free_columns.h"
#include "supple/fem/rigid_motions.h"
#include "supple/math/sparse/sparse_factor.h"

#include <numbers>

namespace supple {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

EigenProblem make_problem(const ElasticBody& body, const FreeVertices& free) {
  BlockMatrix K = body.make_matrix();
  VecX force;
  body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), force, K);
  EigenProblem problem{
      K.to_sparse_lower(free.vertices()), body.consistent_mass().to_sparse_lower(free.vertices()), {}, {}};
  problem.set_rigid(restrict_columns(free, rigid_motions(body, free)));
  return problem;
}

Eigenpairs solve_dense(const EigenProblem& problem, int count) {
  const MatX identity = MatX::Identity(problem.size(), problem.size());
  return dense_eigenpairs(problem.K.selfadjointView<Eigen::Lower>() * identity,
                          problem.M.selfadjointView<Eigen::Lower>() * identity, problem.M_rigid, count);
}

Result<Eigenpairs> solve_lanczos(const EigenProblem& problem, double scale, const ModesSettings& settings,
                                 Progress& progress) {
  SparseFactor factor;
  const auto factorize = [&](double sigma) {
    const Sparse shifted = problem.K - sigma * problem.M;
    factor.analyze(shifted, 3);
    return factor.factorize(shifted);
  };
  ShiftInvert inverse;
  inverse.subspace_size = problem.size();
  if (problem.rigid.cols() > 0 || !factorize(0.0)) {
    inverse.shift = definite_shift(scale);
    if (!factorize(inverse.shift)) {
      return failure("the stiffness matrix could not be factorised; the mesh may contain nearly flat elements");
    }
  }
  inverse.solve = [&](Eigen::Ref<const VecX> x, Eigen::Ref<VecX> y) {
    factor.solve(x, y);
    return true;
  };
  return lanczos_eigenpairs(problem, std::move(inverse), settings, progress);
}

Modes finish(const EigenProblem& problem, const FreeVertices& free, Eigenpairs pairs) {
  Modes modes;
  modes.residuals = normalise(problem, pairs);
  modes.eigenvalues = pairs.values;
  modes.frequencies = pairs.values.cwiseMax(0.0).cwiseSqrt() / (2 * std::numbers::pi);
  modes.shapes = expand_columns(free, pairs.vectors);
  modes.rigid = expand_columns(free, problem.rigid);
  modes.rigid_residual = rigid_residual(problem, pairs.values[0]);
  return modes;
}

}  // namespace

Result<Modes> compute_modes(const ElasticBody& body, std::span<const Index> fixed, const ModesSettings& settings,
                            Progress& progress) {
  Result<FreeVertices> free = FreeVertices::create(body, fixed);
  SUPPLE_RETURN_IF_ERROR(free);
  progress.stage("assembling");
  const EigenProblem problem = make_problem(body, *free);
  const Result<bool> dense = choose_dense(problem.size(), problem.size() - problem.rigid.cols(), settings.count);
  SUPPLE_RETURN_IF_ERROR(dense);
  progress.stage("computing modes");
  const double scale = eigenvalue_scale(problem, free->restrict(body.rest_positions()));
  Result<Eigenpairs> pairs = *dense ? Result<Eigenpairs>(solve_dense(problem, settings.count))
                                    : solve_lanczos(problem, scale, settings, progress);
  SUPPLE_RETURN_IF_ERROR(pairs);
  Modes modes = finish(problem, *free, std::move(pairs).value());
  progress.update(1.0);
  SUPPLE_RETURN_IF_ERROR(check_modes(modes, scale));
  return modes;
}

}  // namespace supple
