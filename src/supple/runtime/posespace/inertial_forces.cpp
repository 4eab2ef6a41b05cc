// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/inertial_forces.h"

#include "supple/math/simd/lanes.h"

#include <algorithm>

namespace supple {

template <class T>
InertialForces<T>::InertialForces(std::shared_ptr<const PreparedModel<T>> prepared, double time_step, bool newmark)
    : prepared_(std::move(prepared)), h_(time_step), newmark_(newmark) {
  const PoseSpaceModel& model = *prepared_->model;
  std::size_t count = 0, widest = 0, most_points = 0;
  for (std::size_t b = 0; b < model.inertia.size(); ++b) {
    const PoseMatrices<T>& basis = prepared_->inertia[b].basis;
    Block block;
    block.model = &model.inertia[b];
    block.first = count;
    if (prepared_->poses > 1) block.blended.assign(basis.rows * basis.stride, T(0));
    find_block_runs(KeptColumns(prepared_->size, PreparedModel<T>::width), prepared_->inertia[b].columns.place,
                    PreparedModel<T>::width, block.runs);
    const std::span<const FrameBlend> frames(model.inertia[b].vertices.frames);
    for (std::size_t v = 0; v < frames.size(); v += PosedTets<T>::width) block.frames.emplace_back(frames.subspan(v));
    blocks_.push_back(std::move(block));
    most_points = std::max(most_points, model.inertia[b].points.size());
    count += model.inertia[b].points.size();
    widest = std::max(widest, basis.stride);
  }
  rest_.resize(count);
  rotations_.assign(count, Mat3::Identity());
  last_.resize(count);
  before_last_.resize(count);
  driven_.resize(count);
  carried_.resize(count);
  points_.resize(count);
  moments_.resize(count);
  ends_.resize(count);
  paths_.resize(count);
  pushes_.resize(3 * most_points);
  for (auto* values : {&q_, &past_q_, &doubled_q_}) values->assign(to_size(prepared_->stride), T(0));
  for (auto* values : {&own_, &own_past_, &own_force_}) values->assign(widest, T(0));
  scratch_.assign(widest * prepared_->poses, T(0));
}

template <class T>
void InertialForces<T>::keep(const KeptColumns& columns) {
  for (std::size_t b = 0; b < blocks_.size(); ++b)
    find_block_runs(columns, prepared_->inertia[b].columns.place, PreparedModel<T>::width, blocks_[b].runs);
}

template <class T>
void InertialForces<T>::set_pose(const PoseInterpolation<T>& pose, const FrameField<T>& frames,
                                 std::span<const Vec3> positions) {
  const bool rotating = prepared_->model->directions == BasisDirections::rotating;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    Block& block = blocks_[b];
    const PreparedVertices<T>& vertices = prepared_->inertia[b];
    if (pose.constant()) {
      block.U = vertices.basis.values.data();
    } else {
      pose.blend(vertices.basis, vertices.columns, block.runs, scratch_.data(), block.blended.data());
      block.U = block.blended.data();
    }
    for (std::size_t v = 0; v < block.model->points.size(); ++v)
      rest_[block.first + v] = positions[to_size(block.model->points[v])];
    if (rotating) find_rotations(block, frames);
  }
}

template <class T>
void InertialForces<T>::find_rotations(const Block& block, const FrameField<T>& frames) {
  constexpr std::size_t width = PosedTets<T>::width;
  const std::size_t count = block.model->points.size();
  for (std::size_t begin = 0; begin < count; begin += width) {
    std::array<std::array<T, width>, 9> numbers;
    const auto lanes = frames.rotations(block.frames[begin / width]);
    for (std::size_t n = 0; n < 9; ++n) store(numbers[n].data(), lanes[n]);
    for (std::size_t lane = 0; lane < std::min(width, count - begin); ++lane)
      for (std::size_t n = 0; n < 9; ++n)
        rotations_[block.first + begin + lane].data()[n] = static_cast<double>(numbers[n][lane]);
  }
}

template <class T>
void InertialForces<T>::gather(std::size_t block, const std::vector<T>& all, std::vector<T>& own) const {
  std::fill(own.begin(), own.end(), T(0));
  prepared_->inertia[block].columns.gather(all.data(), own.data());
}

template <class T>
Vec3 InertialForces<T>::basis_times(std::size_t block, std::size_t local, const std::vector<T>& x) const {
  const auto stride = to_size(prepared_->inertia[block].columns.stride);
  const T* rows = blocks_[block].U + 3 * local * stride;
  std::array<LanesOf<T>, 4> sums;
  sums.fill(LanesOf<T>(T(0)));
  for (const ColumnRun& run : blocks_[block].runs) {
    for (auto c = to_size(run.begin); c < to_size(run.end); c += LanesOf<T>::width) {
      const LanesOf<T> factor = load(x.data() + c);
      for (std::size_t i = 0; i < 3; ++i) sums[i] += load(rows + i * stride + c) * factor;
    }
  }
  const Quad<T> result = sums_of(sums);
  return Vec3(result[0], result[1], result[2]);
}

template <class T>
std::pair<Vec3, Vec3> InertialForces<T>::basis_times(std::size_t block, std::size_t local, const std::vector<T>& x,
                                                     const std::vector<T>& y) const {
  const auto stride = to_size(prepared_->inertia[block].columns.stride);
  const T* rows = blocks_[block].U + 3 * local * stride;
  std::array<LanesOf<T>, 4> sums, others;
  sums.fill(LanesOf<T>(T(0)));
  others.fill(LanesOf<T>(T(0)));
  for (const ColumnRun& run : blocks_[block].runs) {
    for (auto c = to_size(run.begin); c < to_size(run.end); c += LanesOf<T>::width) {
      const LanesOf<T> factor = load(x.data() + c), other = load(y.data() + c);
      for (std::size_t i = 0; i < 3; ++i) {
        const LanesOf<T> row = load(rows + i * stride + c);
        sums[i] += row * factor;
        others[i] += row * other;
      }
    }
  }
  const Quad<T> first = sums_of(sums), second = sums_of(others);
  return {Vec3(first[0], first[1], first[2]), Vec3(second[0], second[1], second[2])};
}

/// own_force_ ← Uᵀ of the vertices' own: a column of it stays in a register while all vertices add to it.
template <class T>
void InertialForces<T>::gather_pushes(std::size_t block) {
  const auto stride = to_size(prepared_->inertia[block].columns.stride);
  const std::size_t count = blocks_[block].model->points.size();
  for (const ColumnRun& run : blocks_[block].runs) {
    for (auto c = to_size(run.begin); c < to_size(run.end); c += LanesOf<T>::width) {
      std::array<LanesOf<T>, 3> sums;
      sums.fill(LanesOf<T>(T(0)));
      const T* row = blocks_[block].U + c;
      for (std::size_t v = 0; v < count; ++v)
        for (std::size_t i = 0; i < 3; ++i, row += stride) sums[i] += load(row) * LanesOf<T>(pushes_[3 * v + i]);
      store(own_force_.data() + c, sums[0] + sums[1] + sums[2]);
    }
  }
}

template <class T>
Vec3 InertialForces<T>::acceleration(std::size_t k, const Vec3& rest, const Vec3& carried) {
  const bool first = known_ < 3;
  Vec3 a = rest / (h_ * h_), with_it = carried / (h_ * h_);
  if (newmark_) {
    a = driven_[k].follow(a, first);
    with_it = carried_[k].follow(with_it, first);
  }
  return drive(a, points_[k], first) + with_it;
}

template <class T>
void InertialForces<T>::begin_frame(const RigidTransform& placement, int substeps) {
  substeps_ = substeps;
  end_translation_ = placement.translation;
  const Mat3 W = placement.rotation.toRotationMatrix();
  for (std::size_t k = 0; k < ends_.size(); ++k) ends_[k] = {W * rest_[k], Vec3::Zero(), W * rotations_[k]};
  held_ = known_ == 0;
  if (substeps_ > 1 && !held_) find_paths();
}

template <class T>
Vec3 InertialForces<T>::hand_over(std::size_t block, std::size_t local, Motion& last, Motion& before_last) {
  const Vec3 displacement = last.rotation * basis_times(block, local, own_);
  const Vec3 changed = last.displacement - displacement;
  last.handed += changed;
  last.displacement = displacement;
  last.doubled = last.rotation * basis_times(block, local, own_force_);
  if (known_ < 2) return Vec3::Zero();
  const Vec3 earlier = before_last.rotation * basis_times(block, local, own_past_);
  const Vec3 changed_earlier = before_last.displacement - earlier;
  before_last.handed += changed_earlier;
  before_last.displacement = earlier;
  return changed - changed_earlier;
}

template <class T>
void InertialForces<T>::find_paths() {
  const double length = substeps_ * h_, last_length = last_substeps_ * h_;
  if (known_ == 1)
    translation_path_.go_straight(last_translation_, end_translation_, length);
  else if (last_substeps_ > 1)
    translation_path_.go_on(last_translation_, end_translation_, Vec3::Zero(), length, last_length);
  else
    translation_path_.start_after(before_last_translation_, last_translation_, end_translation_, length, last_length);
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    gather(b, q_, own_);
    gather(b, past_q_, own_past_);
    gather(b, doubled_q_, own_force_);
    for (std::size_t v = 0; v < blocks_[b].model->points.size(); ++v) {
      const std::size_t k = blocks_[b].first + v;
      Vec3 pull = Vec3::Zero();
      if (prepared_->poses > 1) pull = hand_over(b, v, last_[k], before_last_[k]) / h_;
      find_path(k, pull);
    }
  }
}

template <class T>
void InertialForces<T>::find_path(std::size_t k, const Vec3& pull) {
  const double length = substeps_ * h_, last_length = last_substeps_ * h_;
  const bool curved = known_ > 1 && last_substeps_ > 1;
  Path& path = paths_[k];
  // q and −q are one rotation: all are taken on the side of the last.
  const auto near = [](const Mat3& rotation, const Eigen::Vector4d& other) -> Eigen::Vector4d {
    const Eigen::Vector4d q = Quat(rotation).coeffs();
    return q.dot(other) < 0 ? Eigen::Vector4d(-q) : q;
  };
  const Eigen::Vector4d from = curved ? path.rotation.end : Eigen::Vector4d(Quat(last_[k].rotation).coeffs());
  const Eigen::Vector4d to = near(ends_[k].rotation, from);
  if (known_ == 1) {
    path.rest.go_straight(last_[k].rest, ends_[k].rest, length);
    path.handed.go_straight(last_[k].handed, Vec3::Zero(), length);
    path.rotation.go_straight(from, to, length);
  } else if (curved) {
    path.rest.go_on(last_[k].rest, ends_[k].rest, Vec3::Zero(), length, last_length);
    path.handed.go_on(last_[k].handed, Vec3::Zero(), pull, length, last_length);
    path.rotation.go_on(from, to, Eigen::Vector4d::Zero(), length, last_length);
  } else {
    path.rest.start_after(before_last_[k].rest, last_[k].rest, ends_[k].rest, length, last_length);
    path.handed.start_after(before_last_[k].handed, last_[k].handed, Vec3::Zero(), length, last_length);
    path.rotation.start_after(near(before_last_[k].rotation, from), from, to, length, last_length);
  }
}

template <class T>
void InertialForces<T>::begin_substep(int substep) {
  at_end_ = held_ || substep == substeps_;
  if (at_end_) {
    translation_ = end_translation_;
    return;
  }
  const double s = static_cast<double>(substep) / substeps_, length = substeps_ * h_;
  translation_ = translation_path_.at(s, length);
  for (std::size_t k = 0; k < paths_.size(); ++k) {
    const Eigen::Vector4d q = paths_[k].rotation.at(s, length);
    const double norm = q.norm();
    moments_[k].rest = paths_[k].rest.at(s, length);
    moments_[k].handed = paths_[k].handed.at(s, length);
    moments_[k].rotation = norm > 1e-3 ? Quat(Eigen::Vector4d(q / norm)).toRotationMatrix() : ends_[k].rotation;
  }
}

template <class T>
void InertialForces<T>::end_frame() {
  // A frame without motion, however many steps it had, is one place that is known.
  if (held_) known_ = std::min(known_, 1);
  last_substeps_ = held_ ? 1 : substeps_;
}

template <class T>
void InertialForces<T>::add_force(const SoftForces& forces, T* f) {
  const Vec3 moved = translation_ - last_translation_;
  const Vec3 shift = moved - last_translation_ + before_last_translation_;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    gather(b, doubled_q_, own_);
    gather(b, past_q_, own_past_);
    for (std::size_t c = 0; c < own_.size(); ++c) own_[c] -= own_past_[c];
    std::fill(own_force_.begin(), own_force_.end(), T(0));
    for (std::size_t v = 0; v < blocks_[b].model->points.size(); ++v) {
      const std::size_t k = blocks_[b].first + v;
      const Mat3& B = moments()[k].rotation;
      const Vec3& rest = moments()[k].rest;
      Vec3 a = -forces.gravity;
      if (known_ >= 2) {
        const Motion &last = last_[k], &before = before_last_[k];
        a += acceleration(k, rest - 2 * last.rest + before.rest + shift,
                          moments()[k].handed - 2 * last.handed + before.handed + B * basis_times(b, v, own_) -
                              last.doubled + before.displacement);
      }
      if (forces.drag > 0 && known_ >= 1) a += forces.drag * ((rest - last_[k].rest + moved) / h_ - forces.wind);
      const Vec3 local = B.transpose() * a * -blocks_[b].model->weights[static_cast<Eigen::Index>(v)];
      for (std::size_t i = 0; i < 3; ++i) pushes_[3 * v + i] = static_cast<T>(local[static_cast<Eigen::Index>(i)]);
    }
    gather_pushes(b);
    prepared_->inertia[b].columns.scatter_add(own_force_.data(), f);
  }
}

template <class T>
void InertialForces<T>::remember(const T* q, const T* acceleration) {
  std::swap(last_, before_last_);
  before_last_translation_ = last_translation_;
  last_translation_ = translation_;
  std::swap(past_q_, q_);
  const T ahead = newmark_ ? static_cast<T>(h_ * h_) : T(0);
  for (std::size_t c = 0; c < q_.size(); ++c) {
    q_[c] = q[c];
    doubled_q_[c] = T(2) * q[c] + ahead * acceleration[c];
  }
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    gather(b, q_, own_);
    gather(b, doubled_q_, own_past_);
    for (std::size_t v = 0; v < blocks_[b].model->points.size(); ++v) {
      Motion& motion = last_[blocks_[b].first + v];
      motion.rest = moments()[blocks_[b].first + v].rest;
      motion.handed = moments()[blocks_[b].first + v].handed;
      motion.rotation = moments()[blocks_[b].first + v].rotation;
      const auto [displacement, doubled] = basis_times(b, v, own_, own_past_);
      motion.displacement = motion.rotation * displacement;
      motion.doubled = motion.rotation * doubled;
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
