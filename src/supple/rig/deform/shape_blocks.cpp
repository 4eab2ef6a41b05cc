// SPDX-License-Identifier: Apache-2.0
#include "supple/rig/deform/shape_blocks.h"

#include <algorithm>

namespace supple {

ShapeBlocks::ShapeBlocks(const ShapeTable& table, std::size_t shapes, Index most_vertices) : table_(&table) {
  const auto most = to_size(most_vertices);
  const std::size_t blocks = (most + width - 1) / width;
  vertices_.reserve(most);
  first_.reserve(blocks + 1);
  terms_.reserve(std::min(blocks * shapes, table.entry_count()));
  shapes_.reserve(terms_.capacity());
  moved_.resize(width * shapes);
}

void ShapeBlocks::choose(std::span<const Index> vertices) {
  if (std::equal(vertices_.begin(), vertices_.end(), vertices.begin(), vertices.end())) return;
  vertices_.assign(vertices.begin(), vertices.end());
  terms_.clear();
  shapes_.clear();
  first_.clear();
  for (std::size_t first = 0; first < vertices.size(); first += width) add_block(first);
  first_.push_back(terms_.size());
}

void ShapeBlocks::add_block(std::size_t first) {
  const std::size_t shapes = moved_.size() / width;
  first_.push_back(terms_.size());
  std::fill(moved_.begin(), moved_.end(), Vec3::Zero());
  for (std::size_t k = 0; k < width && first + k < vertices_.size(); ++k)
    table_->add_to(vertices_[first + k], 1.0, {moved_.data() + k * shapes, shapes});
  for (std::size_t s = 0; s < shapes; ++s) {
    Numbers term;
    bool any = false;
    for (std::size_t n = 0; n < 3 * width; ++n) {
      const double number = moved_[n / 3 * shapes + s][static_cast<Eigen::Index>(n % 3)];
      term[n / 4].set(static_cast<int>(n % 4), number);
      any = any || number != 0;
    }
    if (!any) continue;
    terms_.push_back(term);
    shapes_.push_back(static_cast<Index>(s));
  }
}

void ShapeBlocks::add(std::size_t block, std::span<const double> weights, double* numbers) const {
  Numbers sums;
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = load(numbers + 4 * i);
  for (std::size_t t = first_[block]; t < first_[block + 1]; ++t) {
    const Pack4 weight(weights[to_size(shapes_[t])]);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += weight * terms_[t][i];
  }
  for (std::size_t i = 0; i < sums.size(); ++i) store(numbers + 4 * i, sums[i]);
}

void ShapeBlocks::add(std::span<const double> weights, std::span<Vec3> positions) const {
  const std::size_t whole = vertices_.size() / width, left = vertices_.size() - width * whole;
  for (std::size_t block = 0; block < whole; ++block) add(block, weights, positions[width * block].data());
  if (left == 0) return;
  std::array<Vec3, width> last;
  last.fill(Vec3::Zero());
  const auto begin = positions.begin() + static_cast<std::ptrdiff_t>(width * whole);
  std::copy_n(begin, left, last.begin());
  add(whole, weights, last[0].data());
  std::copy_n(last.begin(), left, begin);
}

}  // namespace supple
