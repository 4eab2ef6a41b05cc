// SPDX-License-Identifier: Apache-2.0
// The only file that includes Spectra: it takes long to compile.
#include "supple/fem/modes.h"

#include "supple/fem/rigid_motions.h"
#include "supple/math/sparse_factor.h"

#include <Spectra/SymGEigsShiftSolver.h>
#include <fmt/format.h>
#include <Eigen/Eigenvalues>

#include <cmath>
#include <numbers>

namespace supple {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

/// K, M and the rigid motions over the free vertices only.
struct Problem {
  FreeVertices free;
  Sparse K, M;   // lower triangles
  MatX rigid;    // R
  MatX M_rigid;  // M R

  Eigen::Index size() const { return K.rows(); }
  VecX multiply(const Sparse& lower, const VecX& x) const { return lower.selfadjointView<Eigen::Lower>() * x; }
  /// x ← (I − R RᵀM) x: mass-orthogonal to all rigid motions.
  void remove_rigid(Eigen::Ref<VecX> x) const {
    if (rigid.cols() > 0) x -= rigid * (M_rigid.transpose() * x);
  }
};

Problem make_problem(const ElasticBody& body, FreeVertices free) {
  BlockMatrix K = body.make_matrix();
  VecX force;
  body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), force, K);
  Problem problem{
      free, K.to_sparse_lower(free.vertices()), body.consistent_mass().to_sparse_lower(free.vertices()), {}, {}};
  const MatX rigid = rigid_motions(body, free);
  problem.rigid.resize(problem.size(), rigid.cols());
  problem.M_rigid.resize(problem.size(), rigid.cols());
  for (Eigen::Index k = 0; k < rigid.cols(); ++k) {
    problem.rigid.col(k) = free.restrict(rigid.col(k));
    problem.M_rigid.col(k) = problem.multiply(problem.M, problem.rigid.col(k));
  }
  return problem;
}

/// The eigenvalue scale of the slow modes: Rayleigh quotient of a smooth field, here a uniform dilation.
double eigenvalue_scale(const Problem& problem, const ElasticBody& body) {
  VecX x = problem.free.restrict(body.rest_positions());
  Eigen::Map<Eigen::Matrix3Xd> points(x.data(), 3, x.size() / 3);
  points.colwise() -= points.rowwise().mean().eval();
  problem.remove_rigid(x);
  const double energy = x.dot(problem.multiply(problem.K, x));
  const double mass = x.dot(problem.multiply(problem.M, x));
  return mass > 0 && energy > 0 ? energy / mass : problem.K.diagonal().sum() / problem.M.diagonal().sum();
}

/// The one way out of Spectra's iteration; caught where that is called.
struct Cancelled {};

/// y = (K − σM)⁻¹ x without rigid motions, in the form Spectra asks for.
class ShiftInvert {
 public:
  using Scalar = double;
  ShiftInvert(const Problem& problem, Progress& progress) : problem_(problem), progress_(progress) {}

  bool factorize(double sigma) {
    const Sparse shifted = problem_.K - sigma * problem_.M;
    factor_.analyze(shifted, 3);
    return factor_.factorize(shifted);
  }
  Eigen::Index rows() const { return problem_.size(); }
  Eigen::Index cols() const { return problem_.size(); }
  void set_shift(const Scalar&) {}  // factorize() has done it
  void perform_op(const Scalar* x, Scalar* y) const {
    Eigen::Map<VecX> out(y, rows());
    factor_.solve(Eigen::Map<const VecX>(x, rows()), out);
    problem_.remove_rigid(out);
    if (++solves_ % 8 == 0) progress_.update(1 - std::exp(-0.01 * solves_));
    if (progress_.cancelled()) throw Cancelled{};
  }

 private:
  const Problem& problem_;
  Progress& progress_;
  SparseFactor factor_;
  mutable int solves_ = 0;
};

class MassProduct {
 public:
  using Scalar = double;
  explicit MassProduct(const Problem& problem) : problem_(problem) {}
  Eigen::Index rows() const { return problem_.size(); }
  Eigen::Index cols() const { return problem_.size(); }
  void perform_op(const Scalar* x, Scalar* y) const {
    Eigen::Map<VecX>(y, rows()).noalias() =
        problem_.M.selfadjointView<Eigen::Lower>() * Eigen::Map<const VecX>(x, rows());
  }

 private:
  const Problem& problem_;
};

struct Eigenpairs {
  VecX values;
  MatX vectors;
};

/// Small problems, or nearly all modes of one: dense. Rigid motions are moved to the far end of the spectrum.
Eigenpairs solve_dense(const Problem& problem, int count) {
  MatX K = problem.K.selfadjointView<Eigen::Lower>() * MatX::Identity(problem.size(), problem.size());
  const MatX M = problem.M.selfadjointView<Eigen::Lower>() * MatX::Identity(problem.size(), problem.size());
  const double beyond = 10 * K.cwiseAbs().rowwise().sum().maxCoeff() / problem.M.diagonal().minCoeff();
  K += beyond * problem.M_rigid * problem.M_rigid.transpose();
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatX> solver(K, M);
  return {solver.eigenvalues().head(count), solver.eigenvectors().leftCols(count)};
}

Result<Eigenpairs> solve_lanczos(const Problem& problem, double scale, const ModesSettings& settings,
                                 Progress& progress) {
  ShiftInvert inverse(problem, progress);
  double sigma = 0.0;
  if (problem.rigid.cols() > 0 || !inverse.factorize(sigma)) {
    // K is singular: a small negative shift makes it definite.
    sigma = -1e-4 * scale;
    if (!inverse.factorize(sigma)) {
      return failure("the stiffness matrix could not be factorised; the mesh may contain nearly flat elements");
    }
  }
  MassProduct mass(problem);
  const int basis =
      static_cast<int>(std::min<Eigen::Index>(problem.size(), std::max(2 * settings.count + 1, settings.count + 20)));
  Spectra::SymGEigsShiftSolver<ShiftInvert, MassProduct, Spectra::GEigsMode::ShiftInvert> solver(
      inverse, mass, settings.count, basis, sigma);
  // Start without symmetries and without rigid motions.
  VecX start(problem.size());
  for (Eigen::Index k = 0; k < start.size(); ++k) start[k] = std::sin(1.0 + 12.9898 * static_cast<double>(k));
  problem.remove_rigid(start);
  try {
    solver.init(start.data());
    solver.compute(Spectra::SortRule::LargestMagn, 300, settings.tolerance, Spectra::SortRule::SmallestAlge);
  } catch (const Cancelled&) {
    return failure("cancelled");
  }
  if (solver.info() != Spectra::CompInfo::Successful) {
    return failure(
        fmt::format("the eigenvalue iteration did not converge for {} modes; ask for fewer", settings.count));
  }
  return Eigenpairs{solver.eigenvalues(), solver.eigenvectors()};
}

/// The largest entry of each shape is positive, so that results do not depend on a start vector's sign.
void fix_sign(Eigen::Ref<VecX> shape) {
  Eigen::Index largest = 0;
  shape.cwiseAbs().maxCoeff(&largest);
  if (shape[largest] < 0) shape = -shape;
}

Modes finish(const Problem& problem, Eigenpairs pairs) {
  const Eigen::Index count = pairs.values.size();
  Modes modes;
  modes.eigenvalues = pairs.values;
  modes.frequencies = pairs.values.cwiseMax(0.0).cwiseSqrt() / (2 * std::numbers::pi);
  modes.shapes.resize(3 * problem.free.total(), count);
  modes.residuals.resize(count);
  for (Eigen::Index k = 0; k < count; ++k) {
    VecX x = pairs.vectors.col(k);
    problem.remove_rigid(x);
    const VecX Mx = problem.multiply(problem.M, x);
    const double norm = std::sqrt(x.dot(Mx));
    modes.residuals[k] = (problem.multiply(problem.K, x) - pairs.values[k] * Mx).norm() / (pairs.values[k] * Mx.norm());
    x /= norm;
    fix_sign(x);
    modes.shapes.col(k) = problem.free.expand(x);
  }
  modes.rigid.resize(3 * problem.free.total(), problem.rigid.cols());
  for (Eigen::Index k = 0; k < problem.rigid.cols(); ++k) {
    const VecX x = problem.rigid.col(k);
    modes.rigid.col(k) = problem.free.expand(x);
    const double energy = std::abs(x.dot(problem.multiply(problem.K, x)));
    modes.rigid_residual = std::max(modes.rigid_residual, std::sqrt(energy / pairs.values[0]));
  }
  return modes;
}

}  // namespace

Result<Modes> compute_modes(const ElasticBody& body, std::span<const Index> fixed, const ModesSettings& settings,
                            Progress& progress) {
  Result<FreeVertices> free = FreeVertices::create(body, fixed);
  if (!free.ok()) return free.error();
  progress.stage("assembling");
  const Problem problem = make_problem(body, std::move(free).value());
  const Eigen::Index available = problem.size() - problem.rigid.cols();
  if (settings.count < 1 || settings.count > available) {
    return input_error(
        fmt::format("{} modes were asked for, but this body has between 1 and {} of them", settings.count, available));
  }
  progress.stage("computing modes");
  constexpr Eigen::Index dense_limit = 300;
  const bool dense = problem.size() <= dense_limit || settings.count > available / 3;
  if (dense && problem.size() > 6000) {
    return input_error(
        fmt::format("{} modes are more than a third of all {}; ask for fewer", settings.count, available));
  }
  Result<Eigenpairs> pairs = dense ? Result<Eigenpairs>(solve_dense(problem, settings.count))
                                   : solve_lanczos(problem, eigenvalue_scale(problem, body), settings, progress);
  if (!pairs.ok()) return pairs.error();
  Modes modes = finish(problem, std::move(pairs).value());
  progress.update(1.0);
  if (!(modes.eigenvalues[0] > 1e-9 * eigenvalue_scale(problem, body))) {
    return input_error(
        "a part of the mesh hangs by a vertex or an edge and can swing freely, at frequency zero; join it by faces, "
        "fix "
        "it, or remove it");
  }
  if (!(modes.residuals.maxCoeff() < 1e-6)) {
    return failure(fmt::format("the modes failed their check: the largest residual is {:.2g}, but must be below 1e-6",
                               modes.residuals.maxCoeff()));
  }
  return modes;
}

}  // namespace supple
