// SPDX-License-Identifier: Apache-2.0
// One solid mesh into a tree of domains: elements are labelled, what touches is an interface, and the graph of domains
// must be a tree (2011 paper, section 3).
#pragma once

#include "supple/offline/domains/shared_surface.h"

#include <array>
#include <span>

namespace supple {

/// An interface at which a loop is closed, in place of one that joins a child to its parent.
struct LoopPlan {
  std::array<std::string, 2> between;  ///< names of the domains; a second one that is empty: the ground
  double stiffness = 0;                ///< of the spring there [N/m]; 0: none, they are one
  bool turns = false;                  ///< free to turn
};

struct SplitSettings {
  std::vector<std::string> names;  ///< of the domains, by label; missing ones are called "domain 3"
  std::string root;                ///< its name; empty: the one with most fixed vertices, else the largest
  std::vector<Index> fixed;        ///< vertices of the mesh that the ground holds: all in the root
  int size = 20;                   ///< r of each domain
  /// Beside the names: how a domain hangs on its parent. Missing ones are fixed.
  std::vector<JointPlan> joints = {};
  /// Domains that touch in a loop, and those that the ground holds beside the root, are held together by closures.
  bool close_loops = false;
  std::vector<LoopPlan> loops = {};  ///< which interfaces close them, and how; other loops: the farthest from the root
  double smooth = 0;                 ///< how far around interfaces the surface is blended [m]; 0: C0
  const RidingSurface* rides = nullptr;  ///< what is looked at; null: the boundary of the mesh
};

/// Labels without loops: domains that touch in a loop became one, and so did all that the ground holds.
struct MergedLabels {
  std::vector<Index> label;
  std::vector<std::string> names;   ///< "a + b" where two became one
  std::vector<std::string> merged;  ///< the names of those only
  std::vector<Index> domain_of;     ///< of each of the labels that there were
};

/// Joins the domains of every loop, and those that are held together with all between them.
MergedLabels merge_loops(const TetMesh& mesh, std::span<const Index> label, const SplitSettings& settings);
MergedLabels merge_loops(const HexMesh& mesh, std::span<const Index> label, const SplitSettings& settings);

/// The plan of a mesh whose element e belongs to domain label[e]. Fails with a sentence that names the domains where
/// one is in pieces, where the graph has a loop, where two don't touch in at least three vertices that aren't on a
/// line, and where vertices outside the root are fixed.
Result<TreePlan> split_mesh(const TetMesh& mesh, std::span<const Index> label, const SplitSettings& settings);
Result<TreePlan> split_mesh(const HexMesh& mesh, std::span<const Index> label, const SplitSettings& settings);

}  // namespace supple
