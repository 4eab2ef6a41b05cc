// SPDX-License-Identifier: Apache-2.0
// Inverse kinematics: turn a chain of joints so that its tip reaches a point of the world.
//
//   two bones   by the triangle of their lengths and the distance d to the target,
//               cos α = (a² + d² − b²) / (2 a d); a pole says to which side the middle joint bends
//   a chain     damped least squares: the joints' turns ω_j about the world's axes move the tip by Σ_j ω_j × r_j, so
//               ω_j = f_j r_j × y  with  (Σ_j f_j (|r_j|² I − r_j r_jᵀ) + λ I) y = target − tip,
//               f = 1 − stiffness. Of all ways to get there it takes the one that turns the joints least, so a target
//               that moves smoothly moves the chain smoothly. (C. Wampler, 1986)
#pragma once

#include "supple/base/result.h"
#include "supple/rig/clip.h"
#include "supple/rig/pose.h"

#include <optional>

namespace supple {

/// Joints from `root` down to `tip`; empty where the tip doesn't hang on the root.
std::vector<Index> joint_chain(const Skeleton& skeleton, Index root, Index tip);

/// Turns `root` and `middle` of a limb so that `tip` reaches the target, or points at it where it is too far. `middle`
/// and `tip` hang below `root`, directly or not. Without a pole the limb bends the way it does. Allocates nothing.
void solve_two_bones(const Skeleton& skeleton, std::span<Transform> pose, Index root, Index middle, Index tip,
                     const Vec3& target, const std::optional<Vec3>& pole = {});

struct ChainIkSettings {
  int max_rounds = 200;
  double tolerance = 1e-5;        ///< of the distance to the target, as part of the chain's length
  std::vector<double> stiffness;  ///< per joint from the root, 0 (free) … 1 (doesn't turn); missing ones are 0
};

/// Turns the joints of `chain` (see joint_chain). Returns the distance that is left between tip and target [m].
double solve_chain(const Skeleton& skeleton, std::span<Transform> pose, std::span<const Index> chain,
                   const Vec3& target, const ChainIkSettings& settings = {});

/// A target that moves over time, and the chain that follows it.
struct IkGoal {
  Index root = 0;
  Index tip = 0;
  std::vector<double> times;  ///< [s], strictly ascending
  std::vector<Vec3> targets;  ///< in the world, one per time; straight between them
  std::optional<Vec3> pole;   ///< chains of two bones without stiffness only
  std::vector<double> stiffness;
};

/// A clip of the chain's rotations that follows the target, with a frame at each of its times and at least
/// `frames_per_second` between them. Every frame starts from the base clip (or the rest, where there is none), so a
/// target that comes back brings the pose back.
Result<Clip> make_ik_clip(const Skeleton& skeleton, const Clip* base, const IkGoal& goal, double frames_per_second,
                          std::string name);

}  // namespace supple
