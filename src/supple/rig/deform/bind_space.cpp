// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/deform/bind_space.h"

#include "supple/math/dense/svd3.h"

#include <Eigen/LU>

#include <cmath>

namespace supple {
namespace {

constexpr double smallest_share = 0.1;  // of the usual scale, that a singular value counts as

}  // namespace

double mean_scale(const Mat3& B) { return B.norm() / std::sqrt(3.0); }

Vec3 into_bind_space(const Mat3& B, const Vec3& u, double scale) {
  const Mat3 inverse = B.inverse();
  const double least = smallest_share * scale;
  // |B⁻¹|_F ≥ 1/σ_min: if this is small enough, and a number, no singular value is held.
  if (inverse.squaredNorm() * least * least < 1) return inverse * u;
  const Svd3<double> svd = svd3(B);
  Vec3 factor;
  for (int i = 0; i < 3; ++i) {
    const double held = std::max(std::abs(svd.sigma[i]), least);
    factor[i] = held > 0 ? svd.sigma[i] / (held * held) : 0.0;
  }
  return svd.V * factor.cwiseProduct(svd.U.transpose() * u);
}

}  // namespace supple
