// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/cubature_forces.h"

#include "supple/fem/material_models.h"
#include "supple/runtime/posespace/lanes.h"

#include <algorithm>

namespace supple {
namespace {

/// D x for the elements of a batch.
template <class Lanes, class T>
Eigen::Matrix<Lanes, 3, 3> times(const Lanes* D, const std::vector<T>& x, const std::vector<ColumnRun>& runs) {
  Lanes sums[9];
  for (Lanes& sum : sums) sum = Lanes(T(0));
  for (const ColumnRun& run : runs) {
    for (auto c = static_cast<std::size_t>(run.begin); c < static_cast<std::size_t>(run.end); ++c) {
      const Lanes factor(x[c]);
      for (std::size_t k = 0; k < 9; ++k) sums[k] += D[9 * c + k] * factor;
    }
  }
  Eigen::Matrix<Lanes, 3, 3> result;
  std::copy(sums, sums + 9, result.data());
  return result;
}

/// sums += Dᵀ s, lane by lane.
template <class Lanes>
void add_transposed(const Lanes* D, const Lanes* s, const std::vector<ColumnRun>& runs, Lanes* sums) {
  Lanes own[9];
  std::copy(s, s + 9, own);
  for (const ColumnRun& run : runs) {
    for (int c = run.begin; c < run.end; ++c) {
      const Lanes* d = D + 9 * c;
      const Lanes first = d[0] * own[0] + d[1] * own[1] + d[2] * own[2];
      const Lanes second = d[3] * own[3] + d[4] * own[4] + d[5] * own[5];
      const Lanes third = d[6] * own[6] + d[7] * own[7] + d[8] * own[8];
      sums[c] += first + second + third;
    }
  }
}

/// H x for nine numbers.
template <class Lanes>
void times(const Eigen::Matrix<Lanes, 9, 9>& H, const Lanes* x, Lanes* y) {
  for (int m = 0; m < 9; ++m) y[m] = H(m, 0) * x[0];
  for (int n = 1; n < 9; ++n)
    for (int m = 0; m < 9; ++m) y[m] += H(m, n) * x[n];
}

/// J ← (B ⊗ 1) J (Bᵀ ⊗ 1): columns, then rows.
template <class L>
void through_rest(const Eigen::Matrix<L, 3, 3>& B, Eigen::Matrix<L, 9, 9>& J) {
  const auto mixed = [&](const L(&x)[3], int j) { return x[0] * B(j, 0) + x[1] * B(j, 1) + x[2] * B(j, 2); };
  for (int m = 0; m < 9; ++m) {
    for (int i = 0; i < 3; ++i) {
      const L x[3] = {J(m, i), J(m, 3 + i), J(m, 6 + i)};
      for (int j = 0; j < 3; ++j) J(m, 3 * j + i) = mixed(x, j);
    }
  }
  for (int n = 0; n < 9; ++n) {
    for (int i = 0; i < 3; ++i) {
      const L x[3] = {J(i, n), J(3 + i, n), J(6 + i, n)};
      for (int j = 0; j < 3; ++j) J(3 * j + i, n) = mixed(x, j);
    }
  }
}

}  // namespace

template <class T>
CubatureForces<T>::CubatureForces(std::shared_ptr<const PreparedModel<T>> prepared)
    : prepared_(std::move(prepared)), pose_(prepared_) {
  const PreparedModel<T>& model = *prepared_;
  std::size_t widest = 0;
  for (const PreparedElements<T>& elements : model.elements) {
    const std::size_t batches = elements.tets.batch_count();
    Block block;
    block.weight.assign(batches, Lanes(T(0)));
    block.mu.assign(batches, Lanes(T(1)));
    block.lambda.assign(batches, Lanes(T(1)));
    block.B.assign(batches, LaneMatrix::Identity());
    if (model.poses > 1) block.blended.assign(batches * elements.batch_size(), Lanes(T(0)));
    block.stress.assign(batches, LaneMatrix::Zero());
    block.H.assign(batches, LaneStiffness::Zero());
    blocks_.push_back(std::move(block));
    widest = std::max(widest, elements.columns.place.size());
  }
  for (std::size_t k = 0; k < blocks_.size(); ++k)
    find_block_runs(pose_.kept(), model.elements[k].columns.place, 1, blocks_[k].runs);
  product_.assign(static_cast<std::size_t>(model.stride), T(0));
  corrected_ = {product_, product_, T(0), T(1)};
  elsewhere_ = corrected_;
  q_.assign(widest, T(0));
  sums_.assign(widest, Lanes(T(0)));
  scratch_.assign(widest * model.poses, T(0));
}

template <class T>
void CubatureForces<T>::pose_block(std::span<const Vec3> positions, const PreparedElements<T>& prepared, Block& block) {
  const bool rotating = prepared_->model->directions == BasisDirections::rotating;
  const std::size_t batches = prepared.tets.batch_count();
  for (std::size_t b = 0; b < batches; ++b) {
    const PosedRest<Lanes> rest = prepared.tets.pose(b, positions);
    block.B[b] = rest.inverse_transpose.transpose();
    if (rotating) block.B[b] = block.B[b] * rest.rotation;
    Lanes weight(T(0)), mu(T(0)), lambda(T(0));
    for (const std::size_t i : pose_.active()) {
      const Lanes share(pose_.weight(i));
      weight += share * prepared.weight[i * batches + b];
      mu += share * prepared.mu[i * batches + b];
      lambda += share * prepared.lambda[i * batches + b];
    }
    block.weight[b] = weight * rest.volume_ratio;
    block.mu[b] = mu;
    block.lambda[b] = lambda;
    modulus_ += sum_of(block.weight[b] * (mu + lambda));
  }
  if (pose_.constant()) {
    block.D = prepared.gradients.data();
  } else {
    pose_.blend(prepared, block.runs, scratch_.data(), block.blended.data());
    block.D = block.blended.data();
  }
}

template <class T>
void CubatureForces<T>::keep(const KeptColumns& columns) {
  pose_.keep(columns);
  for (std::size_t k = 0; k < blocks_.size(); ++k)
    find_block_runs(columns, prepared_->elements[k].columns.place, 1, blocks_[k].runs);
}

template <class T>
void CubatureForces<T>::set_pose(std::span<const double> p, std::span<const Vec3> positions) {
  pose_.update(p);
  modulus_ = T(0);
  for (std::size_t k = 0; k < blocks_.size(); ++k) pose_block(positions, prepared_->elements[k], blocks_[k]);
}

template <class T>
void CubatureForces<T>::gather(const PreparedElements<T>& prepared, const T* all) {
  prepared.columns.gather(all, q_.data());
}

template <class T>
void CubatureForces<T>::scatter_sums(const PreparedElements<T>& prepared, T* all) {
  const std::vector<int>& place = prepared.columns.place;
  for (std::size_t c = 0; c < place.size(); ++c) all[place[c]] += sum_of(sums_[c]);
}

template <class T>
template <class Model>
T CubatureForces<T>::evaluate_block(const PreparedElements<T>& prepared, Block& block) {
  T energy = T(0);
  for (std::size_t b = 0; b < prepared.tets.batch_count(); ++b) {
    const LaneMatrix& B = block.B[b];
    const LaneMatrix F = times(block.D + b * prepared.batch_size(), q_, block.runs) * B + LaneMatrix::Identity();
    const Model model(F, {block.mu[b], block.lambda[b]});
    energy += sum_of(model.energy() * block.weight[b]);
    block.stress[b] = model.stress() * B.transpose() * block.weight[b];
    LaneStiffness& H = block.H[b];
    model.jacobian(H);
    through_rest(B, H);
    for (int k = 0; k < 81; ++k) H.data()[k] *= block.weight[b];
  }
  return energy;
}

template <class T>
void CubatureForces<T>::correct(const T* q, Corrected& corrected) const {
  std::fill(corrected.added.begin(), corrected.added.end(), T(0));
  std::fill(corrected.taken.begin(), corrected.taken.end(), T(0));
  pose_.multiply(pose_.added(), q, corrected.added.data());
  pose_.multiply(pose_.taken(), q, corrected.taken.data());
  const T taken = T(0.5) * dot(corrected.taken.data(), q, stride());
  corrected.t = T(1) / (T(1) + taken / static_cast<T>(prepared_->model->taken_limit));
  corrected.energy = T(0.5) * dot(corrected.added.data(), q, stride()) - taken * corrected.t;
}

template <class T>
T CubatureForces<T>::evaluate(const T* q) {
  correct(q, corrected_);
  T energy = corrected_.energy;
  with_material<Lanes>(prepared_->model->material, [&](auto model) {
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      gather(prepared_->elements[k], q);
      energy += evaluate_block<typename decltype(model)::type>(prepared_->elements[k], blocks_[k]);
    }
  });
  return energy;
}

template <class T>
void CubatureForces<T>::add_force(T* f) {
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    const PreparedElements<T>& elements = prepared_->elements[k];
    std::fill(sums_.begin(), sums_.end(), Lanes(T(0)));
    for (std::size_t b = 0; b < elements.tets.batch_count(); ++b)
      add_transposed(blocks_[k].D + b * elements.batch_size(), blocks_[k].stress[b].data(), blocks_[k].runs,
                     sums_.data());
    scatter_sums(elements, f);
  }
  const T t = corrected_.t;
  for (std::size_t c = 0; c < product_.size(); ++c) f[c] += corrected_.added[c] - t * t * corrected_.taken[c];
}

template <class T>
void CubatureForces<T>::multiply_changing(const T* x, T* y) {
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    const PreparedElements<T>& elements = prepared_->elements[k];
    gather(elements, x);
    std::fill(sums_.begin(), sums_.end(), Lanes(T(0)));
    for (std::size_t b = 0; b < elements.tets.batch_count(); ++b) {
      const Lanes* D = blocks_[k].D + b * elements.batch_size();
      const LaneMatrix G = times(D, q_, blocks_[k].runs);
      Lanes s[9];
      times(blocks_[k].H[b], G.data(), s);
      add_transposed(D, s, blocks_[k].runs, sums_.data());
    }
    scatter_sums(elements, y);
  }
  std::fill(product_.begin(), product_.end(), T(0));
  pose_.multiply(pose_.taken(), x, product_.data());
  const T t = corrected_.t;
  const T back =
      T(2) * t * t * t / static_cast<T>(prepared_->model->taken_limit) * dot(corrected_.taken.data(), x, stride());
  for (std::size_t c = 0; c < product_.size(); ++c) y[c] += back * corrected_.taken[c] - t * t * product_[c];
}

template <class T>
void CubatureForces<T>::multiply_stiffness(const T* x, T* y) {
  multiply_changing(x, y);
  pose_.multiply(pose_.added(), x, y);
}

template <class T>
template <class Model>
T CubatureForces<T>::block_energy(const PreparedElements<T>& prepared, const Block& block) const {
  T total = T(0);
  for (std::size_t b = 0; b < prepared.tets.batch_count(); ++b) {
    const LaneMatrix F =
        times(block.D + b * prepared.batch_size(), q_, block.runs) * block.B[b] + LaneMatrix::Identity();
    total += sum_of(Model(F, {block.mu[b], block.lambda[b]}).energy() * block.weight[b]);
  }
  return total;
}

template <class T>
T CubatureForces<T>::energy(const T* q) {
  correct(q, elsewhere_);
  T total = elsewhere_.energy;
  with_material<Lanes>(prepared_->model->material, [&](auto model) {
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      gather(prepared_->elements[k], q);
      total += block_energy<typename decltype(model)::type>(prepared_->elements[k], blocks_[k]);
    }
  });
  return total;
}

template class CubatureForces<float>;
template class CubatureForces<double>;

}  // namespace supple
