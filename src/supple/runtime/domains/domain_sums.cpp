// SPDX-License-Identifier: Apache-2.0
// Sums over all domains: momenta, energies, inertia of the whole.
#include "supple/runtime/domains/body_terms.h"
#include "supple/runtime/domains/domain_dynamics.h"

#include <Eigen/Geometry>

#include <utility>

namespace supple {

using domains::BodyTerms;
using domains::collect;
using domains::LanePointers;
using domains::LaneVector;

DomainMeasures DomainDynamics::sum_domains(bool with_elastic_energy) {
  at_ = {q_.data(), v_.data(), a_.data(), 0};
  root_at_ = root_;
  move_frames(true);
  const PreparedTree& tree = *tree_;
  DomainMeasures sum;
  Vec3 about_origin = Vec3::Zero(), first = Vec3::Zero();
  Mat3 second = Mat3::Zero();  // inertia about the world's origin
  for (std::size_t index = 0; index < tree.batches.size(); ++index) {
    const DomainBatch& batch = tree.batches[index];
    const DomainGroup& group = tree.groups[to_size(batch.group)];
    const PreparedPart& part = tree.parts[to_size(group.part)];
    const Pack4* constants = tree.lanes.data() + batch.constants;
    const int r = group.r, padded = part.polynomial.padded_pairs();
    Pack4* next = scratch_.data();
    const auto take = [&](int count) { return std::exchange(next, next + count); };
    Pack4 *q = take(r), *q_dot = take(r), *coupling = take(6 * r), *bias = take(r), *stiffness = take(padded),
          *mixed = take(padded), *products = take(padded);
    collect(LanePointers(q_.data(), tree.offset_of, batch.domain).at, r, q);
    collect(LanePointers(v_.data(), tree.offset_of, batch.domain).at, r, q_dot);
    const BodyTerms body = domains::body_terms(part, constants, q, q_dot, stored_frame(batch).w, coupling, bias);
    Pack4 elastic(0.0);
    if (with_elastic_energy)
      elastic = elastic_[index] * (part.cubature.empty() ? part.polynomial.energy(q, stiffness, mixed, products)
                                                         : part.cubature.energy(q));
    Pack4 own(0.0);
    for (int b = 0, p = 0; b < r; ++b)
      for (int a = 0; a <= b; ++a, ++p)
        own += Pack4((a == b ? 0.5 : 1.0) * part.reduced_mass[to_size(p)]) * q_dot[a] * q_dot[b];
    own *= constants[PreparedTree::scale5];
    const LaneVector swirl = twist_of(body.stretch_rate);  // ∫ p × ṗ
    for (int lane = 0; lane < batch.lanes; ++lane) {
      const FrameMotion& f = frames_[to_size(batch.domain[to_size(lane)])];
      const auto vec = [lane](const LaneVector& a) { return Vec3(a.x[lane], a.y[lane], a.z[lane]); };
      const Eigen::Matrix3d R = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(f.R);
      const Vec3 c(f.c[0], f.c[1], f.c[2]), v(f.v[0], f.v[1], f.v[2]), w(f.w[0], f.w[1], f.w[2]);
      const Vec3 mu = vec(body.first), mu_rate = vec(body.first_rate), inner = vec(swirl);
      const double m = body.inertia.force.m[0][lane];
      Mat3 I;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) I(i, j) = body.inertia.torque(i, j)[lane];
      const Vec3 P = m * v + w.cross(mu) + mu_rate, L = mu.cross(v) + I * w + inner;
      sum.mass += m;
      const Vec3 place = m * c + R * mu;
      first += place;
      sum.momentum += R * P;
      about_origin += c.cross(R * P) + R * L;
      // ∫ |x|² − x xᵀ with x = c + R p
      const Vec3 Rmu = R * mu;
      second += R * I * R.transpose() + m * (c.squaredNorm() * Mat3::Identity() - c * c.transpose()) +
                2 * c.dot(Rmu) * Mat3::Identity() - c * Rmu.transpose() - Rmu * c.transpose();
      sum.kinetic_energy +=
          0.5 * m * v.squaredNorm() + v.dot(w.cross(mu) + mu_rate) + 0.5 * w.dot(I * w) + w.dot(inner) + own[lane];
      sum.elastic_energy += elastic[lane];
    }
  }
  if (with_elastic_energy) sum.elastic_energy += closure_energy();
  sum.centre = first / sum.mass;
  sum.angular_momentum = about_origin - sum.centre.cross(sum.momentum);
  sum.inertia = second - sum.mass * (sum.centre.squaredNorm() * Mat3::Identity() - sum.centre * sum.centre.transpose());
  return sum;
}

}  // namespace supple
