// SPDX-License-Identifier: Apache-2.0
#include "supple/fem/free_vertices.h"

#include "support/bodies.h"

namespace supple::free_vertices_test {
namespace {

ElasticBody body_with_loose_vertex() {
  TetMesh mesh = tet_box({.cells = {1, 1, 1}});
  mesh.vertices.emplace_back(9, 9, 9);  // vertex 8: no element uses it
  return body_of(mesh, MaterialModel::stvk);
}

TEST(FreeVertices, HoldFixedAndMasslessVertices) {
  const FreeVertices free = must(FreeVertices::create(body_with_loose_vertex(), std::vector<Index>{5, 0, 5}));
  EXPECT_EQ(free.total(), 9);
  EXPECT_EQ(free.count(), 6);
  EXPECT_EQ(std::vector<Index>(free.vertices().begin(), free.vertices().end()), (std::vector<Index>{1, 2, 3, 4, 6, 7}));
  EXPECT_FALSE(free.is_free(0));
  EXPECT_TRUE(free.is_free(1));
  EXPECT_FALSE(free.is_free(8));
}

TEST(FreeVertices, RestrictAndExpandAreEachOthersInverse) {
  const FreeVertices free = must(FreeVertices::create(body_with_loose_vertex(), std::vector<Index>{0, 5}));
  const VecX all = random_vector(27, 1);
  VecX cleared = all;
  free.clear_fixed(cleared);
  EXPECT_EQ(cleared.segment<3>(0).norm(), 0);
  EXPECT_EQ(cleared.segment<3>(3), all.segment<3>(3));
  EXPECT_EQ(cleared.tail<3>().norm(), 0);
  EXPECT_EQ(free.restrict(all).segment<3>(0), all.segment<3>(3));
  EXPECT_EQ(free.expand(free.restrict(all)), cleared);
  EXPECT_EQ(free.restrict(free.expand(all.head(18))), all.head(18));
}

TEST(FreeVertices, RefuseWhatDoesNotExistAndBodiesThatCannotMove) {
  const ElasticBody body = body_with_loose_vertex();
  const auto missing = FreeVertices::create(body, std::vector<Index>{9});
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("fixed vertex 9"), std::string::npos);
  EXPECT_FALSE(FreeVertices::create(body, std::vector<Index>{-1}).ok());
  const auto all = FreeVertices::create(body, std::vector<Index>{0, 1, 2, 3, 4, 5, 6, 7});
  ASSERT_FALSE(all.ok());
  EXPECT_NE(all.error().message.find("every vertex is fixed"), std::string::npos);
}

}  // namespace
}  // namespace supple::free_vertices_test
