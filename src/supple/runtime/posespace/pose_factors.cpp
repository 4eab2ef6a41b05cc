// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/posespace/pose_factors.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

/// Poses that weigh less are left out: what they add is of the size of the rounding errors of a sum of floats.
constexpr double negligible_weight = 1e-6;

}  // namespace

template <class T>
PoseFactors<T>::PoseFactors(std::shared_ptr<const PreparedModel<T>> prepared) : prepared_(std::move(prepared)) {
  const std::size_t poses = prepared_->poses;
  exact_.assign(poses, 0.0);
  scratch_ = exact_;
  weights_.assign(poses, T(0));
  products_.assign(poses * (poses + 1) / 2, T(0));
  scale_.assign(stride(), T(0));
  factors_.assign(poses * stride(), T(0));
  active_.assign(poses, 0);
  exact_[0] = 1;
  weights_[0] = T(1);
  active_count_ = 1;
  find_scale();
}

template <class T>
void PoseFactors<T>::update(std::span<const double> p) {
  if (prepared_->poses == 1) return;
  prepared_->model->poses->evaluate(p, exact_, scratch_);
  active_count_ = 0;
  for (std::size_t i = 0; i < exact_.size(); ++i) {
    weights_[i] = static_cast<T>(exact_[i]);
    if (std::abs(exact_[i]) > negligible_weight) active_[active_count_++] = i;
  }
  find_scale();
}

template <class T>
void PoseFactors<T>::take(const PoseFactors& other) {
  exact_ = other.exact_;
  weights_ = other.weights_;
  products_ = other.products_;
  scale_ = other.scale_;
  factors_ = other.factors_;
  active_ = other.active_;
  active_count_ = other.active_count_;
}

template <class T>
void PoseFactors<T>::find_scale() {
  const auto size = to_size(prepared_->size);
  std::fill(scale_.begin(), scale_.end(), T(0));
  const T* diagonal = prepared_->mass_diagonals.data();
  for (std::size_t i = 0, pair = 0; i < weights_.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j, ++pair, diagonal += stride()) {
      const T product = products_[pair] = weights_[i] * weights_[j];
      for (std::size_t c = 0; c < stride(); ++c) scale_[c] += product * diagonal[c];
    }
  }
  // A column that cancels out between poses has no direction left to be scaled up.
  for (std::size_t c = 0; c < size; ++c) scale_[c] = scale_[c] > T(1e-4) ? T(1) / std::sqrt(scale_[c]) : T(100);
  find(prepared_->sources, factors_);
}

template <class T>
void PoseFactors<T>::find(const std::vector<int>& sources, std::vector<T>& factors) const {
  std::fill(factors.begin(), factors.end(), T(0));
  for (const std::size_t i : active()) {
    const int* source = sources.data() + i * stride();
    for (std::size_t c = 0; c < stride(); ++c) factors[to_size(source[c]) * stride() + c] += weights_[i] * scale_[c];
  }
}

template class PoseFactors<float>;
template class PoseFactors<double>;

}  // namespace supple
