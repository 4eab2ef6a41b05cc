// SPDX-License-Identifier: Apache-2.0
// The only file that includes Spectra: it takes long to compile.
#include "supple/math/sparse/lanczos.h"

#include <Spectra/SymGEigsShiftSolver.h>
#include <fmt/format.h>

namespace supple {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

/// The one way out of Spectra's iteration; caught where that is called.
struct Cancelled {};

/// The caller's inverse in the form Spectra asks for.
class InverseProduct {
 public:
  using Scalar = double;
  InverseProduct(const ShiftInvert& inverse, Eigen::Index size) : inverse_(inverse), size_(size) {}
  Eigen::Index rows() const { return size_; }
  Eigen::Index cols() const { return size_; }
  void set_shift(const Scalar&) {}  // the caller has done it
  void perform_op(const Scalar* x, Scalar* y) const {
    if (!inverse_.solve(Eigen::Map<const VecX>(x, size_), Eigen::Map<VecX>(y, size_))) throw Cancelled{};
  }

 private:
  const ShiftInvert& inverse_;
  Eigen::Index size_;
};

class MassProduct {
 public:
  using Scalar = double;
  explicit MassProduct(const Sparse& lower) : lower_(lower) {}
  Eigen::Index rows() const { return lower_.rows(); }
  Eigen::Index cols() const { return lower_.rows(); }
  void perform_op(const Scalar* x, Scalar* y) const {
    Eigen::Map<VecX>(y, rows()).noalias() = lower_.selfadjointView<Eigen::Lower>() * Eigen::Map<const VecX>(x, rows());
  }

 private:
  const Sparse& lower_;
};

}  // namespace

Result<Eigenpairs> shift_invert_lanczos(const ShiftInvert& inverse, const Sparse& mass, const VecX& start, int count,
                                        double tolerance) {
  InverseProduct solve(inverse, mass.rows());
  MassProduct multiply(mass);
  const int basis =
      static_cast<int>(std::min<Eigen::Index>(inverse.subspace_size, std::max(2 * count + 1, count + 20)));
  Spectra::SymGEigsShiftSolver<InverseProduct, MassProduct, Spectra::GEigsMode::ShiftInvert> solver(
      solve, multiply, count, basis, inverse.shift);
  try {
    solver.init(start.data());
    solver.compute(Spectra::SortRule::LargestMagn, 300, tolerance, Spectra::SortRule::SmallestAlge);
  } catch (const Cancelled&) {
    return failure("cancelled");
  }
  if (solver.info() != Spectra::CompInfo::Successful) {
    return failure(fmt::format("the eigenvalue iteration did not converge for {} modes; ask for fewer", count));
  }
  return Eigenpairs{solver.eigenvalues(), solver.eigenvectors()};
}

}  // namespace supple
