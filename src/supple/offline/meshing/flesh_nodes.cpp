// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/flesh_nodes.h"

#include "supple/base/parallel.h"
#include "supple/mesh/disjoint_sets.h"
#include "supple/offline/meshing/surface_samples.h"

#include <algorithm>
#include <numeric>

namespace supple {
namespace {

using Link = std::array<Index, 2>;

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

Index real_neighbor(const FleshNodes& nodes, const BccLattice& lattice, Index node, int direction) {
  const auto x = BccLattice::step(lattice.coordinates(nodes.site[static_cast<std::size_t>(node)]), direction);
  return lattice.holds(x) ? nodes.real_at[static_cast<std::size_t>(lattice.site(x))] : -1;
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
      const Index b = real_neighbor(nodes, lattice, static_cast<Index>(n), d);
      if (b < 0) continue;
      const bool joined =
          !near || !keep_separate || flesh.joins(nodes.center[a], nodes.center[static_cast<std::size_t>(b)], true);
      if (joined) found[a] |= static_cast<std::uint16_t>(1u << d);
    }
  });
  for (Index a = 0; a < nodes.real; ++a) {
    for (int d = 0; d < forward; ++d) {
      if ((found[static_cast<std::size_t>(a)] >> d) & 1) set_joined(nodes, a, real_neighbor(nodes, lattice, a, d), d);
    }
  }
}

// ---- samples --------------------------------------------------------------------------------------------------------

/// What a surface sample sees of the real nodes.
struct Sight {
  BccLattice::Coordinates site{};             ///< the nearest
  Index home = -1;                            ///< the real node there, if the sample sees it
  std::array<Index, 4> seen{-1, -1, -1, -1};  ///< else: real nodes in view at corners of its tetrahedron
  bool served() const {
    return home >= 0 || std::any_of(seen.begin(), seen.end(), [](Index n) { return n >= 0; });
  }
};

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

Sight look(const Flesh& flesh, const BccLattice& lattice, const FleshNodes& nodes, const Vec3& p) {
  Sight sight;
  sight.site = lattice.nearest_site(p);
  const auto sees = [&](Index real) {
    return real >= 0 && flesh.joins(p, nodes.center[static_cast<std::size_t>(real)], true);
  };
  const Index nearest = nodes.real_at[static_cast<std::size_t>(lattice.site(sight.site))];
  if (sees(nearest)) {
    sight.home = nearest;
    return sight;
  }
  std::size_t count = 0;
  for (const auto& corner : lattice.tet_around(p)) {
    const Index real = nodes.real_at[static_cast<std::size_t>(lattice.site(corner))];
    if (real != nearest && sees(real)) sight.seen[count++] = real;
  }
  return sight;
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
    unite_neighbors();
    unite_through_flesh();
    number_pieces();
    link_pieces();
  }

  /// Keeps what is needed, and writes it to the nodes.
  void finish() {
    choose();
    join_curved();
    store();
  }

 private:
  struct Piece {
    Site site = 0;
    std::vector<Index> samples;
    Index unserved = 0;
    bool kept = false;
    std::vector<Index> links;  ///< nodes: real ones by their number, pieces by real + number
  };

  std::size_t prepare() {
    bridge_sites(lattice_, samples_);
    sights_.resize(samples_.points.size());
    parallel_for(static_cast<std::int64_t>(sights_.size()), 64, [&](std::int64_t s) {
      const auto k = static_cast<std::size_t>(s);
      sights_[k] = look(flesh_, lattice_, nodes_, samples_.points[k]);
    });
    return sights_.size();
  }

  const Sight& sight(Index sample) const { return sights_[static_cast<std::size_t>(sample)]; }
  const Vec3& point(Index sample) const { return samples_.points[static_cast<std::size_t>(sample)]; }

  void unite_neighbors() {
    for (const auto& [a, b] : samples_.links) {
      if (sight(a).site == sight(b).site) sets_.unite(a, b);
    }
    home_.assign(sights_.size(), -1);
    for (Index s = 0; s < static_cast<Index>(sights_.size()); ++s) {
      if (sight(s).home >= 0) home_[static_cast<std::size_t>(sets_.find(s))] = sight(s).home;
    }
  }

  /// Samples that belong to no real node, grouped by site and then by piece of surface.
  std::vector<Index> homeless() {
    std::vector<Index> list;
    for (Index s = 0; s < static_cast<Index>(sights_.size()); ++s) {
      if (home_[static_cast<std::size_t>(sets_.find(s))] < 0) list.push_back(s);
    }
    std::vector<std::pair<Site, Index>> key(sights_.size());
    for (const Index s : list) key[static_cast<std::size_t>(s)] = {lattice_.site(sight(s).site), sets_.find(s)};
    std::stable_sort(list.begin(), list.end(), [&](Index a, Index b) {
      return key[static_cast<std::size_t>(a)] < key[static_cast<std::size_t>(b)];
    });
    return list;
  }

  /// Both sides of a fin: pieces of surface around one site that see each other through flesh.
  void unite_through_flesh() {
    const std::vector<Index> list = homeless();
    std::vector<std::vector<std::vector<Index>>> sites;
    for (std::size_t n = 0; n < list.size(); ++n) {
      const bool same_site = n > 0 && sight(list[n]).site == sight(list[n - 1]).site;
      if (!same_site) sites.emplace_back();
      if (!same_site || sets_.find(list[n]) != sets_.find(list[n - 1])) sites.back().emplace_back();
      sites.back().back().push_back(list[n]);
    }
    std::vector<std::vector<Link>> views(sites.size());
    parallel_for(static_cast<std::int64_t>(sites.size()), 16, [&](std::int64_t s) {
      const auto& pieces = sites[static_cast<std::size_t>(s)];
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        for (std::size_t j = i + 1; j < std::min(pieces.size(), i + 9); ++j) {
          if (see_each_other(pieces[i], pieces[j]))
            views[static_cast<std::size_t>(s)].push_back({pieces[i][0], pieces[j][0]});
        }
      }
    });
    for (const auto& found : views) {
      for (const auto& [a, b] : found) sets_.unite(a, b);
    }
  }

  bool see_each_other(const std::vector<Index>& a, const std::vector<Index>& b) const {
    const std::size_t stride = std::max<std::size_t>(1, a.size() / 6);
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
    piece_of_.assign(sights_.size(), -1);
    for (const Index s : homeless()) {
      const auto root = static_cast<std::size_t>(sets_.find(s));
      if (piece_of_[root] < 0) {
        piece_of_[root] = static_cast<Index>(pieces_.size());
        pieces_.emplace_back().site = lattice_.site(sight(s).site);
      }
      Piece& piece = pieces_[static_cast<std::size_t>(piece_of_[root])];
      piece.samples.push_back(s);
      if (!sight(s).served()) ++piece.unserved;
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
    std::vector<Link> links;
    const auto add = [&](Index a, Index b) {
      if (a != b && direction(a, b) >= 0) links.push_back({std::min(a, b), std::max(a, b)});
    };
    for (const auto& [a, b] : samples_.links) add(node_of(a), node_of(b));
    for (Index s = 0; s < static_cast<Index>(sights_.size()); ++s) {
      const Index node = node_of(s);
      if (!is_piece(node)) continue;
      for (const Index real : sight(s).seen) {
        if (real >= 0) add(node, real);
      }
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
    for (Piece& p : pieces_) p.kept = 4 * p.unserved > static_cast<Index>(p.samples.size());
    for (Piece& p : pieces_) {
      if (!p.kept) p.kept = bridges(p);
    }
  }

  /// Real nodes whose flesh is continuous though the straight way leaves it, with no third node to go by.
  void join_curved() {
    for (const auto& [a, b] : curved_) {
      if (linked(a, b)) continue;
      const auto helps = [&](Index c) { return c >= 0 && stays(c) && linked(a, c) && linked(b, c); };
      bool helped = false;
      for (int d = 0; d < BccLattice::neighbor_count && !helped; ++d)
        helped = helps(real_neighbor(nodes_, lattice_, a, d));
      for (std::size_t p = 0; !helped && p < pieces_near(a).size(); ++p) helped = helps(pieces_near(a)[p]);
      if (!helped) set_joined(nodes_, a, b, direction(a, b));
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
  }

  const Flesh& flesh_;
  const BccLattice& lattice_;
  FleshNodes& nodes_;
  SurfaceSamples samples_;
  std::vector<Sight> sights_;
  DisjointSets sets_;
  std::vector<Index> home_;      // per root of `sets_`: the real node, or -1
  std::vector<Index> piece_of_;  // per root: the piece, or -1
  std::vector<Piece> pieces_;
  std::vector<Link> curved_;  // pairs of real nodes joined by the surface
  std::vector<std::vector<Index>> near_;
};

}  // namespace

bool FleshNodes::linked(Index a, Index b, const BccLattice& lattice) const {
  if (is_thin(a) || is_thin(b)) {
    const auto& list = links[static_cast<std::size_t>(a)];
    return std::binary_search(list.begin(), list.end(), b);
  }
  const int d = BccLattice::direction_between(lattice.coordinates(site[static_cast<std::size_t>(a)]),
                                              lattice.coordinates(site[static_cast<std::size_t>(b)]));
  return d >= 0 && ((joined[static_cast<std::size_t>(a)] >> d) & 1) != 0;
}

FleshNodes find_flesh_nodes(const Flesh& flesh, const Surface& soup, const BccLattice& lattice, bool keep_separate) {
  FleshNodes nodes;
  const LatticeField field = sample_lattice(flesh, lattice);
  add_real_nodes(field, lattice, nodes);
  join_real_nodes(flesh, field, lattice, keep_separate, nodes);
  ThinNodes(flesh, soup, lattice, nodes).finish();
  return nodes;
}

}  // namespace supple
