// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/element.h"

#include "support/bodies.h"

namespace supple::element_test {
namespace {

template <class Mesh>
class ElementTest : public testing::Test {
 protected:
  static constexpr int nodes = Mesh::nodes_per_element;
  Mesh mesh() const {
    const BoxSpec spec{.size = Vec3(1, 2, 3), .cells = {2, 2, 2}, .distortion = 0.2, .distort_surface = true};
    if constexpr (nodes == 4) {
      return tet_box(spec);
    } else {
      return brick_box(spec);
    }
  }
};
using Meshes = testing::Types<TetMesh, HexMesh>;
TYPED_TEST_SUITE(ElementTest, Meshes);

TYPED_TEST(ElementTest, GradientsReproduceLinearFields) {
  const auto mesh = this->mesh();
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const auto corners = element_nodes(mesh, e);
    const auto shape = element_shape(corners);
    for (const auto& gradient : shape.gradient) {
      // Σ X_a ⊗ ∂N_a/∂X = I and Σ ∂N_a/∂X = 0
      Mat3 sum = Mat3::Zero();
      for (int a = 0; a < this->nodes; ++a) sum += corners[to_size(a)] * gradient.col(a).transpose();
      EXPECT_LT((sum - Mat3::Identity()).norm(), 1e-13);
      EXPECT_LT(gradient.rowwise().sum().norm(), 1e-13 * gradient.norm());
    }
  }
}

TYPED_TEST(ElementTest, ProductsIntegrateLinearFieldsExactly) {
  // ∫ 1 dV = V, and ∫ N_a dV is positive for elements of sound shape.
  const auto mesh = this->mesh();
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const auto corners = element_nodes(mesh, e);
    const auto products = shape_products(corners);
    EXPECT_NEAR(products.sum(), element_shape(corners).volume(), 1e-13);
    EXPECT_LT((products - products.transpose()).norm(), 1e-15);
    EXPECT_GT(products.rowwise().sum().minCoeff(), 0);
  }
}

TEST(TetElement, HasTheClosedFormMassAndVolume) {
  const std::array<Vec3, 4> corners = {Vec3(0, 0, 0), Vec3(2, 0, 0), Vec3(0, 3, 0), Vec3(0, 0, 4)};
  EXPECT_NEAR(element_shape(corners).volume(), 4, 1e-14);
  const Eigen::Matrix4d products = shape_products(corners);
  EXPECT_NEAR(products(0, 0), 4 * 2.0 / 20, 1e-15);
  EXPECT_NEAR(products(1, 3), 4 * 1.0 / 20, 1e-15);
}

TEST(BrickElement, HasTheClosedFormMassOfABox) {
  // ∫ N_a N_b of a box is a product of line integrals: 1/3 on the same end, 1/6 across.
  const HexMesh mesh = make_hex_box(Vec3(2, 3, 4), {1, 1, 1});
  const auto products = shape_products(element_nodes(mesh, 0));
  EXPECT_NEAR(products(0, 0), 24.0 / 27, 1e-14);
  EXPECT_NEAR(products(0, 1), 24.0 / 54, 1e-14);
  EXPECT_NEAR(products(0, 2), 24.0 / 108, 1e-14);
  EXPECT_NEAR(products(0, 6), 24.0 / 216, 1e-14);
}

TEST(Elements, ReportInversionAsNegativeWeight) {
  const std::array<Vec3, 4> flipped = {Vec3(0, 0, 0), Vec3(0, 1, 0), Vec3(1, 0, 0), Vec3(0, 0, 1)};
  EXPECT_LT(element_shape(flipped).weight[0], 0);
  HexMesh brick = make_hex_box(Vec3(1, 1, 1), {1, 1, 1});
  std::swap(brick.vertices[0], brick.vertices[7]);
  const ElementShape<8> shape = element_shape(element_nodes(brick, 0));
  EXPECT_LT(*std::min_element(shape.weight.begin(), shape.weight.end()), 0);
}

}  // namespace
}  // namespace supple::element_test
