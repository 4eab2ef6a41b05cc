// SPDX-License-Identifier: Apache-2.0
// Generalized winding numbers of a triangle soup, quickly (Jacobson et al. 2013; Barill et al. 2018).
//
//   w(q) = Σ_t Ω_t(q) / 4π      Ω_t: the signed solid angle under which q sees triangle t
//
// For a closed outward surface w is 1 inside and 0 outside; overlaps add up, holes let it fade smoothly, and w >= 1/2
// is a good answer to "inside?" for any soup. Far from a cluster of triangles around p, with r = p - q, its share is
// expanded in a Taylor series of the dipole field:
//
//   N · r / (4π |r|³)  +  M : (I / |r|³ - 3 r rᵀ / |r|⁵) / 4π,    N = Σ A_t n_t,   M = Σ A_t (c_t - p) n_tᵀ
//
// which is used for clusters seen from farther than `accuracy` times their radius; near ones are summed exactly. The
// solid angle of a triangle is twice the argument of a complex number, so the sum over the near ones is twice that of
// their product, with a count of the turns: one arctangent serves them all.
#pragma once

#include "supple/mesh/triangle_tree.h"

namespace supple {

/// Signed solid angle of triangle abc seen from q, in (-2π, 2π] (van Oosterom and Strackee 1983); positive from behind,
/// the side from which abc runs clockwise.
double solid_angle(const Vec3& q, const Vec3& a, const Vec3& b, const Vec3& c);

class WindingNumber {
 public:
  /// The tree must outlive this. With `accuracy` 2.3 errors stay below 0.05, with 6 below 0.01.
  explicit WindingNumber(const TriangleTree& tree, double accuracy = 2.3);

  double operator()(const Vec3& q) const;

 private:
  struct Cluster {
    Vec3 center, dipole;
    double reach2;                ///< squared distance from which the expansion serves
    double trace;                 ///< of the moment
    Vec3 diagonal, off_diagonal;  ///< of its symmetric part, which is all that counts; yz, zx, xy twice
  };
  void expand(std::size_t node, double accuracy);

  const TriangleTree* tree_;
  std::vector<Cluster> clusters_;
};

}  // namespace supple
