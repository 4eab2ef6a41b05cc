// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/deform/bone_groups.h"

#include <algorithm>
#include <atomic>

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

std::shared_ptr<const BoneChoice> KnownBoneChoices::find(std::span<const Index> points) const {
  for (const std::weak_ptr<const BoneChoice>& known : choices_)
    if (std::shared_ptr<const BoneChoice> choice = known.lock(); choice && choice->is_of(points)) return choice;
  return nullptr;
}

void KnownBoneChoices::add(const std::shared_ptr<const BoneChoice>& choice) {
  choices_[next_] = choice;
  next_ = (next_ + 1) % choices_.size();
}

BoneGroups::BoneGroups(const BoneTerms& terms, Index most_points) : terms_(&terms), most_points_(to_size(most_points)) {
  for (Index i = 0; i < static_cast<Index>(terms.offset.size()); ++i) {
    most_terms_ = std::max(most_terms_, terms.terms_of(i).size());
    most_shifts_ = std::max(most_shifts_, terms.shifts_of(i).size());
  }
  order_.reserve(most_points_);
  own_ = make_room();
  choice_ = own_;
  products_.resize(terms.products.size());
}

std::shared_ptr<BoneChoice> BoneGroups::make_room() const {
  auto room = std::make_shared<BoneChoice>();
  room->points.reserve(most_points_);
  room->groups.reserve((most_points_ + 3) / 4);
  room->terms.reserve(most_points_ * most_terms_);
  room->shifts.reserve(most_points_ * most_shifts_);
  room->term_bones.reserve(most_points_ * most_terms_);
  room->shift_products.reserve(most_points_ * most_shifts_);
  return room;
}

void BoneGroups::choose(std::span<const Index> points) {
  if (choice_->is_of(points)) return;
  const std::scoped_lock lock(terms_->choices->mutex());
  if (std::shared_ptr<const BoneChoice> known = terms_->choices->find(points)) {
    choice_ = std::move(known);
    return;
  }
  choice_.reset();
  // Nobody can take it over while the lock is held, so a count of one stays so.
  if (own_.use_count() > 1) own_ = make_room();
  std::atomic_thread_fence(std::memory_order_acquire);
  group(points);
  choice_ = own_;
  terms_->choices->add(choice_);
}

void BoneGroups::group(std::span<const Index> points) {
  BoneChoice& own = *own_;
  own.points.assign(points.begin(), points.end());
  order_.resize(points.size());
  for (std::size_t k = 0; k < points.size(); ++k) order_[k] = static_cast<Index>(k);
  const auto terms = [&](Index k) { return terms_->terms_of(own.points[to_size(k)]); };
  const auto before = [](const BoneTerms::Term& a, const BoneTerms::Term& b) { return a.bone < b.bone; };
  std::sort(order_.begin(), order_.end(), [&](Index a, Index b) {
    const auto mine = terms(a), other = terms(b);
    if (std::lexicographical_compare(mine.begin(), mine.end(), other.begin(), other.end(), before)) return true;
    if (std::lexicographical_compare(other.begin(), other.end(), mine.begin(), mine.end(), before)) return false;
    return a < b;
  });
  own.groups.clear();
  own.terms.clear();
  own.shifts.clear();
  own.term_bones.clear();
  own.shift_products.clear();
  for (std::size_t k = 0; k < order_.size(); k += 4)
    add_group(std::span<const Index>(order_).subspan(k, std::min<std::size_t>(4, order_.size() - k)));
  std::sort(own.groups.begin(), own.groups.end(), [](const BoneChoice::Group& a, const BoneChoice::Group& b) {
    if (a.term_count != b.term_count) return a.term_count < b.term_count;
    return a.shift_count != b.shift_count ? a.shift_count < b.shift_count : a.first_term < b.first_term;
  });
}

void BoneGroups::add_group(std::span<const Index> four) {
  BoneChoice& own = *own_;
  BoneChoice::Group group;
  const std::size_t first_term = own.terms.size(), first_shift = own.shifts.size();
  for (std::size_t lane = 0; lane < 4; ++lane) {
    group.at[lane] = four[std::min(lane, four.size() - 1)];
    const Index point = own.points[to_size(group.at[lane])];
    const auto set = [lane](auto& packs, const auto& numbers) {
      for (std::size_t i = 0; i < packs.size(); ++i)
        packs[i].set(static_cast<int>(lane), numbers[static_cast<Eigen::Index>(i)]);
    };
    set(group.offset, terms_->offset[to_size(point)]);
    for (const BoneTerms::Term& term : terms_->terms_of(point))
      set(entry_of(own.terms, own.term_bones, first_term, term.bone), term.c);
    for (const BoneTerms::Shift& shift : terms_->shifts_of(point))
      set(entry_of(own.shifts, own.shift_products, first_shift, shift.product), shift.e);
  }
  group.first_term = static_cast<std::uint32_t>(first_term);
  group.term_count = static_cast<std::uint32_t>(own.terms.size() - first_term);
  group.first_shift = static_cast<std::uint32_t>(first_shift);
  group.shift_count = static_cast<std::uint32_t>(own.shifts.size() - first_shift);
  own.groups.push_back(group);
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
  const BoneChoice& chosen = *choice_;
  for (const BoneChoice::Group& group : chosen.groups) {
    // Columns in turn go to two sums, so that none waits for the last but for the one before.
    Pack4Vec3 even = group.offset, odd = {Pack4(0.0), Pack4(0.0), Pack4(0.0)};
    const auto add = [](Pack4Vec3& sum, const double* column, Pack4 factor) {
      for (std::size_t i = 0; i < 3; ++i) sum[i] += Pack4(column[i]) * factor;
    };
    for (std::size_t t = group.first_term; t < group.first_term + group.term_count; ++t) {
      const double* A = bone_numbers + 16 * to_size(chosen.term_bones[t]);
      for (std::size_t j = 0; j < 4; ++j) add(j % 2 == 0 ? even : odd, A + 4 * j, chosen.terms[t][j]);
    }
    for (std::size_t t = group.first_shift; t < group.first_shift + group.shift_count; ++t) {
      const double* A = product_numbers + 12 * to_size(chosen.shift_products[t]);
      for (std::size_t j = 0; j < 3; ++j) add(j % 2 == 0 ? even : odd, A + 4 * j, chosen.shifts[t][j]);
    }
    std::array<Pack4, 4> rows = {even[0] + odd[0], even[1] + odd[1], even[2] + odd[2], Pack4(0.0)};
    transpose(rows);
    for (std::size_t lane = 0; lane < 4; ++lane) store_three(positions[to_size(group.at[lane])].data(), rows[lane]);
  }
}

}  // namespace supple
