// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/eigen_problem.h"

#include "supple/math/dense/decompositions.h"

#include <fmt/format.h>

#include <cmath>

namespace supple {

void EigenProblem::set_rigid(MatX motions) {
  rigid = std::move(motions);
  M_rigid.resize(size(), rigid.cols());
  for (Eigen::Index k = 0; k < rigid.cols(); ++k) M_rigid.col(k) = multiply_M(rigid.col(k));
}

void EigenProblem::remove_rigid(Eigen::Ref<VecX> x) const {
  if (rigid.cols() > 0) x -= rigid * (M_rigid.transpose() * x);
}

double eigenvalue_scale(const EigenProblem& problem, const VecX& rest_positions) {
  VecX x = rest_positions;
  Eigen::Map<Eigen::Matrix3Xd> points(x.data(), 3, x.size() / 3);
  points.colwise() -= points.rowwise().mean().eval();
  problem.remove_rigid(x);
  const double energy = x.dot(problem.multiply_K(x));
  const double mass = x.dot(problem.multiply_M(x));
  return mass > 0 && energy > 0 ? energy / mass : problem.K.diagonal().sum() / problem.M.diagonal().sum();
}

double definite_shift(double scale) { return -1e-4 * scale; }

Eigenpairs dense_eigenpairs(MatX K, const MatX& M, const MatX& M_rigid, int count) {
  const double beyond = 10 * K.cwiseAbs().rowwise().sum().maxCoeff() / M.diagonal().minCoeff();
  K += beyond * M_rigid * M_rigid.transpose();
  const SymmetricEigen pairs = generalized_eigen(K, M);
  return {pairs.values.head(count), pairs.vectors.leftCols(count)};
}

Result<bool> choose_dense(Eigen::Index size, Eigen::Index available, int count) {
  if (count < 1 || count > available) {
    return input_error(
        fmt::format("{} modes were asked for, but this body has between 1 and {} of them", count, available));
  }
  constexpr Eigen::Index dense_limit = 300;
  const bool dense = size <= dense_limit || count > available / 3;
  if (dense && size > 6000) {
    return input_error(fmt::format("{} modes are more than a third of all {}; ask for fewer", count, available));
  }
  return dense;
}

Result<Eigenpairs> lanczos_eigenpairs(const EigenProblem& problem, ShiftInvert inverse, const ModesSettings& settings,
                                      Progress& progress) {
  int solves = 0;
  inverse.solve = [&, solve = std::move(inverse.solve)](Eigen::Ref<const VecX> x, Eigen::Ref<VecX> y) {
    if (!solve(x, y)) return false;
    problem.remove_rigid(y);
    if (++solves % 8 == 0) progress.update(1 - std::exp(-0.01 * solves));
    return !progress.cancelled();
  };
  // Start without symmetries and without rigid motions.
  VecX start(problem.size());
  for (Eigen::Index k = 0; k < start.size(); ++k) start[k] = std::sin(1.0 + 12.9898 * static_cast<double>(k));
  problem.remove_rigid(start);
  return shift_invert_lanczos(inverse, problem.M, start, settings.count, settings.tolerance);
}

VecX normalise(const EigenProblem& problem, Eigenpairs& pairs, const std::function<void(VecX&)>& filter) {
  VecX residuals(pairs.values.size());
  for (Eigen::Index k = 0; k < residuals.size(); ++k) {
    VecX x = pairs.vectors.col(k);
    problem.remove_rigid(x);
    const VecX Mx = problem.multiply_M(x);
    VecX r = problem.multiply_K(x) - pairs.values[k] * Mx;
    if (filter) filter(r);
    residuals[k] = r.norm() / (pairs.values[k] * Mx.norm());
    Eigen::Index largest = 0;
    x.cwiseAbs().maxCoeff(&largest);
    pairs.vectors.col(k) = x / (x[largest] < 0 ? -std::sqrt(x.dot(Mx)) : std::sqrt(x.dot(Mx)));
  }
  return residuals;
}

double rigid_residual(const EigenProblem& problem, double first_eigenvalue) {
  double worst = 0;
  for (Eigen::Index k = 0; k < problem.rigid.cols(); ++k) {
    const VecX x = problem.rigid.col(k);
    worst = std::max(worst, std::sqrt(std::abs(x.dot(problem.multiply_K(x))) / first_eigenvalue));
  }
  return worst;
}

Status check_modes(const Modes& modes, double scale) {
  if (!(modes.eigenvalues[0] > 1e-9 * scale)) {
    return input_error(
        "a part of the mesh hangs by a vertex or an edge and can swing freely, at frequency zero; join it by faces, "
        "fix it, or remove it");
  }
  if (!(modes.residuals.maxCoeff() < 1e-6)) {
    return failure(fmt::format("the modes failed their check: the largest residual is {:.2g}, but must be below 1e-6",
                               modes.residuals.maxCoeff()));
  }
  return {};
}

}  // namespace supple
