// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/cubature_forces.h"

#include "supple/fem/material_models.h"
#include "supple/runtime/posespace/lanes.h"

#include <algorithm>

namespace supple {
namespace {

/// A block of Dᵀ(JD): columns j … j+3 of the result, `Vectors` vectors of rows from i. The whole sum over the rows k
/// stays in registers.
template <class T, int Vectors>
void product_block(const T* D, const T* JD, std::size_t rows, int stride, int i, int j, T* product) {
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
  for (int c = 0; c < 4; ++c) {
    T* target = product + (j + c) * stride + i;
    for (int m = 0; m < Vectors; ++m) store(target + m * Lanes::width, load(target + m * Lanes::width) + sums[c][m]);
  }
}

/// The lower triangle of `product`, padded columns, += Dᵀ(JD).
template <class T>
void add_product(const T* D, const T* JD, std::size_t all_rows, int stride, T* product) {
  constexpr int width = LanesOf<T>::width;
  // As many rows at a time as stay in the nearest cache while all blocks of the result pass over them.
  constexpr std::size_t cached = 20'000 / sizeof(T);
  const std::size_t most = std::max<std::size_t>(9, cached / (2 * static_cast<std::size_t>(stride)));
  for (std::size_t first = 0; first < all_rows; first += most) {
    const std::size_t rows = std::min(most, all_rows - first);
    const T* d = D + first * static_cast<std::size_t>(stride);
    const T* jd = JD + first * static_cast<std::size_t>(stride);
    for (int j = 0; j < stride; j += 4) {
      int i = j / width * width;
      for (; i + 3 * width <= stride; i += 3 * width) product_block<T, 3>(d, jd, rows, stride, i, j, product);
      if (i + 2 * width <= stride) {
        product_block<T, 2>(d, jd, rows, stride, i, j, product);
        i += 2 * width;
      }
      if (i < stride) product_block<T, 1>(d, jd, rows, stride, i, j, product);
    }
  }
}

/// Σ_c D(row, c) x(c) for the nine rows of the elements of a batch.
template <class T>
Eigen::Matrix<LanesOf<T>, 3, 3> gather(const T* D, std::size_t batch, const T* x, int stride) {
  constexpr int width = LanesOf<T>::width;
  alignas(32) T entries[9][width];
  for (int lane = 0; lane < width; ++lane) {
    const T* d = D + (batch * width + static_cast<std::size_t>(lane)) * 9 * static_cast<std::size_t>(stride);
    for (int k = 0; k < 9; ++k) entries[k][lane] = dot(d + k * stride, x, stride);
  }
  return from_lanes<T>(entries);
}

/// JD = H D for the elements of one batch, H with the weight.
template <class T>
void multiply_jacobian(const T* D, std::size_t batch, const Eigen::Matrix<LanesOf<T>, 9, 9>& H, int stride, T* JD) {
  using Lanes = LanesOf<T>;
  for (int lane = 0; lane < Lanes::width; ++lane) {
    const std::size_t first =
        (batch * Lanes::width + static_cast<std::size_t>(lane)) * 9 * static_cast<std::size_t>(stride);
    const T* d = D + first;
    T* out = JD + first;
    T single[9][9];
    for (int m = 0; m < 9; ++m)
      for (int n = 0; n < 9; ++n) single[m][n] = H(m, n)[lane];
    for (int c = 0; c < stride; c += Lanes::width) {
      Lanes column[9];
      for (int n = 0; n < 9; ++n) column[n] = load(d + n * stride + c);
      for (int m = 0; m < 9; ++m) {
        Lanes sum = column[0] * Lanes(single[m][0]);
        for (int n = 1; n < 9; ++n) sum += column[n] * Lanes(single[m][n]);
        store(out + m * stride + c, sum);
      }
    }
  }
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
CubatureForces<T>::CubatureForces(std::shared_ptr<const PreparedModel<T>> prepared, int parts)
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
    if (model.poses > 1) block.blended.assign(elements.gradients.rows * elements.gradients.stride, T(0));
    block.JD.assign(elements.gradients.rows * elements.gradients.stride, T(0));
    block.stress.assign(elements.gradients.rows, T(0));
    blocks_.push_back(std::move(block));
    widest = std::max(widest, elements.gradients.stride);
  }
  parts_.assign(static_cast<std::size_t>(std::max(1, parts)), std::vector<T>(model.triangle(), T(0)));
  stiffness_.assign(model.triangle(), T(0));
  linear_.assign(static_cast<std::size_t>(model.stride), T(0));
  q_.assign(widest, T(0));
  f_ = q_;
  scratch_.assign(widest * model.poses, T(0));
  product_.assign(widest * widest, T(0));
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
  }
  if (pose_.constant()) {
    block.D = prepared.gradients.pose(0);
  } else {
    pose_.blend(prepared.gradients, prepared.columns, scratch_.data(), block.blended.data());
    block.D = block.blended.data();
  }
}

template <class T>
void CubatureForces<T>::set_pose(std::span<const double> p, std::span<const Vec3> positions) {
  pose_.update(p);
  for (std::size_t k = 0; k < blocks_.size(); ++k) pose_block(positions, prepared_->elements[k], blocks_[k]);
}

template <class T>
std::array<std::size_t, 2> CubatureForces<T>::range(const PreparedElements<T>& prepared, int part) const {
  const std::size_t batches = prepared.tets.batch_count(), count = parts_.size(), k = static_cast<std::size_t>(part);
  return {k * batches / count, (k + 1) * batches / count};
}

template <class T>
template <class Model>
void CubatureForces<T>::evaluate_block(const PreparedElements<T>& prepared, int part, Block& block) {
  const int stride = prepared.columns.stride;
  const auto [first, last] =
      part == all_parts ? std::array<std::size_t, 2>{0, prepared.tets.batch_count()} : range(prepared, part);
  for (std::size_t b = 0; b < prepared.tets.batch_count(); ++b) {
    const LaneMatrix& B = block.B[b];
    const LaneMatrix F = gather(block.D, b, q_.data(), stride) * B + LaneMatrix::Identity();
    const Model model(F, {block.mu[b], block.lambda[b]});
    const LaneMatrix P = model.stress() * B.transpose() * block.weight[b];
    for (int lane = 0; lane < width; ++lane)
      for (int k = 0; k < 9; ++k)
        block.stress[(b * width + static_cast<std::size_t>(lane)) * 9 + static_cast<std::size_t>(k)] =
            P.data()[k][lane];
    if (b < first || b >= last) continue;
    Eigen::Matrix<Lanes, 9, 9> J;
    model.jacobian(J);
    through_rest(B, J);
    for (int k = 0; k < 81; ++k) J.data()[k] *= block.weight[b];
    multiply_jacobian(block.D, b, J, stride, block.JD.data());
  }
}

template <class T>
void CubatureForces<T>::evaluate(const T* q, int part) {
  with_material<Lanes>(prepared_->model->material, [&](auto model) {
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      std::fill(q_.begin(), q_.end(), T(0));
      prepared_->elements[k].columns.gather(q, q_.data());
      evaluate_block<typename decltype(model)::type>(prepared_->elements[k], part, blocks_[k]);
    }
  });
  std::fill(linear_.begin(), linear_.end(), T(0));
  pose_.multiply(pose_.correction(), q, linear_.data());
  if (part == all_parts) {
    for (int k = 0; k < parts(); ++k) refresh(k);
  } else {
    refresh(part);
  }
  sum_parts();
}

/// From the JD of its elements.
template <class T>
void CubatureForces<T>::refresh(int part) {
  std::vector<T>& target = parts_[static_cast<std::size_t>(part)];
  std::fill(target.begin(), target.end(), T(0));
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    const PreparedElements<T>& elements = prepared_->elements[k];
    const auto stride = static_cast<std::size_t>(elements.columns.stride);
    const auto [first, last] = range(elements, part);
    const std::size_t begin = first * width * 9, end = std::min(last * width, elements.tets.count()) * 9;
    if (begin >= end) continue;
    std::fill(product_.begin(), product_.begin() + static_cast<std::ptrdiff_t>(stride * stride), T(0));
    add_product(blocks_[k].D + begin * stride, blocks_[k].JD.data() + begin * stride, end - begin,
                elements.columns.stride, product_.data());
    const std::vector<int>& place = elements.columns.place;
    for (std::size_t c = 0; c < place.size(); ++c) {
      T* column = target.data() + static_cast<std::size_t>(place[c]) * static_cast<std::size_t>(prepared_->stride);
      const T* source = product_.data() + c * stride;
      for (std::size_t r = c; r < place.size(); ++r) column[place[r]] += source[r];
    }
  }
}

template <class T>
void CubatureForces<T>::sum_parts() {
  std::copy(pose_.correction(), pose_.correction() + stiffness_.size(), stiffness_.begin());
  for (const std::vector<T>& part : parts_) pose_.add_scaled(T(1), part.data(), stiffness_.data());
}

template <class T>
void CubatureForces<T>::add_force(T* f) {
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    const PreparedElements<T>& elements = prepared_->elements[k];
    const int stride = elements.columns.stride;
    std::fill(f_.begin(), f_.end(), T(0));
    const std::size_t rows = elements.tets.count() * 9;
    for (std::size_t r = 0; r < rows; ++r) {
      const T* d = blocks_[k].D + r * static_cast<std::size_t>(stride);
      const Lanes s(blocks_[k].stress[r]);
      for (int c = 0; c < stride; c += width) store(f_.data() + c, load(f_.data() + c) + load(d + c) * s);
    }
    elements.columns.scatter_add(f_.data(), f);
  }
  for (std::size_t c = 0; c < linear_.size(); ++c) f[c] += linear_[c];
}

template <class T>
void CubatureForces<T>::add_stiffness(T factor, T* matrix) const {
  pose_.add_scaled(factor, stiffness_.data(), matrix);
}

template <class T>
void CubatureForces<T>::multiply_stiffness(const T* x, T* y) const {
  pose_.multiply(stiffness_.data(), x, y);
}

template <class T>
template <class Model>
T CubatureForces<T>::block_energy(const PreparedElements<T>& prepared, const Block& block) const {
  T total = T(0);
  for (std::size_t b = 0; b < prepared.tets.batch_count(); ++b) {
    const LaneMatrix F = gather(block.D, b, q_.data(), prepared.columns.stride) * block.B[b] + LaneMatrix::Identity();
    const Lanes energy = Model(F, {block.mu[b], block.lambda[b]}).energy() * block.weight[b];
    for (int lane = 0; lane < width && b * width + static_cast<std::size_t>(lane) < prepared.tets.count(); ++lane)
      total += energy[lane];
  }
  return total;
}

template <class T>
T CubatureForces<T>::energy(const T* q) {
  T total = T(0);
  with_material<Lanes>(prepared_->model->material, [&](auto model) {
    for (std::size_t k = 0; k < blocks_.size(); ++k) {
      std::fill(q_.begin(), q_.end(), T(0));
      prepared_->elements[k].columns.gather(q, q_.data());
      total += block_energy<typename decltype(model)::type>(prepared_->elements[k], blocks_[k]);
    }
  });
  std::fill(linear_.begin(), linear_.end(), T(0));
  pose_.multiply(pose_.correction(), q, linear_.data());
  for (int c = 0; c < size(); ++c) total += T(0.5) * linear_[static_cast<std::size_t>(c)] * q[c];
  return total;
}

template class CubatureForces<float>;
template class CubatureForces<double>;

}  // namespace supple
