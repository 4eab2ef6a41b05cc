// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/pose_interpolation.h"

#include "supple/math/simd/lanes.h"

#include <algorithm>

namespace supple {
namespace {

/// result += Σ_i X_i factor_i over `count` poses, for one vector of columns in all rows. The factors are copied to a
/// local array of known length, which compilers keep in registers.
template <int count, class T, class Lanes>
void add_rows(const PoseMatrices<T>& matrices, const std::size_t* place, const Lanes* factors, T* result) {
  Lanes own[count];
  std::copy(factors, factors + count, own);
  const auto* row = matrices.packed.data();
  for (std::size_t r = 0; r < matrices.rows; ++r, row += matrices.stored.count(), result += matrices.stride) {
    Lanes sum = load(result);
    for (int i = 0; i < count; ++i) sum += widened(row[place[i]]) * own[i];
    store(result, sum);
  }
}

/// shares_i = w⁺_i / Σ_j w⁺_j
template <class T>
void find_shares(const std::vector<double>& weights, std::vector<T>& shares) {
  double total = 0;
  for (const double weight : weights) total += std::max(0.0, weight);
  for (std::size_t i = 0; i < shares.size(); ++i) shares[i] = static_cast<T>(std::max(0.0, weights[i]) / total);
}

}  // namespace

template <class T>
PoseInterpolation<T>::PoseInterpolation(std::shared_ptr<const PreparedModel<T>> prepared)
    : prepared_(std::move(prepared)), basis_(prepared_) {
  const PreparedModel<T>& model = *prepared_;
  kept_ = KeptColumns(model.size, LanesOf<T>::width);
  correction_exact_.assign(to_size(model.model->correction_pose_count()), 0.0);
  scratch_ = correction_exact_;
  gradient_factors_.assign(model.poses * stride(), T(0));
  shares_.assign(model.poses, T(0));
  correction_shares_.assign(correction_exact_.size(), T(0));
  counting_shares_ = correction_shares_;
  linear_scale_.assign(stride(), T(0));
  stored_.assign(model.poses, 0);
  for (const auto* stack : {&model.mass, &model.linear, &model.corrections}) {
    group_factors_.resize(std::max(group_factors_.size(), stack->groups()));
    summed_end_.resize(std::max(summed_end_.size(), stack->patterns.size()));
  }
  summed_.resize(group_factors_.size());
  mass_.assign(model.triangle(), T(0));
  for (auto* matrix : {&correction_, &linear_}) matrix->assign(model.triangle(), T(0));
  correction_exact_[0] = 1;
  combine_mass();
}

template <class T>
void PoseInterpolation<T>::update(std::span<const double> p) {
  const auto& more = prepared_->model->correction_poses;
  if (more) more->evaluate(p, correction_exact_, scratch_);
  if (constant()) {
    if (more) combine_stiffness();
    return;
  }
  basis_.update(p);
  if (!more) correction_exact_ = basis_.exact_weights();
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
void PoseInterpolation<T>::combine(T mass_factor, T linear_factor, T* A) const {
  using Lanes = LanesOf<T>;
  const auto s = static_cast<int>(stride());
  const Lanes c_mass(mass_factor), c_linear(linear_factor);
  const T* damping = damping_matrix();
  for_each_column([&](int c, int begin, int end) {
    for (int at = c * s + begin; at < c * s + end; at += Lanes::width)
      store(A + at, c_mass * load(mass_.data() + at) + c_linear * load(damping + at) + load(correction_.data() + at));
  });
}

template <class T>
void PoseInterpolation<T>::combine(T mass_factor, T linear_factor, T* A, T* P) const {
  using Lanes = LanesOf<T>;
  const auto s = static_cast<int>(stride());
  const Lanes c_mass(mass_factor), c_linear(linear_factor), c_rest(linear_factor + T(1));
  const T* damping = damping_matrix();
  for_each_column([&](int c, int begin, int end) {
    for (int at = c * s + begin; at < c * s + end; at += Lanes::width) {
      const Lanes inertia = c_mass * load(mass_.data() + at);
      store(A + at, inertia + c_linear * load(damping + at) + load(correction_.data() + at));
      store(P + at, inertia + c_rest * load(linear_.data() + at));
    }
  });
}

template <class T>
template <int count>
void PoseInterpolation<T>::multiply_columns(const T* matrix, int first, std::size_t run, const T* x, T* y) const {
  using Lanes = LanesOf<T>;
  const auto runs = kept_.runs();
  const auto s = static_cast<std::ptrdiff_t>(stride());
  const T* columns = matrix + first * s;
  Lanes values[count], sums[count];
  for (int i = 0; i < count; ++i) {
    values[i] = Lanes(x[first + i]);
    sums[i] = Lanes(T(0));
  }
  // Whole vectors from the diagonal on; what they hold above it is zero.
  for (int begin = first / Lanes::width * Lanes::width; run < runs.size(); ++run) {
    for (int r = std::max(begin, runs[run].begin); r < runs[run].end; r += Lanes::width) {
      const Lanes own = load(x + r);
      Lanes result = load(y + r);
      for (int i = 0; i < count; ++i) {
        const Lanes entries = load(columns + i * s + r);
        sums[i] += entries * own;
        result += entries * values[i];
      }
      store(y + r, result);
    }
  }
  for (int i = 0; i < count; ++i) y[first + i] += sum_of(sums[i]) - columns[i * s + first + i] * x[first + i];
}

template <class T>
void PoseInterpolation<T>::multiply(const T* matrix, const T* x, T* y) const {
  const auto runs = kept_.runs();
  for (std::size_t k = 0; k < runs.size(); ++k) {
    int c = runs[k].begin;
    for (; c + 4 <= kept_.last(runs[k]); c += 4) multiply_columns<4>(matrix, c, k, x, y);
    for (; c < kept_.last(runs[k]); ++c) multiply_columns<1>(matrix, c, k, x, y);
  }
}

template <class T>
template <class Vector>
void PoseInterpolation<T>::find_summed(const TriangleStack<Vector>& stack, const std::vector<T>& factors) {
  for (std::size_t p = 0; p < stack.patterns.size(); ++p) {
    const auto& pattern = stack.patterns[p];
    T* sums = group_factors_.data();
    std::fill_n(sums, pattern.groups, T(0));
    for (std::size_t k = 0; k < stack.matrices; ++k)
      if (pattern.group[k] >= 0) sums[pattern.group[k]] += factors[k];
    // About half of all shares are zero: poses that lie behind others.
    std::size_t count = pattern.first;
    for (std::uint32_t g = 0; g < pattern.groups; ++g)
      if (sums[g] != T(0)) summed_[count++] = {sums[g], g};
    summed_end_[p] = count;
  }
}

template <class T>
template <int count, class Pattern>
void PoseInterpolation<T>::sum_places(const Pattern& pattern, std::size_t first, std::size_t end, const T* scale,
                                      T* result) const {
  using Lanes = LanesOf<T>;
  const auto* own = pattern.values.data() + first * pattern.groups;
  Lanes sums[count];
  for (Lanes& sum : sums) sum = Lanes(T(0));
  for (std::size_t n = pattern.first; n < end; ++n) {
    const Lanes factor(summed_[n].factor);
    for (std::size_t i = 0; i < count; ++i) sums[i] += widened(own[i * pattern.groups + summed_[n].place]) * factor;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto [column, row] = pattern.places[first + i];
    if (scale != nullptr) sums[i] *= Lanes(scale[column]) * load(scale + row);
    store(result + column * static_cast<int>(stride()) + row, sums[i]);
  }
}

template <class T>
template <class Vector>
void PoseInterpolation<T>::sum(const TriangleStack<Vector>& stack, const std::vector<T>& factors, const T* scale,
                               T* result) {
  find_summed(stack, factors);
  for (std::size_t p = 0; p < stack.patterns.size(); ++p) {
    const auto& pattern = stack.patterns[p];
    const std::size_t count = pattern.places.size();
    std::size_t k = 0;
    for (; kept_.all() && k + 4 <= count; k += 4) sum_places<4>(pattern, k, summed_end_[p], scale, result);
    for (; k < count; ++k)
      if (kept_.has(pattern.places[k].column) && kept_.has(pattern.places[k].row))
        sum_places<1>(pattern, k, summed_end_[p], scale, result);
  }
}

template <class T>
void PoseInterpolation<T>::combine_mass() {
  const PreparedModel<T>& model = *prepared_;
  const T* scale = basis_.scale();
  sum(model.mass, basis_.products(), nullptr, mass_.data());
  using Lanes = LanesOf<T>;
  for_each_column([&](int c, int begin, int end) {
    T* column = mass_.data() + to_size(c) * stride();
    const Lanes own(scale[c]);
    for (int r = begin; r < end; r += Lanes::width) store(column + r, load(column + r) * own * load(scale + r));
  });
  combine_stiffness();
  basis_.find(model.gradient_sources, gradient_factors_);
  for (std::size_t i = 0; i < stored_.size(); ++i)
    stored_[i] = std::any_of(factors(i), factors(i) + stride(), [](T factor) { return factor != T(0); }) ? 1 : 0;
}

template <class T>
void PoseInterpolation<T>::combine_stiffness() {
  const PreparedModel<T>& model = *prepared_;
  find_shares(basis_.exact_weights(), shares_);
  find_shares(correction_exact_, correction_shares_);
  for (std::size_t c = 0; c < stride(); ++c) linear_scale_[c] = basis_.scale()[c] * model.linear_scale[c];
  sum(model.linear, stiffness_shares(), linear_scale_.data(), linear_.data());
  // Where corrections are known at more poses, evaluate() has left the distances to them.
  const bool everywhere = !model.model->correction_poses;
  const auto counting = static_cast<T>(everywhere ? 1.0 : correction_share(scratch_, model.model->correction_reach));
  for (std::size_t i = 0; i < counting_shares_.size(); ++i) counting_shares_[i] = counting * correction_shares_[i];
  sum(model.corrections, counting_shares_, linear_scale_.data(), correction_.data());
}

template <class T>
void PoseInterpolation<T>::blend(const PreparedElements<T>& elements, std::span<const ColumnRun> runs,
                                 std::span<Term> terms, std::span<std::uint32_t> ends,
                                 typename PreparedElements<T>::Stored* result) const {
  const StoredPoses& stored = elements.stored;
  std::uint32_t count = 0;
  for (std::size_t c = 0; c < stored.columns(); ++c) {
    const auto place = to_size(elements.columns.place[c]);
    for (std::uint32_t k = stored.begin[c]; k < stored.begin[c + 1]; ++k) {
      const T factor = gradient_factors(to_size(stored.pose[k]))[place];
      if (factor != T(0)) terms[count++] = {factor, static_cast<std::uint32_t>(elements.rows) * k};
    }
    ends[c] = count;
  }
  if (elements.rows == 12)
    blend_batches<12>(elements, runs, terms, ends, result);
  else
    blend_batches<9>(elements, runs, terms, ends, result);
}

template <class T>
template <std::size_t rows>
void PoseInterpolation<T>::blend_batches(const PreparedElements<T>& elements, std::span<const ColumnRun> runs,
                                         std::span<const Term> terms, std::span<const std::uint32_t> ends,
                                         typename PreparedElements<T>::Stored* result) {
  using Lanes = typename PreparedElements<T>::Lanes;
  const auto* batch = elements.gradients.data();
  for (std::size_t b = 0; b < elements.tets.batch_count(); ++b, batch += rows * elements.stored.count()) {
    for (const ColumnRun& run : runs) {
      std::uint32_t k = run.begin > 0 ? ends[to_size(run.begin) - 1] : 0;
      for (int c = run.begin; c < run.end; ++c) {
        Lanes sums[rows];
        for (Lanes& sum : sums) sum = Lanes(T(0));
        for (; k < ends[to_size(c)]; ++k) {
          const Lanes factor(terms[k].factor);
          const auto* source = batch + terms[k].place;
          for (std::size_t n = 0; n < rows; ++n) sums[n] += widened(source[n]) * factor;
        }
        auto* target = result + b * elements.batch_size() + rows * to_size(c);
        for (std::size_t n = 0; n < rows; ++n) target[n] = narrowed(sums[n], target[n]);
      }
    }
  }
}

template <class T>
void PoseInterpolation<T>::blend(const PoseMatrices<T>& matrices, const BlockColumns& columns,
                                 std::span<const ColumnRun> runs, T* scratch, T* result) const {
  using Lanes = LanesOf<T>;
  const std::size_t stride = matrices.stride;
  for (std::size_t i = 0; i < stored_.size(); ++i) {
    T* row = scratch + i * stride;
    std::fill(row, row + stride, T(0));
    columns.gather(factors(i), row);
    for (std::size_t c = 0; c < stride; ++c) row[c] *= matrices.scale[c];
  }
  for (const ColumnRun& run : runs)
    for (int c = run.begin; c < run.end; c += Lanes::width) blend_vector(matrices, to_size(c), scratch + c, result + c);
}

template <class T>
void PoseInterpolation<T>::blend_vector(const PoseMatrices<T>& matrices, std::size_t column, const T* factors,
                                        T* result) const {
  using Lanes = LanesOf<T>;
  const StoredPoses& stored = matrices.stored;
  const std::size_t vector = column / Lanes::width, end = stored.begin[vector + 1];
  for (std::size_t r = 0; r < matrices.rows; ++r) store(result + r * matrices.stride, Lanes(T(0)));
  Lanes factor[4];
  std::size_t place[4], count = 0;
  for (std::size_t k = stored.begin[vector]; k < end; ++k) {
    const auto pose = to_size(stored.pose[k]);
    if (!stored_[pose]) continue;
    factor[count] = load(factors + pose * matrices.stride);
    place[count++] = k;
    if (count < 4) continue;
    add_rows<4>(matrices, place, factor, result);
    count = 0;
  }
  if (count == 3) add_rows<3>(matrices, place, factor, result);
  if (count == 2) add_rows<2>(matrices, place, factor, result);
  if (count == 1) add_rows<1>(matrices, place, factor, result);
}

template class PoseInterpolation<float>;
template class PoseInterpolation<double>;

}  // namespace supple
