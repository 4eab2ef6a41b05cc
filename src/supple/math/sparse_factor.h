#pragma once
#include <Eigen/SparseCore>
#include <memory>
namespace supple {
enum class FactorKind { cholesky, ldlt };
class SparseFactor {
 public:
  explicit SparseFactor(FactorKind kind = FactorKind::cholesky);
  ~SparseFactor();
  SparseFactor(SparseFactor&&) noexcept;
  void analyze(const Eigen::SparseMatrix<double>& lower, int block_size = 1);
  bool factorize(const Eigen::SparseMatrix<double>& lower);
  void solve(Eigen::Ref<const Eigen::VectorXd> b, Eigen::Ref<Eigen::VectorXd> x) const;

 private:
  struct I;
  std::unique_ptr<I> i_;
};
}  // namespace supple
