// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/cubature_forces.h"

#include "supple/math/simd/lanes.h"

#include <algorithm>

namespace supple {
namespace {

/// D x for the elements of a batch.
template <class Vector, class T>
Eigen::Matrix<LanesOf<T>, 3, 3> times(const Vector* D, const std::vector<T>& x, const std::vector<ColumnRun>& runs) {
  using Lanes = LanesOf<T>;
  Lanes sums[9];
  for (Lanes& sum : sums) sum = Lanes(T(0));
  for (const ColumnRun& run : runs) {
    for (auto c = to_size(run.begin); c < to_size(run.end); ++c) {
      const Lanes factor(x[c]);
      for (std::size_t k = 0; k < 9; ++k) sums[k] += widened(D[9 * c + k]) * factor;
    }
  }
  Eigen::Matrix<Lanes, 3, 3> result;
  std::copy(sums, sums + 9, result.data());
  return result;
}

/// 1 + A
template <class Lanes>
Eigen::Matrix<Lanes, 3, 3> with_one(Eigen::Matrix<Lanes, 3, 3> A) {
  for (int i = 0; i < 3; ++i) A(i, i) += Lanes(1);
  return A;
}

template <class Lanes>
Eigen::Matrix<Lanes, 3, 3> scaled(Eigen::Matrix<Lanes, 3, 3> A, const Lanes& factor) {
  for (int k = 0; k < 9; ++k) A.data()[k] *= factor;
  return A;
}

/// sums += Dᵀ s, lane by lane.
template <class Vector, class Lanes>
void add_transposed(const Vector* D, const Lanes* s, const std::vector<ColumnRun>& runs, Lanes* sums) {
  Lanes own[9];
  std::copy(s, s + 9, own);
  for (const ColumnRun& run : runs) {
    for (int c = run.begin; c < run.end; ++c) {
      const Vector* d = D + 9 * c;
      const Lanes first = widened(d[0]) * own[0] + widened(d[1]) * own[1] + widened(d[2]) * own[2];
      const Lanes second = widened(d[3]) * own[3] + widened(d[4]) * own[4] + widened(d[5]) * own[5];
      const Lanes third = widened(d[6]) * own[6] + widened(d[7]) * own[7] + widened(d[8]) * own[8];
      sums[c] += first + second + third;
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
    for (auto* matrices : {&block.B, &block.F, &block.dF, &block.path})
      matrices->assign(batches, LaneMatrix::Identity());
    if (model.poses > 1) block.blended.assign(batches * elements.batch_size(), Stored{});
    with_material<Lanes>(model.model->material, [&](auto type) {
      using Model = typename decltype(type)::type;
      block.materials = std::vector<Model>(batches, Model(LaneMatrix::Identity(), {Lanes(T(1)), Lanes(T(1))}));
    });
    blocks_.push_back(std::move(block));
    widest = std::max(widest, elements.columns.place.size());
  }
  for (std::size_t k = 0; k < blocks_.size(); ++k)
    find_block_runs(pose_.kept(), model.elements[k].columns.place, 1, blocks_[k].runs);
  product_.assign(to_size(model.stride), T(0));
  force_ = product_;
  corrected_ = {product_, T(0), T(0), T(1)};
  elsewhere_ = corrected_;
  q_.assign(widest, T(0));
  sums_.assign(widest, Lanes(T(0)));
  ends_.assign(widest, 0);
  terms_.resize(widest * model.poses);
}

template <class T>
void CubatureForces<T>::pose_block(std::span<const Vec3> positions, const PreparedElements<T>& prepared, Block& block) {
  const bool rotating = prepared_->model->directions == BasisDirections::rotating;
  const std::size_t batches = prepared.tets.batch_count();
  for (std::size_t b = 0; b < batches; ++b) {
    const PosedRest<Lanes> rest = prepared.tets.pose(b, positions);
    const LaneMatrix inverse = rest.inverse_transpose.transpose();
    block.B[b] = rotating ? product(inverse, rest.rotation) : inverse;
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
  if (!pose_.constant()) pose_.blend(prepared, block.runs, terms_, ends_, block.blended.data());
}

template <class T>
const typename CubatureForces<T>::Stored* CubatureForces<T>::gradients(std::size_t block) const {
  return pose_.constant() ? prepared_->elements[block].gradients.data() : blocks_[block].blended.data();
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
  const std::vector<int>& place = prepared.columns.place;
  for (std::size_t c = 0; c < place.size(); ++c) q_[c] = prepared.scale[c] * all[place[c]];
}

template <class T>
void CubatureForces<T>::clear_sums(const PreparedElements<T>& prepared) {
  std::fill_n(sums_.begin(), prepared.columns.place.size(), Lanes(T(0)));
}

template <class T>
void CubatureForces<T>::scatter_sums(const PreparedElements<T>& prepared, T* all) const {
  const std::vector<int>& place = prepared.columns.place;
  for (std::size_t c = 0; c < place.size(); ++c) all[place[c]] += prepared.scale[c] * sum_of(sums_[c]);
}

template <class T>
template <class Model>
T CubatureForces<T>::evaluate_block(const PreparedElements<T>& prepared, const Stored* D, Block& block) {
  Lanes energy(T(0));
  auto& materials = std::get<std::vector<Model>>(block.materials);
  for (std::size_t b = 0; b < prepared.tets.batch_count(); ++b, D += prepared.batch_size()) {
    LaneMatrix& F = block.F[b];
    F = with_one(product(times(D, q_, block.runs), block.B[b]));
    materials[b] = Model(F, {block.mu[b], block.lambda[b]});
    energy += materials[b].energy() * block.weight[b];
    const LaneMatrix stress = scaled(product_transposed(materials[b].stress(), block.B[b]), block.weight[b]);
    add_transposed(D, stress.data(), block.runs, sums_.data());
  }
  return sum_of(energy);
}

template <class T>
void CubatureForces<T>::correct(const T* q, Corrected& corrected) const {
  std::fill(corrected.product.begin(), corrected.product.end(), T(0));
  pose_.multiply(pose_.correction(), q, corrected.product.data());
  corrected.s = T(0.5) * dot(corrected.product.data(), q, stride());
  corrected.t = limited(corrected.s);
  corrected.energy = corrected.s * corrected.t;
}

template <class T>
T CubatureForces<T>::evaluate(const T* q) {
  correct(q, corrected_);
  T energy = corrected_.energy;
  const T t = corrected_.t;
  for (std::size_t c = 0; c < force_.size(); ++c) force_[c] = t * t * corrected_.product[c];
  with_material<Lanes>(prepared_->model->material, [&](auto model) {
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      const PreparedElements<T>& elements = prepared_->elements[k];
      gather(elements, q);
      clear_sums(elements);
      energy += evaluate_block<typename decltype(model)::type>(elements, gradients(k), blocks_[k]);
      scatter_sums(elements, force_.data());
    }
  });
  return energy;
}

template <class T>
void CubatureForces<T>::add_force(T* f) const {
  for (std::size_t c = 0; c < force_.size(); ++c) f[c] += force_[c];
}

template <class T>
void CubatureForces<T>::multiply_changing(const T* x, T* y) {
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    const PreparedElements<T>& elements = prepared_->elements[k];
    gather(elements, x);
    clear_sums(elements);
    Block& block = blocks_[k];
    std::visit(
        [&](const auto& materials) {
          const Stored* D = gradients(k);
          for (std::size_t b = 0; b < elements.tets.batch_count(); ++b, D += elements.batch_size()) {
            block.dF[b] = product(times(D, q_, block.runs), block.B[b]);
            const LaneMatrix dP =
                scaled(product_transposed(LaneMatrix(materials[b].change(block.dF[b])), block.B[b]), block.weight[b]);
            add_transposed(D, dP.data(), block.runs, sums_.data());
          }
        },
        block.materials);
    scatter_sums(elements, y);
  }
  const T t = corrected_.t;
  if (t > T(0.999)) return;
  std::fill(product_.begin(), product_.end(), T(0));
  pose_.multiply(pose_.correction(), x, product_.data());
  const T back = T(2) * t * t * t / static_cast<T>(prepared_->model->correction_limit) *
                 dot(corrected_.product.data(), x, stride());
  for (std::size_t c = 0; c < product_.size(); ++c) y[c] += back * corrected_.product[c] + (t * t - T(1)) * product_[c];
}

template <class T>
void CubatureForces<T>::multiply_stiffness(const T* x, T* y) {
  multiply_changing(x, y);
  pose_.multiply(pose_.correction(), x, y);
}

template <class T>
template <class Model>
T CubatureForces<T>::block_energy(const PreparedElements<T>& prepared, const Stored* D, const Block& block) const {
  Lanes total(T(0));
  for (std::size_t b = 0; b < prepared.tets.batch_count(); ++b, D += prepared.batch_size()) {
    const LaneMatrix F = with_one(product(times(D, q_, block.runs), block.B[b]));
    total += Model(F, {block.mu[b], block.lambda[b]}).energy() * block.weight[b];
  }
  return sum_of(total);
}

template <class T>
T CubatureForces<T>::energy(const T* q) {
  correct(q, elsewhere_);
  T total = elsewhere_.energy;
  with_material<Lanes>(prepared_->model->material, [&](auto model) {
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      gather(prepared_->elements[k], q);
      total += block_energy<typename decltype(model)::type>(prepared_->elements[k], gradients(k), blocks_[k]);
    }
  });
  return total;
}

template <class T>
void CubatureForces<T>::start_path() {
  for (Block& block : blocks_) std::fill(block.path.begin(), block.path.end(), LaneMatrix::Zero());
}

template <class T>
void CubatureForces<T>::go_on(T length) {
  const Lanes factor(length);
  for (Block& block : blocks_)
    for (std::size_t b = 0; b < block.path.size(); ++b)
      for (int k = 0; k < 9; ++k) block.path[b].data()[k] += factor * block.dF[b].data()[k];
}

template <class T>
T CubatureForces<T>::correct_path(const T* x) {
  std::fill(product_.begin(), product_.end(), T(0));
  pose_.multiply(pose_.correction(), x, product_.data());
  path_slope_ = dot(corrected_.product.data(), x, stride());
  path_curvature_ = dot(product_.data(), x, stride());
  return path_curvature_;
}

template <class T>
T CubatureForces<T>::energy_along(T length) const {
  const T s = corrected_.s + length * (path_slope_ + T(0.5) * length * path_curvature_);
  const Lanes factor(length);
  Lanes total(T(0));
  with_material<Lanes>(prepared_->model->material, [&](auto model) {
    for (const Block& block : blocks_) {
      for (std::size_t b = 0; b < block.path.size(); ++b) {
        LaneMatrix F = block.F[b];
        for (int k = 0; k < 9; ++k) F.data()[k] += factor * block.path[b].data()[k];
        total += typename decltype(model)::type(F, {block.mu[b], block.lambda[b]}).energy() * block.weight[b];
      }
    }
  });
  return s * limited(s) + sum_of(total);
}

template class CubatureForces<float>;
template class CubatureForces<double>;

}  // namespace supple
