// SPDX-License-Identifier: Apache-2.0
// BoneGroups: points that hang on bones by sums taken once (CarriedRig),
//   x_i = o_i + Σ_j A_j c_ij + Σ_js (b_s A_j) e_ijs,   c_ij of four numbers, e_ijs a vector
// four points at a time, with every bone j, and every shape s on a bone, that one of the four knows. Points of the same
// bones come together, and groups of as many terms follow each other, so that no loop ends by surprise.
//
// Groups don't change as long as the same points are asked for, and instances of a character all ask for the same. They
// are therefore shared by all that belong to one set of terms: a crowd reads them once from memory, not once for each.
#pragma once

#include "supple/math/simd/lanes.h"
#include "supple/rig/rig.h"

#include <algorithm>
#include <memory>
#include <mutex>

namespace supple {

/// Chosen points in groups of four, with the constants of each group in the order of reading.
struct BoneChoice {
  struct Group {
    std::array<Index, 4> at;  ///< among the chosen points; the last again where there are fewer than four
    std::uint32_t first_term = 0, term_count = 0, first_shift = 0, shift_count = 0;
    Pack4Vec3 offset;
  };
  using Term = std::array<Pack4, 4>;  ///< c
  using Shift = Pack4Vec3;            ///< e

  std::vector<Index> points;
  std::vector<Group> groups;
  std::vector<Term> terms;
  std::vector<Shift> shifts;
  std::vector<Index> term_bones, shift_products;  ///< for each of these, the bone, or the product, that it is for

  bool is_of(std::span<const Index> wanted) const { return std::ranges::equal(points, wanted); }
};

/// The choices that were made last. Whoever wants the same points takes one over.
class KnownBoneChoices {
 public:
  std::shared_ptr<const BoneChoice> find(std::span<const Index> points) const;
  void add(const std::shared_ptr<const BoneChoice>& choice);
  std::mutex& mutex() { return mutex_; }

 private:
  std::mutex mutex_;
  std::array<std::weak_ptr<const BoneChoice>, 4> choices_;
  std::size_t next_ = 0;
};

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
  std::shared_ptr<KnownBoneChoices> choices = std::make_shared<KnownBoneChoices>();

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

  /// Found out again only when other points are wanted than the last time. Allocates nothing, unless others have taken
  /// over what this one has chosen and now leaves.
  void choose(std::span<const Index> points);
  /// Writes the positions of the chosen points, for bone matrices A (with a last row of zeros) and shape weights b.
  /// Allocates nothing.
  void evaluate(std::span<const Eigen::Matrix4d> bones, std::span<const double> weights, std::span<Vec3> positions);

 private:
  using Product = std::array<Pack4, 3>;  ///< columns
  std::shared_ptr<BoneChoice> make_room() const;
  /// Puts the points into groups, in place of what `own_` held.
  void group(std::span<const Index> points);
  void add_group(std::span<const Index> four);

  const BoneTerms* terms_;
  std::size_t most_points_, most_terms_ = 0, most_shifts_ = 0;  ///< the latter two of any point
  std::vector<Index> order_;                                    ///< scratch
  std::shared_ptr<BoneChoice> own_;                             ///< room for a choice that nobody else has made
  std::shared_ptr<const BoneChoice> choice_;                    ///< the present one, own or another's
  std::vector<Product> products_;
};

}  // namespace supple
