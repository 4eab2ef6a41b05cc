// SPDX-License-Identifier: Apache-2.0
// Wires through a character's joints: a rig of curves for a file that can only store a skeleton.
//
// Each curve runs through the places of some joints, its handles. The file's skin weights say which curve carries a
// vertex, and the curve says how (Wire, deformers.h): with a_v,j the weight of vertex v on joint j,
//   x_v = Σ_c w_v,c D_c(x_v),   w_v,c = Σ a_v,j over the joints j that belong to curve c.
// A joint belongs to the first curve it is a handle of, otherwise to that of its nearest ancestor that is one. So the
// weights are one together, and the curves move about as the skin does in any viewer, but smoothly along themselves.
//
// The 2016 paper drives its bear this way (section 9): 144 parameters, here four for each of 36 handles.
#pragma once

#include "supple/base/result.h"
#include "supple/rig/deform/rig_stack.h"
#include "supple/rig/deform/skin_deformer.h"
#include "supple/rig/pose.h"

namespace supple {

struct WireCurve {
  std::string name;
  std::vector<Index> joints;  ///< its handles, two or more
};

class WireHandles {
  friend class DriveArchive;

 public:
  /// `world`: of all joints at rest. Fails on a curve of fewer than two handles, or with two neighbours at one place.
  static Result<WireHandles> create(const Skeleton& skeleton, std::span<const Affine> world,
                                    std::vector<WireCurve> curves);

  /// The deformer of a skin with these rest positions. `offset_scale`: in the pose distance.
  DeformerPtr make_deformer(const Skeleton& skeleton, std::span<const Vec3> rest, std::span<const Bone> bones,
                            const SkinWeights& weights, double offset_scale) const;

  /// Parameters of the deformer when the joints are posed so. Allocates nothing.
  void read(const Skeleton& skeleton, std::span<const Transform> locals, std::span<double> p) const;

 private:
  struct Curve {
    WireCurve wire;
    std::vector<Vec3> rest;       ///< of the handles
    std::vector<Vec3> tangents;   ///< of the curve at the handles
    std::vector<Quat> rotations;  ///< of the joints
    std::size_t first = 0;        ///< of its numbers in p
  };
  void read_twists(const Skeleton& skeleton, std::span<const Transform> locals, const Curve& curve, double* p) const;

  std::vector<Curve> curves_;
};

}  // namespace supple
