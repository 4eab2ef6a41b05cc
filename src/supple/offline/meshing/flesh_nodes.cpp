// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/flesh_nodes.h"

#include "supple/base/parallel.h"
#include "supple/mesh/disjoint_sets.h"
#include "supple/offline/meshing/surface_samples.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace supple {
namespace {

using Link = NodeLink;

// ---- real nodes -----------------------------------------------------------------------------------------------------

void add_real_nodes(const LatticeField& field, const BccLattice& lattice, FleshNodes& nodes) {
  nodes.real_at.assign(field.inside.size(), -1);
  for (std::size_t s = 0; s < field.inside.size(); ++s) {
    if (!field.inside[s]) continue;
    nodes.real_at[s] = static_cast<Index>(nodes.site.size());
    nodes.site.push_back(static_cast<Site>(s));
    nodes.center.push_back(lattice.position(static_cast<Site>(s)));
  }
  nodes.real = static_cast<Index>(nodes.site.size());
}

void set_joined(FleshNodes& nodes, Index a, Index b, int direction) {
  nodes.joined[static_cast<std::size_t>(a)] |= static_cast<std::uint16_t>(1u << direction);
  nodes.joined[static_cast<std::size_t>(b)] |= static_cast<std::uint16_t>(1u << (13 - direction));
}

void join_real_nodes(const Flesh& flesh, const LatticeField& field, const BccLattice& lattice, bool keep_separate,
                     FleshNodes& nodes) {
  constexpr int forward = BccLattice::neighbor_count / 2;
  nodes.joined.assign(nodes.site.size(), 0);
  std::vector<std::uint16_t> found(nodes.site.size(), 0);
  parallel_for(nodes.real, 256, [&](std::int64_t n) {
    const auto a = static_cast<std::size_t>(n);
    const bool near = field.near[static_cast<std::size_t>(nodes.site[a])] != 0;
    for (int d = 0; d < forward; ++d) {
      const Index b = nodes.real_neighbor(static_cast<Index>(n), d, lattice);
      if (b < 0) continue;
      const bool joined =
          !near || !keep_separate || flesh.joins_over_dents(nodes.center[a], nodes.center[static_cast<std::size_t>(b)]);
      if (joined) found[a] |= static_cast<std::uint16_t>(1u << d);
    }
  });
  for (Index a = 0; a < nodes.real; ++a) {
    for (int d = 0; d < forward; ++d) {
      if ((found[static_cast<std::size_t>(a)] >> d) & 1) set_joined(nodes, a, nodes.real_neighbor(a, d, lattice), d);
    }
  }
}

// ---- samples --------------------------------------------------------------------------------------------------------

/// Links whose ends have sites that aren't neighbours get a sample between them, a few times over.
void bridge_sites(const BccLattice& lattice, SurfaceSamples& samples) {
  std::size_t begin = 0;
  for (int round = 0; round < 4; ++round) {
    const std::size_t end = samples.links.size();
    for (std::size_t n = begin; n < end; ++n) {
      const auto [a, b] = samples.links[n];
      const Vec3 p = samples.points[static_cast<std::size_t>(a)], q = samples.points[static_cast<std::size_t>(b)];
      const auto x = lattice.nearest_site(p), y = lattice.nearest_site(q);
      if (x == y || BccLattice::direction_between(x, y) >= 0) continue;
      const auto middle = static_cast<Index>(samples.points.size());
      samples.points.push_back(0.5 * (p + q));
      samples.links.push_back({a, middle});
      samples.links.push_back({middle, b});
    }
    begin = end;
  }
}

// ---- thin nodes -----------------------------------------------------------------------------------------------------

class ThinNodes {
 public:
  ThinNodes(const Flesh& flesh, const Surface& soup, const BccLattice& lattice, FleshNodes& nodes)
      : flesh_(flesh),
        lattice_(lattice),
        nodes_(nodes),
        samples_(sample_surface(soup, lattice.cube() / 3)),
        sets_(prepare()) {
    gather_patches();
    unite_through_flesh();
    number_pieces();
    link_pieces();
  }

  /// Keeps what is needed, and writes it to the nodes.
  void finish() {
    choose();
    join_curved();
    add_doubtful();
    store();
  }

 private:
  struct Piece {
    Site site = 0;
    std::vector<Index> samples;
    std::vector<Index> seen;  ///< real nodes in view
    double unserved = 0;      ///< number of samples that see none
    bool kept = false;
    std::vector<Index> links;  ///< nodes: real ones by their number, pieces by real + number
  };

  /// Samples around one site that hang together by the surface, and what they see of the real nodes.
  struct Patch {
    Site site = 0;
    std::vector<Index> samples;
    Index home = -1;            ///< the real node at the site, if one of the samples sees it
    std::vector<Index> seen;    ///< else: real nodes in view at corners of the samples' tetrahedra
    double unserved_share = 0;  ///< of the samples that see none of them
  };

  std::size_t prepare() {
    bridge_sites(lattice_, samples_);
    site_.resize(samples_.points.size());
    parallel_for(static_cast<std::int64_t>(site_.size()), 1024, [&](std::int64_t s) {
      const auto k = static_cast<std::size_t>(s);
      site_[k] = lattice_.site(lattice_.nearest_site(samples_.points[k]));
    });
    return site_.size();
  }

  const Vec3& point(Index sample) const { return samples_.points[static_cast<std::size_t>(sample)]; }

  /// Samples on the far side of a gap from the real node at their site. The surface may well lead from one side to the
  /// other inside the cell, around the end of a crevice, but the node is in one of them only.
  /// Only asked where the surface leads on to another node.
  std::vector<char> parted_samples() {
    std::vector<char> parted(site_.size(), 0);
    for (const auto& [a, b] : samples_.links) {
      if (node_of(a) != node_of(b)) parted[static_cast<std::size_t>(a)] = parted[static_cast<std::size_t>(b)] = 1;
    }
    parallel_for(static_cast<std::int64_t>(site_.size()), 64, [&](std::int64_t s) {
      const auto k = static_cast<std::size_t>(s);
      const Index home = nodes_.real_at[static_cast<std::size_t>(site_[k])];
      if (parted[k] == 0) return;
      parted[k] = home >= 0 && flesh_.parted(samples_.points[k], nodes_.center[static_cast<std::size_t>(home)]) ? 1 : 0;
    });
    return parted;
  }

  void gather_patches() {
    for (const auto& [a, b] : samples_.links) {
      if (site_[static_cast<std::size_t>(a)] == site_[static_cast<std::size_t>(b)]) sets_.unite(a, b);
    }
    std::vector<Index> list(site_.size()), root(site_.size());
    std::iota(list.begin(), list.end(), Index{0});
    for (const Index s : list) root[static_cast<std::size_t>(s)] = sets_.find(s);
    const auto key = [&](Index s) {
      const auto k = static_cast<std::size_t>(s);
      return std::tuple(site_[k], root[k], s);
    };
    std::sort(list.begin(), list.end(), [&](Index a, Index b) { return key(a) < key(b); });
    for (std::size_t n = 0; n < list.size(); ++n) {
      const auto k = static_cast<std::size_t>(list[n]);
      if (n == 0 || root[k] != root[static_cast<std::size_t>(list[n - 1])]) patches_.emplace_back().site = site_[k];
      patches_.back().samples.push_back(list[n]);
    }
    parallel_for(static_cast<std::int64_t>(patches_.size()), 16,
                 [&](std::int64_t p) { look_around(patches_[static_cast<std::size_t>(p)]); });
  }

  bool sees(Index sample, Index real) const {
    return real >= 0 && flesh_.joins(point(sample), nodes_.center[static_cast<std::size_t>(real)], true);
  }

  /// One sample that sees the real node at the site speaks for all; what else is in view, a dozen of them can tell.
  void look_around(Patch& patch) const {
    const Index home = nodes_.real_at[static_cast<std::size_t>(patch.site)];
    const std::size_t stride = std::max<std::size_t>(1, patch.samples.size() / 12);
    for (std::size_t n = 0; home >= 0 && n < patch.samples.size(); n += stride) {
      if (!sees(patch.samples[n], home)) continue;
      patch.home = home;
      return;
    }
    double asked = 0, unserved = 0;
    for (std::size_t n = 0; n < patch.samples.size(); n += stride) {
      bool served = false;
      for (const auto& corner : lattice_.tet_around(point(patch.samples[n]))) {
        const Index real = nodes_.real_at[static_cast<std::size_t>(lattice_.site(corner))];
        if (real == home || !sees(patch.samples[n], real)) continue;
        patch.seen.push_back(real);
        served = true;
      }
      asked += 1;
      unserved += served ? 0 : 1;
    }
    patch.unserved_share = unserved / asked;
  }

  /// Both sides of a fin: pieces of surface around one site that see each other through flesh.
  void unite_through_flesh() {
    std::vector<std::size_t> first;  // patches come sorted by site
    for (std::size_t p = 0; p < patches_.size(); ++p) {
      if (p == 0 || patches_[p].site != patches_[p - 1].site) first.push_back(p);
    }
    first.push_back(patches_.size());
    std::vector<std::vector<Link>> views(first.size());
    parallel_for(static_cast<std::int64_t>(first.size()) - 1, 16, [&](std::int64_t s) {
      const std::size_t begin = first[static_cast<std::size_t>(s)], end = first[static_cast<std::size_t>(s) + 1];
      DisjointSets local(end - begin);
      for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t j = i + 1; j < std::min(end, i + 9); ++j) {
          const auto a = static_cast<Index>(i - begin), b = static_cast<Index>(j - begin);
          if (patches_[i].home >= 0 || patches_[j].home >= 0 || local.find(a) == local.find(b)) continue;
          if (!see_each_other(patches_[i].samples, patches_[j].samples)) continue;
          local.unite(a, b);
          views[static_cast<std::size_t>(s)].push_back({patches_[i].samples[0], patches_[j].samples[0]});
        }
      }
    });
    for (const auto& found : views) {
      for (const auto& [a, b] : found) sets_.unite(a, b);
    }
  }

  bool see_each_other(const std::vector<Index>& a, const std::vector<Index>& b) const {
    const std::size_t stride = std::max<std::size_t>(1, a.size() / 4);
    for (std::size_t n = 0; n < a.size(); n += stride) {
      const Vec3& p = point(a[n]);
      const Index nearest = *std::min_element(b.begin(), b.end(), [&](Index x, Index y) {
        return (point(x) - p).squaredNorm() < (point(y) - p).squaredNorm();
      });
      if (flesh_.joins(p, point(nearest), false)) return true;
    }
    return false;
  }

  void number_pieces() {
    home_.assign(site_.size(), -1);
    piece_of_.assign(site_.size(), -1);
    for (const Patch& patch : patches_) {
      const auto root = static_cast<std::size_t>(sets_.find(patch.samples[0]));
      if (patch.home >= 0) {
        home_[root] = patch.home;
        continue;
      }
      if (piece_of_[root] < 0) {
        piece_of_[root] = static_cast<Index>(pieces_.size());
        pieces_.emplace_back().site = patch.site;
      }
      Piece& piece = pieces_[static_cast<std::size_t>(piece_of_[root])];
      piece.samples.insert(piece.samples.end(), patch.samples.begin(), patch.samples.end());
      piece.seen.insert(piece.seen.end(), patch.seen.begin(), patch.seen.end());
      const auto size = static_cast<double>(patch.samples.size());
      piece.unserved += size * patch.unserved_share;
    }
  }

  /// The node that a sample belongs to.
  Index node_of(Index sample) {
    const auto root = static_cast<std::size_t>(sets_.find(sample));
    return home_[root] >= 0 ? home_[root] : nodes_.real + piece_of_[root];
  }
  bool is_piece(Index node) const { return node >= nodes_.real; }
  Piece& piece(Index node) { return pieces_[static_cast<std::size_t>(node - nodes_.real)]; }
  const Piece& piece(Index node) const { return pieces_[static_cast<std::size_t>(node - nodes_.real)]; }
  Site site_of(Index node) const {
    return is_piece(node) ? piece(node).site : nodes_.site[static_cast<std::size_t>(node)];
  }
  int direction(Index a, Index b) const {
    return BccLattice::direction_between(lattice_.coordinates(site_of(a)), lattice_.coordinates(site_of(b)));
  }

  void link_pieces() {
    const std::vector<char> parted = parted_samples();
    std::vector<Link> links;
    const auto add = [&](Index a, Index b, std::vector<Link>& to) {
      if (a != b && direction(a, b) >= 0) to.push_back({std::min(a, b), std::max(a, b)});
    };
    for (const auto& [a, b] : samples_.links) {
      const bool apart = parted[static_cast<std::size_t>(a)] != 0 || parted[static_cast<std::size_t>(b)] != 0;
      add(node_of(a), node_of(b), apart ? doubtful_ : links);
    }
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      for (const Index real : pieces_[p].seen) add(nodes_.real + static_cast<Index>(p), real, links);
    }
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    for (const auto& [a, b] : links) {
      if (!is_piece(b)) {
        curved_.push_back({a, b});
        continue;
      }
      piece(b).links.push_back(a);
      if (is_piece(a)) piece(a).links.push_back(b);
    }
    for (Piece& p : pieces_) std::sort(p.links.begin(), p.links.end());
  }

  bool stays(Index node) const { return !is_piece(node) || piece(node).kept; }

  bool linked(Index a, Index b) const {
    if (is_piece(a)) return std::binary_search(piece(a).links.begin(), piece(a).links.end(), b);
    if (is_piece(b)) return linked(b, a);
    const int d = direction(a, b);
    return d >= 0 && ((nodes_.joined[static_cast<std::size_t>(a)] >> d) & 1) != 0;
  }

  /// Would the neighbours of a piece that stay fall apart without it?
  bool bridges(const Piece& p) const {
    std::vector<Index> around;
    std::copy_if(p.links.begin(), p.links.end(), std::back_inserter(around), [&](Index n) { return stays(n); });
    if (around.size() < 2) return false;
    DisjointSets sets(around.size());
    for (std::size_t i = 0; i < around.size(); ++i) {
      for (std::size_t j = i + 1; j < around.size(); ++j) {
        if (linked(around[i], around[j])) sets.unite(static_cast<Index>(i), static_cast<Index>(j));
      }
    }
    for (std::size_t i = 0; i < around.size(); ++i) {
      if (sets.find(static_cast<Index>(i)) != 0) return true;
    }
    return false;
  }

  void choose() {
    for (Piece& p : pieces_) p.kept = 4 * p.unserved > static_cast<double>(p.samples.size());
    for (Piece& p : pieces_) {
      if (!p.kept) p.kept = bridges(p);
    }
    for (Index n = nodes_.real; n < nodes_.real + static_cast<Index>(pieces_.size()); ++n) {
      if (piece(n).kept) kept_at_[piece(n).site].push_back(n);
    }
    for (Index n = nodes_.real; n < nodes_.real + static_cast<Index>(pieces_.size()); ++n) {
      if (!piece(n).kept && close_square(n)) kept_at_[piece(n).site].push_back(n);
    }
  }

  /// Nodes at a site that stay.
  std::vector<Index> nodes_at(Site site) const {
    const auto kept = kept_at_.find(site);
    std::vector<Index> all = kept == kept_at_.end() ? std::vector<Index>{} : kept->second;
    const Index real = nodes_.real_at[static_cast<std::size_t>(site)];
    if (real >= 0) all.push_back(real);
    return all;
  }

  /// A sheet that holds the corners of a square of sites, and neither of the two sites before and behind its middle,
  /// would have a hole there. One of these gets its piece back.
  bool close_square(Index node) {
    const BccLattice::Coordinates a = lattice_.coordinates(piece(node).site);
    for (const int d : {0, 1, 2, 11, 12, 13}) {
      const BccLattice::Coordinates b = BccLattice::step(a, d);
      if (!lattice_.holds(b)) continue;
      // Where other flesh shares the sites, as between fingers, one more node would do more harm than good.
      if (!nodes_at(lattice_.site(a)).empty() || !nodes_at(lattice_.site(b)).empty()) continue;
      const std::array<Index, 4> square = square_around(node, a, b);
      if (square[0] < 0) continue;
      std::vector<Index>& links = piece(node).links;
      for (const Index n : square) {
        if (is_piece(n) && !linked(n, node)) {
          std::vector<Index>& back = piece(n).links;
          back.insert(std::upper_bound(back.begin(), back.end(), node), node);
        }
        if (!std::binary_search(links.begin(), links.end(), n))
          links.insert(std::upper_bound(links.begin(), links.end(), n), n);
      }
      return piece(node).kept = true;
    }
    return false;
  }

  /// The nodes around the middle between two sites, if there are four that stay, each linked to the next and two of
  /// them to a piece at least; else -1.
  std::array<Index, 4> square_around(Index node, const BccLattice::Coordinates& a,
                                     const BccLattice::Coordinates& b) const {
    constexpr std::array<std::array<int, 2>, 4> ring = {{{1, 1}, {-1, 1}, {-1, -1}, {1, -1}}};
    constexpr std::array<Index, 4> none = {-1, -1, -1, -1};
    const std::size_t axis = a[0] != b[0] ? 0 : (a[1] != b[1] ? 1 : 2);
    std::array<Index, 4> square = none;
    int touched = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      BccLattice::Coordinates x = a;
      x[axis] = (a[axis] + b[axis]) / 2;
      x[(axis + 1) % 3] += ring[k][0];
      x[(axis + 2) % 3] += ring[k][1];
      if (!lattice_.holds(x)) return none;
      for (const Index n : nodes_at(lattice_.site(x))) {
        const bool mine = linked(node, n);
        if (square[k] < 0 || mine) square[k] = n;
        touched += mine ? 1 : 0;
      }
    }
    for (std::size_t k = 0; k < 4; ++k) {
      if (touched < 2 || square[k] < 0 || square[(k + 1) % 4] < 0 || !linked(square[k], square[(k + 1) % 4]))
        return none;
    }
    return square;
  }

  /// Real nodes whose flesh is continuous though the straight way leaves it, with no third node to go by.
  void join_curved() {
    for (const auto& [a, b] : curved_) {
      if (linked(a, b)) continue;
      const auto helps = [&](Index c) { return c >= 0 && stays(c) && linked(a, c) && linked(b, c); };
      bool helped = false;
      for (int d = 0; d < BccLattice::neighbor_count && !helped; ++d)
        helped = helps(nodes_.real_neighbor(a, d, lattice_));
      for (std::size_t p = 0; !helped && p < pieces_near(a).size(); ++p) helped = helps(pieces_near(a)[p]);
      if (!helped) set_joined(nodes_, a, b, direction(a, b));
    }
  }

  /// Pieces without which what stays would fall apart as a whole.
  void keep_bridges(DisjointSets& together) {
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      if (pieces_[p].kept) continue;
      Index first = -1;
      for (const Index n : pieces_[p].links) {
        if (!stays(n)) continue;
        if (first < 0) first = n;
        pieces_[p].kept = pieces_[p].kept || together.find(n) != together.find(first);
      }
      for (const Index n : pieces_[p].links) {
        if (pieces_[p].kept && stays(n)) together.unite(nodes_.real + static_cast<Index>(p), n);
      }
    }
  }

  /// The node itself if it stays, or one that stays and is linked to it; -1 for none.
  Index anchor(Index node) const {
    if (stays(node)) return node;
    const std::vector<Index>& links = piece(node).links;
    const auto found = std::find_if(links.begin(), links.end(), [&](Index n) { return stays(n); });
    return found == links.end() ? -1 : *found;
  }

  /// Links around the end of a crevice, only where nothing else holds their ends together.
  void add_doubtful() {
    DisjointSets together(static_cast<std::size_t>(nodes_.real) + pieces_.size());
    for (Index a = 0; a < nodes_.real; ++a) {
      for (int d = 0; d < BccLattice::neighbor_count / 2; ++d) {
        if ((nodes_.joined[static_cast<std::size_t>(a)] >> d) & 1)
          together.unite(a, nodes_.real_neighbor(a, d, lattice_));
      }
    }
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      for (const Index n : pieces_[p].links) {
        if (pieces_[p].kept && stays(n)) together.unite(nodes_.real + static_cast<Index>(p), n);
      }
    }
    keep_bridges(together);
    std::sort(doubtful_.begin(), doubtful_.end());
    for (const auto& [a, b] : doubtful_) {
      const Index from_a = anchor(a), from_b = anchor(b);
      if (from_a < 0 || from_b < 0 || together.find(from_a) == together.find(from_b)) continue;
      for (const auto& [n, held] : {Link{a, from_a}, Link{b, from_b}}) {
        if (is_piece(n)) piece(n).kept = true;
        together.unite(n, held);
      }
      together.unite(a, b);
      if (!is_piece(b)) set_joined(nodes_, a, b, direction(a, b));
      for (const auto& [from, to] : {Link{a, b}, Link{b, a}}) {
        if (!is_piece(from)) continue;
        std::vector<Index>& list = piece(from).links;
        list.insert(std::upper_bound(list.begin(), list.end(), to), to);
      }
    }
  }

  /// Pieces linked to a real node.
  const std::vector<Index>& pieces_near(Index real) {
    if (near_.empty()) {
      near_.resize(static_cast<std::size_t>(nodes_.real));
      for (std::size_t p = 0; p < pieces_.size(); ++p) {
        for (const Index n : pieces_[p].links) {
          if (!is_piece(n)) near_[static_cast<std::size_t>(n)].push_back(nodes_.real + static_cast<Index>(p));
        }
      }
    }
    return near_[static_cast<std::size_t>(real)];
  }

  void store() {
    std::vector<Index> number(pieces_.size(), -1);
    nodes_.has_thin.assign(nodes_.real_at.size(), 0);
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      if (!pieces_[p].kept) continue;
      number[p] = static_cast<Index>(nodes_.site.size());
      nodes_.site.push_back(pieces_[p].site);
      nodes_.has_thin[static_cast<std::size_t>(pieces_[p].site)] = 1;
      nodes_.thin_at[pieces_[p].site].push_back(number[p]);
      Vec3 middle = Vec3::Zero();
      auto& points = nodes_.samples.emplace_back();
      for (const Index s : pieces_[p].samples) points.push_back(point(s));
      for (const Vec3& x : points) middle += x / static_cast<double>(points.size());
      nodes_.center.push_back(middle);
    }
    nodes_.links.resize(nodes_.site.size());
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      if (!pieces_[p].kept) continue;
      for (const Index n : pieces_[p].links) {
        if (!stays(n)) continue;
        const Index other = is_piece(n) ? number[static_cast<std::size_t>(n - nodes_.real)] : n;
        nodes_.links[static_cast<std::size_t>(number[p])].push_back(other);
        if (!is_piece(n)) nodes_.links[static_cast<std::size_t>(n)].push_back(number[p]);
      }
    }
    for (auto& list : nodes_.links) std::sort(list.begin(), list.end());
    const auto final_number = [&](Index n) {
      return is_piece(n) ? number[static_cast<std::size_t>(n - nodes_.real)] : n;
    };
    for (const auto& [a, b] : doubtful_) {
      if (stays(a) && stays(b)) nodes_.spare.push_back({final_number(a), final_number(b)});
    }
    close_sheets(flesh_, lattice_, nodes_);
    widen_roots();
  }

  /// Where pieces that share a site grow out of the same flesh (fingers out of a palm), each has but one thread to it,
  /// and would hang on by a vertex.
  void widen_roots() {
    std::vector<NodeLink> threads;
    for (Index a = nodes_.real; a < static_cast<Index>(nodes_.site.size()); ++a) {
      const Site site = nodes_.site[static_cast<std::size_t>(a)];
      if (nodes_.thin_at[site].size() < 2 && nodes_.real_at[static_cast<std::size_t>(site)] < 0) continue;
      for (const Index root : nodes_.links[static_cast<std::size_t>(a)]) {
        if (!nodes_.is_thin(root)) threads.push_back({a, root});
      }
    }
    widen_links(threads, &flesh_, lattice_, nodes_);
  }

  const Flesh& flesh_;
  const BccLattice& lattice_;
  FleshNodes& nodes_;
  SurfaceSamples samples_;
  std::vector<Site> site_;  // per sample: the nearest
  DisjointSets sets_;
  std::vector<Patch> patches_;
  std::vector<Index> home_;      // per root of `sets_`: the real node, or -1
  std::vector<Index> piece_of_;  // per root: the piece, or -1
  std::vector<Piece> pieces_;
  std::unordered_map<Site, std::vector<Index>> kept_at_;  // pieces
  std::vector<Link> doubtful_;                            // by samples across a gap from their node
  std::vector<Link> curved_;                              // pairs of real nodes joined by the surface
  std::vector<std::vector<Index>> near_;
};

}  // namespace

FleshNodes find_flesh_nodes(const Flesh& flesh, const Surface& soup, const BccLattice& lattice, bool keep_separate) {
  FleshNodes nodes;
  const LatticeField field = sample_lattice(flesh, lattice);
  add_real_nodes(field, lattice, nodes);
  join_real_nodes(flesh, field, lattice, keep_separate, nodes);
  ThinNodes(flesh, soup, lattice, nodes).finish();
  return nodes;
}

}  // namespace supple
