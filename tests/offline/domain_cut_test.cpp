// SPDX-License-Identifier: Apache-2.0
// Where a body is cut by itself: at necks, at forks, and what becomes of loops.
#include "supple/mesh/box.h"
#include "supple/mesh/low_side.h"
#include "supple/offline/domains/branch_labels.h"
#include "supple/offline/domains/neck_labels.h"
#include "supple/offline/domains/split_mesh.h"

#include <gtest/gtest.h>

#include <set>

namespace supple::domain_cut_test {
namespace {

/// The cells of a box for which `keep` holds.
template <class Mesh, class Keep>
Mesh carved(const Mesh& box, const Keep& keep) {
  Mesh out;
  out.vertices = box.vertices;
  for (const auto& element : box.elements) {
    Vec3 c = Vec3::Zero();
    for (const Index v : element) c += box.vertices[to_size(v)] / static_cast<double>(element.size());
    if (keep(c)) out.elements.push_back(element);
  }
  std::map<Index, Index> number;
  std::vector<Vec3> used;
  for (auto& element : out.elements)
    for (Index& v : element) {
      const auto [place, is_new] = number.emplace(v, static_cast<Index>(used.size()));
      if (is_new) used.push_back(box.vertices[to_size(v)]);
      v = place->second;
    }
  out.vertices = std::move(used);
  set_uniform_material(out, {.name = "soft", .young = 1e5, .poisson = 0.3, .density = 1000});
  return out;
}

/// Three cubes of five cells, with bars of `bar` cells between them: along x, the cubes at 0 to 5, 8 to 13, 16 to 21.
auto beads(double bar) {
  return [bar](const Vec3& c) {
    const double along = c.x() - 8 * std::floor(c.x() / 8);
    return along < 5 || (std::abs(c.y() - 2.5) < bar / 2 && std::abs(c.z() - 2.5) < bar / 2);
  };
}

template <class Mesh>
void check_beads(const Mesh& mesh) {
  const NeckLabels found = label_necks(mesh);
  ASSERT_EQ(found.count, 3);
  // Every bead is of one label, and each of another.
  std::array<std::set<Index>, 3> labels;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    double x = 0;
    for (const Index v : mesh.elements[e])
      x += mesh.vertices[to_size(v)].x() / static_cast<double>(mesh.elements[e].size());
    if (const auto bead = static_cast<std::size_t>(x / 8); x - 8.0 * static_cast<double>(bead) < 5)
      labels[bead].insert(found.label[e]);
  }
  for (const auto& own : labels) EXPECT_EQ(own.size(), 1U);
  EXPECT_NE(*labels[0].begin(), *labels[1].begin());
  EXPECT_NE(*labels[1].begin(), *labels[2].begin());
  SplitSettings settings;
  settings.fixed = vertices_at_zero(mesh.vertices, 0);
  const Result<TreePlan> plan = split_mesh(mesh, found.label, settings);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->domains[1].parent, 0);
  EXPECT_EQ(plan->domains[2].parent, 1);
}

TEST(NeckLabels, BeadsAreCutBetweenEachOther) {
  for (const double bar : {1.0, 3.0}) {
    check_beads(carved(make_hex_box(Vec3(21, 5, 5), {21, 5, 5}), beads(bar)));
    check_beads(carved(make_tet_box(Vec3(21, 5, 5), {21, 5, 5}), beads(bar)));
  }
}

TEST(NeckLabels, WhatIsNowhereNarrowStaysWhole) {
  EXPECT_EQ(label_necks(make_hex_box(Vec3(12, 4, 4), {12, 4, 4})).count, 1);
  EXPECT_EQ(label_necks(make_tet_box(Vec3(12, 3, 3), {12, 3, 3})).count, 1);
  EXPECT_EQ(label_necks(make_tet_box(Vec3(12, 1, 1), {24, 2, 1})).count, 1);
  // As narrow as asked for: bars of three fifths.
  const HexMesh thick = carved(make_hex_box(Vec3(21, 5, 5), {21, 5, 5}), beads(3));
  EXPECT_EQ(label_necks(thick, {.narrow = 0.5}).count, 1);
}

TEST(BranchLabels, BricksForkAsTetrahedraDo) {
  const auto fork = [](const Vec3& c) {
    const bool stem = c.x() > 4 && c.x() < 5 && c.y()<5, bar = c.y()> 4 && c.y() < 5;
    return stem || bar || ((c.x() < 1 || c.x() > 8) && c.y() > 4);
  };
  const HexMesh bricks = carved(make_hex_box(Vec3(9, 12, 1), {27, 36, 3}), fork);
  EXPECT_EQ(label_branches(bricks, vertices_at_zero(bricks.vertices, 1)).count, 3);
}

/// A ring of four quarters, held at one, with a tail on another.
struct Ring {
  HexMesh mesh;
  std::vector<Index> label;
  SplitSettings settings;
};

Ring ring() {
  Ring out;
  out.mesh = carved(make_hex_box(Vec3(9, 6, 1), {9, 6, 1}), [](const Vec3& c) {
    const bool hole = c.x() > 2 && c.x() < 4 && c.y() > 2 && c.y() < 4;
    return c.x() < 6 ? !hole : c.y() < 2;
  });
  for (const auto& element : out.mesh.elements) {
    Vec3 c = Vec3::Zero();
    for (const Index v : element) c += out.mesh.vertices[to_size(v)] / 8;
    out.label.push_back(c.x() > 6 ? 4 : c.x() < 3 ? (c.y() < 3 ? 0 : 1) : (c.y() < 3 ? 2 : 3));
  }
  out.settings.names = {"a", "b", "c", "d", "tail"};
  out.settings.fixed = vertices_at_zero(out.mesh.vertices, 0);
  return out;
}

TEST(MergeLoops, MakesOneOfEveryLoopAndKeepsTheRest) {
  Ring loop = ring();
  EXPECT_FALSE(split_mesh(loop.mesh, loop.label, loop.settings).ok());
  const MergedLabels merged = merge_loops(loop.mesh, loop.label, loop.settings);
  ASSERT_EQ(merged.names.size(), 2U);
  EXPECT_EQ(merged.names[0], "a + b + c + d");
  EXPECT_EQ(merged.names[1], "tail");
  EXPECT_EQ(merged.merged, std::vector<std::string>{"a + b + c + d"});
  loop.settings.names = merged.names;
  const Result<TreePlan> plan = split_mesh(loop.mesh, merged.label, loop.settings);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->parts.size(), 2U);
}

TEST(MergeLoops, MakesOneOfAllThatIsHeldTogether) {
  // A bar in three: held at both ends, through the ground it is a loop.
  HexMesh bar = make_hex_box(Vec3(6, 1, 1), {6, 1, 1});
  SplitSettings settings;
  settings.names = {"left", "middle", "right", "end"};
  const std::vector<Index> label = {0, 0, 1, 2, 3, 3};
  settings.fixed = vertices_at_zero(bar.vertices, 0);
  EXPECT_TRUE(merge_loops(bar, label, settings).merged.empty());
  for (std::size_t v = 0; v < bar.vertices.size(); ++v)
    if (bar.vertices[v].x() > 3.5 && bar.vertices[v].x() < 4.5 && bar.vertices[v].y() > 0.5)
      settings.fixed.push_back(static_cast<Index>(v));
  const MergedLabels merged = merge_loops(bar, label, settings);
  EXPECT_EQ(merged.merged, std::vector<std::string>{"left + middle + right + end"});
}

}  // namespace
}  // namespace supple::domain_cut_test
