// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/motion/retarget_reference.h"

#include "supple/rig/motion/sample_clip.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

Vec3 at(const std::vector<Affine>& world, Index joint) { return world[to_size(joint)].translation(); }

Vec3 direction(const std::vector<Affine>& world, Index from, Index to) {
  return (at(world, to) - at(world, from)).stableNormalized();
}

/// The axis of the world nearest to v.
Vec3 nearest_axis(const Vec3& v) {
  Eigen::Index k = 0;
  v.cwiseAbs().maxCoeff(&k);
  Vec3 axis = Vec3::Zero();
  axis[k] = v[k] < 0 ? -1 : 1;
  return axis;
}

/// Left from the legs, or the arms where there are none; zero where there are neither.
Vec3 leftward(const BodyJoints& body, const std::vector<Affine>& world) {
  for (const auto& limbs : {body.legs, body.arms}) {
    if (limbs[0].first < 0 || limbs[1].first < 0) continue;
    const Vec3 left = at(world, limbs[0].first) - at(world, limbs[1].first);
    if (left.norm() > 0) return left;
  }
  return Vec3::Zero();
}

Mat3 axes_from(const Vec3& up, const Vec3& left) {
  Vec3 level = left - up * up.dot(left);
  if (!(level.norm() > 1e-9)) level = up.unitOrthogonal();
  level.normalize();
  Mat3 axes;
  axes << level, up, level.cross(up);
  return axes;
}

BodyJoints::Limb limb_of(const std::vector<JointRole>& roles, Side side, BodyPart first, BodyPart second,
                         BodyPart third) {
  return {find_role(roles, {first, side, 0}), find_role(roles, {second, side, 0}), find_role(roles, {third, side, 0})};
}

Index last_of(const std::vector<JointRole>& roles, BodyPart part) {
  Index last = -1;
  for (Index j = find_role(roles, {part, Side::centre, 0}), n = 1; j >= 0;
       j = find_role(roles, {part, Side::centre, n++}))
    last = j;
  return last;
}

/// How much a pose looks like standing straight: legs straight down, side by side, trunk up, arms straight.
double uprightness(const BodyJoints& body, const std::vector<Affine>& world, const Vec3& up) {
  const auto straightness = [&](const BodyJoints::Limb& limb) {
    const double length = (at(world, limb.second) - at(world, limb.first)).norm() +
                          (at(world, limb.third) - at(world, limb.second)).norm();
    return length > 0 ? (at(world, limb.third) - at(world, limb.first)).norm() / length : 0.0;
  };
  double score = 4 * direction(world, body.hips, body.top).dot(up);
  Vec3 apart = Vec3::Zero();
  for (const BodyJoints::Limb& leg : body.legs) {
    const Vec3 down = direction(world, leg.first, leg.third);
    score += 4 * straightness(leg) - 6 * down.dot(up);
    apart = down - apart;
  }
  score -= 4 * apart.norm();
  for (const BodyJoints::Limb& arm : body.arms) {
    if (arm.complete()) score += 0.5 * straightness(arm);
  }
  return score;
}

}  // namespace

BodyJoints find_body(const std::vector<JointRole>& roles) {
  BodyJoints body;
  body.hips = find_role(roles, {BodyPart::hips, Side::centre, 0});
  body.top = find_role(roles, {BodyPart::head, Side::centre, 0});
  if (body.top < 0) body.top = last_of(roles, BodyPart::neck);
  if (body.top < 0) body.top = last_of(roles, BodyPart::spine);
  constexpr std::array sides = {Side::left, Side::right};
  for (std::size_t k = 0; k < 2; ++k) {
    body.legs[k] = limb_of(roles, sides[k], BodyPart::thigh, BodyPart::shin, BodyPart::foot);
    body.arms[k] = limb_of(roles, sides[k], BodyPart::upper_arm, BodyPart::forearm, BodyPart::hand);
  }
  return body;
}

bool is_upright(const BodyJoints& body, const std::vector<Affine>& world) {
  if (!body.stands()) return false;
  const Vec3 up = direction(world, body.hips, body.top);
  const Vec3 left = leftward(body, world).stableNormalized();
  return direction(world, body.legs[0].first, body.legs[0].third).dot(up) < -0.5 &&
         direction(world, body.legs[1].first, body.legs[1].third).dot(up) < -0.5 && std::abs(left.dot(up)) < 0.5;
}

BodyAxes body_axes(const BodyJoints& body, const std::vector<Affine>& world) {
  if (body.hips < 0 || body.top < 0) return {};
  const Vec3 up = nearest_axis(at(world, body.top) - at(world, body.hips));
  BodyAxes result{axes_from(up, leftward(body, world))};
  const Vec3 snapped = nearest_axis(result.axes.col(0));
  if (snapped.dot(result.axes.col(0)) > std::cos(0.45)) result.axes = axes_from(up, snapped);
  return result;
}

ReferencePose source_reference(const Skeleton& skeleton, const Clip& clip, const BodyJoints& body, const Pose& given) {
  ReferencePose reference;
  Pose pose = given.empty() ? rest_pose(skeleton) : given;
  reference.world = world_matrices(skeleton, pose);
  reference.axes = body_axes(body, reference.world);
  if (!given.empty() || !body.stands() || is_upright(body, reference.world)) return reference;
  // The rest is no pose of a body. Over the clip, the head is above the hips along y or along z.
  constexpr int samples = 200;
  std::vector<std::vector<Affine>> frames;
  Vec3 mean = Vec3::Zero();
  for (int k = 0; k <= samples; ++k) {
    sample_clip(clip, clip.duration * k / samples, ClipWrap::hold, pose);
    frames.push_back(world_matrices(skeleton, pose));
    mean += direction(frames.back(), body.hips, body.top);
  }
  const bool z_up = mean.z() > mean.y();
  const Vec3 up = z_up ? Vec3(Vec3::UnitZ()) : Vec3(Vec3::UnitY());
  const auto best = std::max_element(frames.begin(), frames.end(), [&](const auto& a, const auto& b) {
    return uprightness(body, a, up) < uprightness(body, b, up);
  });
  // Motion capture faces +z where y is up, and −y where z is: the left is +x either way.
  reference.axes.axes = axes_from(up, Vec3::UnitX());
  Affine turned = Affine::Identity();
  turned.linear() = reference.axes.axes * axes_from(up, leftward(body, *best)).transpose();
  reference.world = *best;
  for (Affine& matrix : reference.world) matrix = turned * matrix;
  reference.from_clip = true;
  return reference;
}

void align_limbs(const Skeleton& target, Pose& pose, const std::vector<JointRole>& target_roles,
                 const std::vector<JointRole>& source_roles, const ReferencePose& source, const Mat3& turn) {
  const std::vector<Affine> before = world_matrices(target, pose);
  const auto point = [&](const JointRole& first, const JointRole& second) {
    const Index from = find_role(target_roles, first);
    const Index to = find_role(target_roles, second);
    const Index source_from = find_role(source_roles, first);
    const Index source_to = find_role(source_roles, second);
    if (from < 0 || to < 0 || source_from < 0 || source_to < 0) return;
    const Vec3 wanted = turn * direction(source.world, source_from, source_to);
    const Vec3 now = (world_matrix(target, pose, to).translation() - world_matrix(target, pose, from).translation())
                         .stableNormalized();
    if (wanted.isZero() || now.isZero()) return;
    rotate_in_world(target, pose, from, rotation_between(now, wanted));
  };
  for (const Side side : {Side::left, Side::right}) {
    point({BodyPart::thigh, side, 0}, {BodyPart::shin, side, 0});
    point({BodyPart::shin, side, 0}, {BodyPart::foot, side, 0});
    point({BodyPart::upper_arm, side, 0}, {BodyPart::forearm, side, 0});
    point({BodyPart::forearm, side, 0}, {BodyPart::hand, side, 0});
    // Both stand flat on their feet, whatever their knees do.
    const Index foot = find_role(target_roles, {BodyPart::foot, side, 0});
    if (foot >= 0) {
      const Quat now = rotation_of(world_matrix(target, pose, foot));
      rotate_in_world(target, pose, foot, rotation_of(before[to_size(foot)]) * now.conjugate());
    }
    if (!source.from_clip) continue;
    // In a frame of the clip the hands may be bent.
    point({BodyPart::hand, side, 0}, {BodyPart::middle, side, 1});
    for (const BodyPart finger :
         {BodyPart::thumb, BodyPart::index, BodyPart::middle, BodyPart::ring, BodyPart::pinky}) {
      point({finger, side, 1}, {finger, side, 2});
      point({finger, side, 2}, {finger, side, 3});
    }
  }
}

}  // namespace supple
