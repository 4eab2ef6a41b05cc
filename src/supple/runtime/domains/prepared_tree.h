// SPDX-License-Identifier: Apache-2.0
// PreparedTree: a DomainModel laid out for the step, shared by all instances.
//
// Domains of one part, at one level of the tree, with parents of one part, form a group: the same instructions move
// them. They are taken four at a time, a batch, one in each lane; lanes that are left over repeat the first one.
//
// Groups come level after level, and the batches of a group by their parents. A group is worked on in chunks, which
// threads may share: chunks write to places of their own, but for what children add to a parent that two chunks have in
// common. That is added up for each chunk apart, and then in their order, with one thread as with many. Where chunks
// begin depends on the tree alone.
//
// A step of a large tree waits for memory as much as for arithmetic, and what is read most are the coefficients of
// interfaces, twelve for every coordinate of the parent: they are kept in single precision, a change of the interface
// by 6e-8 of its motion, the same in every pass.
//
// For every part the integrals that inertia in a moving frame needs (appendix B), density included. With the fields
// φ_0 = X and φ_1 … φ_r of the basis, W1 = −∫φ_l, W2 = ∫X × φ_l, W3 = tr ∫φ_l Xᵀ, W4 = tr ∫φ_l φ_bᵀ, W5 = ∫φ_l Xᵀ, W6 =
// ∫φ_b × φ_l and W7 = ∫φ_l φ_bᵀ are entries of `first`, `second` and `twist` here.
#pragma once

#include "supple/asset/domain_model.h"
#include "supple/base/result.h"
#include "supple/runtime/domains/lane_cubature.h"
#include "supple/runtime/domains/lane_polynomial.h"

#include <array>

namespace supple {

/// A part, as the step reads it.
struct PreparedPart {
  PreparedPart(const SubspaceModel& part, const PartCubature* points);

  int r = 0;
  double mass = 0;
  domains::LanePolynomial polynomial;
  domains::LaneCubature cubature;     ///< in its place, unless that is empty
  std::vector<double> reduced_mass;   ///< UᵀMU by pairs
  std::vector<double> first;          ///< ∫ φ_l, three numbers for each of r + 1 fields
  std::vector<double> second;         ///< ∫ φ_l φ_bᵀ by rows, nine numbers for each (l, b), l by l
  std::vector<double> twist;          ///< ∫ φ_b × φ_l for l, b ≥ 1, three numbers each, l by l
  double area = 0;                    ///< of the surface
  std::vector<double> area_first;     ///< ∫ φ_l over the surface
  std::array<double, 9> facing = {};  ///< ½ ∫ n nᵀ over the surface: what a wind meets
  std::vector<Vec3> surface_rest;
  std::vector<double> surface_rows;  ///< A U: three rows of r numbers for each vertex of the surface
};

struct DomainGroup {
  Index part = 0;
  int r = 0;
  int parent_r = 0;  ///< coordinates of the parents; 0 for the root
  int level = 0;
  bool has_children = false;
  std::size_t first_chunk = 0, end_chunk = 0;
};

struct DomainChunk {
  std::size_t first_batch = 0, end_batch = 0;
  Index shared_parent = -1;  ///< the one it has in common with the chunk before it; −1: none
};

struct DomainBatch {
  Index group = 0;
  int lanes = 1;                     ///< that count
  std::array<Index, 4> domain = {};  ///< those beyond `lanes` repeat the first
  std::array<Index, 4> parent = {};  ///< −1 for the root
  bool on_path = false;              ///< one of them is between a site and the root
  std::size_t constants = 0;         ///< where its lanes begin in PreparedTree::lanes
  std::size_t coefficients = 0;      ///< where those of its interfaces begin
  std::size_t moving = 0;            ///< where its lanes begin in the state's
};

/// A domain on the way from the site of a closure to the root.
struct PathDomain {
  Index domain = 0;
  std::size_t parent = 0;  ///< its place among the paths; of the root's own: 0
  std::size_t batch = 0;
  int lane = 0;
};

struct PreparedClosure {
  std::size_t first = 0, second = 0;  ///< of the sites, among the paths; a second of 0: the root's frame
  Vec3 anchor = Vec3::Zero();         ///< in the axes of that frame: where the first is at rest
  Mat3 anchor_turn = Mat3::Identity();
  double give = 0, radius = 0;
};

struct PreparedTree {
  /// Lanes of a batch that don't change: scales, and the interface at rest.
  enum Constant {
    scale,
    scale3,
    scale4,
    scale5,
    elastic,
    parent_scale,
    subtree_mass,
    centre = 7,
    subtree_centre = 10,
    rest_turn = 13,
    constant_count = 22
  };
  /// Lanes that a step writes: the interface as it is, how it turns (Q (tr S − S)⁻¹), and q̈ = g − G A: six numbers of G
  /// for each coordinate, then g.
  enum Moving { offset, turn = 3, bias = 12, turning = 18, answer = 27 };

  std::vector<PreparedPart> parts;
  std::vector<DomainGroup> groups;
  std::vector<DomainChunk> chunks;
  std::vector<DomainBatch> batches;  ///< by level, the root's first
  std::vector<Index> part, parent;   ///< of each domain
  std::vector<double> domain_scale;
  std::vector<std::size_t> offset_of;  ///< of each domain's coordinates among all
  std::vector<std::size_t> sum_of;     ///< of each domain's sums over its children; none where it has no children
  std::vector<Pack4> lanes;
  std::vector<float> coefficients;  ///< of interfaces: 12 × 4 lanes for each coordinate of the parents
  std::size_t most_chunks = 0;      ///< of a group
  std::size_t coordinates = 0, sums = 0, moving_lanes = 0;
  int largest = 0;                ///< r of the largest part
  int largest_pairs = 0;          ///< padded
  std::vector<PathDomain> paths;  ///< all domains between sites and the root, parents first
  std::vector<PreparedClosure> closures;
  std::vector<std::size_t> factor_of;  ///< where the factor of a domain on a path is kept; empty where there are none
  std::size_t factors = 0;
  bool anchored = false;
  Mat3 root_rotation;
  Vec3 root_position;
  DomainSurface surface;

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  const PreparedPart& part_of(std::size_t domain) const { return parts[to_size(part[domain])]; }
  const DomainGroup& group_of(const DomainBatch& batch) const { return groups[to_size(batch.group)]; }
  /// What the children of a domain with r coordinates add to it: S by pairs, six rows of coupling and one of forces,
  /// inertia (21), a wrench and a load.
  static constexpr int sum_count(int r) { return r * (r + 1) / 2 + 7 * r + 33; }
};

/// Fails with a sentence where the model isn't sound.
Result<PreparedTree> prepare_tree(const DomainModel& model);

}  // namespace supple
