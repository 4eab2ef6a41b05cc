// SPDX-License-Identifier: Apache-2.0
#include "supple/math/dense/compiled_products.h"

#include <utility>

namespace Eigen::internal {

template struct general_matrix_vector_product<Eigen::Index, double, MatrixReader<double, ColMajor>, ColMajor, false,
                                              double, MatrixReader<double, RowMajor>, false>;
template struct general_matrix_vector_product<Eigen::Index, double, MatrixReader<double, RowMajor>, RowMajor, false,
                                              double, MatrixReader<double, ColMajor>, false>;
template struct general_matrix_vector_product<Eigen::Index, float, MatrixReader<float, ColMajor>, ColMajor, false,
                                              float, MatrixReader<float, RowMajor>, false>;
template struct general_matrix_vector_product<Eigen::Index, float, MatrixReader<float, RowMajor>, RowMajor, false,
                                              float, MatrixReader<float, ColMajor>, false>;

}  // namespace Eigen::internal

namespace supple {
namespace {

template <typename Scalar, int Order>
using MatrixView =
    Eigen::Map<const Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Order>, 0, Eigen::OuterStride<>>;
template <typename Scalar>
using VectorView = Eigen::Map<const Eigen::Matrix<Scalar, Eigen::Dynamic, 1>, 0, Eigen::InnerStride<>>;

template <int Order, typename Scalar>
MatrixView<Scalar, Order> view(const ProductFactor<Scalar>& A) {
  return {A.data, A.rows, A.cols, Eigen::OuterStride<>(A.stride)};
}

template <typename Scalar>
ProductFactor<Scalar> transposed(const ProductFactor<Scalar>& A) {
  return {A.data, A.stride, A.cols, A.rows, !A.row_major};
}

template <typename Scalar>
VectorView<Scalar> first_column(const ProductFactor<Scalar>& A) {
  return {A.data, A.rows, Eigen::InnerStride<>(A.row_major ? A.stride : 1)};
}

/// Every coefficient by itself: what Eigen does with products so small that packing would take longer.
template <int OrderA, int OrderB, typename Scalar, typename Target>
void small_product(const ProductFactor<Scalar>& A, const ProductFactor<Scalar>& B, Target& C, Scalar alpha,
                   ProductMode mode) {
  const auto product = view<OrderA>(A).lazyProduct(view<OrderB>(B));
  if (mode == ProductMode::assign && alpha == Scalar(1)) {
    C.noalias() = product;
  } else if (mode == ProductMode::assign) {
    C.noalias() = alpha * product;
  } else {
    C.noalias() += alpha * product;
  }
}

template <int OrderA, int OrderB, typename Scalar, typename Target>
void large_product(const ProductFactor<Scalar>& A, const ProductFactor<Scalar>& B, Target& C, Scalar alpha) {
  using namespace Eigen::internal;
  gemm_blocking_space<Eigen::ColMajor, Scalar, Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::Dynamic> blocking(
      A.rows, B.cols, A.cols, 1, true);
  general_matrix_matrix_product<Eigen::Index, Scalar, OrderA, false, Scalar, OrderB, false, Eigen::ColMajor, 1>::run(
      A.rows, B.cols, A.cols, A.data, A.stride, B.data, B.stride, C.data(), 1, C.outerStride(), alpha, blocking);
}

/// y += α A x, where A turned out to be multiplied by a single column.
template <typename Scalar, typename Target>
void matrix_times_column(const ProductFactor<Scalar>& A, const VectorView<Scalar>& x, Target& y, Scalar alpha) {
  using namespace Eigen::internal;
  if (A.row_major) {
    gemv_dense_selector<Eigen::OnTheRight, Eigen::RowMajor, true>::run(view<Eigen::RowMajor>(A), x, y, alpha);
  } else {
    gemv_dense_selector<Eigen::OnTheRight, Eigen::ColMajor, true>::run(view<Eigen::ColMajor>(A), x, y, alpha);
  }
}

/// Calls body<order of A, order of B>().
template <typename Body>
void with_orders(bool a_row_major, bool b_row_major, const Body& body) {
  constexpr int columns = Eigen::ColMajor, rows = Eigen::RowMajor;
  if (a_row_major) {
    b_row_major ? body.template operator()<rows, rows>() : body.template operator()<rows, columns>();
  } else {
    b_row_major ? body.template operator()<columns, rows>() : body.template operator()<columns, columns>();
  }
}

/// The target lies in columns.
template <typename Scalar>
void product_in_columns(const ProductFactor<Scalar>& A, const ProductFactor<Scalar>& B, Scalar* c, Eigen::Index stride,
                        Scalar alpha, ProductMode mode) {
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> C(c, A.rows, B.cols, Eigen::OuterStride<>(stride));
  const Eigen::Index m = A.rows, n = B.cols, k = A.cols;
  if (k > 0 && m + n + k < EIGEN_GEMM_TO_COEFFBASED_THRESHOLD) {
    with_orders(A.row_major, B.row_major,
                [&]<int OrderA, int OrderB>() { small_product<OrderA, OrderB>(A, B, C, alpha, mode); });
    return;
  }
  if (mode == ProductMode::assign) C.setZero();
  if (m == 0 || n == 0 || k == 0) return;
  if (n == 1) {
    Eigen::Map<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>> y(c, m);
    matrix_times_column(A, first_column(B), y, alpha);
  } else if (m == 1) {
    Eigen::Map<Eigen::Matrix<Scalar, Eigen::Dynamic, 1>, 0, Eigen::InnerStride<>> y(c, n, Eigen::InnerStride<>(stride));
    matrix_times_column(transposed(B), first_column(transposed(A)), y, alpha);
  } else {
    with_orders(A.row_major, B.row_major,
                [&]<int OrderA, int OrderB>() { large_product<OrderA, OrderB>(A, B, C, alpha); });
  }
}

/// A target in rows is the transposed product in columns: Cᵀ = α Bᵀ Aᵀ.
template <typename Scalar>
void product(const ProductFactor<Scalar>& A, const ProductFactor<Scalar>& B, const ProductTarget<Scalar>& C,
             Scalar alpha, ProductMode mode) {
  if (C.row_major) {
    product_in_columns(transposed(B), transposed(A), C.data, C.stride, alpha, mode);
  } else {
    product_in_columns(A, B, C.data, C.stride, alpha, mode);
  }
}

}  // namespace

void compiled_product(const ProductFactor<double>& A, const ProductFactor<double>& B, const ProductTarget<double>& C,
                      double alpha, ProductMode mode) {
  product(A, B, C, alpha, mode);
}

void compiled_product(const ProductFactor<float>& A, const ProductFactor<float>& B, const ProductTarget<float>& C,
                      float alpha, ProductMode mode) {
  product(A, B, C, alpha, mode);
}

}  // namespace supple
