// SPDX-License-Identifier: Apache-2.0
// Rig: a black box that turns a pose into positions of vertices, Φ(p) of the 2016 paper (section 3).
//
// The rest of the house asks for nothing more than the two questions below: which parameters, and where are these
// vertices. A rig is immutable and shared by threads; scratch memory belongs to the caller, is made once and lets
// `evaluate` run without allocating. Positions are in the character's own space; where the character stands in the
// world is a separate transform (root_motion.h).
//
// A Deformer is a stage that most rigs are stacked from: x ↦ D(p, x), vertex by vertex.
#pragma once

#include "supple/rig/pose_layout.h"

#include <algorithm>
#include <memory>
#include <span>

namespace supple {

/// Scratch of one caller; every kind of rig has its own.
struct RigWorkspace {
  RigWorkspace() = default;
  RigWorkspace(const RigWorkspace&) = delete;
  RigWorkspace& operator=(const RigWorkspace&) = delete;
  virtual ~RigWorkspace() = default;
};

class Rig {
 public:
  virtual ~Rig() = default;

  virtual const PoseLayout& layout() const = 0;
  virtual Index vertex_count() const = 0;

  /// Scratch for calls with at most `most_vertices` vertices.
  virtual std::unique_ptr<RigWorkspace> make_workspace(Index most_vertices) const = 0;

  /// Positions of the chosen vertices in pose p, in the order asked for. `workspace` comes from this rig. Nothing is
  /// allocated; every p gives an answer.
  virtual void evaluate(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
                        RigWorkspace& workspace) const = 0;
};

class Deformer {
 public:
  virtual ~Deformer() = default;

  virtual const PoseLayout& layout() const = 0;
  virtual std::unique_ptr<RigWorkspace> make_workspace(Index most_vertices) const {
    (void)most_vertices;
    return std::make_unique<RigWorkspace>();
  }
  /// Moves the chosen vertices from where they are before this stage to where they are after it.
  virtual void deform(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
                      RigWorkspace& workspace) const = 0;
  /// sum += D(p, x) − x for the chosen vertices at x. `scratch` has as many entries. For deformers that leave most
  /// vertices alone there are faster ways than this.
  virtual void add_displacements(std::span<const double> p, std::span<const Index> vertices, std::span<const Vec3> x,
                                 std::span<Vec3> sum, std::span<Vec3> scratch, RigWorkspace& workspace) const {
    std::copy(x.begin(), x.end(), scratch.begin());
    deform(p, vertices, scratch, workspace);
    for (std::size_t k = 0; k < x.size(); ++k) sum[k] += scratch[k] - x[k];
  }
};

/// All vertices of a rig in one pose; allocates, for use outside steps.
std::vector<Vec3> evaluate_all(const Rig& rig, std::span<const double> p);

}  // namespace supple
