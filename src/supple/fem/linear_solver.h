// SPDX-License-Identifier: Apache-2.0
// Solves A x = b for the free vertices of a body: directly by sparse factorisation, or by conjugate gradients with
// 3×3 block-Jacobi preconditioning. The analysis of the pattern is done once and reused for every matrix.
#pragma once

#include "supple/fem/free_vertices.h"
#include "supple/math/sparse/block_matrix.h"

#include <memory>

namespace supple {

enum class LinearMethod { automatic, direct, conjugate_gradients };

struct LinearSettings {
  LinearMethod method = LinearMethod::automatic;
  Index direct_limit = 60'000;  ///< automatic: direct up to this many degrees of freedom, else conjugate gradients
  double cg_tolerance = 1e-8;   ///< on |b − A x| / |b|
  int cg_max_iterations = 10'000;
};

struct LinearReport {
  enum class Outcome {
    solved,
    indefinite,     ///< A is not positive definite; x is not usable
    not_converged,  ///< conjugate gradients ran out of iterations; x is their best
  };
  Outcome outcome = Outcome::solved;
  int iterations = 0;     ///< of conjugate gradients; 0 for a direct solve
  double residual = 0.0;  ///< |b − A x| / |b| as conjugate gradients see it

  bool solved() const { return outcome == Outcome::solved; }
};

class LinearSolver {
 public:
  LinearSolver(FreeVertices free, const LinearSettings& settings);
  ~LinearSolver();
  LinearSolver(LinearSolver&&) noexcept;
  LinearSolver& operator=(LinearSolver&&) noexcept;

  /// A symmetric positive definite; b and x over all vertices. Fixed entries of x come out zero. `x` is the first guess
  /// of conjugate gradients when its size fits.
  LinearReport solve(const BlockMatrix& A, const VecX& b, VecX& x);

  bool is_direct() const;
  const FreeVertices& free() const { return free_; }

 private:
  LinearReport solve_directly(const BlockMatrix& A, const VecX& b, VecX& x);
  LinearReport solve_iteratively(const BlockMatrix& A, const VecX& b, VecX& x);

  struct Direct;
  struct Krylov;
  FreeVertices free_;
  LinearSettings settings_;
  std::unique_ptr<Direct> direct_;
  std::unique_ptr<Krylov> krylov_;
};

}  // namespace supple
