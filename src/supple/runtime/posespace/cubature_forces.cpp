// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/cubature_forces.h"

#include "supple/base/assert.h"
#include "supple/math/simd/lanes.h"

#include <algorithm>

namespace supple {
namespace {

/// How many rows have their sums in registers at once: all of them where a pack fills one, and sixteen registers of
/// half a pack, as WebAssembly has them on most machines, hold half of twelve rows.
template <std::size_t rows>
constexpr std::size_t rows_in_registers() {
#ifdef __AVX__
  return rows;
#else
  return rows % 6 == 0 ? 6 : 3;
#endif
}

/// D x for the elements of a batch, which have so many rows each.
template <std::size_t rows, class Vector, class T>
std::array<LanesOf<T>, rows> times(const Vector* D, const std::vector<T>& x, const std::vector<ColumnRun>& runs) {
  using Lanes = LanesOf<T>;
  constexpr std::size_t together = rows_in_registers<rows>();
  std::array<Lanes, rows> result;
  for (std::size_t first = 0; first < rows; first += together) {
    Lanes sums[together];
    for (Lanes& sum : sums) sum = Lanes(T(0));
    for (const ColumnRun& run : runs) {
      for (auto c = to_size(run.begin); c < to_size(run.end); ++c) {
        const Lanes factor(x[c]);
        const Vector* d = D + rows * c + first;
        for (std::size_t k = 0; k < together; ++k) sums[k] += widened(d[k]) * factor;
      }
    }
    std::copy(sums, sums + together, result.begin() + first);
  }
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
template <std::size_t rows, class Vector, class Lanes>
void add_transposed(const Vector* D, const std::array<Lanes, rows>& s, const std::vector<ColumnRun>& runs,
                    Lanes* sums) {
  Lanes own[rows];
  std::copy(s.begin(), s.end(), own);
  const auto three = [&own](const Vector* d, std::size_t k) {
    return widened(d[k]) * own[k] + widened(d[k + 1]) * own[k + 1] + widened(d[k + 2]) * own[k + 2];
  };
  for (const ColumnRun& run : runs) {
    for (int c = run.begin; c < run.end; ++c) {
      const Vector* d = D + static_cast<int>(rows) * c;
      const Lanes first = three(d, 0), second = three(d, 3);
      Lanes third = three(d, 6);
      if constexpr (rows == 12) third += three(d, 9);
      sums[c] += first + second + third;
    }
  }
}

/// A x for a vector of each lane.
template <class Lanes>
std::array<Lanes, 3> turned(const Eigen::Matrix<Lanes, 3, 3>& A, const Lanes* x) {
  return {A(0, 0) * x[0] + A(0, 1) * x[1] + A(0, 2) * x[2], A(1, 0) * x[0] + A(1, 1) * x[1] + A(1, 2) * x[2],
          A(2, 0) * x[0] + A(2, 1) * x[1] + A(2, 2) * x[2]};
}
/// Aᵀ x
template <class Lanes>
std::array<Lanes, 3> turned_back(const Eigen::Matrix<Lanes, 3, 3>& A, const Lanes* x) {
  return {A(0, 0) * x[0] + A(1, 0) * x[1] + A(2, 0) * x[2], A(0, 1) * x[0] + A(1, 1) * x[1] + A(2, 1) * x[2],
          A(0, 2) * x[0] + A(1, 2) * x[1] + A(2, 2) * x[2]};
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
    if (model.model->exact_strain) block.turns.resize(batches);
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
template <std::size_t rows>
typename CubatureForces<T>::LaneMatrix CubatureForces<T>::strain(const Block& block, std::size_t batch,
                                                                 const Numbers<rows>& y) {
  LaneMatrix V;
  if constexpr (rows == 9) {
    std::copy(y.begin(), y.end(), V.data());
  } else {
    const CornerTurns& turns = block.turns[batch];
    for (std::size_t k = 0; k < 3; ++k) {
      const auto own = turned(turns.R[k], y.data() + 3 * k), common = turned(turns.difference[k], y.data() + 9);
      for (std::size_t i = 0; i < 3; ++i) V.data()[3 * k + i] = own[i] + common[i];
    }
  }
  return product(V, block.B[batch]);
}

template <class T>
template <std::size_t rows>
typename CubatureForces<T>::template Numbers<rows> CubatureForces<T>::pulled_back(const Block& block, std::size_t batch,
                                                                                  const LaneMatrix& stress) {
  const LaneMatrix s = scaled(product_transposed(stress, block.B[batch]), block.weight[batch]);
  Numbers<rows> result;
  if constexpr (rows == 9) {
    std::copy(s.data(), s.data() + 9, result.begin());
  } else {
    const CornerTurns& turns = block.turns[batch];
    for (std::size_t i = 9; i < 12; ++i) result[i] = Lanes(T(0));
    for (std::size_t k = 0; k < 3; ++k) {
      const auto own = turned_back(turns.R[k], s.data() + 3 * k);
      const auto common = turned_back(turns.difference[k], s.data() + 3 * k);
      for (std::size_t i = 0; i < 3; ++i) result[3 * k + i] = own[i], result[9 + i] += common[i];
    }
  }
  return result;
}

template <class T>
typename CubatureForces<T>::LaneMatrix CubatureForces<T>::rest_stress(const Block& block, std::size_t batch,
                                                                      const LaneMatrix& Y) {
  const Lanes trace = block.lambda[batch] * (Y(0, 0) + Y(1, 1) + Y(2, 2)), mu = block.mu[batch];
  LaneMatrix result;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) result(i, j) = mu * (Y(i, j) + Y(j, i));
    result(i, i) += trace;
  }
  return result;
}

template <class T>
void CubatureForces<T>::pose_block(std::span<const Vec3> positions, const FrameField<T>* frames,
                                   const PreparedElements<T>& prepared, Block& block) {
  const bool exact = prepared_->model->exact_strain;
  const bool rotating = prepared_->model->directions == BasisDirections::rotating;
  const std::size_t batches = prepared.tets.batch_count();
  for (std::size_t b = 0; b < batches; ++b) {
    const PosedRest<Lanes> rest = prepared.tets.pose(b, positions);
    const LaneMatrix inverse = rest.inverse_transpose.transpose();
    if (exact) {
      block.B[b] = product(prepared.tets.inverse_edges(b), inverse);
      CornerTurns& turns = block.turns[b];
      const auto first = frames->rotations(prepared.corners[b][0]);
      for (std::size_t k = 0; k < 3; ++k) {
        const auto own = frames->rotations(prepared.corners[b][k + 1]);
        for (std::size_t i = 0; i < 9; ++i)
          turns.R[k].data()[i] = own[i], turns.difference[k].data()[i] = own[i] - first[i];
      }
    } else {
      block.B[b] = rotating ? product(inverse, rest.rotation) : inverse;
    }
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
void CubatureForces<T>::set_pose(std::span<const double> p, std::span<const Vec3> positions,
                                 const FrameField<T>* frames) {
  SUPPLE_ASSERT(frames != nullptr || !prepared_->model->exact_strain);
  pose_.update(p);
  modulus_ = T(0);
  for (std::size_t k = 0; k < blocks_.size(); ++k) pose_block(positions, frames, prepared_->elements[k], blocks_[k]);
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
template <class Model, std::size_t rows>
T CubatureForces<T>::evaluate_block(const PreparedElements<T>& prepared, const Stored* D, Block& block) {
  Lanes energy(T(0));
  auto& materials = std::get<std::vector<Model>>(block.materials);
  for (std::size_t b = 0; b < prepared.tets.batch_count(); ++b, D += prepared.batch_size()) {
    LaneMatrix& F = block.F[b];
    F = with_one(strain<rows>(block, b, times<rows>(D, q_, block.runs)));
    materials[b] = Model(F, {block.mu[b], block.lambda[b]});
    energy += materials[b].energy() * block.weight[b];
    add_transposed<rows>(D, pulled_back<rows>(block, b, materials[b].stress()), block.runs, sums_.data());
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
      energy += with_rows([&](auto rows) {
        return evaluate_block<typename decltype(model)::type, rows>(elements, gradients(k), blocks_[k]);
      });
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
template <std::size_t rows>
void CubatureForces<T>::multiply_block(const PreparedElements<T>& prepared, const Stored* D, Block& block) {
  std::visit(
      [&](const auto& materials) {
        for (std::size_t b = 0; b < prepared.tets.batch_count(); ++b, D += prepared.batch_size()) {
          block.dF[b] = strain<rows>(block, b, times<rows>(D, q_, block.runs));
          LaneMatrix dP = materials[b].change(block.dF[b]);
          if constexpr (rows == 12) dP += scaled(rest_stress(block, b, block.dF[b]), Lanes(damping_));
          add_transposed<rows>(D, pulled_back<rows>(block, b, dP), block.runs, sums_.data());
        }
      },
      block.materials);
}

template <class T>
void CubatureForces<T>::multiply_changing(const T* x, T* y) {
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    const PreparedElements<T>& elements = prepared_->elements[k];
    gather(elements, x);
    clear_sums(elements);
    with_rows([&](auto rows) { multiply_block<rows>(elements, gradients(k), blocks_[k]); });
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
template <std::size_t rows>
void CubatureForces<T>::multiply_block_at_rest(const PreparedElements<T>& prepared, const Stored* D,
                                               const Block& block) {
  for (std::size_t b = 0; b < prepared.tets.batch_count(); ++b, D += prepared.batch_size()) {
    const LaneMatrix Y = strain<rows>(block, b, times<rows>(D, q_, block.runs));
    add_transposed<rows>(D, pulled_back<rows>(block, b, rest_stress(block, b, Y)), block.runs, sums_.data());
  }
}

template <class T>
void CubatureForces<T>::multiply_rest(T factor, const T* x, T* y) {
  for (std::size_t c = 0; c < product_.size(); ++c) product_[c] = factor * x[c];
  pose_.multiply(pose_.damping_matrix(), product_.data(), y);
  if (!prepared_->model->exact_strain) return;
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    const PreparedElements<T>& elements = prepared_->elements[k];
    gather(elements, product_.data());
    clear_sums(elements);
    multiply_block_at_rest<12>(elements, gradients(k), blocks_[k]);
    scatter_sums(elements, y);
  }
}

template <class T>
template <class Model, std::size_t rows>
T CubatureForces<T>::block_energy(const PreparedElements<T>& prepared, const Stored* D, const Block& block) const {
  Lanes total(T(0));
  for (std::size_t b = 0; b < prepared.tets.batch_count(); ++b, D += prepared.batch_size()) {
    const LaneMatrix F = with_one(strain<rows>(block, b, times<rows>(D, q_, block.runs)));
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
      total += with_rows([&](auto rows) {
        return block_energy<typename decltype(model)::type, rows>(prepared_->elements[k], gradients(k), blocks_[k]);
      });
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
T CubatureForces<T>::damping_along_path() const {
  if (damping_ == T(0)) return T(0);
  Lanes total(T(0));
  for (const Block& block : blocks_) {
    for (std::size_t b = 0; b < block.path.size(); ++b) {
      const LaneMatrix stress = rest_stress(block, b, block.path[b]);
      Lanes work(T(0));
      for (int k = 0; k < 9; ++k) work += stress.data()[k] * block.path[b].data()[k];
      total += work * block.weight[b];
    }
  }
  return damping_ * sum_of(total);
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
