// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/object/base_motion.h"

#include <fmt/format.h>

#include "supple/base/nearest_name.h"
#include "supple/io/gltf/gltf_document.h"
#include "supple/io/gltf/read_character.h"
#include "supple/rig/motion/sample_clip.h"

#include <Eigen/Geometry>

#include <algorithm>

namespace supple {
namespace {

constexpr double difference_time = 1.0 / 60;  // [s]: corners between keys of frames aren't jolts

template <class Things>
Error not_there(const std::string& file, std::string_view kind, const std::string& name, const Things& things) {
  std::vector<std::string_view> names;
  for (const auto& thing : things) names.push_back(thing.name);
  const std::string_view near = nearest_name(name, names);
  return input_error(
      fmt::format("{} has no {} \"{}\"; {}", file, kind, name,
                  near.empty() ? fmt::format("name one that it has") : fmt::format("did you mean \"{}\"?", near)));
}

RigidTransform rigid_of(const Affine& matrix, double scale) {
  return {scale * matrix.translation(), rotation_of(matrix)};
}

/// The turn from one rotation to another, as a vector in the world.
Vec3 turn_between(const Quat& from, const Quat& to) {
  Quat step = to * from.conjugate();
  if (step.w() < 0) step.coeffs() = -step.coeffs();
  const Eigen::AngleAxisd turn(step);
  return turn.angle() * turn.axis();
}

}  // namespace

Result<BaseMotion> BaseMotion::load(const BaseBone& base, const std::filesystem::path& folder, double scale) {
  const std::filesystem::path path = folder / base.character;
  const Result<GltfDocument> document = load_gltf(path);
  SUPPLE_RETURN_IF_ERROR(document);
  Result<RawCharacter> character = read_character(*document, {.require_skin = false});
  SUPPLE_RETURN_IF_ERROR(character);
  BaseMotion motion;
  motion.scale_ = scale;
  motion.joint_ = find_joint(character->skeleton, base.joint);
  if (motion.joint_ < 0) return not_there(path.string(), "joint", base.joint, character->skeleton.joints);
  if (character->clips.empty())
    return input_error(
        fmt::format("{} has no clip that could carry anything; export it with its animation", path.string()));
  auto clip = character->clips.begin();
  if (!base.clip.empty())
    clip = std::find_if(clip, character->clips.end(), [&](const Clip& c) { return c.name == base.clip; });
  if (clip == character->clips.end()) return not_there(path.string(), "clip", base.clip, character->clips);
  motion.skeleton_ = character->skeleton;
  motion.clip_ = *clip;
  motion.rest_ = rigid_of(world_matrix(motion.skeleton_, rest_pose(motion.skeleton_), motion.joint_), scale);
  const RigidTransform first = motion.bone(0), last = motion.bone(motion.clip_.duration);
  double size = 0;
  for (const Affine& joint : world_matrices(motion.skeleton_, rest_pose(motion.skeleton_)))
    size = std::max(size, scale * joint.translation().norm());
  motion.loops_ = (first.translation - last.translation).norm() < 0.01 * size &&
                  first.rotation.angularDistance(last.rotation) < 0.03;
  return motion;
}

RigidTransform BaseMotion::bone(double time) const {
  Pose pose = rest_pose(skeleton_);
  sample_clip(clip_, std::max(time, 0.0), ClipWrap::hold, pose);
  return rigid_of(world_matrix(skeleton_, pose, joint_), scale_);
}

RigidTransform BaseMotion::carried(double time, const RigidTransform& rest) const {
  const double duration = clip_.duration;
  const double within = loops_ && duration > 0 ? time - duration * std::floor(time / duration) : time;
  return bone(within) * rest_.inverse() * rest;
}

RootMotion BaseMotion::at(double time, const RigidTransform& rest) const {
  const double d = difference_time;
  const RigidTransform before = carried(time - d, rest), now = carried(time, rest), after = carried(time + d, rest);
  RootMotion motion;
  motion.position = now.translation;
  motion.rotation = now.rotation.toRotationMatrix();
  motion.velocity = (after.translation - before.translation) / (2 * d);
  motion.acceleration = (after.translation - 2 * now.translation + before.translation) / (d * d);
  const Vec3 first = turn_between(before.rotation, now.rotation) / d,
             second = turn_between(now.rotation, after.rotation) / d;
  motion.angular_velocity = 0.5 * (first + second);
  motion.angular_acceleration = (second - first) / d;
  return motion;
}

}  // namespace supple
