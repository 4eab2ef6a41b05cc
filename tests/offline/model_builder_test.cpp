// SPDX-License-Identifier: Apache-2.0
// Blocks of elements: nothing of them is lost or moved, and lanes of batches are used well.
#include "supple/offline/posespace/model_builder.h"

#include "supple/mesh/box.h"
#include "support/bodies.h"

#include <gtest/gtest.h>

#include <map>

namespace supple::model_builder_test {
namespace {

constexpr int patches = 5, columns = 6;

/// A bar of patches that overlap one or two neighbours, as those of joints along a limb do.
struct Bar {
  TetMesh mesh = make_tet_box(Vec3(3, 0.4, 0.4), {15, 2, 2});
  std::vector<PoseBasis> poses;
  std::vector<Cubature> elements;
  Cubature vertices;
  FrameSites frames;
  VecX mass;

  explicit Bar(std::size_t every) {
    mesh.materials = {ElasticMaterial{}};
    mesh.element_material.assign(mesh.elements.size(), 0);
    const auto count = static_cast<Eigen::Index>(mesh.vertices.size());
    const MatX numbers = random_vector(static_cast<int>(3 * count * patches * columns), 1)
                             .reshaped(3 * count, Eigen::Index(patches * columns));
    PoseBasis pose;
    pose.positions = mesh.vertices;
    pose.turns.assign(mesh.vertices.size(), Mat3::Identity());
    pose.basis = MatX::Zero(3 * count, patches * columns);
    for (Eigen::Index v = 0; v < count; ++v)
      for (int k = 0; k < patches; ++k)
        if (std::abs(mesh.vertices[to_size(v)].x() - mesh.vertices.front().x() - 0.6 * k - 0.3) < 0.55)
          pose.basis.block(3 * v, k * columns, 3, columns) = numbers.block(3 * v, k * columns, 3, columns);
    poses.push_back(pose);
    Cubature chosen;
    for (std::size_t e = 0; e < mesh.elements.size(); e += every) chosen.sites.push_back(static_cast<Index>(e));
    chosen.weights = VecX::LinSpaced(std::ssize(chosen.sites), 1, 2);
    elements.push_back(chosen);
    vertices = {{0, 1, static_cast<Index>(count - 1)}, VecX::Ones(3), 0.0};
    frames.sites.push_back(mesh.elements.front());
    frames.vertices.assign(mesh.vertices.size(), FrameBlend{{0, 0, 0, 0}, {1, 0, 0, 0}});
    mass = VecX::Ones(3 * count);
  }

  PoseSpaceModel build() const {
    const Embedding nothing_shown;
    std::vector<MatX> inertial;
    for (const PoseBasis& pose : poses) inertial.push_back(pose.basis);
    return build_model({.mesh = mesh,
                        .embedding = nothing_shown,
                        .frames = frames,
                        .poses = poses,
                        .patch_sizes = std::vector<int>(patches, columns),
                        .elements = elements,
                        .vertices = vertices,
                        .inertial = inertial,
                        .vertex_mass = mass,
                        .directions = BasisDirections::rotating});
  }
};

/// Batches times columns, and what a batch takes by itself.
double cost(std::size_t elements, std::size_t block_columns) {
  return static_cast<double>((elements + 7) / 8) * (static_cast<double>(block_columns) + 16);
}

TEST(ModelBuilder, BlocksHoldAllOfTheirElements) {
  for (const std::size_t every : {1u, 3u, 7u, 40u}) {
    const Bar bar(every);
    const PoseSpaceModel model = bar.build();
    MatX expected = MatX::Zero(patches * columns, patches * columns), found = expected;
    double volume = 0;
    for (std::size_t i = 0; i < bar.elements[0].sites.size(); ++i) {
      const MatX D =
          element_gradient(bar.mesh, to_size(bar.elements[0].sites[i]), bar.poses[0], BasisDirections::rotating);
      expected += bar.elements[0].weights[static_cast<Eigen::Index>(i)] * D.transpose() * D;
    }
    std::size_t count = 0;
    for (const ElementBlock& block : model.elements) {
      count += block.tets.size();
      volume = 3 * 0.4 * 0.4 / static_cast<double>(bar.mesh.elements.size());  // all are equally large
      for (Eigen::Index k = 0; k < std::ssize(block.tets); ++k) {
        const MatX D = block.gradients[0].middleRows<9>(9 * k);
        found(block.columns, block.columns) += block.weights(k, 0) / volume * D.transpose() * D;
      }
    }
    EXPECT_EQ(count, bar.elements[0].sites.size());
    EXPECT_LT((found - expected).norm(), 1e-12 * expected.norm()) << every;
  }
}

TEST(ModelBuilder, ElementsShareBatches) {
  for (const std::size_t every : {2u, 5u, 7u, 11u}) {
    const Bar bar(every);
    // Each element with those that the same columns move, and no others.
    std::map<std::vector<bool>, std::size_t> groups;
    for (const Index site : bar.elements[0].sites) {
      const MatX D = element_gradient(bar.mesh, to_size(site), bar.poses[0], BasisDirections::rotating);
      std::vector<bool> set;
      for (int k = 0; k < patches; ++k) set.push_back(!D.middleCols(k * columns, columns).isZero(0));
      ++groups[set];
    }
    double apart = 0, together = 0;
    for (const auto& [set, count] : groups)
      apart += cost(count, columns * to_size(std::count(set.begin(), set.end(), true)));
    std::size_t batches = 0;
    for (const ElementBlock& block : bar.build().elements) {
      together += cost(block.tets.size(), block.columns.size());
      batches += (block.tets.size() + 7) / 8;
    }
    RecordProperty("cost_" + std::to_string(every), std::to_string(together / apart));
    RecordProperty("batches_" + std::to_string(every), std::to_string(batches));
    EXPECT_LT(together, 0.95 * apart) << every;
    EXPECT_LE(batches, bar.elements[0].sites.size() / 8 + 3) << every;
  }
}

}  // namespace
}  // namespace supple::model_builder_test
