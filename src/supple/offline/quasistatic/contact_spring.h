// SPDX-License-Identifier: Apache-2.0
// Springs that push out what has entered something (2014 paper, section 3, Eq. 2): the penalty
//   ½ k (nᵀ Σ_j w_j x_j − o)²   over up to four vertices
// for a vertex against a point of the skin (w = 1, −β₁, −β₂, −β₃, so that both sides feel equal and opposite forces) or
// against something outside (w = 1, o = nᵀ x_target). They act along the normal of what was entered: skin slides
// freely.
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
  double stiffness = 0;   ///< [N/m]
  double lead = 0;        ///< the force that it has learnt to push with, over the stiffness [m]
  double share = 1;       ///< how much of its contact it is: the rest is the same contact in earlier searches
  std::int64_t key = -1;  ///< which contact this is, from search to search
  Index place = -1;       ///< where it touches, in the numbers of whoever found it

  /// How far along the normal: negative where it is inside.
  double gap(const VecX& x) const { return along(x) - offset; }
  /// How much the spring is compressed, as a negative number.
  double strain(const VecX& x) const { return gap(x) - lead; }
  double along(const VecX& x) const {
    double sum = 0;
    for (std::size_t k = 0; k < 4; ++k)
      if (vertex[k] >= 0) sum += weight[k] * normal.dot(x.segment<3>(3 * Eigen::Index{vertex[k]}));
    return sum;
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
