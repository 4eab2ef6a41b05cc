// SPDX-License-Identifier: Apache-2.0
// Eigen writes every product of two large matrices anew for each pair of expressions, A B, Aᵀ B, (s A) Bᵀ and so on: a
// second or more of a compiler's time each, and half of what our largest units took. They all end in one kernel, which
// takes pointers and strides. Here is that door: products of matrices of any size, in double and single precision, call
// compiled_product(), and products of a matrix and a vector find Eigen's own kernels compiled.
//
//   C = α A B    or    C += α A B
//
// The precompiled headers include this, and nobody else needs to: without it the same numbers come from Eigen's
// templates (to the last bit, but for products so small that rows, depth and columns sum to less than 20). Results are
// those of Eigen's kernels either way.
#pragma once

#include <Eigen/Core>

#include <concepts>

namespace supple {

/// A matrix as kernels read it; its numbers are side by side along columns, or along rows.
template <typename Scalar>
struct ProductFactor {
  const Scalar* data;
  Eigen::Index stride;  ///< from one column (row) to the next
  Eigen::Index rows, cols;
  bool row_major;
};

/// Where the product goes: as many rows as A, as many columns as B.
template <typename Scalar>
struct ProductTarget {
  Scalar* data;
  Eigen::Index stride;
  bool row_major;
};

enum class ProductMode { assign, add };

void compiled_product(const ProductFactor<double>& A, const ProductFactor<double>& B, const ProductTarget<double>& C,
                      double alpha, ProductMode mode);
void compiled_product(const ProductFactor<float>& A, const ProductFactor<float>& B, const ProductTarget<float>& C,
                      float alpha, ProductMode mode);

/// Both factors in the same real precision.
template <typename Lhs, typename Rhs>
concept CompiledProduct = std::same_as<typename Lhs::Scalar, typename Rhs::Scalar> &&
    (std::same_as<typename Lhs::Scalar, double> || std::same_as<typename Lhs::Scalar, float>);

}  // namespace supple

namespace Eigen::internal {

// What Eigen asks for a product of large matrices (its own answer is in GeneralMatrixMatrix.h); being constrained, this
// one is preferred. blas_traits looks through transposes and factors, and evaluates what has no memory of its own.
template <typename Lhs, typename Rhs>
requires supple::CompiledProduct<Lhs, Rhs>
struct generic_product_impl<Lhs, Rhs, DenseShape, DenseShape, GemmProduct> {
  using Scalar = typename Lhs::Scalar;

  template <typename Dst>
  static void evalTo(Dst& dst, const Lhs& lhs, const Rhs& rhs) {
    run(dst, lhs, rhs, Scalar(1), supple::ProductMode::assign);
  }
  template <typename Dst>
  static void addTo(Dst& dst, const Lhs& lhs, const Rhs& rhs) {
    run(dst, lhs, rhs, Scalar(1), supple::ProductMode::add);
  }
  template <typename Dst>
  static void subTo(Dst& dst, const Lhs& lhs, const Rhs& rhs) {
    run(dst, lhs, rhs, Scalar(-1), supple::ProductMode::add);
  }
  template <typename Dst>
  static void scaleAndAddTo(Dst& dst, const Lhs& lhs, const Rhs& rhs, const Scalar& alpha) {
    run(dst, lhs, rhs, alpha, supple::ProductMode::add);
  }

 private:
  template <typename Dst>
  static void run(Dst& dst, const Lhs& lhs, const Rhs& rhs, Scalar alpha, supple::ProductMode mode) {
    typename add_const_on_value_type<typename blas_traits<Lhs>::DirectLinearAccessType>::type A =
        blas_traits<Lhs>::extract(lhs);
    typename add_const_on_value_type<typename blas_traits<Rhs>::DirectLinearAccessType>::type B =
        blas_traits<Rhs>::extract(rhs);
    static_assert(int(Dst::InnerStrideAtCompileTime) == 1, "evaluate such a product first: .eval()");
    supple::compiled_product(factor(A), factor(B), {dst.data(), dst.outerStride(), bool(int(Dst::Flags) & RowMajorBit)},
                             combine_scalar_factors(alpha, lhs, rhs), mode);
  }
  template <typename Matrix>
  static supple::ProductFactor<Scalar> factor(const Matrix& A) {
    return {A.data(), A.outerStride(), A.rows(), A.cols(), bool(int(Matrix::Flags) & RowMajorBit)};
  }
};

template <typename Scalar, int Order>
using MatrixReader = const_blas_data_mapper<Scalar, Eigen::Index, Order>;

extern template struct general_matrix_vector_product<Eigen::Index, double, MatrixReader<double, ColMajor>, ColMajor,
                                                     false, double, MatrixReader<double, RowMajor>, false>;
extern template struct general_matrix_vector_product<Eigen::Index, double, MatrixReader<double, RowMajor>, RowMajor,
                                                     false, double, MatrixReader<double, ColMajor>, false>;
extern template struct general_matrix_vector_product<Eigen::Index, float, MatrixReader<float, ColMajor>, ColMajor,
                                                     false, float, MatrixReader<float, RowMajor>, false>;
extern template struct general_matrix_vector_product<Eigen::Index, float, MatrixReader<float, RowMajor>, RowMajor,
                                                     false, float, MatrixReader<float, ColMajor>, false>;

}  // namespace Eigen::internal
