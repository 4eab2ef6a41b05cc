// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/modes/constrained_modes.h"
#include "supple/base/clock.h"

#include "supple/fem/eigen_problem.h"
#include "supple/fem/free_columns.h"
#include "supple/fem/rigid_motions.h"
#include "supple/math/dense/decompositions.h"

#include <fmt/format.h>

#include <numbers>

namespace supple {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

constexpr double negligible_row = 1e-6;  ///< what is left of a row on free vertices, as a share of the longest
constexpr double rigid_tolerance = 1e-9;
constexpr double refined = 1e-11;
constexpr int most_refinements = 60;
constexpr double largest_mode_residual = 1e-6;

Status check_problem(const ModeProblem& problem) {
  const Index vertices = problem.body.vertex_count();
  const VecX& w = problem.vertex_weights;
  if (w.size() != 0 && w.size() != vertices) {
    return input_error(
        fmt::format("there are {} weights for {} vertices; give one for each, or none", w.size(), vertices));
  }
  if (w.size() != 0 && !(w.allFinite() && w.minCoeff() >= 0)) {
    return input_error("a weight of the patch is negative or not a number; weights go from 0 to 1");
  }
  const SparseConstraints& C = problem.constraints;
  if (C.rows() != 0 && C.cols() != 3 * vertices) {
    return input_error(
        fmt::format("the constraints have {} columns, but the body has {} degrees of freedom", C.cols(), 3 * vertices));
  }
  for (Eigen::Index r = 0; r < C.outerSize(); ++r)
    for (SparseConstraints::InnerIterator it(C, r); it; ++it)
      if (!std::isfinite(it.value())) return input_error(fmt::format("row {} of the constraints is not finite", r));
  return {};
}

Result<FreeVertices> free_vertices(const ModeProblem& problem) {
  std::vector<Index> held(problem.fixed.begin(), problem.fixed.end());
  for (Index v = 0; v < problem.vertex_weights.size(); ++v)
    if (problem.vertex_weights[v] == 0) held.push_back(v);
  return FreeVertices::create(problem.body, held);
}

/// w of the free degrees of freedom.
VecX free_weights(const VecX& vertex_weights, const FreeVertices& free) {
  VecX w = VecX::Ones(3 * free.count());
  if (vertex_weights.size() == 0) return w;
  for (Index k = 0; k < free.count(); ++k) w.segment<3>(3 * k).setConstant(vertex_weights[free.vertices()[to_size(k)]]);
  return w;
}

/// C W over the free degrees of freedom.
ConstraintRows weighted_rows(const SparseConstraints& C, const FreeVertices& free, const VecX& w) {
  std::vector<Index> place(to_size(free.total()), -1);
  for (Index k = 0; k < free.count(); ++k) place[to_size(free.vertices()[to_size(k)])] = k;
  std::vector<Eigen::Triplet<double>> entries;
  double longest = 0;
  for (Eigen::Index r = 0; r < C.outerSize(); ++r) {
    longest = std::max(longest, C.row(r).norm());
    for (SparseConstraints::InnerIterator it(C, r); it; ++it) {
      const Index vertex = place[to_size(it.col() / 3)];
      if (vertex < 0) continue;
      const auto column = static_cast<Index>(3 * vertex + it.col() % 3);
      entries.emplace_back(static_cast<Index>(r), column, it.value() * w[column]);
    }
  }
  SparseConstraints B(C.rows(), 3 * free.count());
  B.setFromTriplets(entries.begin(), entries.end());
  return ConstraintRows(B, negligible_row * longest * w.maxCoeff());
}

Sparse scaled_both_sides(Sparse lower, const VecX& w) {
  for (Eigen::Index j = 0; j < lower.outerSize(); ++j)
    for (Sparse::InnerIterator it(lower, j); it; ++it) it.valueRef() *= w[it.row()] * w[j];
  return lower;
}

/// Those combinations of the motions R that obey the constraints, RᵀMR = I.
MatX allowed_motions(const MatX& R, const ConstraintRows& rows, const EigenProblem& problem) {
  MatX allowed = R;
  if (R.cols() == 0) return allowed;
  if (rows.count() > 0) {
    MatX violation(rows.count(), R.cols());
    for (Eigen::Index k = 0; k < R.cols(); ++k) violation.col(k) = rows.multiply(R.col(k)) / R.col(k).norm();
    const MatX scaled = R * R.colwise().norm().cwiseInverse().asDiagonal();
    allowed = scaled * null_space(violation, rigid_tolerance);
  }
  if (allowed.cols() == 0) return allowed;
  return PositiveFactor(allowed.transpose() * (problem.M.selfadjointView<Eigen::Lower>() * allowed))
      .orthonormal(allowed);
}

std::vector<std::array<int, 2>> derivative_pairs(int count, bool symmetric) {
  std::vector<std::array<int, 2>> pairs;
  for (int j = 0; j < count; ++j)
    for (int i = 0; i < (symmetric ? j + 1 : count); ++i) pairs.push_back({i, j});
  return pairs;
}

}  // namespace

struct ConstrainedBody::Impl {
  ElasticBody body;
  FreeVertices free;
  VecX w;  // of the free degrees of freedom
  bool weighted = false;
  EigenProblem problem;  // K and W M W
  ConstraintRows rows;
  double scale = 0, shift = 0;
  std::unique_ptr<ConstrainedInverse> inverse;

  MatX expand(const MatX& y) const { return expand_columns(free, w.asDiagonal() * y); }
  Eigen::Index available() const { return problem.size() - rows.count() - problem.rigid.cols(); }

  Status factorize(ConstraintMethod method, bool singular) {
    if (!singular) inverse = ConstrainedInverse::create(problem.K, rows, method);
    if (inverse) return {};
    shift = definite_shift(scale);
    inverse = ConstrainedInverse::create(problem.K - shift * problem.M, rows, method);
    if (inverse) return {};
    return failure("the stiffness matrix could not be factorised; the mesh may contain nearly flat elements");
  }

  Eigenpairs solve_dense(int count) const {
    const MatX Z = orthogonal_complement(rows.basis());
    const auto reduced = [&](const Sparse& A) -> MatX {
      return Z.transpose() * (A.selfadjointView<Eigen::Lower>() * Z);
    };
    Eigenpairs pairs = dense_eigenpairs(reduced(problem.K), reduced(problem.M), Z.transpose() * problem.M_rigid, count);
    pairs.vectors = Z * pairs.vectors;
    return pairs;
  }

  Result<Eigenpairs> solve_lanczos(const ModesSettings& settings, Progress& progress) const {
    ShiftInvert shift_invert;
    shift_invert.shift = shift;
    shift_invert.subspace_size = available();
    shift_invert.solve = [&](Eigen::Ref<const VecX> x, Eigen::Ref<VecX> y) {
      inverse->solve(x, y);
      return true;
    };
    return lanczos_eigenpairs(problem, std::move(shift_invert), settings, progress);
  }

  /// −(H : φ_i) y_j over the free vertices.
  Result<MatX> right_hand_sides(const MatX& shapes, const std::vector<std::array<int, 2>>& pairs,
                                Progress& progress) const {
    const VecX rest = VecX::Zero(body.dof_count());
    MatX unweighted = restrict_columns(free, shapes);
    unweighted = expand_columns(free, w.cwiseInverse().asDiagonal() * unweighted);
    MatX g(problem.size(), std::ssize(pairs));
    constexpr std::int64_t group = 64;
    for (std::int64_t begin = 0; begin < g.cols(); begin += group) {
      if (progress.cancelled()) return failure("cancelled");
      parallel_for(std::min<std::int64_t>(group, g.cols() - begin), 1, [&](std::int64_t k) {
        const auto [i, j] = pairs[to_size(begin + k)];
        g.col(begin + k) = -free.restrict(body.hessian_product(rest, shapes.col(i), unweighted.col(j)));
      });
      progress.update(static_cast<double>(begin) / static_cast<double>(g.cols()));
    }
    return g;
  }

  /// z with K z = g up to what constraints carry. Refinement also undoes the shift.
  MatX solve_statics(const MatX& g, double& residual, int& rounds) const {
    MatX z = MatX::Zero(g.rows(), g.cols());
    MatX r = g;
    const VecX size = g.colwise().norm().transpose().cwiseMax(std::numeric_limits<double>::min());
    double before = std::numeric_limits<double>::infinity();
    for (rounds = 0; rounds < most_refinements; ++rounds) {
      const MatX next = z + inverse->solve(r);
      r = g - problem.K.selfadjointView<Eigen::Lower>() * next;
      obey(r);  // what constraints carry is no residual
      residual = (r.colwise().norm().transpose().cwiseQuotient(size)).maxCoeff();
      if (residual >= before) break;
      z = next;
      if (residual < refined || residual > 0.9 * before) break;
      before = residual;
    }
    residual = std::min(residual, before);
    obey(z);
    return z;
  }

  /// Takes out what cut entries of Z and rounding left.
  void obey(MatX& y) const {
    for (Eigen::Index k = 0; k < y.cols(); ++k) rows.project(y.col(k));
  }
};

ConstrainedBody::ConstrainedBody(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ConstrainedBody::~ConstrainedBody() = default;
ConstrainedBody::ConstrainedBody(ConstrainedBody&&) noexcept = default;
ConstrainedBody& ConstrainedBody::operator=(ConstrainedBody&&) noexcept = default;

Index ConstrainedBody::constraint_count() const { return impl_->rows.count(); }
Index ConstrainedBody::redundant_count() const { return impl_->rows.removed(); }
Index ConstrainedBody::available_modes() const { return static_cast<Index>(impl_->available()); }

Result<ConstrainedBody> ConstrainedBody::create(const ModeProblem& problem, ConstraintMethod method,
                                                Progress& progress) {
  SUPPLE_RETURN_IF_ERROR(check_problem(problem));
  Result<FreeVertices> free = free_vertices(problem);
  SUPPLE_RETURN_IF_ERROR(free);
  progress.stage("assembling");
  const ElasticBody& body = problem.body;
  const VecX w = free_weights(problem.vertex_weights, *free);
  BlockMatrix K = body.make_matrix();
  VecX force;
  body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), force, K);
  EigenProblem eigen{K.to_sparse_lower(free->vertices()),
                     scaled_both_sides(body.consistent_mass().to_sparse_lower(free->vertices()), w),
                     {},
                     {}};
  ConstraintRows rows = weighted_rows(problem.constraints, *free, w);
  auto impl = std::make_unique<Impl>(
      Impl{body, *free, w, w.minCoeff() != w.maxCoeff(), std::move(eigen), std::move(rows), 0, 0, nullptr});
  if (impl->rows.count() >= impl->problem.size()) {
    return input_error("the constraints hold every vertex, so nothing can move; constrain fewer");
  }
  const MatX rigid = restrict_columns(impl->free, rigid_motions(body, impl->free));
  impl->problem.set_rigid(allowed_motions(rigid, impl->rows, impl->problem));
  impl->scale = eigenvalue_scale(impl->problem, impl->free.restrict(body.rest_positions()));
  SUPPLE_RETURN_IF_ERROR(impl->factorize(method, rigid.cols() > 0));
  return ConstrainedBody(std::move(impl));
}

Result<Modes> ConstrainedBody::modes(const ModesSettings& settings, Progress& progress) const {
  const EigenProblem& problem = impl_->problem;
  const Result<bool> dense = choose_dense(problem.size(), impl_->available(), settings.count);
  SUPPLE_RETURN_IF_ERROR(dense);
  progress.stage("computing modes");
  Result<Eigenpairs> pairs =
      *dense ? Result<Eigenpairs>(impl_->solve_dense(settings.count)) : impl_->solve_lanczos(settings, progress);
  SUPPLE_RETURN_IF_ERROR(pairs);
  impl_->obey(pairs->vectors);
  Modes modes;
  modes.residuals = normalise(problem, *pairs, [&](VecX& r) { impl_->rows.project(r); });
  modes.eigenvalues = pairs->values;
  modes.frequencies = pairs->values.cwiseMax(0.0).cwiseSqrt() / (2 * std::numbers::pi);
  modes.shapes = impl_->expand(pairs->vectors);
  modes.rigid = impl_->expand(problem.rigid);
  modes.rigid_residual = rigid_residual(problem, pairs->values[0]);
  progress.update(1.0);
  SUPPLE_RETURN_IF_ERROR(check_modes(modes, impl_->scale));
  return modes;
}

MatX ConstrainedBody::responses(const MatX& forces) const {
  double residual = 0;
  int rounds = 0;
  return impl_->expand(
      impl_->solve_statics(impl_->w.asDiagonal() * restrict_columns(impl_->free, forces), residual, rounds));
}

Result<ModalDerivatives> ConstrainedBody::derivatives(const Modes& modes, int count, Progress& progress) const {
  if (modes.shapes.rows() != impl_->body.dof_count() || count < 1 || count > modes.shapes.cols()) {
    return input_error(
        fmt::format("derivatives of {} modes of a body with {} degrees of freedom were asked for, but "
                    "{} modes of {} are given",
                    count, impl_->body.dof_count(), modes.shapes.cols(), modes.shapes.rows()));
  }
  if (impl_->problem.rigid.cols() > 0) {
    return input_error(
        fmt::format("the body can still move rigidly in {} ways, so its static derivatives don't exist; fix more "
                    "vertices",
                    impl_->problem.rigid.cols()));
  }
  ModalDerivatives result;
  result.pairs = derivative_pairs(count, !impl_->weighted);
  auto start = Clock::now();
  progress.stage("right-hand sides of modal derivatives");
  const Result<MatX> g = impl_->right_hand_sides(modes.shapes, result.pairs, progress);
  SUPPLE_RETURN_IF_ERROR(g);
  result.right_hand_side_seconds = seconds_since(start);
  start = Clock::now();
  progress.stage("solving for modal derivatives");
  result.shapes = impl_->expand(impl_->solve_statics(*g, result.largest_residual, result.iterations));
  result.solve_seconds = seconds_since(start);
  if (result.largest_residual < largest_mode_residual) return result;
  return failure(
      fmt::format("the modal derivatives failed their check_problem: the largest residual is {:.2g}, but must be below "
                  "{:.0g}; the mesh "
                  "may contain nearly flat elements",
                  result.largest_residual, largest_mode_residual));
}

Result<Modes> constrained_modes(const ModeProblem& problem, const ModesSettings& settings, ConstraintMethod method,
                                Progress& progress) {
  const Result<ConstrainedBody> body = ConstrainedBody::create(problem, method, progress);
  return body.ok() ? body->modes(settings, progress) : Result<Modes>(body.error());
}

}  // namespace supple
