// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/modes/modal_derivatives.h"

#include <fmt/format.h>

#include "supple/base/clock.h"
#include "supple/base/parallel.h"
#include "supple/fem/free_columns.h"
#include "supple/math/sparse/sparse_factor.h"

namespace supple {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

constexpr double largest_accepted_residual = 1e-6;
constexpr double solve_tolerance = 1e-10;
constexpr double degenerate_gap = 1e-4;
constexpr Eigen::Index block_columns = 64;
constexpr int max_iterations = 500;
constexpr int modes_at_once = 4;

/// A symmetric matrix times many columns. Row by row of X, so that the matrix is read once for a group of columns.
MatX times(const Sparse& A, const MatX& X) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  MatX Y(A.rows(), X.cols());
  parallel_ranges(X.cols(), 32, [&](std::int64_t begin, std::int64_t end) {
    const RowMajor in = X.middleCols(begin, end - begin);
    RowMajor out = RowMajor::Zero(A.rows(), end - begin);
    for (Eigen::Index column = 0; column < A.outerSize(); ++column) {
      for (Sparse::InnerIterator it(A, column); it; ++it) out.row(column) += it.value() * in.row(it.row());
    }
    Y.middleCols(begin, end - begin) = out;
  });
  return Y;
}

Status check_request(const ElasticBody& body, const Modes& modes, int count) {
  if (modes.shapes.rows() != body.dof_count()) {
    return input_error(fmt::format("the modes have {} numbers each, but the body has {} degrees of freedom",
                                   modes.shapes.rows(), body.dof_count()));
  }
  if (count < 1 || count > modes.shapes.cols()) {
    return input_error(
        fmt::format("derivatives of {} modes were asked for, but there are {} modes", count, modes.shapes.cols()));
  }
  return {};
}

/// (H:Ψ_i)Ψ_j over the free vertices. H is symmetric in all three indices, so each i ≤ j is computed once.
Result<MatX> right_hand_sides(const ElasticBody& body, const FreeVertices& free, const Modes& modes,
                              const std::vector<std::array<int, 2>>& pairs, Progress& progress) {
  progress.stage("right-hand sides of modal derivatives");
  const VecX rest = VecX::Zero(body.dof_count());
  const auto count = static_cast<Eigen::Index>(pairs.size());
  MatX g(3 * free.count(), count);
  for (Eigen::Index begin = 0; begin < count; begin += block_columns) {
    if (progress.cancelled()) return failure("cancelled");
    parallel_for(std::min(block_columns, count - begin), 1, [&](std::int64_t k) {
      const auto [i, j] = pairs[to_size(begin + k)];
      g.col(begin + k) = free.restrict(body.hessian_product(rest, modes.shapes.col(i), modes.shapes.col(j)));
    });
    progress.update(static_cast<double>(begin) / static_cast<double>(count));
  }
  return g;
}

std::vector<std::array<int, 2>> upper_pairs(int count) {
  std::vector<std::array<int, 2>> pairs;
  for (int j = 0; j < count; ++j) {
    for (int i = 0; i <= j; ++i) pairs.push_back({i, j});
  }
  return pairs;
}

BlockMatrix rest_stiffness(const ElasticBody& body) {
  BlockMatrix K = body.make_matrix();
  VecX force;
  body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), force, K);
  return K;
}

/// Largest |r| / |g|; columns without a right-hand side have nothing to solve.
double largest_ratio(const MatX& r, const MatX& g) {
  double largest = 0;
  for (Eigen::Index c = 0; c < g.cols(); ++c) {
    const double scale = g.col(c).norm();
    if (scale > 0) largest = std::max(largest, r.col(c).norm() / scale);
  }
  return largest;
}

Status check_residual(double residual) {
  if (residual < largest_accepted_residual) return {};
  return failure(
      fmt::format("the modal derivatives failed their check: the largest residual is {:.2g}, but must be below {:.0g}; "
                  "the mesh may "
                  "contain nearly flat elements",
                  residual, largest_accepted_residual));
}

/// Eq. 29 on the free vertices.
class TangentSolver {
 public:
  TangentSolver(const ElasticBody& body, const FreeVertices& free, const Modes& modes)
      : eigenvalues_(modes.eigenvalues), rigid_(modes.rigid.cols()) {
    const Sparse K = rest_stiffness(body).to_sparse_lower(free.vertices());
    const Sparse M = body.consistent_mass().to_sparse_lower(free.vertices());
    const Sparse definite = rigid_ > 0 ? Sparse(K + eigenvalues_[0] * M) : K;
    factor_.analyze(definite, 3);
    ready_ = factor_.factorize(definite);
    K_ = K.selfadjointView<Eigen::Lower>();
    M_ = M.selfadjointView<Eigen::Lower>();
    known_.resize(K_.rows(), rigid_ + eigenvalues_.size());
    known_.leftCols(rigid_) = restrict_columns(free, modes.rigid);
    known_.rightCols(eigenvalues_.size()) = restrict_columns(free, modes.shapes);
    M_known_ = times(M_, known_);
  }

  bool ready() const { return ready_; }

  /// Φ_ij of one i for the right-hand sides g = (H:Ψ_i)Ψ_j in columns.
  MatX solve(const MatX& g, int i, int& iterations) const {
    const double value = eigenvalues_[i];
    MatX parts = known_.transpose() * g;
    const VecX target = solve_tolerance * g.colwise().norm().transpose();
    const MatX x = conjugate_gradients(M_known_ * parts - g, value, target, iterations);
    for (Eigen::Index m = 0; m < parts.rows(); ++m) {
      parts.row(m) *= same_space(m, value) ? 0.0 : 1 / (value - known_value(m));
    }
    return x + known_ * parts;
  }

  /// |(K − λ_i M) Φ + g − M E Eᵀ g| / |g| with the modes E of λ_i's eigenspace.
  double residual(const MatX& x, const MatX& g, int i) const {
    MatX kept = known_.transpose() * g;
    for (Eigen::Index m = 0; m < kept.rows(); ++m) {
      if (!same_space(m, eigenvalues_[i])) kept.row(m).setZero();
    }
    return largest_ratio(times(shifted(eigenvalues_[i]), x) + g - M_known_ * kept, g);
  }

 private:
  double known_value(Eigen::Index m) const { return m < rigid_ ? 0.0 : eigenvalues_[m - rigid_]; }
  bool same_space(Eigen::Index m, double value) const {
    return std::abs(known_value(m) - value) <= degenerate_gap * value;
  }
  /// K − λM.
  Sparse shifted(double value) const { return K_ - value * M_; }
  /// Takes the known modes out of displacements.
  void remove_known(MatX& x) const { x -= known_ * (M_known_.transpose() * x).eval(); }
  /// The same for forces.
  void remove_known_forces(MatX& r) const { r -= M_known_ * (known_.transpose() * r).eval(); }

  /// Until every column's residual is at its target.
  MatX conjugate_gradients(MatX r, double value, const VecX& target, int& iterations) const {
    const Sparse A = shifted(value);
    remove_known_forces(r);
    MatX x = MatX::Zero(r.rows(), r.cols());
    MatX z = factor_.solve(r);
    remove_known(z);
    MatX p = z;
    VecX rz = r.cwiseProduct(z).colwise().sum();
    for (int k = 0; k < max_iterations; ++k) {
      if ((r.colwise().norm().transpose().array() <= target.array()).all()) break;
      iterations = std::max(iterations, k + 1);
      const MatX Ap = times(A, p);  // p is free of known modes, and so is this, to their residuals
      const VecX pAp = p.cwiseProduct(Ap).colwise().sum();
      // A column that has converged to zero stays where it is.
      const VecX a = (pAp.array() > 0).select(rz.array() / pAp.array(), 0.0);
      x += p * a.asDiagonal();
      r -= Ap * a.asDiagonal();
      z = factor_.solve(r);
      remove_known(z);
      const VecX next = r.cwiseProduct(z).colwise().sum();
      const VecX b = (rz.array() > 0).select(next.array() / rz.array(), 0.0);
      p = z + p * b.asDiagonal();
      rz = next;
    }
    return x;
  }

  VecX eigenvalues_;
  Eigen::Index rigid_;
  SparseFactor factor_;
  bool ready_ = false;
  Sparse K_, M_;          // both triangles
  MatX known_, M_known_;  // rigid motions, then modes
};

/// The column of pair (min, max) among upper_pairs().
Eigen::Index upper_column(int i, int j) {
  const Eigen::Index low = std::min(i, j), high = std::max(i, j);
  return high * (high + 1) / 2 + low;
}

}  // namespace

Result<ModalDerivatives> static_derivatives(const ElasticBody& body, std::span<const Index> fixed, const Modes& modes,
                                            int count, Progress& progress) {
  SUPPLE_RETURN_IF_ERROR(check_request(body, modes, count));
  Result<FreeVertices> free = FreeVertices::create(body, fixed);
  SUPPLE_RETURN_IF_ERROR(free);
  if (modes.rigid.cols() > 0) {
    return input_error(
        fmt::format("the body can still move rigidly in {} ways, so its static derivatives don't exist; fix "
                    "more vertices or use tangent derivatives",
                    modes.rigid.cols()));
  }
  ModalDerivatives result;
  result.pairs = upper_pairs(count);
  auto start = Clock::now();
  const Result<MatX> g = right_hand_sides(body, *free, modes, result.pairs, progress);
  SUPPLE_RETURN_IF_ERROR(g);
  result.right_hand_side_seconds = seconds_since(start);

  start = Clock::now();
  progress.stage("solving for modal derivatives");
  const Sparse lower = rest_stiffness(body).to_sparse_lower(free->vertices());
  SparseFactor factor;
  factor.analyze(lower, 3);
  if (!factor.factorize(lower)) {
    return failure("the stiffness matrix could not be factorised; the mesh may contain nearly flat elements");
  }
  const Sparse K = lower.selfadjointView<Eigen::Lower>();
  MatX x = -factor.solve(*g);
  MatX r = *g + times(K, x);
  result.largest_residual = largest_ratio(r, *g);
  if (result.largest_residual > 1e-10) {  // slender bodies: one step of refinement
    x -= factor.solve(r);
    r = *g + times(K, x);
    result.largest_residual = largest_ratio(r, *g);
  }
  SUPPLE_RETURN_IF_ERROR(check_residual(result.largest_residual));
  result.shapes = expand_columns(*free, x);
  result.solve_seconds = seconds_since(start);
  return result;
}

Result<ModalDerivatives> tangent_derivatives(const ElasticBody& body, std::span<const Index> fixed, const Modes& modes,
                                             int count, Progress& progress) {
  SUPPLE_RETURN_IF_ERROR(check_request(body, modes, count));
  Result<FreeVertices> free = FreeVertices::create(body, fixed);
  SUPPLE_RETURN_IF_ERROR(free);
  ModalDerivatives result;
  auto start = Clock::now();
  const Result<MatX> upper = right_hand_sides(body, *free, modes, upper_pairs(count), progress);
  SUPPLE_RETURN_IF_ERROR(upper);
  result.right_hand_side_seconds = seconds_since(start);

  start = Clock::now();
  progress.stage("solving for modal derivatives");
  const TangentSolver solver(body, *free, modes);
  if (!solver.ready()) {
    return failure("the stiffness matrix could not be factorised; the mesh may contain nearly flat elements");
  }
  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j) result.pairs.push_back({i, j});
  }
  result.shapes.resize(body.dof_count(), Eigen::Index{count} * count);
  std::vector<int> iterations(to_size(count), 0);
  VecX residuals = VecX::Zero(count);
  for (int begin = 0; begin < count; begin += modes_at_once) {
    if (progress.cancelled()) return failure("cancelled");
    parallel_for(std::min(modes_at_once, count - begin), 1, [&](std::int64_t k) {
      const int i = begin + static_cast<int>(k);
      MatX g(upper->rows(), count);
      for (int j = 0; j < count; ++j) g.col(j) = upper->col(upper_column(i, j));
      const MatX x = solver.solve(g, i, iterations[to_size(i)]);
      residuals[i] = solver.residual(x, g, i);
      result.shapes.middleCols(Eigen::Index{i} * count, count) = expand_columns(*free, x);
    });
    progress.update(static_cast<double>(begin) / count);
  }
  result.iterations = *std::max_element(iterations.begin(), iterations.end());
  result.largest_residual = residuals.maxCoeff();
  SUPPLE_RETURN_IF_ERROR(check_residual(result.largest_residual));
  result.solve_seconds = seconds_since(start);
  return result;
}

}  // namespace supple
