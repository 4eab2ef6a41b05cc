// SPDX-License-Identifier: Apache-2.0
// Springs that push out what has entered something (2014 paper, section 3, Eq. 2): the penalty
//   ½ k (nᵀ Σ_j w_j x_j − o)²   over up to four vertices
// for a vertex against a point of the skin (w = 1, −β₁, −β₂, −β₃, so that both sides feel equal and opposite forces) or
// against something outside (w = 1, o = nᵀ x_target). They act along the normal of what was entered, and skin slides
// freely but for friction (Coulomb), in displacements, that is forces over k: where r = Σ w_j x_j has come from r₀,
//   τ = h − (1 − n nᵀ) (r − r₀),   shortened to |τ| ≤ g = μ λ,
// pulls it back. λ is what the spring has learnt to push with and h what it has learnt to hold with, so that in the end
// r stays at r₀ as long as that takes less than g, and slides against g else. With λ and h as the last search left
// them this is the gradient of a convex energy.
#pragma once

#include "supple/base/types.h"

#include <algorithm>
#include <array>
#include <vector>

namespace supple {

struct ContactSpring {
  std::array<Index, 4> vertex{-1, -1, -1, -1};  ///< −1: none
  std::array<double, 4> weight{};
  Vec3 normal = Vec3::Zero();  ///< away from what was entered
  double offset = 0;
  double stiffness = 0;       ///< [N/m]
  double lead = 0;            ///< the force that it has learnt to push with, over the stiffness [m]
  double friction = 0;        ///< μ
  Vec3 start = Vec3::Zero();  ///< r₀
  Vec3 hold = Vec3::Zero();   ///< h
  double grip = 0;            ///< g
  // As the last time that it was asked what it resists:
  double pushes = 1;           ///< 0: not compressed
  double grips = 0;            ///< across the direction in which it slides
  Vec3 slides = Vec3::Zero();  ///< zero: it sticks
  double share = 1;            ///< how much of its contact it is: the rest is the same contact in earlier searches
  std::int64_t key = -1;       ///< which contact this is, from search to search
  bool kept = false;           ///< searches don't find it again
  Index place = -1;            ///< where it touches, in the numbers of whoever found it

  /// How far along the normal: negative where it is inside.
  double gap(const VecX& x) const { return along(x) - offset; }
  /// How much the spring is compressed, as a negative number.
  double strain(const VecX& x) const { return gap(x) - lead; }
  Vec3 relative(const VecX& x) const {
    Vec3 sum = Vec3::Zero();
    for (std::size_t k = 0; k < 4; ++k)
      if (vertex[k] >= 0) sum += weight[k] * x.segment<3>(3 * Eigen::Index{vertex[k]});
    return sum;
  }
  /// The same of a direction in which vertices below `end` alone move: entries of others may hold anything.
  Vec3 relative_motion(const VecX& x, Index end) const {
    Vec3 sum = Vec3::Zero();
    for (std::size_t k = 0; k < 4; ++k)
      if (vertex[k] >= 0 && vertex[k] < end) sum += weight[k] * x.segment<3>(3 * Eigen::Index{vertex[k]});
    return sum;
  }
  Vec3 across(const Vec3& v) const { return v - normal.dot(v) * normal; }
  /// τ before it is shortened.
  Vec3 wanted_pull(const VecX& x) const { return across(hold - (relative(x) - start)); }
  Vec3 shortened(const Vec3& wanted) const {
    const double length = wanted.norm();
    return length > grip ? Vec3(grip / length * wanted) : wanted;
  }
  /// Takes note of how force changes with r, a positive semidefinite matrix.
  void note_resistance(const VecX& x) {
    pushes = strain(x) < 0 ? 1 : 0;
    grips = 0;
    slides.setZero();
    if (!(grip > 0)) return;
    const Vec3 wanted = wanted_pull(x);
    const double length = wanted.norm();
    grips = length > grip ? grip / length : 1;
    if (length > grip) slides = wanted / length;
  }
  Mat3 resistance() const {
    Mat3 result = pushes * normal * normal.transpose();
    if (grips > 0) result += grips * (Mat3::Identity() - normal * normal.transpose() - slides * slides.transpose());
    return stiffness * result;
  }
  double along(const VecX& x) const {
    double sum = 0;
    for (std::size_t k = 0; k < 4; ++k)
      if (vertex[k] >= 0) sum += weight[k] * normal.dot(x.segment<3>(3 * Eigen::Index{vertex[k]}));
    return sum;
  }
  /// f += wᵀ force, for vertices below `end` only.
  void add_vector(const Vec3& force, Index end, VecX& f) const {
    for (std::size_t k = 0; k < 4; ++k)
      if (vertex[k] >= 0 && vertex[k] < end) f.segment<3>(3 * Eigen::Index{vertex[k]}) += weight[k] * force;
  }
  /// f −= factor · wᵀ n, for vertices below `end` only: the others are held.
  void add_force(double factor, Index end, VecX& f) const {
    for (std::size_t k = 0; k < 4; ++k)
      if (vertex[k] >= 0 && vertex[k] < end) f.segment<3>(3 * Eigen::Index{vertex[k]}) -= factor * weight[k] * normal;
  }
};

/// Whatever flesh may run into.
class ContactSource {
 public:
  virtual ~ContactSource() = default;
  /// Overwrites `springs`, which are those of the last search or none, with those of what is inside something at
  /// positions x, or may soon be. A spring pushes only while its gap is negative.
  virtual void find(const VecX& x, std::vector<ContactSpring>& springs) = 0;
  /// From now on friction holds skin where it is at positions x, which are those of the last frame; empty: nothing is
  /// held.
  virtual void slide_from(const VecX& /*x*/) {}
  /// Springs of what searches pass over although it is deeper than `depth` inside something, each towards the nearest
  /// way out.
  virtual std::vector<ContactSpring> find_buried(const VecX& /*x*/, double /*depth*/) { return {}; }
  /// How deep anything is inside something, whether a search finds it or not [m].
  virtual double deepest(const VecX& x) {
    std::vector<ContactSpring> springs;
    find(x, springs);
    double depth = 0;
    for (const ContactSpring& spring : springs) depth = std::max(depth, -spring.gap(x));
    return depth;
  }
};

}  // namespace supple
