// SPDX-License-Identifier: Apache-2.0
#include "samples/creature_corrections.h"

#include "supple/mesh/bounds.h"
#include "supple/offline/contact/push_apart.h"
#include "supple/rig/deform/pose_space.h"
#include "supple/rig/deform/skin_deformer.h"
#include "supple/rig/motion/sample_clip.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace supple {
namespace {

constexpr double contact_slack = 0.002;  ///< of the creature's size

Pose pose_of(const Skeleton& skeleton, const ExamplePose& example) {
  Pose pose = rest_pose(skeleton);
  for (const JointRotation& r : example.rotations) pose[to_size(r.joint)].rotation = r.rotation;
  return pose;
}

// Linear skinning of every vertex as one affine map.
std::vector<Affine> blended(const std::vector<Affine>& world, const Skin& skin, const SkinWeights& weights) {
  std::vector<Affine> result;
  for (Index v = 0; v < weights.vertex_count(); ++v) {
    Affine sum;
    sum.matrix().setZero();
    for (Index e = weights.first[to_size(v)]; e < weights.first[to_size(v) + 1]; ++e) {
      const auto k = to_size(weights.joint[to_size(e)]);
      const Affine bone = world[to_size(skin.joints[k])] * skin.inverse_bind[k];
      sum.matrix() += weights.weight[to_size(e)] * bone.matrix();
    }
    result.push_back(sum);
  }
  return result;
}

std::vector<Vec3> dual_positions(const Skeleton& skeleton, const Skin& skin, const SkinWeights& weights,
                                 const Pose& pose, std::vector<Vec3> positions) {
  SkinDeformerSettings settings;
  settings.method = SkinningMethod::dual_quaternion;
  std::vector<double> p;
  for (Index j = 0; j < skeleton.size(); ++j) {
    settings.parameters.push_back({j, ChannelTarget::rotation, 1.0});
    const Eigen::Vector4d q = pose[to_size(j)].rotation.coeffs();
    p.insert(p.end(), q.begin(), q.end());
  }
  std::vector<Bone> bones;
  for (std::size_t k = 0; k < skin.joints.size(); ++k) bones.push_back({skin.joints[k], skin.inverse_bind[k]});
  const SkinDeformer deformer(skeleton, bones, weights, settings);
  std::vector<Index> all(positions.size());
  std::iota(all.begin(), all.end(), 0);
  const auto workspace = deformer.make_workspace(static_cast<Index>(all.size()));
  deformer.deform(p, all, positions, *workspace);
  return positions;
}

Vec3 bulged(const Bulge& bulge, const Vec3& x, const Vec3& normal) {
  const double s = (x - bulge.center).cwiseQuotient(bulge.radii).squaredNorm();
  if (s >= 1) return Vec3::Zero();
  return (1 - s) * (1 - s) * (bulge.swell * normal + bulge.shift);
}

// A displacement of the posed skin carried back through the skinning. A flattened joint can't be carried back exactly;
// there the rotation alone serves.
Vec3 carried_back(const Affine& linear, const Vec3& displacement) {
  const bool invertible = linear.linear().determinant() > 0.25;
  return invertible ? Vec3(linear.linear().inverse() * displacement)
                    : Vec3(rotation_of(linear).conjugate() * displacement);
}

// Flesh that the pose pushes into itself gives way.
void resolve_contact(const Surface& surface, const std::vector<Affine>& linear, MorphTarget& target) {
  const double slack = contact_slack * bounds_of(surface.vertices).size().maxCoeff();
  Surface posed = surface;
  for (std::size_t v = 0; v < posed.vertices.size(); ++v)
    posed.vertices[v] = linear[v] * (surface.vertices[v] + target.displacements[v]);
  const std::vector<Vec3> pushes = pushed_apart(posed, slack);
  for (std::size_t v = 0; v < pushes.size(); ++v)
    if (!pushes[v].isZero(0)) target.displacements[v] += carried_back(linear[v], pushes[v]);
}

MorphTarget correction(const Creature& creature, const CreaturePose& example, const Surface& surface, const Skin& skin,
                       const SkinWeights& weights, const std::vector<Vec3>& normals) {
  const Skeleton skeleton = creature.skeleton();
  const Pose pose = pose_of(skeleton, example.pose);
  const std::vector<Affine> linear = blended(world_matrices(skeleton, pose), skin, weights);
  const std::vector<Vec3> dual = dual_positions(skeleton, skin, weights, pose, surface.vertices);
  MorphTarget target{example.pose.name, {}};
  for (std::size_t v = 0; v < surface.vertices.size(); ++v) {
    const Vec3& x = surface.vertices[v];
    Vec3 shape = carried_back(linear[v], dual[v] - linear[v] * x);
    for (const Bulge& bulge : example.bulges) shape += bulged(bulge, x, normals[v]);
    target.displacements.push_back(shape);
  }
  resolve_contact(surface, linear, target);
  for (Vec3& d : target.displacements)
    if (d.norm() <= 1e-5) d.setZero();
  return target;
}

}  // namespace

std::vector<MorphTarget> correction_targets(const Creature& creature, const Surface& surface, const Skin& skin,
                                            const SkinWeights& weights) {
  std::vector<Vec3> normals;
  for (const Vec3& x : surface.vertices) normals.push_back(creature.normal(x));
  std::vector<MorphTarget> targets;
  for (const CreaturePose& example : creature.poses)
    if (example.pose.corrected) targets.push_back(correction(creature, example, surface, skin, weights, normals));
  return targets;
}

void add_correction_weights(const Creature& creature, Index node, std::vector<Clip>& clips) {
  const Skeleton skeleton = creature.skeleton();
  std::vector<Index> moving;
  for (const CreaturePose& example : creature.poses)
    for (const JointRotation& r : example.pose.rotations) moving.push_back(r.joint);
  std::sort(moving.begin(), moving.end());
  moving.erase(std::unique(moving.begin(), moving.end()), moving.end());
  PoseLayout layout;
  for (const Index j : moving) layout.add_rotation(skeleton.joints[to_size(j)].name, Quat::Identity());
  const auto numbers = [&](const Pose& pose) {
    std::vector<double> p;
    for (const Index j : moving) {
      const Eigen::Vector4d q = pose[to_size(j)].rotation.coeffs();
      p.insert(p.end(), q.begin(), q.end());
    }
    return p;
  };
  std::vector<std::vector<double>> poses;
  for (const CreaturePose& example : creature.poses) poses.push_back(numbers(pose_of(skeleton, example.pose)));
  const Result<PoseSpaceWeights> interpolation = PoseSpaceWeights::create(layout, poses);
  if (!interpolation.ok()) return;
  std::vector<double> weights(poses.size()), scratch(poses.size());
  for (Clip& clip : clips) {
    Channel channel;
    channel.joint = node;
    channel.target = ChannelTarget::weights;
    channel.times = clip.channels.front().times;
    channel.width = 0;
    for (const double time : channel.times) {
      Pose pose = rest_pose(skeleton);
      sample_clip(clip, time, ClipWrap::hold, pose);
      interpolation->evaluate(numbers(pose), weights, scratch);
      channel.width = 0;
      for (std::size_t k = 0; k < poses.size(); ++k) {
        if (!creature.poses[k].pose.corrected) continue;
        channel.values.push_back(weights[k]);
        ++channel.width;
      }
    }
    if (channel.width > 0) clip.channels.push_back(std::move(channel));
  }
}

}  // namespace supple
