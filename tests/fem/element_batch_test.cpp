// SPDX-License-Identifier: Apache-2.0
// The promises behind lock-free assembly: every element once, no vertex twice within a colour.
#include "supple/fem/element_batch.h"

#include "support/bodies.h"

#include <set>

namespace supple::element_batch_test {
namespace {

std::shared_ptr<const BlockPattern> pattern_of(const TetMesh& mesh) {
  return make_block_pattern(static_cast<Index>(mesh.vertices.size()),
                            {mesh.elements.front().data(), 4 * mesh.elements.size()}, 4);
}

void check_promises(const TetMesh& mesh) {
  const auto pattern = pattern_of(mesh);
  const ElementBatches<4> elements = make_element_batches(mesh, *pattern);
  std::multiset<TetMesh::Element> seen;
  std::vector<int> visits(elements.batches.size(), 0);
  for (const auto& colour : elements.colours) {
    std::vector<int> owner(mesh.vertices.size(), -1);
    for (std::size_t cluster = 0; cluster < colour.size(); ++cluster) {
      for (Index k = colour[cluster].begin; k < colour[cluster].end; ++k) {
        const ElementBatch<4>& batch = elements.batches[to_size(k)];
        ++visits[to_size(k)];
        for (int lane = 0; lane < batch.count; ++lane) {
          TetMesh::Element element;
          for (std::size_t a = 0; a < 4; ++a) {
            element[a] = batch.vertex[a][to_size(lane)];
            int& holder = owner[to_size(element[a])];
            ASSERT_TRUE(holder == -1 || holder == static_cast<int>(cluster))
                << "two clusters of a colour share a vertex";
            holder = static_cast<int>(cluster);
            const Index position = batch.block[4 * a][to_size(lane)];
            EXPECT_EQ(pattern->column[to_size(position)], batch.vertex[0][to_size(lane)]);
          }
          seen.insert(element);
        }
      }
    }
  }
  EXPECT_EQ(seen, std::multiset<TetMesh::Element>(mesh.elements.begin(), mesh.elements.end()));
  for (const int count : visits) EXPECT_EQ(count, 1);
}

TEST(ElementBatches, CoverABoxWithoutConflicts) { check_promises(make_tet_box(Vec3(1, 1, 1), {11, 9, 10})); }

TEST(ElementBatches, CoverASingleElement) {
  TetMesh mesh = make_tet_box(Vec3(1, 1, 1), {1, 1, 1});
  mesh.elements.resize(1);
  check_promises(mesh);
}

TEST(ElementBatches, SurviveMoreNeighboursThanColours) {
  // A wheel of slices around one axis: every cluster meets every other, and there are more than 64 of them.
  constexpr Index slices = 256 * 70;
  TetMesh mesh;
  mesh.vertices = {Vec3(0, 0, 0), Vec3(0, 0, 1)};
  for (Index k = 0; k < slices; ++k) {
    const double angle = 2 * 3.14159265358979 * k / slices;
    mesh.vertices.emplace_back(std::cos(angle), std::sin(angle), 0);
    mesh.elements.push_back({0, 2 + k, 2 + (k + 1) % slices, 1});
  }
  check_promises(mesh);
}

TEST(ElementBatches, UnusedLanesHaveNoWeight) {
  TetMesh mesh = make_tet_box(Vec3(1, 1, 1), {1, 1, 1});
  const ElementBatches<4> elements = make_element_batches(mesh, *pattern_of(mesh));
  ASSERT_EQ(elements.batches.size(), 2u);
  EXPECT_EQ(elements.batches[1].count, 2);
  EXPECT_EQ(elements.batches[1].weight[0][2], 0);
  EXPECT_EQ(elements.batches[1].weight[0][3], 0);
}

}  // namespace
}  // namespace supple::element_batch_test
