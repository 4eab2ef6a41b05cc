// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/motion/retarget.h"

#include "supple/rig/motion/inverse_kinematics.h"
#include "supple/rig/motion/retarget_floor.h"
#include "supple/rig/motion/retarget_reference.h"
#include "supple/rig/motion/sample_clip.h"

#include <Eigen/LU>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

std::vector<Index> joints_of(const std::vector<JointRole>& roles, BodyPart part) {
  std::vector<Index> joints;
  for (std::size_t j = 0; j < roles.size(); ++j) {
    if (roles[j].part == part) joints.push_back(static_cast<Index>(j));
  }
  return joints;
}

/// Both run from the hips upwards; the last drives the last, the others are spread evenly.
void match_trunk(const std::vector<Index>& source, const std::vector<Index>& target, std::vector<JointPair>& pairs) {
  if (source.empty()) return;
  for (std::size_t k = 0; k < target.size(); ++k) {
    const std::size_t partner = ((k + 1) * source.size() + target.size() - 1) / target.size() - 1;
    pairs.push_back({source[partner], target[k]});
  }
}

/// What a map file pairs plays the same role, even if only one of the two names tells which.
void share_roles(const std::vector<JointPair>& pairs, std::vector<JointRole>& source, std::vector<JointRole>& target) {
  for (const JointPair& pair : pairs) {
    JointRole& a = source[to_size(pair.source)];
    JointRole& b = target[to_size(pair.target)];
    if (a.part == BodyPart::none && find_role(source, b) < 0) a = b;
    if (b.part == BodyPart::none && find_role(target, a) < 0) b = a;
  }
}

std::vector<double> key_times(const Clip& motion, double frames_per_second) {
  std::vector<double> times;
  if (frames_per_second > 0) {
    const auto frames = static_cast<int>(std::ceil(motion.duration * frames_per_second - 1e-9));
    for (int k = 0; k <= frames; ++k) times.push_back(std::min(k / frames_per_second, motion.duration));
    return times;
  }
  for (const Channel& channel : motion.channels) times.insert(times.end(), channel.times.begin(), channel.times.end());
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end(), [](double a, double b) { return b - a < 1e-6; }), times.end());
  return times;
}

class Retargeter {
 public:
  Retargeter(const Skeleton& source, const Clip& motion, const Skeleton& target, std::vector<JointPair> pairs,
             const RetargetSettings& settings)
      : source_(source), motion_(motion), target_(target), pairs_(std::move(pairs)), settings_(settings) {
    std::sort(pairs_.begin(), pairs_.end(), [](const auto& a, const auto& b) { return a.target < b.target; });
    find_references();
    measure();
    times_ = key_times(motion, settings.frames_per_second);
    find_lift();
  }

  Clip run() {
    Clip clip{motion_.name, times_.empty() ? 0.0 : times_.back(), {}};
    for (const JointPair& pair : pairs_)
      clip.channels.push_back({pair.target, ChannelTarget::rotation, Interpolation::linear, 4, {}, {}});
    clip.channels.push_back({root_.target, ChannelTarget::translation, Interpolation::linear, 3, {}, {}});
    for (const Index foot : loose_feet())
      clip.channels.push_back({foot, ChannelTarget::translation, Interpolation::linear, 3, {}, {}});
    for (std::size_t k = 0; k < times_.size(); ++k) {
      const double time = times_[k];
      const Pose pose = frame(k);
      for (Channel& channel : clip.channels) {
        const Transform& local = pose[to_size(channel.joint)];
        const double* values = channel.width == 4 ? local.rotation.coeffs().data() : local.translation.data();
        channel.times.push_back(time);
        channel.values.insert(channel.values.end(), values, values + channel.width);
      }
    }
    return clip;
  }

 private:
  void find_references() {
    std::vector<JointRole> source_roles = joint_roles(source_);
    std::vector<JointRole> target_roles = joint_roles(target_);
    share_roles(pairs_, source_roles, target_roles);
    source_body_ = find_body(source_roles);
    target_body_ = find_body(target_roles);
    source_reference_ = source_reference(source_, motion_, source_body_, settings_.source_reference);
    hang_loose_feet();
    reference_ = rest_pose(target_);
    std::copy(settings_.target_reference.begin(), settings_.target_reference.end(), reference_.begin());
    const BodyAxes target_axes = body_axes(target_body_, world_matrices(target_, reference_));
    const bool both_stand =
        source_body_.hips >= 0 && source_body_.top >= 0 && target_body_.hips >= 0 && target_body_.top >= 0;
    turn_ = both_stand ? Mat3(target_axes.axes * source_reference_.axes.axes.transpose()) : Mat3(Mat3::Identity());
    up_ = target_axes.up();
    standing_ = world_matrices(target_, reference_);
    align_limbs(target_, reference_, target_roles, source_roles, source_reference_, turn_);
    aligned_ = world_matrices(target_, reference_);
    root_ = pairs_.front();  // the topmost, since parents come first
    for (const JointPair& pair : pairs_) {
      if (pair.target == target_body_.hips) root_ = pair;
    }
  }

  /// Some rigs lead the leg to a foot that doesn't hang on it. Then the shin gets a joint of ours where the foot is.
  void hang_loose_feet() {
    const std::vector<Affine> world = world_matrices(target_, rest_pose(target_));
    for (std::size_t side = 0; side < 2; ++side) {
      const BodyJoints::Limb& leg = target_body_.legs[side];
      ankles_[side] = leg.third;
      if (!leg.complete() || is_ancestor(target_, leg.second, leg.third)) continue;
      Joint ankle;
      ankle.parent = leg.second;
      ankle.rest.translation = world[to_size(leg.second)].inverse() * place(world, leg.third);
      ankles_[side] = target_.size();
      target_.joints.push_back(ankle);
    }
  }

  std::vector<Index> loose_feet() const {
    std::vector<Index> feet;
    for (std::size_t side = 0; side < 2; ++side) {
      if (keeps_feet() && ankles_[side] != target_body_.legs[side].third) feet.push_back(target_body_.legs[side].third);
    }
    return feet;
  }

  static double leg_length(const BodyJoints& body, const std::vector<Affine>& world) {
    double length = 0;
    for (const BodyJoints::Limb& leg : body.legs) {
      length += (place(world, leg.second) - place(world, leg.first)).norm() +
                (place(world, leg.third) - place(world, leg.second)).norm();
    }
    return length / 2;
  }

  static Vec3 place(const std::vector<Affine>& world, Index joint) { return world[to_size(joint)].translation(); }

  bool have_legs() const { return source_body_.stands() && target_body_.stands(); }
  bool keeps_feet() const { return settings_.keep_feet && have_legs(); }

  /// How much larger the target is: by its legs, else by how far its joints are from the root.
  void measure() {
    double source_size = 0;
    double target_size = 0;
    if (have_legs()) {
      source_size = leg_length(source_body_, source_reference_.world);
      target_size = leg_length(target_body_, aligned_);
    } else {
      for (const JointPair& pair : pairs_) {
        source_size +=
            (place(source_reference_.world, pair.source) - place(source_reference_.world, root_.source)).norm();
        target_size += (place(aligned_, pair.target) - place(aligned_, root_.target)).norm();
      }
    }
    ratio_ = source_size > 0 && target_size > 0 ? target_size / source_size : 1.0;
  }

  std::vector<Affine> source_world(double time) const {
    Pose pose = rest_pose(source_);
    sample_clip(motion_, time, ClipWrap::hold, pose);
    return world_matrices(source_, pose);
  }

  double lowest_ankle(const BodyJoints& body, const std::vector<Affine>& world, const Vec3& up) const {
    return std::min(place(world, body.legs[0].third).dot(up), place(world, body.legs[1].third).dot(up));
  }

  static double lowest_sole(const Soles& soles, const std::vector<Affine>& world, const Vec3& up) {
    return std::min(lowest_point(soles[0], world, up), lowest_point(soles[1], world, up));
  }

  void find_soles() {
    source_soles_ = soles_of(source_, source_body_, source_reference_.world, source_reference_.axes.up());
    target_soles_ = settings_.target_soles;
    if (target_soles_[0].empty() || target_soles_[1].empty())
      target_soles_ = soles_of(target_, target_body_, standing_, up_);
  }

  /// The lowest of the body over the clip, hands and knees too, above where the source's reference stands.
  std::vector<double> heights_in_clip(double standing) const {
    const Vec3 up = source_reference_.axes.up();
    std::vector<double> heights;
    for (const double time : times_) {
      const std::vector<Affine> world = source_world(time);
      double low = lowest_sole(source_soles_, world, up);
      for (const Affine& joint : world) low = std::min(low, joint.translation().dot(up));
      heights.push_back(low - standing);
    }
    return heights;
  }

  /// Lifts the motion so that its soles on the floor are at the height of the target's. Where the motion's skeleton
  /// itself rests on the floor it tells their height, unless the clip never comes down to it (some recordings float
  /// above their floor); else the clip does.
  void find_lift() {
    lift_.assign(times_.size(), Vec3::Zero());
    if (!have_legs() || times_.empty()) return;
    find_soles();
    const Vec3 source_up = source_reference_.axes.up();
    const double leg = leg_length(source_body_, source_reference_.world);
    const double ankle = lowest_ankle(source_body_, source_reference_.world, source_up);
    source_standing_ = lowest_sole(source_soles_, source_reference_.world, source_up);
    target_standing_ = lowest_sole(target_soles_, standing_, up_);
    const std::vector<double> heights = heights_in_clip(source_standing_);
    const bool no_floor = source_reference_.from_clip || ankle < -0.05 * leg || ankle > 0.35 * leg;
    floor_.assign(times_.size(), 0.0);
    if (no_floor || low_height(heights) > 0.01 * leg) floor_ = find_floor(times_, heights, leg, settings_.floor);
    for (std::size_t k = 0; k < times_.size(); ++k)
      lift_[k] = (lowest_ankle(target_body_, standing_, up_) - ratio_ * (ankle + floor_[k])) * up_;
  }

  /// A place of the motion's world in the target's.
  Vec3 carry(const Vec3& x, const Vec3& lift) const { return ratio_ * (turn_ * x) + lift; }

  static Vec3 hip_centre(const BodyJoints& body, const std::vector<Affine>& world) {
    return (place(world, body.legs[0].first) + place(world, body.legs[1].first)) / 2;
  }

  Pose frame(std::size_t k) const {
    const std::vector<Affine> source = source_world(times_[k]);
    Pose pose = reference_;
    const Quat turn(turn_);
    for (const JointPair& pair : pairs_) {
      const auto s = to_size(pair.source);
      const Quat moved = rotation_of(source[s]) * rotation_of(source_reference_.world[s]).conjugate();
      const Quat wanted = turn * moved * turn.conjugate() * rotation_of(aligned_[to_size(pair.target)]);
      turn_to(pose, pair.target, wanted);
    }
    put_root(pose, source, lift_[k]);
    if (keeps_feet()) {
      for (const std::size_t side : {0U, 1U}) put_foot(pose, side, wanted_ankle(pose, source, side, k));
    }
    return pose;
  }

  void turn_to(Pose& pose, Index joint, const Quat& world_rotation) const {
    const auto k = to_size(joint);
    const Quat parent = rotation_of(world_matrix(target_, pose, target_.joints[k].parent));
    pose[k].rotation = (parent.conjugate() * world_rotation).normalized();
  }

  void put_root(Pose& pose, const std::vector<Affine>& source, const Vec3& lift) const {
    const auto k = to_size(root_.target);
    const std::vector<Affine> world = world_matrices(target_, pose);
    const bool legs = have_legs();
    const Vec3 now = legs ? hip_centre(target_body_, world) : place(world, root_.target);
    Vec3 wanted = carry(legs ? hip_centre(source_body_, source) : place(source, root_.source), lift);
    if (!legs) wanted += place(aligned_, root_.target) - carry(place(source_reference_.world, root_.source), lift);
    const Affine parent = world_matrix(target_, pose, target_.joints[k].parent);
    pose[k].translation += parent.linear().inverse() * (wanted - now);
  }

  /// On the ankle's path, and so high that the sole is as far above the floor as the motion's.
  Vec3 wanted_ankle(const Pose& pose, const std::vector<Affine>& source, std::size_t side, std::size_t k) const {
    const std::vector<Affine> world = world_matrices(target_, pose);
    const double above = lowest_point(source_soles_[side], source, source_reference_.axes.up()) - source_standing_;
    const double foot_height =
        place(world, target_body_.legs[side].third).dot(up_) - lowest_point(target_soles_[side], world, up_);
    const Vec3 ankle = carry(place(source, source_body_.legs[side].third), lift_[k]);
    return ankle + (target_standing_ + ratio_ * (above - floor_[k]) + foot_height - ankle.dot(up_)) * up_;
  }

  void put_foot(Pose& pose, std::size_t side, const Vec3& ankle) const {
    const BodyJoints::Limb& leg = target_body_.legs[side];
    const Quat foot = rotation_of(world_matrix(target_, pose, leg.third));
    solve_two_bones(target_, pose, leg.first, leg.second, ankles_[side], ankle);
    turn_to(pose, leg.third, foot);
    if (ankles_[side] == leg.third) return;
    const auto k = to_size(leg.third);
    pose[k].translation = world_matrix(target_, pose, target_.joints[k].parent).inverse() *
                          world_matrix(target_, pose, ankles_[side]).translation();
  }

  const Skeleton& source_;
  const Clip& motion_;
  Skeleton target_;  ///< with an ankle where a foot hangs elsewhere
  std::array<Index, 2> ankles_{-1, -1};
  std::vector<JointPair> pairs_;  ///< by target joint
  const RetargetSettings& settings_;
  BodyJoints source_body_;
  BodyJoints target_body_;
  ReferencePose source_reference_;
  Pose reference_;                ///< of the target, limbs aligned
  std::vector<Affine> standing_;  ///< its world matrices before
  std::vector<Affine> aligned_;   ///< and after
  JointPair root_;
  Mat3 turn_ = Mat3::Identity();
  Vec3 up_ = Vec3::UnitY();
  double ratio_ = 1.0;
  std::vector<double> times_;
  Soles source_soles_;
  Soles target_soles_;
  double source_standing_ = 0;  ///< height of the soles in the reference
  double target_standing_ = 0;
  std::vector<double> floor_;  ///< of the motion at each time, above source_standing_
  std::vector<Vec3> lift_;
};

}  // namespace

std::vector<JointPair> match_joints(const Skeleton& source, const Skeleton& target) {
  const std::vector<JointRole> source_roles = joint_roles(source);
  const std::vector<JointRole> target_roles = joint_roles(target);
  std::vector<JointPair> pairs;
  for (const BodyPart part : {BodyPart::spine, BodyPart::neck})
    match_trunk(joints_of(source_roles, part), joints_of(target_roles, part), pairs);
  for (std::size_t t = 0; t < target_roles.size(); ++t) {
    const JointRole& role = target_roles[t];
    if (role.part == BodyPart::spine || role.part == BodyPart::neck) continue;
    const Index s =
        role.part == BodyPart::none ? find_joint(source, target.joints[t].name) : find_role(source_roles, role);
    if (s < 0 || target.joints[t].matrix) continue;
    if (role.part == BodyPart::none && source_roles[to_size(s)].part != BodyPart::none) continue;
    pairs.push_back({s, static_cast<Index>(t)});
  }
  std::sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.target < b.target; });
  return pairs;
}

Result<Clip> retarget(const Skeleton& source, const Clip& motion, const Skeleton& target,
                      const std::vector<JointPair>& pairs, const RetargetSettings& settings) {
  if (pairs.empty())
    return input_error("Motion '" + motion.name +
                       "': no joint of it could be matched with the character's; give a map of joints.");
  for (const JointPair& pair : pairs) {
    if (pair.source < 0 || pair.source >= source.size() || pair.target < 0 || pair.target >= target.size())
      return input_error("Motion '" + motion.name + "': the map of joints names one that doesn't exist; correct it.");
  }
  return Retargeter(source, motion, target, pairs, settings).run();
}

}  // namespace supple
