// SPDX-License-Identifier: Apache-2.0
// Deformers without a skeleton: blend shapes, the bend, and the wire.
#pragma once

#include "supple/mesh/morph_target.h"
#include "supple/rig/rig.h"

#include <array>

namespace supple {

/// Displacements of several shapes, kept for each vertex only where they aren't zero, in the order evaluation reads.
class ShapeTable {
  friend class RigArchive;

 public:
  ShapeTable() = default;
  /// Shapes of `vertex_count` vertices each; shorter ones count as zero beyond their end.
  ShapeTable(std::span<const MorphTarget> shapes, Index vertex_count);

  /// Gives Σ_k weight_k displacement_k(vertex).
  Vec3 blend(Index vertex, std::span<const double> weights) const {
    Vec3 sum = Vec3::Zero();
    const auto v = to_size(vertex);
    for (Index e = first_[v]; e < first_[v + 1]; ++e) {
      const Entry& entry = entries_[to_size(e)];
      sum += weights[to_size(entry.shape)] * entry.displacement;
    }
    return sum;
  }
  /// Tells how many displacements that aren't zero are stored.
  std::size_t entry_count() const { return entries_.size(); }
  /// displacements_k += factor · displacement_k(vertex)
  void add_to(Index vertex, double factor, std::span<Vec3> displacements) const {
    const auto v = to_size(vertex);
    for (Index e = first_[v]; e < first_[v + 1]; ++e) {
      const Entry& entry = entries_[to_size(e)];
      displacements[to_size(entry.shape)] += factor * entry.displacement;
    }
  }

 private:
  struct Entry {
    Vec3 displacement;
    Index shape;
  };
  std::vector<Index> first_;
  std::vector<Entry> entries_;
};

/// x ↦ x + Σ_k weight_k displacement_k. One scalar per target.
class BlendShapes final : public Deformer {
  friend class RigArchive;
  BlendShapes() = default;

 public:
  /// `neutral`: weights of the undeformed character, or empty for zeros. `distance_per_metre`: what a target counts in
  /// the distance of poses for each metre that it moves the skin, at most and at a weight of one.
  BlendShapes(std::span<const MorphTarget> targets, Index vertex_count, std::span<const double> neutral = {},
              double distance_per_metre = 1.0);

  const ShapeTable& shapes() const { return shapes_; }

  const PoseLayout& layout() const override { return layout_; }
  void deform(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
              RigWorkspace& workspace) const override;

 private:
  ShapeTable shapes_;
  PoseLayout layout_;
};

/// Bends what lies along `axis` into an arc: the line origin + s · axis, 0 ≤ s ≤ length, becomes an arc of the same
/// length and the given total angle [deg] towards `towards`; what lies beyond continues straight. Volume on the line is
/// kept (A. Barr, Global and Local Deformations of Solid Primitives, 1984).
class Bend final : public Deformer {
  friend class RigArchive;
  Bend() = default;

 public:
  struct Settings {
    std::string name = "bend";
    Vec3 origin = Vec3::Zero();
    Vec3 axis = Vec3::UnitY();
    Vec3 towards = Vec3::UnitX();
    double length = 1.0;
  };
  explicit Bend(const Settings& settings);

  const PoseLayout& layout() const override { return layout_; }
  void deform(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
              RigWorkspace& workspace) const override;

 private:
  Vec3 origin_ = Vec3::Zero();
  Mat3 frame_ = Mat3::Identity();  ///< columns: axis, towards, the third
  double length_ = 1;
  PoseLayout layout_;
};

/// A curve through handles that carries the vertices near it. The curve is a Catmull-Rom spline C(u) = Σ_j N_j(u) h_j;
/// vertex x with nearest rest point C0(u) becomes
///   x + w (C(u) + R (x − C0(u)) − x)
/// with R the least rotation from the rest tangent to the new one, after a twist about the rest tangent, and
/// w = (1 − d²/radius²)² its falloff with the distance d from the curve, or a weight given for each vertex. Parameters:
/// an offset [m] and a twist [deg] per handle; all offsets come first. Wires whose weights are one together make a rig
/// when added up (SumDeformer).
class Wire final : public Deformer {
  friend class RigArchive;
  Wire() = default;

 public:
  struct Settings {
    std::string name = "wire";
    std::vector<Vec3> handles;    ///< two or more, no two neighbours at one place
    double radius = 0.0;          ///< [m]; 0: everything follows entirely
    std::vector<double> weights;  ///< of each vertex, in place of the falloff; or empty
    double offset_scale = 1.0;    ///< of offsets in the pose distance
  };
  Wire(const Settings& settings, std::span<const Vec3> rest);

  const PoseLayout& layout() const override { return layout_; }
  std::unique_ptr<RigWorkspace> make_workspace(Index most_vertices) const override;
  void deform(std::span<const double> p, std::span<const Index> vertices, std::span<Vec3> positions,
              RigWorkspace& workspace) const override;
  void add_displacements(std::span<const double> p, std::span<const Index> vertices, std::span<const Vec3> x,
                         std::span<Vec3> sum, std::span<Vec3> scratch, RigWorkspace& workspace) const override;

  /// Where on the curve a vertex is held, and how strongly.
  struct Binding {
    std::array<Index, 4> handle;  ///< those of the segment and its neighbours; at an end the last one twice
    Eigen::Vector4d value;        ///< N_j(u)
    Eigen::Vector4d slope;        ///< dN_j/du
    Vec3 point;                   ///< C0(u)
    Vec3 tangent;                 ///< C0'(u)
    double weight;
  };
  /// Gives one binding per vertex. Those of weight zero may hold nothing else.
  const std::vector<Binding>& bindings() const { return bindings_; }

 private:
  struct Workspace;
  static Binding bind(const Vec3& x, const Settings& settings);
  std::vector<Binding> bindings_;
  PoseLayout layout_;
};

/// C'(k) of the curve through the handles, at one of them.
Vec3 wire_tangent(std::span<const Vec3> handles, std::size_t k);

}  // namespace supple
