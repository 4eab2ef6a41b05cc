// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/subspace/reduced_forces.h"

#include "supple/asset/body_stiffness.h"
#include "supple/math/dense/symmetric_pairs.h"

namespace supple {

template <class T>
ReducedForces<T>::ReducedForces(const SubspaceModel& model) : r_(model.size()), pairs_(pair_count(model.size())) {
  const StiffnessPolynomial polynomial = body_stiffness(model);
  quadratic_.assign(polynomial.quadratic);
  padded_ = quadratic_.padded_size();
  const auto padded = to_size(padded_);
  constant_.assign(padded, T(0));
  linear_.assign(padded * to_size(r_), T(0));
  for (int p = 0; p < pairs_; ++p) {
    constant_[to_size(p)] = static_cast<T>(polynomial.constant[p]);
    for (int i = 0; i < r_; ++i) linear_[to_size(i) * padded + to_size(p)] = static_cast<T>(polynomial.linear(p, i));
  }
  for (auto* scratch : {&products_, &first_, &second_, &stiffness_, &mixed_}) scratch->assign(padded, T(0));
  force_.assign(to_size(r_), T(0));
}

template <class T>
std::size_t ReducedForces<T>::bytes_read() const {
  return quadratic_.bytes() + (linear_.size() + constant_.size()) * sizeof(T);
}

template <class T>
void ReducedForces<T>::evaluate(const T* q) {
  multiply_pairs(q);
  quadratic_.multiply(products_.data(), second_.data());
  sum_parts(q);
}

/// products = m q_i q_j and first = linear · q
template <class T>
void ReducedForces<T>::multiply_pairs(const T* q) {
  T* product = products_.data();
  for (int j = 0; j < r_; ++j) {
    const T twice = T(2) * q[j];
    for (int i = 0; i < j; ++i) *product++ = twice * q[i];
    *product++ = q[j] * q[j];
  }
  T* first = first_.data();
  for (int p = 0; p < padded_; ++p) first[p] = T(0);
  int i = 0;
  for (; i + 4 <= r_; i += 4) {
    const T* c0 = linear_.data() + i * padded_;
    const T* c1 = c0 + padded_;
    const T* c2 = c1 + padded_;
    const T* c3 = c2 + padded_;
    for (int p = 0; p < padded_; ++p)
      first[p] += (c0[p] * q[i] + c1[p] * q[i + 1]) + (c2[p] * q[i + 2] + c3[p] * q[i + 3]);
  }
  for (; i < r_; ++i) {
    const T* c = linear_.data() + i * padded_;
    for (int p = 0; p < padded_; ++p) first[p] += c[p] * q[i];
  }
}

/// K = K0 + K1 + K2, R = (K0 + K1/2 + K2/3) q, V = qᵀ (K0/2 + K1/6 + K2/12) q
template <class T>
void ReducedForces<T>::sum_parts(const T* q) {
  constexpr T half = T(1) / T(2);
  constexpr T third = T(1) / T(3);
  for (int p = 0; p < padded_; ++p) {
    stiffness_[to_size(p)] = constant_[to_size(p)] + first_[to_size(p)] + second_[to_size(p)];
    mixed_[to_size(p)] = constant_[to_size(p)] + half * first_[to_size(p)] + third * second_[to_size(p)];
  }
  // products already holds m q_i q_j, so energies are plain dot products.
  T energy = T(0);
  for (int p = 0; p < padded_; ++p) {
    const auto k = to_size(p);
    energy += products_[k] * (half * constant_[k] + T(1) / T(6) * first_[k] + T(1) / T(12) * second_[k]);
  }
  energy_ = energy;
  multiply_symmetric_pairs(mixed_.data(), r_, q, force_.data());
}

template class ReducedForces<float>;
template class ReducedForces<double>;

}  // namespace supple
