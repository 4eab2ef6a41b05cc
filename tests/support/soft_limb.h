// SPDX-License-Identifier: Apache-2.0
// A soft limb, small enough to be built in every test: a bar along y of a few hundred tetrahedra around a chain of
// three joints. Its skin is the mesh itself, so that the rig says where every vertex rests; bones run along the axis.
#pragma once

#include "supple/mesh/box.h"
#include "supple/mesh/topology.h"
#include "supple/offline/posespace/reduce_body.h"
#include "supple/pipeline/character/engine_posespace.h"
#include "support/rigs.h"

#include <cmath>
#include <functional>
#include <numbers>

namespace supple {

struct LimbSpec {
  double length = 1.0;  ///< [m]; everything else is in proportion
  std::array<int, 3> cells = {4, 10, 4};
  ElasticMaterial material = {.name = "flesh", .young = 2e4, .poisson = 0.4, .density = 1000};
  bool root_in_pose = false;  ///< where the limb stands is part of the rig's pose, not of its placement
};

struct SoftLimb {
  RawCharacter character;
  CharacterRig rig;
  EmbeddedBody body;
};

inline RawCharacter limb_character(const LimbSpec& spec, const TetMesh& mesh) {
  RawCharacter character;
  character.name = "limb";
  Skin skin;
  const double knee[] = {0.0, 0.4 * spec.length, 0.7 * spec.length};
  for (Index j = 0; j < 3; ++j) {
    Joint joint;
    joint.name = "joint" + std::to_string(j);
    joint.parent = j - 1;
    joint.rest.translation = Vec3(0, j == 0 ? 0 : knee[j] - knee[j - 1], 0);
    character.skeleton.joints.push_back(joint);
    skin.joints.push_back(j);
    Affine bind = Affine::Identity();
    bind.translation() = Vec3(0, -knee[j], 0);
    skin.inverse_bind.push_back(bind);
  }
  character.skins.push_back(skin);
  CharacterMesh skin_mesh;
  skin_mesh.name = "limb";
  skin_mesh.skin = 0;
  skin_mesh.surface.vertices = mesh.vertices;
  const BoundarySurface boundary = boundary_surface(mesh);
  for (const Triangle& t : boundary.surface.triangles) {
    const auto solid = [&](Index v) { return boundary.volume_vertex[to_size(v)]; };
    skin_mesh.surface.triangles.push_back({solid(t[0]), solid(t[1]), solid(t[2])});
  }
  skin_mesh.weights.first.push_back(0);
  for (const Vec3& x : mesh.vertices) {
    // Smooth steps at the joints, a third of the length wide.
    const auto past = [&](double y) {
      const double s = std::clamp(0.5 + 3 * (x.y() - y) / spec.length, 0.0, 1.0);
      return s * s * (3 - 2 * s);
    };
    const double one = past(knee[1]), two = past(knee[2]);
    for (const auto& [joint, w] : {std::pair<Index, double>{0, 1 - one}, {1, one * (1 - two)}, {2, one * two}}) {
      if (w <= 0) continue;
      skin_mesh.weights.joint.push_back(joint);
      skin_mesh.weights.weight.push_back(w);
    }
    skin_mesh.weights.first.push_back(static_cast<Index>(skin_mesh.weights.joint.size()));
  }
  character.meshes.push_back(skin_mesh);
  return character;
}

inline SoftLimb make_soft_limb(const LimbSpec& spec = {}) {
  const Vec3 size = spec.length * Vec3(0.24, 1, 0.2);
  TetMesh mesh = make_tet_box(size, spec.cells);
  for (Vec3& x : mesh.vertices) x -= Vec3(size[0] / 2, 0, size[2] / 2);
  set_uniform_material(mesh, spec.material);
  RawCharacter character = limb_character(spec, mesh);
  CharacterRigSettings settings;
  if (spec.root_in_pose) {
    settings.root = -1;
    settings.all_translations = true;
  }
  CharacterRig rig = CharacterRig::create(character, settings).value();
  EmbeddedBody body;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    const Vec3 x = mesh.vertices[v] / spec.length;
    if (x.y() < 1e-9 || std::hypot(x.x(), x.z()) < 1e-9) body.fixed_vertices.push_back(static_cast<Index>(v));
  }
  body.skin = character.meshes[0].surface;
  body.embedding = embed(mesh, mesh.vertices).value();
  body.mesh = std::move(mesh);
  return {std::move(character), std::move(rig), std::move(body)};
}

/// How the limb is held at a moment: where its root is, and how far its knees are bent [rad].
struct LimbMotion {
  RigidTransform root;
  double knee = 0, ankle = 0;
};

inline CharacterPose limb_pose(const SoftLimb& limb, const LimbMotion& motion) {
  Pose locals = rest_pose(limb.rig.skeleton());
  locals[0].translation = motion.root.translation;
  locals[0].rotation = motion.root.rotation;
  locals[1].rotation = Quat(Eigen::AngleAxisd(motion.knee, Vec3::UnitZ()));
  locals[2].rotation = Quat(Eigen::AngleAxisd(motion.ankle, Vec3::UnitX()));
  CharacterPose pose = limb.rig.neutral();
  limb.rig.set_joints(locals, pose);
  return pose;
}

/// A lively motion that starts smoothly from rest: both knees swing, and the root does as asked.
inline LimbMotion lively(double time, const std::function<RigidTransform(double)>& root = {}) {
  const double s = std::clamp(time / 0.25, 0.0, 1.0);
  const double fade = s * s * s * (10 - 15 * s + 6 * s * s);
  LimbMotion motion;
  if (root) motion.root = root(time);
  motion.knee = 0.5 * fade * std::sin(2 * std::numbers::pi * 1.7 * time);
  motion.ankle = 0.4 * fade * std::sin(2 * std::numbers::pi * 1.1 * time + 1);
  return motion;
}

/// Small enough for tests: twelve coordinates, few frame sites.
inline ReduceSettings small_reduction(int size = 12) {
  ReduceSettings settings;
  settings.material = MaterialModel::stable_neo_hookean;  // closed forms are easier without stiffening
  settings.size = size;
  settings.frames.least = 12;
  settings.frames.most = 24;
  return settings;
}

inline KnownMotion lively_motion(const SoftLimb& limb) {
  KnownMotion motion;
  for (const double time : {0.3, 0.5, 0.7, 0.9}) motion.poses.push_back(limb_pose(limb, lively(time)).p);
  return motion;
}

inline ReducedBody reduce_limb(const SoftLimb& limb, const ReduceSettings& settings = small_reduction()) {
  return reduce_body(limb.body, limb.rig.rig(), lively_motion(limb), settings).value();
}

}  // namespace supple
