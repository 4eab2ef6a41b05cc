// SPDX-License-Identifier: Apache-2.0
// Time of our factorisation beside Eigen's, for the record in sparse_factor.h. Disabled: it measures, it does not test.
#include "math/sparse_matrices.h"
#include "supple/base/parallel.h"
#include "supple/math/sparse/sparse_factor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <Eigen/Dense>
#include <Eigen/MetisSupport>
#include <Eigen/SparseCholesky>

#include <chrono>
#include <cstdio>
#include <ctime>

namespace supple::sparse_factor_measure_test {
namespace {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Processor time, so that other programs on the machine disturb the figures little.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

template <class Work>
double best_seconds(int repeats, const Work& work, double (*now)() = processor_seconds) {
  double best = 1e30;
  for (int i = 0; i < repeats; ++i) {
    const double start = now();
    work();
    best = std::min(best, now() - start);
  }
  return best;
}

double dense_gflops() {
  const int n = 960;
  const Eigen::MatrixXd a = Eigen::MatrixXd::Random(n, n), b = Eigen::MatrixXd::Random(n, n);
  Eigen::MatrixXd c(n, n);
  return 2e-9 * n * n * n / best_seconds(5, [&] { c.noalias() = a * b; });
}

void measure_ours(const Sparse& matrix, int repeats) {
  SparseFactor factor;
  set_thread_count(1);
  const double analysis = best_seconds(1, [&] { factor.analyze(matrix, 3); });
  const double first = best_seconds(1, [&] { factor.factorize(matrix); });
  const double one = best_seconds(repeats, [&] { factor.factorize(matrix); });
  const double gemm = dense_gflops();
  set_thread_count(2);
  const double two = best_seconds(
      repeats, [&] { factor.factorize(matrix); }, wall_seconds);
  set_thread_count(1);
  Eigen::VectorXd x = Eigen::VectorXd::Ones(matrix.rows());
  const double solve = best_seconds(10, [&] { factor.solve(x, x); });
  const Eigen::MatrixXd many = Eigen::MatrixXd::Ones(matrix.rows(), 48);
  Eigen::MatrixXd solutions;
  const double solve_many = best_seconds(3, [&] { solutions = factor.solve(many); });
  set_thread_count(0);
  fmt::print(
      "  ours: analyse {:.1f} ms, first {:.1f} ms, factor {:.2f} ms ({:.1f} GFLOP/s of {:.1f} in GEMM), 2 threads "
      "{:.2f} ms of wall clock\n  nnz {:.2f} M, {:.3f} GFLOP, solve {:.2f} ms ({:.1f} GB/s), 48 rhs {:.2f} ms = {:.3f} "
      "each\n",
      analysis * 1e3, first * 1e3, one * 1e3, factor.factor_flops() * 1e-9 / one, gemm, two * 1e3,
      1e-6 * double(factor.factor_nonzeros()), factor.factor_flops() * 1e-9, solve * 1e3,
      16e-9 * double(factor.factor_nonzeros()) / solve, solve_many * 1e3, solve_many / 48 * 1e3);
}

void measure_eigen(const Sparse& matrix, int repeats) {
  Eigen::SimplicialLDLT<Sparse, Eigen::Lower, Eigen::MetisOrdering<int>> ldlt;
  const double analysis = best_seconds(1, [&] { ldlt.analyzePattern(matrix); });
  const double numeric = best_seconds(repeats, [&] { ldlt.factorize(matrix); });
  Eigen::VectorXd x = Eigen::VectorXd::Ones(matrix.rows());
  const double solve = best_seconds(5, [&] { x = ldlt.solve(x).eval(); });
  fmt::print("  SimplicialLDLT + METIS: analyse {:.1f} ms, factor {:.1f} ms, solve {:.2f} ms, nnz {:.2f} M\n",
             analysis * 1e3, numeric * 1e3, solve * 1e3, 1e-6 * double(ldlt.matrixL().nestedExpression().nonZeros()));
}

TEST(SparseFactorMeasure, DISABLED_CubesBesideSimplicialLdlt) {
  for (const int n : {15, 30}) {
    const Sparse matrix = elastic_cube(n);
    fmt::print("cube of {}³ vertices, {} DOFs\n", n, matrix.rows());
    measure_ours(matrix, n == 15 ? 30 : 2);
    std::fflush(stdout);
    measure_eigen(matrix, n == 15 ? 3 : 1);
  }
}

}  // namespace
}  // namespace supple::sparse_factor_measure_test
