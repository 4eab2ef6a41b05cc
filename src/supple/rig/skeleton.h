// SPDX-License-Identifier: Apache-2.0
// Skeleton: a forest of joints. Every node of a character's file is one, whether a skin uses it or not, because any of
// them may be animated and carries its children along.
//
//   world(joint) = world(parent) · local,   local = T(translation) R(rotation) S(scale)
#pragma once

#include "supple/base/types.h"

#include <Eigen/Geometry>

#include <optional>
#include <string>
#include <vector>

namespace supple {

using Quat = Eigen::Quaterniond;
/// The affine map x ↦ A x + b.
using Affine = Eigen::Transform<double, 3, Eigen::AffineCompact>;

struct Transform {
  Vec3 translation = Vec3::Zero();
  Quat rotation = Quat::Identity();  ///< unit
  Vec3 scale = Vec3::Ones();

  Affine matrix() const {
    Affine result;
    result.linear() = rotation.toRotationMatrix() * scale.asDiagonal();
    result.translation() = translation;
    return result;
  }
};

struct Joint {
  std::string name;
  Index parent = -1;             ///< comes before its children; -1 for roots
  Transform rest;                ///< local, as the file has it; not always the pose the skin was bound in
  std::optional<Affine> matrix;  ///< instead of `rest`, where the file's matrix has shear; such a joint never moves
};

struct Skeleton {
  std::vector<Joint> joints;

  Index size() const { return static_cast<Index>(joints.size()); }
};

}  // namespace supple
