// SPDX-License-Identifier: Apache-2.0
#include "supple/export/stretched_motion.h"

#include <Eigen/Geometry>

#include <cmath>

namespace supple {
namespace {

constexpr double orthogonal = 1e-5;  // cosine of two columns; less isn't seen, and not worth a turn

/// Turns two columns of B, and V with them, until they are orthogonal.
bool orthogonalize(Mat3& B, Mat3& V, int p, int q) {
  const double a = B.col(p).squaredNorm(), b = B.col(q).squaredNorm(), between = B.col(p).dot(B.col(q));
  if (std::abs(between) <= orthogonal * std::sqrt(a * b)) return false;
  const double zeta = (b - a) / (2 * between);
  const double tangent = (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
  const double cosine = 1 / std::sqrt(1 + tangent * tangent), sine = cosine * tangent;
  for (Mat3* M : {&B, &V}) {
    const Vec3 old = M->col(p);
    M->col(p) = cosine * old - sine * M->col(q);
    M->col(q) = sine * old + cosine * M->col(q);
  }
  return true;
}

}  // namespace

StretchedMotion stretched_motion(const Eigen::Matrix<double, 3, 4>& motion, const Quat& last) {
  constexpr int most_rounds = 20;
  Mat3 V = last.toRotationMatrix().transpose();
  Mat3 B = motion.leftCols<3>() * V;
  for (int round = 0; round < most_rounds; ++round) {
    bool turned = false;
    for (const auto& [p, q] : {std::pair{0, 1}, std::pair{0, 2}, std::pair{1, 2}})
      turned = orthogonalize(B, V, p, q) || turned;
    if (!turned) break;
  }
  StretchedMotion result;
  result.outer.translation = motion.col(3);
  result.outer.scale = B.colwise().norm().transpose();
  int least = 0;
  result.outer.scale.minCoeff(&least);
  const int next = (least + 1) % 3, last_one = (least + 2) % 3;
  Mat3 R;
  R.col(next) = B.col(next).normalized();
  R.col(last_one) = (B.col(last_one) - R.col(next).dot(B.col(last_one)) * R.col(next)).normalized();
  R.col(least) = R.col(next).cross(R.col(last_one));
  if (R.col(least).dot(B.col(least)) < 0) result.outer.scale[least] *= -1;
  result.outer.rotation = Quat(R).normalized();
  result.turn = Quat(Mat3(V.transpose())).normalized();
  return result;
}

}  // namespace supple
