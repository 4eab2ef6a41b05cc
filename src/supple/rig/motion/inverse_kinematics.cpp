// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/motion/inverse_kinematics.h"

#include "supple/rig/motion/sample_clip.h"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

Vec3 place(const Skeleton& skeleton, std::span<const Transform> pose, Index joint) {
  return world_matrix(skeleton, pose, joint).translation();
}

/// The part of v normal to the unit vector u, as a unit vector; zero where there is hardly any.
Vec3 normal_part(const Vec3& v, const Vec3& u) {
  const Vec3 rest = v - u * u.dot(v);
  return rest.norm() > 1e-9 * v.norm() ? Vec3(rest.normalized()) : Vec3(Vec3::Zero());
}

Vec3 any_normal(const Vec3& u) {
  Eigen::Index least = 0;
  u.cwiseAbs().minCoeff(&least);
  return u.cross(Vec3::Unit(least)).normalized();
}

/// Rotation that takes the direction `from` to `to` and, as well as it can, the side `from_side` to `to_side`.
Quat turn_frame(const Vec3& from, const Vec3& from_side, const Vec3& to, const Vec3& to_side) {
  const Vec3 u = from.normalized();
  const Vec3 v = to.normalized();
  const Vec3 a = normal_part(from_side, u);
  const Vec3 b = normal_part(to_side, v);
  if (a.isZero() || b.isZero()) return rotation_between(from, to);
  Mat3 before;
  before << u, a, u.cross(a);
  Mat3 after;
  after << v, b, v.cross(b);
  return Quat(after * before.transpose());
}

}  // namespace

std::vector<Index> joint_chain(const Skeleton& skeleton, Index root, Index tip) {
  std::vector<Index> chain;
  for (Index j = tip; j >= root && j >= 0; j = skeleton.joints[to_size(j)].parent) chain.push_back(j);
  std::reverse(chain.begin(), chain.end());
  if (chain.empty() || chain.front() != root) return {};
  return chain;
}

void solve_two_bones(const Skeleton& skeleton, std::span<Transform> pose, Index root, Index middle, Index tip,
                     const Vec3& target, const std::optional<Vec3>& pole) {
  const Vec3 a = place(skeleton, pose, root);
  const Vec3 b = place(skeleton, pose, middle);
  const Vec3 c = place(skeleton, pose, tip);
  const double upper = (b - a).norm();
  const double lower = (c - b).norm();
  const double wanted = (target - a).norm();
  if (!(upper > 0) || !(lower > 0) || !(wanted > 0)) return;
  const Vec3 u = (target - a) / wanted;
  const double reach = std::clamp(wanted, std::abs(upper - lower), upper + lower);
  Vec3 side = pole ? normal_part(*pole - a, u) : normal_part(b - a, u);
  if (side.isZero()) side = normal_part(b - a, u);
  if (side.isZero()) side = any_normal(u);
  const double cosine =
      reach > 0 ? std::clamp((upper * upper + reach * reach - lower * lower) / (2 * upper * reach), -1.0, 1.0) : 0.0;
  const Vec3 b2 = a + upper * (cosine * u + std::sqrt(1 - cosine * cosine) * side);
  const Vec3 c2 = a + reach * u;
  // With a pole the limb's plane turns with it; without, the least rotation keeps whatever twist the limb has.
  const Vec3 bend = normal_part(a - b, (c - a).normalized());
  const bool by_plane = pole && !bend.isZero();
  rotate_in_world(skeleton, pose, root,
                  by_plane ? turn_frame(b - a, -bend, b2 - a, side) : rotation_between(b - a, b2 - a));
  const Vec3 c1 = place(skeleton, pose, tip);
  rotate_in_world(skeleton, pose, middle, rotation_between(c1 - b2, c2 - b2));
}

namespace {

/// A chain as points that turn about each other.
struct ChainState {
  std::vector<Vec3> points;
  std::vector<Quat> turned;  ///< rotation of each joint since the start, in the world

  void rotate(std::size_t joint, const Quat& rotation) {
    for (std::size_t k = joint + 1; k < points.size(); ++k)
      points[k] = points[joint] + rotation * (points[k] - points[joint]);
    for (std::size_t k = joint; k < points.size(); ++k) turned[k] = (rotation * turned[k]).normalized();
  }
};

/// A straight chain that points at its target (or away) can't decide where to bend: bend it a little.
void bend_if_straight(ChainState& chain, const Vec3& target) {
  const Vec3 u = (target - chain.points[0]).normalized();
  for (const Vec3& x : chain.points) {
    if ((x - chain.points[0]).cross(u).norm() > 1e-6 * (x - chain.points[0]).norm() + 1e-12) return;
  }
  const Vec3 axis = any_normal(u);
  for (std::size_t j = 0; j + 1 < chain.points.size(); ++j)
    chain.rotate(j, Quat(Eigen::AngleAxisd(j % 2 == 0 ? 0.1 : -0.2, axis)));
}

/// One step of damped least squares, at most a tenth of the chain's length.
void step_towards(ChainState& chain, const Vec3& target, double length, std::span<const double> stiffness) {
  const auto freedom = [&](std::size_t j) {
    return j < stiffness.size() ? 1 - std::clamp(stiffness[j], 0.0, 1.0) : 1.0;
  };
  const Vec3 tip = chain.points.back();
  Vec3 wanted = target - tip;
  wanted *= std::min(1.0, 0.1 * length / wanted.norm());
  Mat3 system = 1e-4 * length * length * Mat3::Identity();
  for (std::size_t j = 0; j + 1 < chain.points.size(); ++j) {
    const Vec3 arm = tip - chain.points[j];
    system += freedom(j) * (arm.squaredNorm() * Mat3::Identity() - arm * arm.transpose());
  }
  const Vec3 pull = system.ldlt().solve(wanted);
  for (std::size_t j = 0; j + 1 < chain.points.size(); ++j) {
    const Vec3 turn = freedom(j) * (tip - chain.points[j]).cross(pull);
    const double angle = turn.norm();
    if (angle > 0) chain.rotate(j, Quat(Eigen::AngleAxisd(std::min(angle, 0.5), turn / angle)));
  }
}

}  // namespace

double solve_chain(const Skeleton& skeleton, std::span<Transform> pose, std::span<const Index> chain,
                   const Vec3& target, const ChainIkSettings& settings) {
  ChainState state;
  double length = 0;
  for (const Index joint : chain) {
    state.points.push_back(place(skeleton, pose, joint));
    if (state.points.size() > 1) length += (state.points.back() - state.points[state.points.size() - 2]).norm();
  }
  state.turned.resize(chain.size(), Quat::Identity());
  if (chain.size() < 2 || !target.allFinite()) return 0;
  // What is out of reach is reached for, with a chain not quite straight: there the steps would lose their way.
  const Vec3 away = target - state.points[0];
  const Vec3 goal = away.norm() > 0.999 * length ? Vec3(state.points[0] + 0.999 * length * away.normalized()) : target;
  const auto left = [&] { return (state.points.back() - goal).norm(); };
  if (left() > settings.tolerance * length) bend_if_straight(state, goal);
  for (int round = 0; round < settings.max_rounds && left() > settings.tolerance * length; ++round) {
    const double before = left();
    step_towards(state, goal, length, settings.stiffness);
    if (std::abs(before - left()) < 1e-9 * length) break;  // stiff joints keep it from getting nearer
  }
  // From the tip upwards, so that each joint's parent still stands as it did.
  for (std::size_t j = chain.size() - 1; j-- > 0;) {
    const Quat above = j == 0 ? Quat::Identity() : state.turned[j - 1];
    rotate_in_world(skeleton, pose, chain[j], above.conjugate() * state.turned[j]);
  }
  return (state.points.back() - target).norm();
}

namespace {

/// Evenly between the goal's times and at each of them, so that no target is cut short.
std::vector<double> frame_times(std::span<const double> goal, double frames_per_second) {
  std::vector<double> times{goal.front()};
  for (std::size_t k = 1; k < goal.size(); ++k) {
    const double span = goal[k] - goal[k - 1];
    const auto frames = static_cast<int>(std::ceil(span * frames_per_second - 1e-9));
    for (int frame = 1; frame < frames; ++frame) times.push_back(goal[k - 1] + span * frame / frames);
    if (frames > 0) times.push_back(goal[k]);
  }
  return times;
}

}  // namespace

Result<Clip> make_ik_clip(const Skeleton& skeleton, const Clip* base, const IkGoal& goal, double frames_per_second,
                          std::string name) {
  const std::vector<Index> chain = joint_chain(skeleton, goal.root, goal.tip);
  if (chain.size() < 2)
    return input_error("Clip '" + name + "': the tip of the chain doesn't hang on its root; name joints of one limb.");
  if (goal.times.empty() || goal.times.size() != goal.targets.size() || !(frames_per_second > 0) ||
      !std::is_sorted(goal.times.begin(), goal.times.end()))
    return input_error("Clip '" + name + "': the target needs a point for each time, in order, and a frame rate.");
  Channel path{0, ChannelTarget::translation, Interpolation::linear, 3, goal.times, {}};
  for (const Vec3& x : goal.targets) path.values.insert(path.values.end(), x.data(), x.data() + 3);
  Clip clip{std::move(name), goal.times.back(), {}};
  for (std::size_t k = 0; k + 1 < chain.size(); ++k)
    clip.channels.push_back({chain[k], ChannelTarget::rotation, Interpolation::linear, 4, {}, {}});
  for (const double time : frame_times(goal.times, frames_per_second)) {
    Pose pose = rest_pose(skeleton);
    if (base) sample_clip(*base, time, ClipWrap::hold, pose);
    Vec3 target;
    sample_channel(path, time, {target.data(), 3});
    if (chain.size() == 3 && goal.stiffness.empty()) {
      solve_two_bones(skeleton, pose, chain[0], chain[1], chain[2], target, goal.pole);
    } else {
      solve_chain(skeleton, pose, chain, target, {.stiffness = goal.stiffness});
    }
    for (Channel& channel : clip.channels) {
      const Quat& q = pose[to_size(channel.joint)].rotation;
      channel.times.push_back(time);
      channel.values.insert(channel.values.end(), q.coeffs().data(), q.coeffs().data() + 4);
    }
  }
  return clip;
}

}  // namespace supple
