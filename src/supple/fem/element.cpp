// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/element.h"

#include <Eigen/LU>

namespace supple {
namespace {

using BrickGradients = Eigen::Matrix<double, 3, 8>;

/// Corner k of the reference brick [-1, 1]³, in the node order of HexMesh.
constexpr std::array<std::array<double, 3>, 8> corners = {
    {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {1, 1, 1}, {-1, 1, 1}}};

/// Gauss points of order 2 sit at ±1/√3 in each direction, all with weight 1.
Vec3 gauss_point(int point) {
  const double g = 1.0 / std::sqrt(3.0);
  const auto& corner = corners[to_size(point)];
  return Vec3(corner[0], corner[1], corner[2]) * g;
}

Eigen::Matrix<double, 8, 1> brick_values(const Vec3& xi) {
  Eigen::Matrix<double, 8, 1> N;
  for (int a = 0; a < 8; ++a) {
    const auto& c = corners[to_size(a)];
    N[a] = (1 + c[0] * xi[0]) * (1 + c[1] * xi[1]) * (1 + c[2] * xi[2]) / 8;
  }
  return N;
}

BrickGradients brick_reference_gradients(const Vec3& xi) {
  BrickGradients gradient;
  for (int a = 0; a < 8; ++a) {
    const auto& c = corners[to_size(a)];
    const Vec3 factor(1 + c[0] * xi[0], 1 + c[1] * xi[1], 1 + c[2] * xi[2]);
    gradient.col(a) =
        Vec3(c[0] * factor[1] * factor[2], factor[0] * c[1] * factor[2], factor[0] * factor[1] * c[2]) / 8;
  }
  return gradient;
}

/// ∂X/∂ξ
Mat3 brick_jacobian(const std::array<Vec3, 8>& nodes, const BrickGradients& reference) {
  Mat3 jacobian = Mat3::Zero();
  for (int a = 0; a < 8; ++a) jacobian += nodes[to_size(a)] * reference.col(a).transpose();
  return jacobian;
}

}  // namespace

ElementShape<4> element_shape(const std::array<Vec3, 4>& nodes) {
  Mat3 edges;
  for (int a = 0; a < 3; ++a) edges.col(a) = nodes[to_size(a) + 1] - nodes[0];
  ElementShape<4> shape;
  shape.weight[0] = edges.determinant() / 6;
  // X = X0 + edges · (N1 N2 N3): the rows of edges⁻¹ are the gradients of N1, N2, N3; all four sum to zero.
  shape.gradient[0].rightCols<3>() = edges.inverse().transpose();
  shape.gradient[0].col(0) = -shape.gradient[0].rightCols<3>().rowwise().sum();
  return shape;
}

ElementShape<8> element_shape(const std::array<Vec3, 8>& nodes) {
  ElementShape<8> shape;
  for (int point = 0; point < 8; ++point) {
    const BrickGradients reference = brick_reference_gradients(gauss_point(point));
    const Mat3 jacobian = brick_jacobian(nodes, reference);
    shape.weight[to_size(point)] = jacobian.determinant();
    shape.gradient[to_size(point)] = jacobian.inverse().transpose() * reference;
  }
  return shape;
}

Eigen::Matrix4d shape_products(const std::array<Vec3, 4>& nodes) {
  const double volume = element_shape(nodes).weight[0];
  return (Eigen::Matrix4d::Ones() + Eigen::Matrix4d::Identity()) * (volume / 20);
}

Eigen::Matrix<double, 8, 8> shape_products(const std::array<Vec3, 8>& nodes) {
  Eigen::Matrix<double, 8, 8> products = Eigen::Matrix<double, 8, 8>::Zero();
  for (int point = 0; point < 8; ++point) {
    const Vec3 xi = gauss_point(point);
    const Eigen::Matrix<double, 8, 1> N = brick_values(xi);
    products += N * N.transpose() * brick_jacobian(nodes, brick_reference_gradients(xi)).determinant();
  }
  return products;
}

}  // namespace supple
