// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/pose_interpolation.h"

#include "supple/runtime/posespace/lanes.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

/// Weights below are left out: a sixteenth of what single precision can tell in a sum.
constexpr double negligible = 1e-6;

}  // namespace

template <class T>
PoseInterpolation<T>::PoseInterpolation(std::shared_ptr<const PreparedModel<T>> prepared)
    : prepared_(std::move(prepared)) {
  const PreparedModel<T>& model = *prepared_;
  kept_ = KeptColumns(model.size, LanesOf<T>::width);
  exact_.assign(model.poses, 0.0);
  linear_exact_.assign(static_cast<std::size_t>(model.model->linear_pose_count()), 0.0);
  scratch_ = linear_exact_;
  weights_.assign(model.poses, T(0));
  active_.assign(model.poses, 0);
  scale_.assign(stride(), T(0));
  factors_.assign(model.poses * stride(), T(0));
  products_.assign(model.mass.matrices, T(0));
  shares_.assign(linear_exact_.size(), T(0));
  linear_scale_.assign(stride(), T(0));
  summed_.assign(std::max(products_.size(), shares_.size()), 0);
  mass_.assign(model.triangle(), T(0));
  for (auto* matrix : {&added_, &taken_, &linear_}) matrix->assign(model.triangle(), T(0));
  exact_[0] = linear_exact_[0] = 1;
  weights_[0] = T(1);
  active_count_ = 1;
  combine_mass();
}

template <class T>
void PoseInterpolation<T>::update(std::span<const double> p) {
  if (constant()) return;
  prepared_->model->poses->evaluate(p, exact_, scratch_);
  active_count_ = 0;
  for (std::size_t i = 0; i < exact_.size(); ++i) {
    weights_[i] = static_cast<T>(exact_[i]);
    if (std::abs(exact_[i]) > negligible) active_[active_count_++] = i;
  }
  if (const auto& more = prepared_->model->linear_poses)
    more->evaluate(p, linear_exact_, scratch_);
  else
    linear_exact_ = exact_;
  combine_mass();
}

template <class T>
template <class Body>
void PoseInterpolation<T>::for_each_column(const Body& body) const {
  constexpr int width = LanesOf<T>::width;
  const auto runs = kept_.runs();
  for (std::size_t k = 0; k < runs.size(); ++k) {
    for (int c = runs[k].begin; c < kept_.last(runs[k]); ++c) {
      // Whole vectors from the diagonal on; what they hold above it is zero.
      body(c, c / width * width, runs[k].end);
      for (std::size_t below = k + 1; below < runs.size(); ++below) body(c, runs[below].begin, runs[below].end);
    }
  }
}

template <class T>
void PoseInterpolation<T>::combine_system(T mass_factor, T linear_factor, T* A, T* P) const {
  using Lanes = LanesOf<T>;
  const auto s = static_cast<int>(stride());
  const Lanes c_mass(mass_factor), c_linear(linear_factor), one(T(1));
  for_each_column([&](int c, int begin, int end) {
    for (int at = c * s + begin; at < c * s + end; at += Lanes::width) {
      const Lanes mass = c_mass * load(mass_.data() + at), linear = load(linear_.data() + at);
      store(A + at, mass + c_linear * linear + load(added_.data() + at));
      store(P + at, mass + (c_linear + one) * linear);
    }
  });
}

template <class T>
void PoseInterpolation<T>::multiply(const T* matrix, const T* x, T* y) const {
  using Lanes = LanesOf<T>;
  const auto s = static_cast<int>(stride());
  for_each_column([&](int c, int begin, int end) {
    const T* column = matrix + c * s;
    const Lanes value(x[c]);
    Lanes sums(T(0));
    for (int r = begin; r < end; r += Lanes::width) {
      const Lanes entries = load(column + r);
      sums += entries * load(x + r);
      store(y + r, load(y + r) + entries * value);
    }
    y[c] += begin <= c ? sum_of(sums) - column[c] * x[c] : sum_of(sums);
  });
}

template <class T>
template <class Vector>
void PoseInterpolation<T>::sum(const TriangleStack<Vector>& stack, const std::vector<T>& factors, const T* scale,
                               T* result) {
  using Lanes = LanesOf<T>;
  const auto s = static_cast<int>(stride());
  // About half of all shares are zero: poses that lie behind others.
  std::size_t count = 0;
  for (std::size_t k = 0; k < stack.matrices; ++k)
    if (factors[k] != T(0)) summed_[count++] = k;
  const Vector* values = stack.values.data();
  for (const auto& [column, row] : stack.places) {
    const Vector* own = values;
    values += stack.matrices;
    if (!kept_.all() && !(kept_.has(column) && kept_.has(row))) continue;
    Lanes sum(T(0));
    for (std::size_t n = 0; n < count; ++n) sum += widened(own[summed_[n]]) * Lanes(factors[summed_[n]]);
    if (scale != nullptr) sum = sum * Lanes(scale[column]) * load(scale + row);
    store(result + column * s + row, sum);
  }
}

template <class T>
void PoseInterpolation<T>::combine_mass() {
  const PreparedModel<T>& model = *prepared_;
  for (std::size_t i = 0, pair = 0; i < weights_.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j, ++pair) products_[pair] = weights_[i] * weights_[j];
  sum(model.mass, products_, nullptr, mass_.data());
  for (int c = 0; c < model.size; ++c) {
    if (!kept_.has(c)) continue;
    const T square = mass_[static_cast<std::size_t>(c) * stride() + static_cast<std::size_t>(c)];
    // A column that cancels out between poses has no direction left to be scaled up.
    scale_[static_cast<std::size_t>(c)] = square > T(1e-4) ? T(1) / std::sqrt(square) : T(100);
  }
  using Lanes = LanesOf<T>;
  for_each_column([&](int c, int begin, int end) {
    T* column = mass_.data() + static_cast<std::size_t>(c) * stride();
    const Lanes own(scale_[static_cast<std::size_t>(c)]);
    for (int r = begin; r < end; r += Lanes::width) store(column + r, load(column + r) * own * load(scale_.data() + r));
  });
  combine_stiffness();
  for (const std::size_t i : active())
    for (std::size_t c = 0; c < stride(); ++c) factors_[i * stride() + c] = weights_[i] * scale_[c];
}

template <class T>
void PoseInterpolation<T>::combine_stiffness() {
  const PreparedModel<T>& model = *prepared_;
  double total = 0;
  for (const double weight : linear_exact_) total += std::max(0.0, weight);
  for (std::size_t i = 0; i < shares_.size(); ++i) shares_[i] = static_cast<T>(std::max(0.0, linear_exact_[i]) / total);
  for (std::size_t c = 0; c < stride(); ++c) linear_scale_[c] = scale_[c] * model.linear_scale[c];
  sum(model.added, shares_, linear_scale_.data(), added_.data());
  sum(model.taken, shares_, linear_scale_.data(), taken_.data());
  sum(model.linear, shares_, linear_scale_.data(), linear_.data());
}

template <class T>
void PoseInterpolation<T>::blend(const PreparedElements<T>& elements, std::span<const ColumnRun> runs, T* scratch,
                                 typename PreparedElements<T>::Stored* result) const {
  using Lanes = typename PreparedElements<T>::Lanes;
  const std::size_t columns = elements.columns.place.size(), batches = elements.tets.batch_count();
  const std::size_t poses = prepared_->poses;
  for (std::size_t k = 0; k < active_count_; ++k) elements.columns.gather(factors(active_[k]), scratch + k * columns);
  const auto blend_column = [&](std::size_t b, std::size_t c) {
    const std::size_t at = b * elements.batch_size() + 9 * c;
    Lanes sums[9];
    for (Lanes& sum : sums) sum = Lanes(T(0));
    for (std::size_t k = 0; k < active_count_; ++k) {
      const Lanes factor(scratch[k * columns + c]);
      const auto* source = elements.gradients.data() + poses * at + 9 * active_[k];
      for (std::size_t n = 0; n < 9; ++n) sums[n] += widened(source[n]) * factor;
    }
    for (std::size_t n = 0; n < 9; ++n) result[at + n] = narrowed(sums[n], result[at + n]);
  };
  for (std::size_t b = 0; b < batches; ++b)
    for (const ColumnRun& run : runs)
      for (int c = run.begin; c < run.end; ++c) blend_column(b, static_cast<std::size_t>(c));
}

template <class T>
void PoseInterpolation<T>::blend(const PoseMatrices<T>& matrices, const BlockColumns& columns,
                                 std::span<const ColumnRun> runs, T* scratch, T* result) const {
  using Lanes = LanesOf<T>;
  const std::size_t width = matrices.stride;
  for (std::size_t k = 0; k < active_count_; ++k) {
    T* row = scratch + k * width;
    std::fill(row, row + width, T(0));
    columns.gather(factors(active_[k]), row);
    for (std::size_t c = 0; c < width; ++c) row[c] *= matrices.scale[c];
  }
  const auto blend_vector = [&](std::size_t r, std::size_t c) {
    const auto* vectors = matrices.vectors(r, c);
    Lanes sum(T(0));
    for (std::size_t k = 0; k < active_count_; ++k) sum += widened(vectors[active_[k]]) * load(scratch + k * width + c);
    store(result + r * width + c, sum);
  };
  for (std::size_t r = 0; r < matrices.rows; ++r)
    for (const ColumnRun& run : runs)
      for (int c = run.begin; c < run.end; c += Lanes::width) blend_vector(r, static_cast<std::size_t>(c));
}

template class PoseInterpolation<float>;
template class PoseInterpolation<double>;

}  // namespace supple
