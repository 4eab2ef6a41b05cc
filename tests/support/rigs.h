// SPDX-License-Identifier: Apache-2.0
// Rigged bodies made by code: a tube on a chain of joints, and rotations to move it with.
#pragma once

#include "supple/rig/pose_layout.h"
#include "supple/rig/raw_character.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace supple {

inline Quat turn(double degrees, const Vec3& axis) {
  return Quat(Eigen::AngleAxisd(degrees * std::numbers::pi / 180, axis.normalized()));
}

inline Quat random_rotation(std::mt19937& random) {
  std::normal_distribution<double> normal;
  return Quat(normal(random), normal(random), normal(random), normal(random)).normalized();
}

/// Every parameter anywhere near its neutral value.
inline std::vector<double> random_pose(const PoseLayout& layout, std::mt19937& random) {
  std::uniform_real_distribution<double> amount(-0.5, 0.5);
  std::vector<double> p = layout.neutral;
  for (double& value : p) value += amount(random);
  return p;
}

/// A tube along y, its joints evenly spaced from y = 0 to `length`; every vertex hangs on the `influences` nearest
/// joints with smooth weights. Joint 0 is the root.
inline RawCharacter make_tube(Index joints, Index rings, Index sectors, double length, double radius,
                              std::size_t influences = 2) {
  RawCharacter character;
  character.name = "tube";
  Skin skin;
  const double spacing = length / joints;
  for (Index j = 0; j < joints; ++j) {
    Joint joint;
    joint.name = "joint" + std::to_string(j);
    joint.parent = j - 1;
    joint.rest.translation = Vec3(0, j == 0 ? 0 : spacing, 0);
    character.skeleton.joints.push_back(joint);
    skin.joints.push_back(j);
    Affine bind = Affine::Identity();
    bind.translation() = Vec3(0, -spacing * j, 0);
    skin.inverse_bind.push_back(bind);
  }
  character.skins.push_back(skin);
  CharacterMesh mesh;
  mesh.name = "tube";
  mesh.skin = 0;
  mesh.weights.first.push_back(0);
  for (Index r = 0; r < rings; ++r) {
    for (Index s = 0; s < sectors; ++s) {
      const double y = length * r / (rings - 1);
      const double angle = 2 * std::numbers::pi * s / sectors;
      mesh.surface.vertices.emplace_back(radius * std::cos(angle), y, radius * std::sin(angle));
      std::vector<std::pair<double, Index>> near;
      for (Index j = 0; j < joints; ++j) near.emplace_back(std::abs(y - spacing * (j + 0.5)), j);
      std::sort(near.begin(), near.end());
      near.resize(std::min(near.size(), influences));
      double sum = 0;
      for (auto& [distance, joint] : near) sum += distance = std::exp(-4 * std::pow(distance / spacing, 2));
      for (const auto& [weight, joint] : near) {
        mesh.weights.joint.push_back(joint);
        mesh.weights.weight.push_back(weight / sum);
      }
      mesh.weights.first.push_back(static_cast<Index>(mesh.weights.joint.size()));
    }
  }
  for (Index r = 0; r + 1 < rings; ++r) {
    for (Index s = 0; s < sectors; ++s) {
      const Index a = r * sectors + s;
      const Index b = r * sectors + (s + 1) % sectors;
      mesh.surface.triangles.push_back({a, a + sectors, b});
      mesh.surface.triangles.push_back({b, a + sectors, b + sectors});
    }
  }
  character.meshes.push_back(mesh);
  return character;
}

}  // namespace supple
