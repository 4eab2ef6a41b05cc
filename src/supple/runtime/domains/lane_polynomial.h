// SPDX-License-Identifier: Apache-2.0
// The stiffness polynomial of a part (asset/subspace_model.h) for four copies at once: every coefficient is read once
// and serves all lanes, and those of the symmetric quadratic part serve two entries as well.
//
// Rows of `quadratic` come in blocks of four; a block holds its columns from the first to the diagonal, four numbers
// for each. Pairs are padded with zeros to whole blocks.
#pragma once

#include "supple/asset/subspace_model.h"
#include "supple/math/simd/lanes.h"

#include <vector>

namespace supple::domains {

class LanePolynomial {
 public:
  LanePolynomial() = default;
  explicit LanePolynomial(const StiffnessPolynomial& polynomial)
      : r_(polynomial.size()), pairs_(pair_count(r_)), padded_((pairs_ + 3) / 4 * 4) {
    const auto entry = [&](Index p, Index s) { return p < pairs_ && s < pairs_ ? polynomial.quadratic(p, s) : 0.0; };
    for (Index block = 0; block < padded_; block += 4)
      for (Index s = 0; s < block + 4; ++s)
        for (Index p = block; p < block + 4; ++p) quadratic_.push_back(entry(p, s));
    for (Index p = 0; p < padded_; ++p) {
      constant_.push_back(p < pairs_ ? polynomial.constant[p] : 0.0);
      for (Index i = 0; i < r_; ++i) linear_.push_back(p < pairs_ ? polynomial.linear(p, i) : 0.0);
    }
  }

  int size() const { return r_; }
  int padded_pairs() const { return padded_; }

  /// K̃(q) by pairs into `stiffness`, and K0 + K1/2 + K2/3, whose product with q is the force, into `mixed`. `products`
  /// is scratch; all three have padded_pairs() entries.
  void evaluate(const Pack4* q, Pack4* stiffness, Pack4* mixed, Pack4* products) const {
    multiply_pairs(q, products);
    for (int p = 0; p < padded_; ++p) stiffness[p] = Pack4(0.0);
    const double* c = quadratic_.data();
    for (int block = 0; block < padded_; block += 4) c = add_block(c, block, products, stiffness);
    const double* linear = linear_.data();
    for (int p = 0; p < padded_; ++p, linear += r_) {
      Pack4 first(0.0);
      for (int i = 0; i < r_; ++i) first += Pack4(linear[i]) * q[i];
      const Pack4 second = stiffness[p], constant(constant_[to_size(p)]);
      mixed[p] = constant + Pack4(0.5) * first + Pack4(1.0 / 3) * second;
      stiffness[p] = constant + first + second;
    }
  }

  /// The elastic energy qᵀ (K0/2 + K1/6 + K2/12) q, with the same scratch.
  Pack4 energy(const Pack4* q, Pack4* stiffness, Pack4* mixed, Pack4* products) const {
    evaluate(q, stiffness, mixed, products);
    Pack4 sum(0.0);
    const double* linear = linear_.data();
    for (int p = 0; p < padded_; ++p, linear += r_) {
      Pack4 first(0.0);
      for (int i = 0; i < r_; ++i) first += Pack4(linear[i]) * q[i];
      const Pack4 constant(constant_[to_size(p)]), second = stiffness[p] - constant - first;
      sum += products[p] * (Pack4(0.5) * constant + Pack4(1.0 / 6) * first + Pack4(1.0 / 12) * second);
    }
    return sum;
  }

 private:
  void multiply_pairs(const Pack4* q, Pack4* products) const {
    Pack4* product = products;
    for (int j = 0; j < r_; ++j) {
      const Pack4 twice = q[j] + q[j];
      for (int i = 0; i < j; ++i) *product++ = twice * q[i];
      *product++ = q[j] * q[j];
    }
    while (product != products + padded_) *product++ = Pack4(0.0);
  }

  static const double* add_block(const double* c, int block, const Pack4* x, Pack4* y) {
    const Pack4 x0 = x[block], x1 = x[block + 1], x2 = x[block + 2], x3 = x[block + 3];
    Pack4 y0 = y[block], y1 = y[block + 1], y2 = y[block + 2], y3 = y[block + 3];
    for (int s = 0; s < block; ++s, c += 4) {
      const Pack4 c0(c[0]), c1(c[1]), c2(c[2]), c3(c[3]), xs = x[s];
      y0 += c0 * xs;
      y1 += c1 * xs;
      y2 += c2 * xs;
      y3 += c3 * xs;
      y[s] += (c0 * x0 + c1 * x1) + (c2 * x2 + c3 * x3);
    }
    for (int s = block; s < block + 4; ++s, c += 4) {
      const Pack4 xs = x[s];
      y0 += Pack4(c[0]) * xs;
      y1 += Pack4(c[1]) * xs;
      y2 += Pack4(c[2]) * xs;
      y3 += Pack4(c[3]) * xs;
    }
    y[block] = y0;
    y[block + 1] = y1;
    y[block + 2] = y2;
    y[block + 3] = y3;
    return c;
  }

  int r_ = 0, pairs_ = 0, padded_ = 0;
  std::vector<double> constant_, linear_, quadratic_;
};

}  // namespace supple::domains
