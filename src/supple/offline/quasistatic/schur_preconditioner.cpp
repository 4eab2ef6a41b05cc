// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/quasistatic/schur_preconditioner.h"

#include "supple/base/parallel.h"

#include <algorithm>
#include <numeric>

namespace supple {
namespace {

using Block3f = Eigen::Matrix3f;

/// What lies around one vertex of the boundary.
struct Surroundings {
  std::vector<Index> interior;                  ///< within reach: places in the order of elimination, ascending
  std::vector<std::pair<Index, int>> boundary;  ///< places in the boundary with their distance, ascending
};

/// Walks over the free vertices of a body, edge by edge.
class EdgeWalk {
 public:
  EdgeWalk(const ExRotatedBody& body, std::span<const Index> place)
      : body_(body), place_(place), seen_(to_size(body.free().end), -1) {}

  void around(Index vertex, int reach, int farthest, Surroundings& found) {
    found.interior.clear();
    found.boundary.clear();
    const BlockPattern& pattern = body_.stiffness().pattern();
    front_.assign(1, vertex);
    seen_[to_size(vertex)] = vertex;
    for (int distance = 0; !front_.empty(); ++distance) {
      next_.clear();
      for (const Index v : front_) {
        if (v >= body_.boundary().begin)
          found.boundary.emplace_back(v - body_.boundary().begin, distance);
        else if (distance <= reach)
          found.interior.push_back(place_[to_size(v)]);
        if (distance == farthest) continue;
        for (Index k = pattern.row_begin[to_size(v)]; k < pattern.row_begin[to_size(v) + 1]; ++k) {
          const Index w = pattern.column[to_size(k)];
          if (w >= body_.free().end || seen_[to_size(w)] == vertex) continue;
          seen_[to_size(w)] = vertex;
          next_.push_back(w);
        }
      }
      std::swap(front_, next_);
    }
    std::sort(found.interior.begin(), found.interior.end());
    std::sort(found.boundary.begin(), found.boundary.end());
  }

 private:
  const ExRotatedBody& body_;
  std::span<const Index> place_;  ///< of the interior's vertices in the order of elimination
  std::vector<Index> seen_, front_, next_;
};

/// A block column of Y: ascending places, and blocks.
struct Column {
  std::vector<Index> place;
  std::vector<Block3f> block;
};

/// L⁻¹ K_iv over the given places alone.
Column solve_column(const ExRotatedBody& body, const BlockIncompleteCholesky& factor, std::span<const Index> place,
                    Index vertex, std::span<const Index> within, std::vector<Index>& local) {
  Column y{{within.begin(), within.end()}, std::vector<Block3f>(within.size(), Block3f::Zero())};
  for (std::size_t k = 0; k < within.size(); ++k) local[to_size(within[k])] = static_cast<Index>(k);
  const BlockMatrix& K = body.stiffness();
  for (Index k = K.pattern().row_begin[to_size(vertex)]; k < K.pattern().row_begin[to_size(vertex) + 1]; ++k) {
    const Index w = K.pattern().column[to_size(k)];
    if (w >= body.interior().end) continue;
    const Index at = local[to_size(place[to_size(w)])];
    // K_wv is the transpose of K_vw.
    if (at >= 0) y.block[to_size(at)] = Eigen::Map<const Mat3>(K.block(k)).transpose().cast<float>();
  }
  for (std::size_t k = 0; k < within.size(); ++k) {
    const std::span<const Index> columns = factor.columns(within[k]);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const Index at = local[to_size(columns[c])];
      if (at < 0) continue;
      y.block[k].noalias() -= Eigen::Map<const Block3f>(factor.block(within[k], c)) * y.block[to_size(at)];
    }
    y.block[k] = (Eigen::Map<const Block3f>(factor.inverse_diagonal(within[k])) * y.block[k]).eval();
  }
  for (const Index i : within) local[to_size(i)] = -1;
  return y;
}

Mat3 product(const Column& a, const Column& b) {
  Block3f sum = Block3f::Zero();
  std::size_t i = 0, j = 0;
  while (i < a.place.size() && j < b.place.size()) {
    if (a.place[i] == b.place[j]) {
      sum.noalias() += a.block[i].transpose() * b.block[j];
      ++i, ++j;
    } else if (a.place[i] < b.place[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return sum.cast<double>();
}

}  // namespace

BlockMatrix sparse_schur(const ExRotatedBody& body, const BlockIncompleteCholesky& interior,
                         const SchurSettings& settings) {
  const Index count = body.boundary().count(), first = body.boundary().begin;
  std::vector<Index> place(to_size(body.interior().end));
  for (std::size_t k = 0; k < interior.order().rows.size(); ++k)
    place[to_size(interior.order().rows[k])] = static_cast<Index>(k);
  std::vector<Column> Y(to_size(count));
  std::vector<std::vector<std::pair<Index, int>>> near(to_size(count));
  constexpr std::int64_t grain = 256;
  parallel_ranges(count, grain, [&](std::int64_t begin, std::int64_t end) {
    EdgeWalk walk(body, place);
    Surroundings found;
    std::vector<Index> local(place.size(), -1);
    for (std::int64_t v = begin; v < end; ++v) {
      const auto own = static_cast<Index>(v);
      walk.around(first + own, settings.reach, std::max(2 * settings.reach, settings.distance), found);
      Y[to_size(v)] = solve_column(body, interior, place, first + own, found.interior, local);
      near[to_size(v)] = found.boundary;
    }
  });
  auto pattern = std::make_shared<BlockPattern>();
  pattern->row_begin.push_back(0);
  for (const auto& row : near) {
    for (const auto& [w, distance] : row)
      if (distance <= settings.distance) pattern->column.push_back(w);
    pattern->row_begin.push_back(static_cast<Index>(pattern->column.size()));
  }
  BlockMatrix S(pattern);
  const BlockMatrix& K = body.stiffness();
  parallel_for(count, 32, [&](std::int64_t i) {
    const auto v = static_cast<Index>(i);
    Vec3 discarded = Vec3::Zero();
    for (const auto& [w, distance] : near[to_size(i)]) {
      const Mat3 flow = product(Y[to_size(v)], Y[to_size(w)]);
      if (distance <= settings.distance)
        Eigen::Map<Mat3>(S.block(pattern->find(v, w))) -= flow;
      else
        discarded += flow.cwiseAbs().rowwise().sum();
    }
    S.block_at(v, v).diagonal() += discarded;
    for (Index k = K.pattern().row_begin[to_size(first + v)]; k < K.pattern().row_begin[to_size(first + v) + 1]; ++k) {
      const Index w = K.pattern().column[to_size(k)] - first;
      if (w < 0 || w >= count) continue;
      S.block_at(v, w) += Eigen::Map<const Mat3>(K.block(k));
    }
  });
  return S;
}

BlockMatrix nearest_schur(const ExRotatedBody& body, const BlockMatrix& schur) {
  const BlockPattern &wide = schur.pattern(), &edges = body.stiffness().pattern();
  const Index first = body.boundary().begin;
  const auto share_edge = [&](Index v, Index w) {
    const auto begin = edges.column.begin() + edges.row_begin[to_size(first + v)],
               end = edges.column.begin() + edges.row_begin[to_size(first + v) + 1];
    return std::binary_search(begin, end, first + w);
  };
  auto pattern = std::make_shared<BlockPattern>();
  pattern->row_begin.push_back(0);
  for (Index v = 0; v < wide.rows(); ++v) {
    for (Index k = wide.row_begin[to_size(v)]; k < wide.row_begin[to_size(v) + 1]; ++k)
      if (share_edge(v, wide.column[to_size(k)])) pattern->column.push_back(wide.column[to_size(k)]);
    pattern->row_begin.push_back(static_cast<Index>(pattern->column.size()));
  }
  BlockMatrix S(pattern);
  for (Index v = 0; v < wide.rows(); ++v) {
    for (Index k = wide.row_begin[to_size(v)]; k < wide.row_begin[to_size(v) + 1]; ++k) {
      const Eigen::Map<const Mat3> block(schur.block(k));
      if (const Index w = wide.column[to_size(k)]; share_edge(v, w))
        S.block_at(v, w) += block;
      else
        S.block_at(v, v).diagonal() += block.cwiseAbs().rowwise().sum();
    }
  }
  return S;
}

BlockIncompleteCholesky boundary_factor(const ExRotatedBody& body, const BlockMatrix& schur) {
  const auto [begin, end] = body.boundary();
  std::vector<Index> rows(to_size(end - begin));
  std::iota(rows.begin(), rows.end(), 0);
  return {schur, slab_order(schur.pattern(), rows, std::span(body.rest()).subspan(to_size(begin), rows.size()))};
}

}  // namespace supple
