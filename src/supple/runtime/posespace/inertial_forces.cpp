// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/inertial_forces.h"

#include "supple/runtime/posespace/lanes.h"

#include <algorithm>

namespace supple {

template <class T>
InertialForces<T>::InertialForces(std::shared_ptr<const PreparedModel<T>> prepared, double time_step, bool newmark)
    : prepared_(std::move(prepared)), h_(time_step), newmark_(newmark) {
  const PoseSpaceModel& model = *prepared_->model;
  std::size_t count = 0, widest = 0;
  for (std::size_t b = 0; b < model.inertia.size(); ++b) {
    const PoseMatrices<T>& basis = prepared_->inertia[b].basis;
    Block block;
    block.model = &model.inertia[b];
    block.first = count;
    if (prepared_->poses > 1) block.blended.assign(basis.rows * basis.stride, T(0));
    blocks_.push_back(std::move(block));
    count += model.inertia[b].points.size();
    widest = std::max(widest, basis.stride);
  }
  rest_.resize(count);
  rotations_.assign(count, Mat3::Identity());
  last_.resize(count);
  before_last_.resize(count);
  accelerations_.resize(count);
  for (auto* values : {&q_, &past_q_, &doubled_q_}) values->assign(static_cast<std::size_t>(prepared_->stride), T(0));
  for (auto* values : {&own_, &own_past_, &own_force_}) values->assign(widest, T(0));
  scratch_.assign(widest * prepared_->poses, T(0));
}

template <class T>
void InertialForces<T>::set_pose(const PoseInterpolation<T>& pose, const FrameField<T>& frames,
                                 std::span<const Vec3> positions) {
  const bool rotating = prepared_->model->directions == BasisDirections::rotating;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    Block& block = blocks_[b];
    const PreparedVertices<T>& vertices = prepared_->inertia[b];
    if (pose.constant()) {
      block.U = vertices.basis.pose(0);
    } else {
      pose.blend(vertices.basis, vertices.columns, scratch_.data(), block.blended.data());
      block.U = block.blended.data();
    }
    for (std::size_t v = 0; v < block.model->points.size(); ++v) {
      rest_[block.first + v] = positions[static_cast<std::size_t>(block.model->points[v])];
      if (rotating) rotations_[block.first + v] = frames.blend(block.model->vertices.frames[v]).template cast<double>();
    }
  }
}

template <class T>
void InertialForces<T>::gather(std::size_t block, const std::vector<T>& all, std::vector<T>& own) const {
  std::fill(own.begin(), own.end(), T(0));
  prepared_->inertia[block].columns.gather(all.data(), own.data());
}

template <class T>
Vec3 InertialForces<T>::basis_times(std::size_t block, std::size_t local, const std::vector<T>& x) const {
  const int stride = prepared_->inertia[block].columns.stride;
  const T* rows = blocks_[block].U + 3 * local * static_cast<std::size_t>(stride);
  return {dot(rows, x.data(), stride), dot(rows + stride, x.data(), stride), dot(rows + 2 * stride, x.data(), stride)};
}

/// At the end of the step, from the difference of the last three moments.
template <class T>
Vec3 InertialForces<T>::acceleration(std::size_t k, const Vec3& difference) {
  const Vec3 a = difference / (h_ * h_);
  const Vec3 before = accelerations_[k];
  accelerations_[k] = a;
  return known_ < 3 || !newmark_ ? a : continued_acceleration(a, before);
}

template <class T>
void InertialForces<T>::add_force(const RigidTransform& placement, const SoftForces& forces, T* f) {
  const Mat3 W = placement.rotation.toRotationMatrix();
  const Vec3 moved = placement.translation - last_translation_;
  const Vec3 shift = moved - last_translation_ + before_last_translation_;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    gather(b, doubled_q_, own_);
    gather(b, past_q_, own_past_);
    std::fill(own_force_.begin(), own_force_.end(), T(0));
    const int stride = prepared_->inertia[b].columns.stride;
    for (std::size_t v = 0; v < blocks_[b].model->points.size(); ++v) {
      const std::size_t k = blocks_[b].first + v;
      const Mat3 B = W * rotations_[k];
      const Vec3 rest = W * rest_[k];
      Vec3 a = -forces.gravity;
      if (known_ >= 2) {
        const Vec3 carried = B * (basis_times(b, v, own_) - basis_times(b, v, own_past_));
        a += acceleration(k, rest - 2 * last_[k].rest + before_last_[k].rest + shift + carried - last_[k].doubled +
                                 before_last_[k].displacement);
      }
      if (forces.drag > 0 && known_ >= 1) a += forces.drag * ((rest - last_[k].rest + moved) / h_ - forces.wind);
      const Vec3 local = B.transpose() * a * -blocks_[b].model->weights[static_cast<Eigen::Index>(v)];
      const T x = static_cast<T>(local[0]), y = static_cast<T>(local[1]), z = static_cast<T>(local[2]);
      const T* rows = blocks_[b].U + 3 * v * static_cast<std::size_t>(stride);
      for (int c = 0; c < stride; ++c)
        own_force_[static_cast<std::size_t>(c)] += rows[c] * x + rows[stride + c] * y + rows[2 * stride + c] * z;
    }
    prepared_->inertia[b].columns.scatter_add(own_force_.data(), f);
  }
}

template <class T>
void InertialForces<T>::remember(const RigidTransform& placement, const T* q, const T* acceleration) {
  std::swap(last_, before_last_);
  before_last_translation_ = last_translation_;
  last_translation_ = placement.translation;
  std::swap(past_q_, q_);
  const T ahead = newmark_ ? static_cast<T>(h_ * h_) : T(0);
  for (std::size_t c = 0; c < q_.size(); ++c) {
    q_[c] = q[c];
    doubled_q_[c] = T(2) * q[c] + ahead * acceleration[c];
  }
  const Mat3 W = placement.rotation.toRotationMatrix();
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    gather(b, q_, own_);
    gather(b, doubled_q_, own_past_);
    for (std::size_t v = 0; v < blocks_[b].model->points.size(); ++v) {
      Motion& motion = last_[blocks_[b].first + v];
      motion.rest = W * rest_[blocks_[b].first + v];
      motion.rotation = W * rotations_[blocks_[b].first + v];
      motion.displacement = motion.rotation * basis_times(b, v, own_);
      motion.doubled = motion.rotation * basis_times(b, v, own_past_);
    }
  }
  known_ = std::min(known_ + 1, 3);
}

template <class T>
void InertialForces<T>::restate(const T* q, const T* velocity) {
  for (std::size_t c = 0; c < q_.size(); ++c) {
    q_[c] = q[c];
    past_q_[c] = q[c] - static_cast<T>(h_) * velocity[c];
    doubled_q_[c] = T(2) * q[c];
  }
  if (known_ == 0) return;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    gather(b, q_, own_);
    gather(b, past_q_, own_past_);
    for (std::size_t v = 0; v < blocks_[b].model->points.size(); ++v) {
      const std::size_t k = blocks_[b].first + v;
      last_[k].displacement = last_[k].rotation * basis_times(b, v, own_);
      last_[k].doubled = 2 * last_[k].displacement;
      before_last_[k].displacement = before_last_[k].rotation * basis_times(b, v, own_past_);
    }
  }
}

template class InertialForces<float>;
template class InertialForces<double>;

}  // namespace supple
