// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/thin_pieces.h"

#include "supple/base/parallel.h"
#include "supple/mesh/disjoint_sets.h"
#include "supple/offline/meshing/surface_samples.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace supple {
namespace {

/// Links whose ends have sites that aren't neighbours get a sample between them, a few times over.
void bridge_sites(const BccLattice& lattice, SurfaceSamples& samples) {
  std::size_t begin = 0;
  for (int round = 0; round < 4; ++round) {
    const std::size_t end = samples.links.size();
    for (std::size_t n = begin; n < end; ++n) {
      const auto [a, b] = samples.links[n];
      const Vec3 p = samples.points[to_size(a)], q = samples.points[to_size(b)];
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

class PieceFinder {
 public:
  PieceFinder(const Flesh& flesh, const Surface& soup, const BccLattice& lattice, const FleshNodes& nodes)
      : flesh_(flesh),
        lattice_(lattice),
        nodes_(nodes),
        samples_(sample_surface(soup, lattice.cube() / 3)),
        sets_(prepare()) {
    out_.real = nodes.real;
    gather_patches();
    unite_through_flesh();
    number_pieces();
    link_pieces();
  }

  ThinPieces take() { return std::move(out_); }

 private:
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
      const auto k = to_size(s);
      site_[k] = lattice_.site(lattice_.nearest_site(samples_.points[k]));
    });
    return site_.size();
  }

  const Vec3& point(Index sample) const { return samples_.points[to_size(sample)]; }

  /// Samples on the far side of a gap from the real node at their site. The surface may well lead from one side to the
  /// other inside the cell, around the end of a crevice, but the node is in one of them only.
  /// Only asked where the surface leads on to another node.
  std::vector<char> parted_samples() {
    std::vector<char> parted(site_.size(), 0);
    for (const auto& [a, b] : samples_.links) {
      if (node_of(a) != node_of(b)) parted[to_size(a)] = parted[to_size(b)] = 1;
    }
    parallel_for(static_cast<std::int64_t>(site_.size()), 64, [&](std::int64_t s) {
      const auto k = to_size(s);
      const Index home = nodes_.real_at[to_size(site_[k])];
      if (parted[k] == 0) return;
      parted[k] = home >= 0 && flesh_.parted(samples_.points[k], nodes_.center[to_size(home)]) ? 1 : 0;
    });
    return parted;
  }

  /// Samples around one site that hang together by the surface in their cell, though no chain of samples stays in it:
  /// they have a neighbour in common, outside the cell, and no gap between them.
  void unite_beside_chains() {
    constexpr double not_parted = -0.2;                 // cosine between normals: across a gap they face each other
    std::vector<std::tuple<Index, Site, Index>> steps;  // from a sample to another site's
    for (const auto& [a, b] : samples_.links) {
      const Site to_a = site_[to_size(a)], to_b = site_[to_size(b)];
      if (to_a == to_b) continue;
      steps.emplace_back(a, to_b, b);
      steps.emplace_back(b, to_a, a);
    }
    std::sort(steps.begin(), steps.end());
    for (std::size_t begin = 0, end = 0; begin < steps.size(); begin = end) {
      const auto [from, site, first] = steps[begin];
      for (end = begin; end < steps.size() && std::get<0>(steps[end]) == from && std::get<1>(steps[end]) == site;
           ++end) {
        const Index other = std::get<2>(steps[end]);
        if (sets_.find(first) != sets_.find(other) && flesh_.joins_along(point(first), point(other), not_parted))
          sets_.unite(first, other);
      }
    }
  }

  void gather_patches() {
    for (const auto& [a, b] : samples_.links) {
      if (site_[to_size(a)] == site_[to_size(b)]) sets_.unite(a, b);
    }
    unite_beside_chains();
    std::vector<Index> list(site_.size()), root(site_.size());
    std::iota(list.begin(), list.end(), Index{0});
    for (const Index s : list) root[to_size(s)] = sets_.find(s);
    const auto key = [&](Index s) {
      const auto k = to_size(s);
      return std::tuple(site_[k], root[k], s);
    };
    std::sort(list.begin(), list.end(), [&](Index a, Index b) { return key(a) < key(b); });
    for (std::size_t n = 0; n < list.size(); ++n) {
      const auto k = to_size(list[n]);
      if (n == 0 || root[k] != root[to_size(list[n - 1])]) patches_.emplace_back().site = site_[k];
      patches_.back().samples.push_back(list[n]);
    }
    parallel_for(static_cast<std::int64_t>(patches_.size()), 16,
                 [&](std::int64_t p) { look_around(patches_[to_size(p)]); });
  }

  bool sees(Index sample, Index real) const {
    return real >= 0 && flesh_.joins(point(sample), nodes_.center[to_size(real)], true);
  }

  /// One sample that sees the real node at the site speaks for all; what else is in view, a dozen of them can tell.
  void look_around(Patch& patch) const {
    const Index home = nodes_.real_at[to_size(patch.site)];
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
        const Index real = nodes_.real_at[to_size(lattice_.site(corner))];
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
    std::vector<std::vector<NodeLink>> views(first.size());
    parallel_for(static_cast<std::int64_t>(first.size()) - 1, 16, [&](std::int64_t s) {
      const std::size_t begin = first[to_size(s)], end = first[to_size(s) + 1];
      DisjointSets local(end - begin);
      for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t j = i + 1; j < std::min(end, i + 9); ++j) {
          const auto a = static_cast<Index>(i - begin), b = static_cast<Index>(j - begin);
          if (patches_[i].home >= 0 || patches_[j].home >= 0 || local.find(a) == local.find(b)) continue;
          if (!see_each_other(patches_[i].samples, patches_[j].samples)) continue;
          local.unite(a, b);
          views[to_size(s)].push_back({patches_[i].samples[0], patches_[j].samples[0]});
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
      const auto root = to_size(sets_.find(patch.samples[0]));
      if (patch.home >= 0) {
        home_[root] = patch.home;
        continue;
      }
      if (piece_of_[root] < 0) {
        piece_of_[root] = static_cast<Index>(out_.pieces.size());
        out_.pieces.emplace_back().site = patch.site;
      }
      ThinPiece& piece = out_.pieces[to_size(piece_of_[root])];
      for (const Index s : patch.samples) piece.samples.push_back(point(s));
      piece.seen.insert(piece.seen.end(), patch.seen.begin(), patch.seen.end());
      const auto size = static_cast<double>(patch.samples.size());
      piece.unserved += size * patch.unserved_share;
    }
  }

  /// The node that a sample belongs to.
  Index node_of(Index sample) {
    const auto root = to_size(sets_.find(sample));
    return home_[root] >= 0 ? home_[root] : nodes_.real + piece_of_[root];
  }
  void link_pieces() {
    const std::vector<char> parted = parted_samples();
    std::vector<NodeLink> links;
    const auto add = [&](Index a, Index b, std::vector<NodeLink>& to) {
      if (a != b && out_.direction(a, b, nodes_, lattice_) >= 0) to.push_back({std::min(a, b), std::max(a, b)});
    };
    for (const auto& [a, b] : samples_.links) {
      const bool apart = parted[to_size(a)] != 0 || parted[to_size(b)] != 0;
      add(node_of(a), node_of(b), apart ? out_.doubtful : links);
    }
    for (std::size_t p = 0; p < out_.pieces.size(); ++p) {
      for (const Index real : out_.pieces[p].seen) add(nodes_.real + static_cast<Index>(p), real, links);
    }
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    for (const auto& [a, b] : links) {
      if (!out_.is_piece(b)) {
        out_.curved.push_back({a, b});
        continue;
      }
      out_.piece(b).links.push_back(a);
      if (out_.is_piece(a)) out_.piece(a).links.push_back(b);
    }
    for (ThinPiece& p : out_.pieces) std::sort(p.links.begin(), p.links.end());
  }

  const Flesh& flesh_;
  const BccLattice& lattice_;
  const FleshNodes& nodes_;
  ThinPieces out_;
  SurfaceSamples samples_;
  std::vector<Site> site_;  // per sample: the nearest
  DisjointSets sets_;
  std::vector<Patch> patches_;
  std::vector<Index> home_;      // per root of `sets_`: the real node, or -1
  std::vector<Index> piece_of_;  // per root: the piece, or -1
};

}  // namespace

int ThinPieces::direction(Index a, Index b, const FleshNodes& nodes, const BccLattice& lattice) const {
  const auto place = [&](Index n) { return lattice.coordinates(is_piece(n) ? piece(n).site : nodes.site[to_size(n)]); };
  return BccLattice::direction_between(place(a), place(b));
}

ThinPieces find_thin_pieces(const Flesh& flesh, const Surface& soup, const BccLattice& lattice,
                            const FleshNodes& nodes) {
  return PieceFinder(flesh, soup, lattice, nodes).take();
}

}  // namespace supple
