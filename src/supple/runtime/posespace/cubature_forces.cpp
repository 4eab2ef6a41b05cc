// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/cubature_forces.h"

#include "supple/fem/material_models.h"

#include <algorithm>
#include <cstring>

namespace supple {
namespace {

template <class T>
using LanesOf = Pack<T, 32 / static_cast<int>(sizeof(T))>;

template <class T>
LanesOf<T> load(const T* source) {
  LanesOf<T> result;
  std::memcpy(&result.v, source, sizeof result.v);
  return result;
}
template <class T>
void store(T* target, LanesOf<T> value) {
  std::memcpy(target, &value.v, sizeof value.v);
}

/// Σ a_c b_c over whole vectors.
template <class T>
T dot(const T* a, const T* b, int stride) {
  constexpr int width = LanesOf<T>::width;
  LanesOf<T> sums(T(0));
  for (int c = 0; c < stride; c += width) sums += load(a + c) * load(b + c);
  T total = T(0);
  for (int lane = 0; lane < width; ++lane) total += sums[lane];
  return total;
}

/// D_e: row 3j+i is Σ_a ∂N_a/∂X(j) U_a(i, ·). Gradients of nodes 1, 2, 3 are the rows of the inverse edge matrix; all
/// four add up to zero.
MatX neutral_gradient(const PoseSpaceModel& model, const PosedTet& tet) {
  MatX rows = MatX::Zero(9, model.basis.cols());
  for (int j = 0; j < 3; ++j) {
    for (int a = 1; a < 4; ++a) {
      const auto difference = model.basis.middleRows<3>(3 * tet.points[static_cast<std::size_t>(a)]) -
                              model.basis.middleRows<3>(3 * tet.points[0]);
      rows.middleRows<3>(3 * j) += tet.inverse_edges(a - 1, j) * difference;
    }
  }
  return rows;
}

/// A block of Dᵀ(JD): columns j … j+3 of the result, `Vectors` vectors of rows from i. The whole sum over the rows k
/// stays in registers.
template <class T, int Vectors>
void product_block(const T* D, const T* JD, std::size_t rows, int stride, int i, int j, T factor, int last_column,
                   DenseCholesky<T>& matrix) {
  using Lanes = LanesOf<T>;
  Lanes sums[4][Vectors];
  for (auto& column : sums)
    for (Lanes& value : column) value = Lanes(T(0));
  for (std::size_t k = 0; k < rows; ++k) {
    const T* d = D + k * static_cast<std::size_t>(stride) + i;
    const T* jd = JD + k * static_cast<std::size_t>(stride) + j;
    Lanes left[Vectors];
    for (int m = 0; m < Vectors; ++m) left[m] = load(d + m * Lanes::width);
    for (int c = 0; c < 4; ++c) {
      const Lanes right(jd[c]);
      for (int m = 0; m < Vectors; ++m) sums[c][m] += left[m] * right;
    }
  }
  for (int c = 0; c < 4 && j + c <= last_column; ++c) {
    T* target = matrix.column(j + c) + i;
    for (int m = 0; m < Vectors; ++m)
      store(target + m * Lanes::width, load(target + m * Lanes::width) + sums[c][m] * Lanes(factor));
  }
}

}  // namespace

template <class T>
CubatureForces<T>::CubatureForces(const PoseSpaceModel& model)
    : r_(model.size()), stride_((r_ + width - 1) / width * width), material_(model.material) {
  std::vector<PosedTet> tets;
  for (const CubatureElement& element : model.elements) tets.push_back(element.tet);
  elements_ = tets.size();
  tets_ = PosedTets<T>(tets);
  const std::size_t batches = tets_.batch_count();
  base_weight_.assign(batches, Lanes(T(0)));
  weight_ = base_weight_;
  lame_.assign(batches, {Lanes(T(1)), Lanes(T(1))});
  for (std::size_t e = 0; e < model.elements.size(); ++e) {
    const int lane = static_cast<int>(e % width);
    base_weight_[e / width].set(lane, static_cast<T>(model.elements[e].weight));
    lame_[e / width].mu.set(lane, static_cast<T>(model.elements[e].lame.mu));
    lame_[e / width].lambda.set(lane, static_cast<T>(model.elements[e].lame.lambda));
  }
  D_.assign(batches * width * 9 * static_cast<std::size_t>(stride_), T(0));
  JD_ = D_;
  inverse_stretch_.assign(batches, LaneMatrix::Identity());
  for (std::size_t e = 0; e < elements_; ++e) {
    const MatX rows = neutral_gradient(model, model.elements[e].tet);
    for (Eigen::Index k = 0; k < 9; ++k)
      for (int c = 0; c < r_; ++c)
        D_[(9 * e + static_cast<std::size_t>(k)) * static_cast<std::size_t>(stride_) + static_cast<std::size_t>(c)] =
            static_cast<T>(rows(k, c));
  }
  stress_.assign(batches * width * 9, T(0));
  const auto stride = static_cast<std::size_t>(stride_);
  corrected_.assign(stride, T(0));
  moved_ = corrected_;
  correction_.assign(stride * static_cast<std::size_t>(r_), T(0));
  for (Eigen::Index j = 0; j < model.correction.cols(); ++j)
    for (Eigen::Index i = 0; i < model.correction.rows(); ++i)
      correction_[static_cast<std::size_t>(j) * stride + static_cast<std::size_t>(i)] =
          static_cast<T>(model.correction(i, j));
}

template <class T>
void CubatureForces<T>::correct(const T* x, std::vector<T>& result) const {
  std::fill(result.begin(), result.end(), T(0));
  for (int j = 0; j < r_; ++j) {
    const T* c = row(correction_, static_cast<std::size_t>(j));
    const Lanes factor(x[j]);
    for (int i = 0; i < stride_; i += width)
      store(&result[static_cast<std::size_t>(i)], load(&result[static_cast<std::size_t>(i)]) + load(c + i) * factor);
  }
}

template <class T>
void CubatureForces<T>::set_pose(std::span<const Vec3> positions) {
  for (std::size_t b = 0; b < tets_.batch_count(); ++b) {
    const PosedRest<Lanes> rest = tets_.pose(b, positions);
    weight_[b] = base_weight_[b] * rest.volume_ratio;
    inverse_stretch_[b] = rest.inverse_transpose.transpose() * rest.rotation;
  }
}

template <class T>
auto CubatureForces<T>::gather(std::size_t batch, const T* x) const -> LaneMatrix {
  alignas(32) T entries[9][width];
  for (int lane = 0; lane < width; ++lane) {
    const T* d = row(D_, (batch * width + static_cast<std::size_t>(lane)) * 9);
    for (int k = 0; k < 9; ++k) entries[k][lane] = dot(d + k * stride_, x, stride_);
  }
  return from_lanes<T>(entries);
}

/// JD = w H D for the elements of one batch.
template <class T>
void CubatureForces<T>::multiply_jacobian(std::size_t batch, const Eigen::Matrix<Lanes, 9, 9>& H) {
  for (int lane = 0; lane < width; ++lane) {
    const std::size_t first = (batch * width + static_cast<std::size_t>(lane)) * 9;
    const T* d = row(D_, first);
    T* out = JD_.data() + first * static_cast<std::size_t>(stride_);
    T single[9][9];
    for (int m = 0; m < 9; ++m)
      for (int n = 0; n < 9; ++n) single[m][n] = H(m, n)[lane];
    for (int c = 0; c < stride_; c += width) {
      Lanes column[9];
      for (int n = 0; n < 9; ++n) column[n] = load(d + n * stride_ + c);
      for (int m = 0; m < 9; ++m) {
        Lanes sum = column[0] * Lanes(single[m][0]);
        for (int n = 1; n < 9; ++n) sum += column[n] * Lanes(single[m][n]);
        store(out + m * stride_ + c, sum);
      }
    }
  }
}

/// J ← (S⁻¹ ⊗ 1) J (S⁻¹ ⊗ 1), S⁻¹ symmetric: columns, then rows.
template <class L>
void through_stretch(const Eigen::Matrix<L, 3, 3>& S, Eigen::Matrix<L, 9, 9>& J) {
  const auto mixed = [&](const L(&x)[3], int j) { return x[0] * S(0, j) + x[1] * S(1, j) + x[2] * S(2, j); };
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

template <class T>
template <class Model>
void CubatureForces<T>::evaluate_with(const T* q, const T* v, T stiffness_damping) {
  for (std::size_t b = 0; b < tets_.batch_count(); ++b) {
    const LaneMatrix& S = inverse_stretch_[b];
    const LaneMatrix F = gather(b, q) * S + LaneMatrix::Identity();
    const Model model(F, lame_[b]);
    Eigen::Matrix<Lanes, 9, 9> J;
    model.jacobian(J);
    through_stretch(S, J);
    for (int k = 0; k < 81; ++k) J.data()[k] *= weight_[b];
    LaneMatrix P = model.stress() * S * weight_[b];
    if (stiffness_damping != T(0)) {
      const LaneMatrix rate = gather(b, v) * Lanes(stiffness_damping);
      for (int m = 0; m < 9; ++m)
        for (int n = 0; n < 9; ++n) P.data()[m] += J(m, n) * rate.data()[n];
    }
    for (int lane = 0; lane < width; ++lane)
      for (int k = 0; k < 9; ++k)
        stress_[(b * width + static_cast<std::size_t>(lane)) * 9 + static_cast<std::size_t>(k)] = P.data()[k][lane];
    multiply_jacobian(b, J);
  }
}

template <class T>
void CubatureForces<T>::evaluate(const T* q, const T* v, T stiffness_damping) {
  with_material<Lanes>(material_,
                       [&](auto model) { evaluate_with<typename decltype(model)::type>(q, v, stiffness_damping); });
  for (std::size_t c = 0; c < moved_.size(); ++c) moved_[c] = q[c] + stiffness_damping * v[c];
  correct(moved_.data(), corrected_);
}

template <class T>
void CubatureForces<T>::add_force(T* f) const {
  for (std::size_t k = 0; k < elements_ * 9; ++k) {
    const T* d = row(D_, k);
    const Lanes s(stress_[k]);
    for (int c = 0; c < stride_; c += width) store(f + c, load(f + c) + load(d + c) * s);
  }
  for (std::size_t c = 0; c < corrected_.size(); ++c) f[c] += corrected_[c];
}

template <class T>
void CubatureForces<T>::add_stiffness(T factor, DenseCholesky<T>& matrix) {
  // As many rows at a time as stay in the nearest cache while all blocks of the result pass over them.
  constexpr std::size_t cached = 20'000 / sizeof(T);
  const std::size_t most = std::max<std::size_t>(9, cached / (2 * static_cast<std::size_t>(stride_)));
  const int last = r_ - 1;
  for (int j = 0; j < r_; ++j) {
    const T* c = row(correction_, static_cast<std::size_t>(j));
    T* target = matrix.column(j);
    for (int i = j; i < r_; ++i) target[i] += factor * c[i];
  }
  for (std::size_t first = 0; first < elements_ * 9; first += most) {
    const std::size_t rows = std::min(most, elements_ * 9 - first);
    const T* D = row(D_, first);
    const T* JD = row(JD_, first);
    for (int j = 0; j < r_; j += 4) {
      int i = j / width * width;
      for (; i + 3 * width <= stride_; i += 3 * width)
        product_block<T, 3>(D, JD, rows, stride_, i, j, factor, last, matrix);
      if (i + 2 * width <= stride_) {
        product_block<T, 2>(D, JD, rows, stride_, i, j, factor, last, matrix);
        i += 2 * width;
      }
      if (i < stride_) product_block<T, 1>(D, JD, rows, stride_, i, j, factor, last, matrix);
    }
  }
}

template <class T>
template <class Model>
T CubatureForces<T>::energy_with(const T* q) const {
  T total = T(0);
  for (std::size_t b = 0; b < tets_.batch_count(); ++b) {
    const Lanes energy =
        Model(gather(b, q) * inverse_stretch_[b] + LaneMatrix::Identity(), lame_[b]).energy() * weight_[b];
    for (int lane = 0; lane < width && b * width + static_cast<std::size_t>(lane) < elements_; ++lane)
      total += energy[lane];
  }
  return total;
}

template <class T>
T CubatureForces<T>::energy(const T* q) {
  correct(q, moved_);
  return with_material<Lanes>(material_, [&](auto model) { return energy_with<typename decltype(model)::type>(q); }) +
         T(0.5) * dot(q, moved_.data(), stride_);
}

template class CubatureForces<float>;
template class CubatureForces<double>;

}  // namespace supple
