// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/deform/bone_groups.h"

#include <algorithm>

namespace supple {
namespace {

/// The entry of this key; made where there is none yet. Keys ascend.
template <class Entry>
Entry& entry_of(std::vector<Entry>& entries, std::vector<Index>& keys, std::size_t first, Index key) {
  const auto found = std::lower_bound(keys.begin() + static_cast<std::ptrdiff_t>(first), keys.end(), key);
  const std::ptrdiff_t at = found - keys.begin();
  if (found == keys.end() || *found != key) {
    keys.insert(found, key);
    Entry zero;
    zero.fill(Pack4(0.0));
    entries.insert(entries.begin() + at, zero);
  }
  return entries[to_size(at)];
}

}  // namespace

BoneGroups::BoneGroups(const BoneTerms& terms, Index most_points) : terms_(&terms) {
  const auto most = to_size(most_points);
  std::size_t most_terms = 0, most_shifts = 0;
  for (Index i = 0; i < static_cast<Index>(terms.offset.size()); ++i) {
    most_terms = std::max(most_terms, terms.terms_of(i).size());
    most_shifts = std::max(most_shifts, terms.shifts_of(i).size());
  }
  points_.reserve(most);
  order_.reserve(most);
  groups_.reserve((most + 3) / 4);
  group_terms_.reserve(most * most_terms);
  group_shifts_.reserve(most * most_shifts);
  term_bones_.reserve(most * most_terms);
  shift_products_.reserve(most * most_shifts);
  products_.resize(terms.products.size());
}

void BoneGroups::choose(std::span<const Index> points) {
  if (std::equal(points_.begin(), points_.end(), points.begin(), points.end())) return;
  points_.assign(points.begin(), points.end());
  order_.resize(points.size());
  for (std::size_t k = 0; k < points.size(); ++k) order_[k] = static_cast<Index>(k);
  const auto terms = [&](Index k) { return terms_->terms_of(points_[to_size(k)]); };
  const auto before = [](const BoneTerms::Term& a, const BoneTerms::Term& b) { return a.bone < b.bone; };
  std::sort(order_.begin(), order_.end(), [&](Index a, Index b) {
    const auto own = terms(a), other = terms(b);
    if (std::lexicographical_compare(own.begin(), own.end(), other.begin(), other.end(), before)) return true;
    if (std::lexicographical_compare(other.begin(), other.end(), own.begin(), own.end(), before)) return false;
    return a < b;
  });
  groups_.clear();
  group_terms_.clear();
  group_shifts_.clear();
  term_bones_.clear();
  shift_products_.clear();
  for (std::size_t k = 0; k < order_.size(); k += 4)
    add_group(std::span<const Index>(order_).subspan(k, std::min<std::size_t>(4, order_.size() - k)));
  std::sort(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) {
    if (a.term_count != b.term_count) return a.term_count < b.term_count;
    return a.shift_count != b.shift_count ? a.shift_count < b.shift_count : a.first_term < b.first_term;
  });
}

void BoneGroups::add_group(std::span<const Index> four) {
  Group group;
  const std::size_t first_term = group_terms_.size(), first_shift = group_shifts_.size();
  for (std::size_t lane = 0; lane < 4; ++lane) {
    group.at[lane] = four[std::min(lane, four.size() - 1)];
    const Index point = points_[to_size(group.at[lane])];
    const auto set = [lane](auto& packs, const auto& numbers) {
      for (std::size_t i = 0; i < packs.size(); ++i)
        packs[i].set(static_cast<int>(lane), numbers[static_cast<Eigen::Index>(i)]);
    };
    set(group.offset, terms_->offset[to_size(point)]);
    for (const BoneTerms::Term& term : terms_->terms_of(point))
      set(entry_of(group_terms_, term_bones_, first_term, term.bone), term.c);
    for (const BoneTerms::Shift& shift : terms_->shifts_of(point))
      set(entry_of(group_shifts_, shift_products_, first_shift, shift.product), shift.e);
  }
  group.first_term = static_cast<std::uint32_t>(first_term);
  group.term_count = static_cast<std::uint32_t>(group_terms_.size() - first_term);
  group.first_shift = static_cast<std::uint32_t>(first_shift);
  group.shift_count = static_cast<std::uint32_t>(group_shifts_.size() - first_shift);
  groups_.push_back(group);
}

void BoneGroups::evaluate(std::span<const Eigen::Matrix4d> bones, std::span<const double> weights,
                          std::span<Vec3> positions) {
  for (std::size_t k = 0; k < products_.size(); ++k) {
    const double* A = bones[to_size(terms_->products[k].bone)].data();
    const Pack4 weight(weights[to_size(terms_->products[k].shape)]);
    for (std::size_t j = 0; j < 3; ++j) products_[k][j] = weight * load(A + 4 * j);
  }
  const auto* bone_numbers = reinterpret_cast<const double*>(bones.data());
  const auto* product_numbers = reinterpret_cast<const double*>(products_.data());
  for (const Group& group : groups_) {
    // Columns in turn go to two sums, so that none waits for the last but for the one before.
    Pack4Vec3 even = group.offset, odd = {Pack4(0.0), Pack4(0.0), Pack4(0.0)};
    const auto add = [](Pack4Vec3& sum, const double* column, Pack4 factor) {
      for (std::size_t i = 0; i < 3; ++i) sum[i] += Pack4(column[i]) * factor;
    };
    for (std::size_t t = group.first_term; t < group.first_term + group.term_count; ++t) {
      const double* A = bone_numbers + 16 * to_size(term_bones_[t]);
      for (std::size_t j = 0; j < 4; ++j) add(j % 2 == 0 ? even : odd, A + 4 * j, group_terms_[t][j]);
    }
    for (std::size_t t = group.first_shift; t < group.first_shift + group.shift_count; ++t) {
      const double* A = product_numbers + 12 * to_size(shift_products_[t]);
      for (std::size_t j = 0; j < 3; ++j) add(j % 2 == 0 ? even : odd, A + 4 * j, group_shifts_[t][j]);
    }
    std::array<Pack4, 4> rows = {even[0] + odd[0], even[1] + odd[1], even[2] + odd[2], Pack4(0.0)};
    transpose(rows);
    for (std::size_t lane = 0; lane < 4; ++lane) store_three(positions[to_size(group.at[lane])].data(), rows[lane]);
  }
}

}  // namespace supple
