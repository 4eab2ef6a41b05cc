// SPDX-License-Identifier: Apache-2.0
// Which thin pieces become nodes.
#include "supple/base/parallel.h"
#include "supple/mesh/disjoint_sets.h"
#include "supple/offline/meshing/thin_pieces.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <utility>

namespace supple {
namespace {

class PieceChooser {
 public:
  PieceChooser(const Flesh& flesh, const BccLattice& lattice, ThinPieces found, FleshNodes& nodes)
      : flesh_(flesh), lattice_(lattice), found_(std::move(found)), nodes_(nodes) {}

  void run() {
    add_missing_links();
    choose();
    join_curved();
    add_doubtful();
    store();
  }

 private:
  bool stays(Index node) const { return !found_.is_piece(node) || found_.piece(node).kept; }

  bool linked(Index a, Index b) const {
    if (found_.is_piece(a)) return std::binary_search(found_.piece(a).links.begin(), found_.piece(a).links.end(), b);
    if (found_.is_piece(b)) return linked(b, a);
    const int d = found_.direction(a, b, nodes_, lattice_);
    return d >= 0 && ((nodes_.joined[to_size(a)] >> d) & 1) != 0;
  }

  /// Pieces at a site; all of them are in order of their sites.
  std::pair<Index, Index> pieces_at(Site site) const {
    const auto begin = found_.pieces.begin();
    const auto first =
        std::lower_bound(begin, found_.pieces.end(), site, [](const ThinPiece& p, Site s) { return p.site < s; });
    auto last = first;
    while (last != found_.pieces.end() && last->site == site) ++last;
    return {nodes_.real + static_cast<Index>(first - begin), nodes_.real + static_cast<Index>(last - begin)};
  }

  /// Is a piece linked to something that is linked to the other node?
  bool share_link(Index piece, Index other) const {
    const std::vector<Index>& mine = found_.piece(piece).links;
    return std::any_of(mine.begin(), mine.end(), [&](Index c) { return linked(c, other); });
  }

  /// Does flesh lead from a piece to another node, asked at the points where they are nearest? If something holds the
  /// two together anyhow, the way between them may also run along a surface that bends or over a dent.
  bool adjoin(Index piece, Index other) const {
    const bool is_piece = found_.is_piece(other);
    const Vec3 *p = nullptr, *q = nullptr;
    double distance = std::numeric_limits<double>::infinity();
    const auto consider = [&](const Vec3& a, const Vec3& b) {
      if ((a - b).squaredNorm() >= distance) return;
      distance = (a - b).squaredNorm();
      p = &a;
      q = &b;
    };
    for (const Vec3& a : found_.piece(piece).samples) {
      if (!is_piece) consider(a, nodes_.center[to_size(other)]);
      for (std::size_t k = 0; is_piece && k < found_.piece(other).samples.size(); ++k)
        consider(a, found_.piece(other).samples[k]);
    }
    if (share_link(piece, other)) return flesh_.joins_along(*p, *q);
    return flesh_.joins(*p, *q, !is_piece);
  }

  /// Nodes at neighbouring sites that a piece isn't linked to but adjoins; of pieces, those that come after it.
  std::vector<Index> missing_links(Index piece) const {
    std::vector<Index> missing;
    const auto visit = [&](Index other) {
      const NodeLink link = {std::min(piece, other), std::max(piece, other)};
      if (!linked(piece, other) && !std::binary_search(found_.doubtful.begin(), found_.doubtful.end(), link) &&
          adjoin(piece, other))
        missing.push_back(other);
    };
    const auto x = lattice_.coordinates(found_.piece(piece).site);
    for (int d = 0; d < BccLattice::neighbor_count; ++d) {
      const auto y = BccLattice::step(x, d);
      if (!lattice_.holds(y)) continue;
      const Site site = lattice_.site(y);
      const Index real = nodes_.real_at[to_size(site)];
      if (real >= 0 && share_link(piece, real)) visit(real);
      if (site < found_.piece(piece).site) continue;
      const auto [first, last] = pieces_at(site);
      for (Index other = first; other < last; ++other) visit(other);
    }
    return missing;
  }

  /// Links pieces to what they adjoin: samples are too sparse to find every place where the flesh of two cells meets.
  void add_missing_links() {
    std::sort(found_.doubtful.begin(), found_.doubtful.end());
    std::vector<std::vector<Index>> missing(found_.pieces.size());
    parallel_for(static_cast<std::int64_t>(missing.size()), 8,
                 [&](std::int64_t p) { missing[to_size(p)] = missing_links(nodes_.real + static_cast<Index>(p)); });
    for (std::size_t p = 0; p < missing.size(); ++p) {
      for (const Index other : missing[p]) {
        found_.pieces[p].links.push_back(other);
        if (found_.is_piece(other)) found_.piece(other).links.push_back(nodes_.real + static_cast<Index>(p));
      }
    }
    for (ThinPiece& p : found_.pieces) std::sort(p.links.begin(), p.links.end());
  }

  /// Does other flesh that stays share a piece's site, as between fingers?
  bool crowded(const ThinPiece& p) const {
    if (nodes_.real_at[to_size(p.site)] >= 0) return true;
    const auto [first, last] = pieces_at(p.site);
    for (Index n = first; n < last; ++n) {
      if (&found_.piece(n) != &p && found_.piece(n).kept) return true;
    }
    return false;
  }

  /// Does the complex of linked nodes keep its topology without a piece? It does if what the piece is linked to hangs
  /// together without a hole: a simple point. What hangs together is connected and has the Euler number 1. Where sites
  /// are crowded one more node does more harm than a hole, so connected is enough.
  bool simple(const ThinPiece& p) const {
    std::vector<Index> around;
    std::copy_if(p.links.begin(), p.links.end(), std::back_inserter(around), [&](Index n) { return stays(n); });
    const std::size_t count = around.size();
    if (count == 0 || count > 64) return false;
    std::vector<std::uint64_t> near(count, 0);
    int edges = 0, triangles = 0;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (!linked(around[i], around[j])) continue;
        ++edges;
        triangles += std::popcount(near[i] & near[j]);
        near[i] |= std::uint64_t{1} << j;
        near[j] |= std::uint64_t{1} << i;
      }
    }
    std::uint64_t reached = 1, before = 0;
    while (reached != before) {
      before = reached;
      for (std::size_t i = 0; i < count; ++i) {
        if ((reached >> i) & 1) reached |= near[i];
      }
    }
    return to_size(std::popcount(reached)) == count && (static_cast<int>(count) - edges + triangles == 1 || crowded(p));
  }

  /// From the full complex of all pieces, which has the topology of the flesh, those that real nodes serve are peeled
  /// off, outermost first, as long as the topology stays.
  void choose() {
    struct Candidate {
      double distance;
      Index node;
    };
    constexpr int passes = 3;
    for (ThinPiece& p : found_.pieces) p.kept = 4 * p.unserved > static_cast<double>(p.samples.size());
    std::vector<Candidate> candidates;
    for (Index n = nodes_.real; n < nodes_.real + static_cast<Index>(found_.pieces.size()); ++n) {
      ThinPiece& p = found_.piece(n);
      if (p.kept) continue;
      p.kept = true;
      double distance = std::numeric_limits<double>::infinity();
      const Vec3 x = lattice_.position(p.site);
      for (const Vec3& y : p.samples) distance = std::min(distance, (x - y).squaredNorm());
      candidates.push_back({distance, n});
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.distance > b.distance; });
    for (int pass = 0; pass < passes; ++pass) {
      for (const Candidate& c : candidates) {
        ThinPiece& p = found_.piece(c.node);
        if (p.kept && simple(p)) p.kept = false;
      }
    }
  }

  /// Real nodes whose flesh is continuous though the straight way leaves it, with no third node to go by.
  void join_curved() {
    for (const auto& [a, b] : found_.curved) {
      if (linked(a, b)) continue;
      const auto helps = [&](Index c) { return c >= 0 && stays(c) && linked(a, c) && linked(b, c); };
      bool helped = false;
      for (int d = 0; d < BccLattice::neighbor_count && !helped; ++d)
        helped = helps(nodes_.real_neighbor(a, d, lattice_));
      for (std::size_t p = 0; !helped && p < pieces_near(a).size(); ++p) helped = helps(pieces_near(a)[p]);
      if (!helped) nodes_.add_link(a, b, lattice_);
    }
  }

  /// Pieces without which what stays would fall apart as a whole.
  void keep_bridges(DisjointSets& together) {
    for (std::size_t p = 0; p < found_.pieces.size(); ++p) {
      if (found_.pieces[p].kept) continue;
      Index first = -1;
      for (const Index n : found_.pieces[p].links) {
        if (!stays(n)) continue;
        if (first < 0) first = n;
        found_.pieces[p].kept = found_.pieces[p].kept || together.find(n) != together.find(first);
      }
      for (const Index n : found_.pieces[p].links) {
        if (found_.pieces[p].kept && stays(n)) together.unite(nodes_.real + static_cast<Index>(p), n);
      }
    }
  }

  /// The node itself if it stays, or one that stays and is linked to it; -1 for none.
  Index anchor(Index node) const {
    if (stays(node)) return node;
    const std::vector<Index>& links = found_.piece(node).links;
    const auto found = std::find_if(links.begin(), links.end(), [&](Index n) { return stays(n); });
    return found == links.end() ? -1 : *found;
  }

  /// Links around the end of a crevice, only where nothing else holds their ends together.
  void add_doubtful() {
    DisjointSets together(to_size(nodes_.real) + found_.pieces.size());
    for (Index a = 0; a < nodes_.real; ++a) {
      for (int d = 0; d < BccLattice::neighbor_count / 2; ++d) {
        if ((nodes_.joined[to_size(a)] >> d) & 1) together.unite(a, nodes_.real_neighbor(a, d, lattice_));
      }
    }
    for (std::size_t p = 0; p < found_.pieces.size(); ++p) {
      for (const Index n : found_.pieces[p].links) {
        if (found_.pieces[p].kept && stays(n)) together.unite(nodes_.real + static_cast<Index>(p), n);
      }
    }
    keep_bridges(together);
    std::sort(found_.doubtful.begin(), found_.doubtful.end());
    for (const auto& [a, b] : found_.doubtful) {
      const Index from_a = anchor(a), from_b = anchor(b);
      if (from_a < 0 || from_b < 0 || together.find(from_a) == together.find(from_b)) continue;
      for (const auto& [n, held] : {NodeLink{a, from_a}, NodeLink{b, from_b}}) {
        if (found_.is_piece(n)) found_.piece(n).kept = true;
        together.unite(n, held);
      }
      together.unite(a, b);
      if (!found_.is_piece(b)) nodes_.add_link(a, b, lattice_);
      for (const auto& [from, to] : {NodeLink{a, b}, NodeLink{b, a}}) {
        if (!found_.is_piece(from)) continue;
        std::vector<Index>& list = found_.piece(from).links;
        list.insert(std::upper_bound(list.begin(), list.end(), to), to);
      }
    }
  }

  /// Pieces linked to a real node.
  const std::vector<Index>& pieces_near(Index real) {
    if (near_.empty()) {
      near_.resize(to_size(nodes_.real));
      for (std::size_t p = 0; p < found_.pieces.size(); ++p) {
        for (const Index n : found_.pieces[p].links) {
          if (!found_.is_piece(n)) near_[to_size(n)].push_back(nodes_.real + static_cast<Index>(p));
        }
      }
    }
    return near_[to_size(real)];
  }

  void store() {
    std::vector<Index> number(found_.pieces.size(), -1);
    nodes_.has_thin.assign(nodes_.real_at.size(), 0);
    for (std::size_t p = 0; p < found_.pieces.size(); ++p) {
      if (!found_.pieces[p].kept) continue;
      number[p] = static_cast<Index>(nodes_.site.size());
      nodes_.site.push_back(found_.pieces[p].site);
      nodes_.has_thin[to_size(found_.pieces[p].site)] = 1;
      nodes_.thin_at[found_.pieces[p].site].push_back(number[p]);
      Vec3 middle = Vec3::Zero();
      const std::vector<Vec3>& points = nodes_.samples.emplace_back(std::move(found_.pieces[p].samples));
      for (const Vec3& x : points) middle += x / static_cast<double>(points.size());
      nodes_.center.push_back(middle);
    }
    nodes_.links.resize(nodes_.site.size());
    for (std::size_t p = 0; p < found_.pieces.size(); ++p) {
      if (!found_.pieces[p].kept) continue;
      for (const Index n : found_.pieces[p].links) {
        if (!stays(n)) continue;
        const Index other = found_.is_piece(n) ? number[to_size(n - nodes_.real)] : n;
        nodes_.links[to_size(number[p])].push_back(other);
        if (!found_.is_piece(n)) nodes_.links[to_size(n)].push_back(number[p]);
      }
    }
    for (auto& list : nodes_.links) std::sort(list.begin(), list.end());
    const auto final_number = [&](Index n) { return found_.is_piece(n) ? number[to_size(n - nodes_.real)] : n; };
    for (const auto& [a, b] : found_.doubtful) {
      if (stays(a) && stays(b)) nodes_.spare.push_back({final_number(a), final_number(b)});
    }
    widen_roots();
  }

  /// Where pieces that share a site grow out of the same flesh (fingers out of a palm), each has but one thread to it,
  /// and would hang on by a vertex.
  void widen_roots() {
    std::vector<NodeLink> threads;
    for (Index a = nodes_.real; a < static_cast<Index>(nodes_.site.size()); ++a) {
      const Site site = nodes_.site[to_size(a)];
      if (nodes_.thin_at[site].size() < 2 && nodes_.real_at[to_size(site)] < 0) continue;
      for (const Index root : nodes_.links[to_size(a)]) {
        if (!nodes_.is_thin(root)) threads.push_back({a, root});
      }
    }
    widen_links(threads, &flesh_, lattice_, nodes_);
  }

  const Flesh& flesh_;
  const BccLattice& lattice_;
  ThinPieces found_;
  FleshNodes& nodes_;
  std::vector<std::vector<Index>> near_;
};

}  // namespace

void keep_thin_pieces(const Flesh& flesh, const BccLattice& lattice, ThinPieces found, FleshNodes& nodes) {
  PieceChooser(flesh, lattice, std::move(found), nodes).run();
}

}  // namespace supple
