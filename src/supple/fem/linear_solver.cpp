// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/linear_solver.h"

#include "supple/base/parallel.h"
#include "supple/math/sparse/sparse_factor.h"

#include <Eigen/LU>

namespace supple {
namespace {

constexpr std::int64_t vector_grain = 16'384;

double dot(const VecX& a, const VecX& b) {
  return parallel_sum(a.size(), vector_grain, [&](std::int64_t begin, std::int64_t end) {
    return a.segment(begin, end - begin).dot(b.segment(begin, end - begin));
  });
}

}  // namespace

struct LinearSolver::Direct {
  SparseFactor factor;
  bool analyzed = false;
};

struct LinearSolver::Krylov {
  VecX r, z, p, Ap;
  std::vector<Mat3> inverse_diagonal;

  /// False when a diagonal block is not positive definite.
  bool prepare(const BlockMatrix& A, const FreeVertices& free) {
    inverse_diagonal.assign(to_size(A.rows()), Mat3::Zero());
    for (const Index v : free.vertices()) {
      const Eigen::Map<const Mat3> block(A.block(A.pattern().find(v, v)));
      const double minor = block(0, 0) * block(1, 1) - block(0, 1) * block(1, 0);
      if (!(block(0, 0) > 0) || !(minor > 0) || !(block.determinant() > 0)) return false;
      inverse_diagonal[to_size(v)] = block.inverse();
    }
    return true;
  }

  /// z = D⁻¹ r; zero at fixed vertices.
  void precondition() {
    z.resize(r.size());
    parallel_for(static_cast<std::int64_t>(inverse_diagonal.size()), vector_grain / 3,
                 [&](std::int64_t v) { z.segment<3>(3 * v) = inverse_diagonal[to_size(v)] * r.segment<3>(3 * v); });
  }
};

LinearSolver::LinearSolver(FreeVertices free, const LinearSettings& settings)
    : free_(std::move(free)), settings_(settings) {
  const bool direct = settings.method == LinearMethod::direct ||
                      (settings.method == LinearMethod::automatic && 3 * free_.count() <= settings.direct_limit);
  if (direct) {
    direct_ = std::make_unique<Direct>();
  } else {
    krylov_ = std::make_unique<Krylov>();
  }
}
LinearSolver::~LinearSolver() = default;
LinearSolver::LinearSolver(LinearSolver&&) noexcept = default;
LinearSolver& LinearSolver::operator=(LinearSolver&&) noexcept = default;

bool LinearSolver::is_direct() const { return direct_ != nullptr; }

LinearReport LinearSolver::solve(const BlockMatrix& A, const VecX& b, VecX& x) {
  return is_direct() ? solve_directly(A, b, x) : solve_iteratively(A, b, x);
}

LinearReport LinearSolver::solve_directly(const BlockMatrix& A, const VecX& b, VecX& x) {
  const Eigen::SparseMatrix<double> lower = A.to_sparse_lower(free_.vertices());
  if (!direct_->analyzed) {
    direct_->factor.analyze(lower, 3);
    direct_->analyzed = true;
  }
  LinearReport report;
  if (!direct_->factor.factorize(lower)) {
    report.outcome = LinearReport::Outcome::indefinite;
    return report;
  }
  const VecX right = free_.restrict(b);
  VecX solution(right.size());
  direct_->factor.solve(right, solution);
  x = free_.expand(solution);
  return report;
}

LinearReport LinearSolver::solve_iteratively(const BlockMatrix& A, const VecX& b, VecX& x) {
  Krylov& k = *krylov_;
  LinearReport report;
  if (!k.prepare(A, free_)) {
    report.outcome = LinearReport::Outcome::indefinite;
    return report;
  }
  k.r = b;
  free_.clear_fixed(k.r);
  const double target = settings_.cg_tolerance * settings_.cg_tolerance * dot(k.r, k.r);
  if (x.size() != b.size()) x.setZero(b.size());
  free_.clear_fixed(x);
  if (x.squaredNorm() > 0) {
    A.multiply(x, k.Ap);
    free_.clear_fixed(k.Ap);
    k.r -= k.Ap;
  }
  k.precondition();
  k.p = k.z;
  double rz = dot(k.r, k.z);
  double rr = dot(k.r, k.r);
  while (rr > target) {
    if (report.iterations == settings_.cg_max_iterations) {
      report.outcome = LinearReport::Outcome::not_converged;
      break;
    }
    A.multiply(k.p, k.Ap);
    free_.clear_fixed(k.Ap);
    const double curvature = dot(k.p, k.Ap);
    if (!(curvature > 0)) {
      report.outcome = LinearReport::Outcome::indefinite;
      break;
    }
    const double alpha = rz / curvature;
    x += alpha * k.p;
    k.r -= alpha * k.Ap;
    k.precondition();
    const double next = dot(k.r, k.z);
    k.p = k.z + (next / rz) * k.p;
    rz = next;
    rr = dot(k.r, k.r);
    ++report.iterations;
  }
  report.residual = target > 0 ? settings_.cg_tolerance * std::sqrt(rr / target) : 0.0;
  return report;
}

}  // namespace supple
