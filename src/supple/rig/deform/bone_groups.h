// SPDX-License-Identifier: Apache-2.0
// BoneGroups: points that hang on bones by sums taken once (CarriedRig),
//   x_i = o_i + Σ_j A_j c_ij + Σ_js (b_s A_j) e_ijs,   c_ij of four numbers, e_ijs a vector
// four points at a time, with every bone j, and every shape s on a bone, that one of the four knows. Points of the same
// bones come together, and groups of as many terms follow each other, so that no loop ends by surprise.
#pragma once

#include "supple/math/simd/lanes.h"
#include "supple/rig/rig.h"

namespace supple {

/// The constants c and e of all points that may be asked for.
struct BoneTerms {
  struct Term {
    Eigen::Vector4d c;
    Index bone;
  };
  struct Shift {
    Vec3 e;
    Index product;  ///< in `products`
  };
  struct Product {
    Index bone, shape;
  };
  std::vector<Vec3> offset;          ///< o_i
  std::vector<Index> first_term{0};  ///< for each point, its first term; at the end, their number. Bones ascend.
  std::vector<Term> terms;
  std::vector<Index> first_shift{0};  ///< for each point, its first shift; at the end, their number
  std::vector<Shift> shifts;
  std::vector<Product> products;  ///< b_s A_j that points use

  std::span<const Term> terms_of(Index point) const { return slice(terms, first_term, point); }
  std::span<const Shift> shifts_of(Index point) const { return slice(shifts, first_shift, point); }

 private:
  template <class Entry>
  static std::span<const Entry> slice(const std::vector<Entry>& all, const std::vector<Index>& first, Index point) {
    const auto i = to_size(point);
    return {all.data() + first[i], all.data() + first[i + 1]};
  }
};

class BoneGroups {
 public:
  /// Keeps a reference to the terms, which must outlive it.
  BoneGroups(const BoneTerms& terms, Index most_points);

  /// Found out again only when other points are wanted than the last time. Allocates nothing.
  void choose(std::span<const Index> points);
  /// Writes the positions of the chosen points, for bone matrices A (with a last row of zeros) and shape weights b.
  /// Allocates nothing.
  void evaluate(std::span<const Eigen::Matrix4d> bones, std::span<const double> weights, std::span<Vec3> positions);

 private:
  struct Group {
    std::array<Index, 4> at;  ///< among the chosen points; the last again where there are fewer than four
    std::uint32_t first_term = 0, term_count = 0, first_shift = 0, shift_count = 0;
    Pack4Vec3 offset;
  };
  using Term = std::array<Pack4, 4>;     ///< c
  using Shift = Pack4Vec3;               ///< e
  using Product = std::array<Pack4, 3>;  ///< columns
  void add_group(std::span<const Index> four);

  const BoneTerms* terms_;
  std::vector<Index> points_;
  std::vector<Index> order_;  ///< scratch
  std::vector<Group> groups_;
  std::vector<Term> group_terms_;
  std::vector<Shift> group_shifts_;
  std::vector<Index> term_bones_, shift_products_;  ///< for each of these, the bone, or the product, that it is for
  std::vector<Product> products_;
};

}  // namespace supple
