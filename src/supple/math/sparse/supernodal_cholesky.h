// SPDX-License-Identifier: Apache-2.0
// Multifrontal supernodal Cholesky factorisation P A Pᵀ = L Lᵀ of sparse symmetric positive definite matrices.
//
// Each supernode is one dense front: the columns of A, plus the update matrices of its children (extend-add), partially
// factored by the kernels of front_kernels.h, leave a panel of L and an update matrix for the parent (Duff & Reid 1983,
// Liu 1992). Where panels and update matrices live is planned once per pattern, so a factorisation allocates nothing.
// Independent subtrees run as parallel tasks, the fronts above them one after another with threads inside. Each
// front adds its children in a fixed order: the bits of L are the same for any number of threads.
#pragma once

#include "supple/math/sparse/front_layout.h"
#include "supple/math/sparse/supernodes.h"

#include <Eigen/SparseCore>

#include <cstdlib>
#include <memory>
#include <vector>

namespace supple {

/// Uninitialised doubles on a cache line border; page by page they come from the system when first written.
class FrontBuffer {
 public:
  void resize(std::int64_t size);
  double* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(double* p) const { std::free(p); }
  };
  std::unique_ptr<double[], Free> data_;
  std::int64_t size_ = 0;
};

class SupernodalCholesky {
 public:
  void analyze(const Eigen::SparseMatrix<double>& lower, int block_size);
  bool factorize(const Eigen::SparseMatrix<double>& lower);
  void solve(Eigen::Ref<const Eigen::VectorXd> b, Eigen::Ref<Eigen::VectorXd> x) const;
  Eigen::MatrixXd solve(const Eigen::MatrixXd& b) const;

  std::int64_t failed_column() const { return failed_column_; }
  std::int64_t factor_nonzeros() const;
  double factor_flops() const;
  double log_determinant() const;

 private:
  struct Scratch;
  struct Task {
    Index begin = 0;
    Index end = 0;
  };

  std::int64_t columns_of(Index s) const { return std::int64_t{block_size_} * supernodes_.columns(s); }
  PanelShape shape_of(Index s) const { return {columns_of(s), std::int64_t{block_size_} * supernodes_.row_count(s)}; }
  std::int64_t first_row(Index s) const;
  double* panel_of(Index s) const;
  double* update_of(Index s) const;

  void plan_panels();
  void plan_tasks();
  void plan_updates();
  void plan_entries(const Eigen::SparseMatrix<double>& lower);

  /// Returns the column that failed, in elimination order, or -1.
  std::int64_t factor_front(Index s, const double* values, bool parallel, Scratch& scratch) const;
  void gather_panel(Index s, const double* values, bool parallel, Scratch& scratch) const;
  void gather_update(Index s, bool parallel, Scratch& scratch) const;

  void forward(double* y) const;
  void backward(double* y) const;
  void forward_chunk(double* y, double* below) const;
  void backward_chunk(double* y, double* below) const;

  int block_size_ = 1;
  std::int64_t rows_ = 0;
  std::int64_t nonzeros_ = 0;  ///< of the analysed matrix
  std::int64_t failed_column_ = -1;
  Supernodes supernodes_;
  std::vector<Index> order_;  ///< row of L → row of the matrix
  std::vector<std::int64_t> panel_offsets_;
  std::vector<std::int64_t> update_offsets_;
  std::vector<Task> tasks_;  ///< disjoint subtrees
  std::vector<Index> top_;   ///< supernodes above all tasks, ascending
  std::int64_t most_columns_ = 0, most_rows_ = 0;

  /// Entries of the matrix by supernode: values[source] goes to panel[target].
  std::vector<std::int64_t> entry_offsets_;
  std::vector<Index> entry_sources_;
  std::vector<std::uint32_t> entry_targets_;
  std::vector<Index> diagonal_sources_;  ///< of each row of L; -1 where the diagonal is missing

  FrontBuffer factor_;
  FrontBuffer updates_;
  mutable std::vector<double> solve_scratch_;
};

}  // namespace supple
