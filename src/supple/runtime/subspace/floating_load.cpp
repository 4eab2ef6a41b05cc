// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/subspace/floating_load.h"

#include "supple/base/assert.h"

namespace supple {

FloatingLoad FloatingLoad::zero(int size) { return {Vec3::Zero(), FrameMoments::Zero(9, size + 1)}; }

void FloatingLoad::set_zero() {
  force.setZero();
  moments.setZero();
}

void FloatingLoad::add(const FloatingLoad& other) {
  SUPPLE_ASSERT(moments.cols() == other.moments.cols());
  force += other.force;
  moments += other.moments;
}

Mat3 FloatingLoad::first_moment(const VecX& q) const {
  Eigen::Matrix<double, 9, 1> sum = moments.col(0);
  sum.noalias() += moments.rightCols(q.size()) * q;
  return sum.reshaped(3, 3);
}

void FloatingLoad::add_generalised(const Mat3& turn, const VecX& q, VecX& generalised) const {
  // y × turnᵀf = axl(y fᵀ turn)
  const Mat3 arms = first_moment(q).transpose() * turn;
  const Eigen::Map<const Eigen::Matrix<double, 9, 1>> axes(turn.data());
  generalised.head<3>() += turn.transpose() * force;
  generalised.segment<3>(3) += axial(arms);
  generalised.tail(q.size()).noalias() += moments.rightCols(q.size()).transpose() * axes;
}

FloatingLoad reduce_load(const SubspaceModel& model, const VecX& forces) {
  SUPPLE_ASSERT(forces.size() == 3 * static_cast<Eigen::Index>(model.vertex_count()));
  FloatingLoad load = FloatingLoad::zero(static_cast<int>(model.size()));
  for (Index v = 0; v < model.vertex_count(); ++v) {
    const Vec3 f = forces.segment<3>(3 * v);
    if (f.isZero(0)) continue;
    load.force += f;
    load.moments.col(0) += (f * model.rest_positions[to_size(v)].transpose()).reshaped();
    for (Index a = 0; a < model.size(); ++a)
      load.moments.col(a + 1) += (f * model.basis.block<3, 1>(3 * v, a).transpose()).reshaped();
  }
  return load;
}

}  // namespace supple
