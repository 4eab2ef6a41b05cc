// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/stuffing.h"

#include "supple/base/parallel.h"
#include "supple/mesh/disjoint_sets.h"
#include "supple/mesh/topology.h"
#include "supple/offline/meshing/stuffing_stencils.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace supple {
namespace {

using Coordinates = BccLattice::Coordinates;

// ---- groups ---------------------------------------------------------------------------------------------------------

/// Links that must not be given up, each in the tetrahedron nearest to it.
struct FirmLink {
  Site corner = 0;
  int tet = -1;
};
using FirmLinks = std::map<std::pair<Index, Index>, FirmLink>;

/// Nodes at the corners of one lattice tetrahedron, falling into groups with at most one node per corner.
class CornerGroups {
 public:
  CornerGroups(const FleshNodes& nodes, const BccLattice& lattice, const FirmLinks& firm)
      : nodes_(nodes), lattice_(lattice), firm_(firm) {}

  template <class Emit>
  void find(const Coordinates& x, int tet, const Emit& emit) {
    const auto corners = BccLattice::tet(x, tet);
    gather(corners);
    if (members_.empty()) return;
    collect_links(corners, lattice_.site(x), tet);
    for (const Link& link : links_) unite(link.a, link.b);
    for (std::size_t m = 0; m < members_.size(); ++m) {
      if (members_[m].group != m) continue;
      std::array<Index, 4> group = {-1, -1, -1, -1};
      for (const Member& member : members_) {
        if (member.group == m) group[member.corner] = member.node;
      }
      emit(group);
    }
  }

 private:
  struct Member {
    Index node;
    std::size_t corner;
    std::size_t group;
    unsigned corners;  ///< of the whole group, as bits; kept at the group's first member
  };
  struct Link {
    int rank;         ///< firm ones first, last those to a corner with several nodes: faces without it then agree
    double distance;  ///< of the link's middle from the middle of the tetrahedron
    std::size_t a, b;
    bool operator<(const Link& o) const {
      return std::tie(rank, distance, a, b) < std::tie(o.rank, o.distance, o.a, o.b);
    }
  };

  void gather(const std::array<Coordinates, 4>& corners) {
    members_.clear();
    const auto add = [&](Index node, std::size_t corner) {
      members_.push_back({node, corner, members_.size(), 1u << corner});
    };
    for (std::size_t c = 0; c < 4; ++c) {
      const Site site = lattice_.site(corners[c]);
      const auto s = to_size(site);
      if (nodes_.real_at[s] >= 0) add(nodes_.real_at[s], c);
      if (!nodes_.has_thin[s]) continue;
      for (const Index node : nodes_.thin_at.at(site)) add(node, c);
    }
  }

  void collect_links(const std::array<Coordinates, 4>& corners, Site corner, int tet) {
    links_.clear();
    Vec3 middle = Vec3::Zero();
    for (const Coordinates& x : corners) middle += lattice_.position(x) / 4;
    std::array<int, 4> crowd{};
    for (const Member& member : members_) ++crowd[member.corner];
    for (std::size_t i = 0; i < members_.size(); ++i) {
      for (std::size_t j = i + 1; j < members_.size(); ++j) {
        const Index a = members_[i].node, b = members_[j].node;
        if (members_[i].corner == members_[j].corner || !nodes_.linked(a, b, lattice_)) continue;
        const Vec3 half = 0.5 * (nodes_.center[to_size(a)] + nodes_.center[to_size(b)]);
        const auto firm = firm_.find(std::minmax(a, b));
        const bool is_firm = firm != firm_.end() && firm->second.corner == corner && firm->second.tet == tet;
        const bool contested = crowd[members_[i].corner] > 1 || crowd[members_[j].corner] > 1;
        links_.push_back({is_firm ? 0 : (contested ? 2 : 1), (half - middle).squaredNorm(), i, j});
      }
    }
    std::sort(links_.begin(), links_.end());
  }

  void unite(std::size_t i, std::size_t j) {
    const std::size_t a = std::min(members_[i].group, members_[j].group);
    const std::size_t b = std::max(members_[i].group, members_[j].group);
    if (a == b || (members_[a].corners & members_[b].corners) != 0) return;
    members_[a].corners |= members_[b].corners;
    for (Member& member : members_) {
      if (member.group == b) member.group = a;
    }
  }

  const FleshNodes& nodes_;
  const BccLattice& lattice_;
  const FirmLinks& firm_;
  std::vector<Member> members_;
  std::vector<Link> links_;
};

/// Fast way for the ordinary case: real nodes only, and all of them linked.
bool all_joined(const FleshNodes& nodes, const BccLattice& lattice, const std::array<Coordinates, 4>& corners,
                std::array<Index, 4>& group, bool& empty) {
  empty = true;
  for (std::size_t c = 0; c < 4; ++c) {
    const auto s = to_size(lattice.site(corners[c]));
    if (nodes.has_thin[s]) return empty = false;
    group[c] = nodes.real_at[s];
    if (group[c] >= 0) empty = false;
  }
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = i + 1; j < 4; ++j) {
      if (group[i] < 0 || group[j] < 0) continue;
      const int d = BccLattice::direction_between(corners[i], corners[j]);
      if (((nodes.joined[to_size(group[i])] >> d) & 1) == 0) return false;
    }
  }
  return true;
}

void stencils_of_cube(const FleshNodes& nodes, const BccLattice& lattice, const GradedInterior& interior,
                      const Coordinates& x, CornerGroups& groups, std::vector<Stencil>& out) {
  for (int k = 0; k < BccLattice::tet_count; ++k) {
    const auto corners = BccLattice::tet(x, k);
    if (!lattice.holds(corners[1]) || !lattice.holds(corners[2]) || !lattice.holds(corners[3])) continue;
    if (interior.swallowed(corners[2]) || interior.swallowed(corners[3])) continue;
    const auto emit = [&](const std::array<Index, 4>& group) {
      out.push_back({group, lattice.site(x), static_cast<std::int8_t>(k)});
    };
    std::array<Index, 4> group{};
    bool empty = false;
    if (all_joined(nodes, lattice, corners, group, empty)) {
      if (!empty) emit(group);
    } else {
      groups.find(x, k, emit);
    }
  }
}

/// Appends the tetrahedra of larger leaves.
void add_coarse_stencils(const FleshNodes& nodes, const BccLattice& lattice, const GradedInterior& interior,
                         std::vector<Stencil>& out) {
  for (const GradedInterior::Tet& tet : interior.tets()) {
    Stencil& stencil = out.emplace_back();
    for (std::size_t c = 0; c < 4; ++c) stencil.node[c] = nodes.real_at[to_size(lattice.site(tet[c]))];
  }
}

std::vector<Stencil> collect_stencils(const FleshNodes& nodes, const BccLattice& lattice,
                                      const GradedInterior& interior, const FirmLinks& firm) {
  const auto& cells = lattice.cells();
  std::vector<std::vector<Stencil>> layers(to_size(cells[2]));
  parallel_for(cells[2], 1, [&](std::int64_t k) {
    CornerGroups groups(nodes, lattice, firm);
    for (int j = 0; j < cells[1]; ++j) {
      for (int i = 0; i < cells[0]; ++i)
        stencils_of_cube(nodes, lattice, interior, {2 * i, 2 * j, 2 * static_cast<int>(k)}, groups, layers[to_size(k)]);
    }
  });
  std::vector<Stencil> all;
  for (const auto& layer : layers) all.insert(all.end(), layer.begin(), layer.end());
  add_coarse_stencils(nodes, lattice, interior, all);
  return all;
}

/// The lattice tetrahedron with corners at both ends of a link whose middle is nearest to the link's.
FirmLink nearest_tet(const FleshNodes& nodes, const BccLattice& lattice, Index a, Index b) {
  const Vec3 half = 0.5 * (nodes.center[to_size(a)] + nodes.center[to_size(b)]);
  const Coordinates from = lattice.coordinates(nodes.site[to_size(a)]);
  const Coordinates to = lattice.coordinates(nodes.site[to_size(b)]);
  FirmLink best;
  double distance = std::numeric_limits<double>::infinity();
  // Every tetrahedron around an edge belongs to an even site that is one of its ends or a neighbour of one.
  for (int d = -1; d < BccLattice::neighbor_count; ++d) {
    const Coordinates x = d < 0 ? from : BccLattice::step(from, d);
    if ((x[0] & 1) != 0 || !lattice.holds(x)) continue;
    for (int k = 0; k < BccLattice::tet_count; ++k) {
      const auto corners = BccLattice::tet(x, k);
      Vec3 middle = Vec3::Zero();
      for (const Coordinates& c : corners) middle += lattice.position(c) / 4;
      const bool around = std::find(corners.begin(), corners.end(), from) != corners.end() &&
                          std::find(corners.begin(), corners.end(), to) != corners.end();
      if (!around || (middle - half).squaredNorm() >= distance) continue;
      distance = (middle - half).squaredNorm();
      best = {lattice.site(x), k};
    }
  }
  return best;
}

/// Adds the links that no stencil honours though nothing else holds their ends together. True if there are any.
bool find_lost_links(const FleshNodes& nodes, const BccLattice& lattice, const std::vector<Stencil>& stencils,
                     FirmLinks& firm) {
  DisjointSets sets(nodes.site.size());
  std::vector<char> used(nodes.site.size(), 0);  // not those inside larger leaves
  for (const Stencil& stencil : stencils) {
    Index first = -1;
    for (const Index n : stencil.node) {
      if (n >= 0 && first >= 0) sets.unite(first, n);
      if (n >= 0) used[to_size(first = n)] = 1;
    }
  }
  bool lost = false;
  nodes.for_each_link(lattice, [&](Index a, Index b) {
    if (used[to_size(a)] == 0 || used[to_size(b)] == 0 || sets.find(a) == sets.find(b) ||
        !firm.try_emplace(std::minmax(a, b), nearest_tet(nodes, lattice, a, b)).second)
      return;
    sets.unite(a, b);
    lost = true;
  });
  return lost;
}

// ---- vertices -------------------------------------------------------------------------------------------------------

class Stuffer {
 public:
  Stuffer(const FleshNodes& nodes, const BccLattice& lattice) : nodes_(nodes), lattice_(lattice) {
    out_.cube = lattice.cube();
    node_vertex_.assign(nodes.site.size(), -1);
    cut_vertex_.assign(nodes.site.size() * BccLattice::neighbor_count, -1);
  }

  /// First all vertices, so that the stencils know where they are.
  void add_vertices(const Stencil& stencil) {
    const auto corners = BccLattice::tet(lattice_.coordinates(stencil.corner), stencil.tet);
    for (std::size_t i = 0; i < 4; ++i) {
      if (stencil.node[i] < 0) continue;
      add_node(stencil.node[i]);
      for (std::size_t o = 0; o < 4; ++o) {
        if (stencil.node[o] < 0) add_cut(stencil.node[i], BccLattice::direction_between(corners[i], corners[o]));
      }
    }
  }

  void place_cuts(const Flesh& flesh) {
    share_.assign(out_.kind.size(), 0.5);
    push_.assign(out_.kind.size(), Vec3::Zero());
    depth_.assign(out_.kind.size(), 0);
    parallel_for(static_cast<std::int64_t>(cuts_.size()), 64, [&](std::int64_t n) { place(flesh, cuts_[n]); });
    retreat();
  }

  void add_tets(const Stencil& stencil) {
    const auto corners = BccLattice::tet(lattice_.coordinates(stencil.corner), stencil.tet);
    std::array<Index, 4> corner{};
    std::array<bool, 4> inside{};
    for (std::size_t k = 0; k < 4; ++k) {
      inside[k] = stencil.node[k] >= 0;
      if (inside[k]) corner[k] = node_vertex_[to_size(stencil.node[k])];
    }
    const auto cut = [&](std::size_t i, std::size_t o) {
      return cut_at(stencil.node[i], BccLattice::direction_between(corners[i], corners[o]));
    };
    // Diagonals leave from the short spoke; of two short ones, from the corner whose parity is the outer corner's.
    const auto rank = [&](std::size_t i, std::size_t o) {
      if ((corners[i][0] & 1) == (corners[o][0] & 1)) return 0;
      return BccLattice::parity(corners[i]) == BccLattice::parity(corners[o]) ? 2 : 1;
    };
    const auto shorter = [&](Index u, Index v, Index w, Index x) {
      return (at(u) - at(v)).squaredNorm() < (at(w) - at(x)).squaredNorm();
    };
    fill_lattice_tet(corner, inside, cut, rank, shorter,
                     [&](const TetMesh::Element& tet) { out_.mesh.elements.push_back(tet); });
  }

  StuffedMesh take() { return std::move(out_); }

 private:
  struct Cut {
    Index node;
    int direction;
    Index vertex;
  };

  const Vec3& at(Index v) const { return out_.mesh.vertices[to_size(v)]; }
  Index& cut_at(Index node, int direction) {
    return cut_vertex_[to_size(node) * BccLattice::neighbor_count + to_size(direction)];
  }

  Index add_vertex(const Vec3& position, const Vec3& wish, VertexKind kind) {
    out_.mesh.vertices.push_back(position);
    out_.wish.push_back(wish);
    out_.normal.emplace_back(Vec3::Zero());
    out_.node.push_back(-1);
    out_.kind.push_back(kind);
    return static_cast<Index>(out_.kind.size()) - 1;
  }

  void add_node(Index node) {
    const auto n = to_size(node);
    if (node_vertex_[n] >= 0) return;
    const VertexKind kind = nodes_.is_thin(node) ? VertexKind::thin : VertexKind::real;
    node_vertex_[n] = add_vertex(lattice_.position(nodes_.site[n]), nodes_.center[n], kind);
    out_.node.back() = node;
  }

  void add_cut(Index node, int direction) {
    Index& vertex = cut_at(node, direction);
    if (vertex >= 0) return;
    vertex = add_vertex(Vec3::Zero(), Vec3::Zero(), nodes_.is_thin(node) ? VertexKind::thin_cut : VertexKind::cut);
    cuts_.push_back({node, direction, vertex});
  }

  void place(const Flesh& flesh, const Cut& cut) {
    constexpr double lowest = 0.4, highest = 0.6;
    const auto n = to_size(cut.node);
    const Coordinates x = lattice_.coordinates(nodes_.site[n]);
    const Vec3 p = lattice_.position(x), q = lattice_.position(BccLattice::step(x, cut.direction));
    const auto v = to_size(cut.vertex);
    if (nodes_.is_thin(cut.node)) {
      out_.mesh.vertices[v] = 0.5 * (p + q);
      out_.wish[v] = thin_wish(cut.node, 0.5 * (p + q));
      return;
    }
    double t = flesh.first_exit(p, q);
    if (t >= 1) t = 0.5;  // it goes on, but belongs to another copy
    out_.mesh.vertices[v] = p + std::clamp(t, lowest, highest) * (q - p);
    out_.wish[v] = p + t * (q - p);
    share_[v] = t;
    const TriangleTree::Nearest skin = flesh.tree().nearest(out_.wish[v], 0.01 * lattice_.cube());
    if (skin.triangle >= 0) out_.normal[v] = flesh.tree().area_vector(to_size(skin.place)).normalized();
  }

  /// A real node close below the surface gives way, so that its cuts find room.
  void retreat() {
    constexpr double comfortable = 0.4;  // share of an edge that a cut needs
    for (const Cut& cut : cuts_) {
      const double t = share_[to_size(cut.vertex)];
      const auto n = to_size(cut.node);
      if (nodes_.is_thin(cut.node) || t >= comfortable) continue;
      const auto v = to_size(node_vertex_[n]);
      const Coordinates x = lattice_.coordinates(nodes_.site[n]);
      const Vec3 edge = lattice_.position(BccLattice::step(x, cut.direction)) - lattice_.position(x);
      push_[v] -= (comfortable - t) * edge;
      depth_[v] = std::max(depth_[v], (comfortable - t) * edge.norm());
    }
    for (std::size_t v = 0; v < push_.size(); ++v) {
      const double length = push_[v].norm();
      if (length > 1e-9 * lattice_.cube()) out_.wish[v] += push_[v] * (depth_[v] / length);
    }
  }

  /// Just outside the nearest sample of a thin node or of its thin neighbours.
  Vec3 thin_wish(Index node, const Vec3& from) const {
    Vec3 best = from;
    double distance = std::numeric_limits<double>::infinity();
    const auto search = [&](Index n) {
      for (const Vec3& x : nodes_.samples[to_size(n - nodes_.real)]) {
        if ((x - from).squaredNorm() >= distance) continue;
        distance = (x - from).squaredNorm();
        best = x;
      }
    };
    search(node);
    for (const Index other : nodes_.links[to_size(node)]) {
      if (nodes_.is_thin(other)) search(other);
    }
    const double margin = 0.15 * lattice_.cube();
    return distance > margin * margin ? Vec3(best + margin * (from - best).normalized()) : from;
  }

  const FleshNodes& nodes_;
  const BccLattice& lattice_;
  StuffedMesh out_;
  std::vector<Index> node_vertex_, cut_vertex_;
  std::vector<Cut> cuts_;
  std::vector<double> share_;  // per cut vertex: of the edge from its node, where the surface is
  std::vector<Vec3> push_;     // per real node
  std::vector<double> depth_;  //
};

}  // namespace

std::vector<Stencil> find_stencils(const FleshNodes& nodes, const BccLattice& lattice, const GradedInterior& interior) {
  FirmLinks firm;
  std::vector<Stencil> stencils = collect_stencils(nodes, lattice, interior, firm);
  for (int round = 0; round < 3 && find_lost_links(nodes, lattice, stencils, firm); ++round)
    stencils = collect_stencils(nodes, lattice, interior, firm);
  return stencils;
}

bool settle_links(const std::vector<Stencil>& stencils, const BccLattice& lattice, FleshNodes& nodes) {
  std::map<NodeLink, int> held;
  for (const Stencil& stencil : stencils) {
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = i + 1; j < 4; ++j) {
        const Index a = std::min(stencil.node[i], stencil.node[j]), b = std::max(stencil.node[i], stencil.node[j]);
        if (a >= 0 && !nodes.linked(a, b, lattice)) ++held[{a, b}];
      }
    }
  }
  bool any = false;
  for (const auto& [link, count] : held) {
    const auto x = lattice.coordinates(nodes.site[to_size(link[0])]);
    const auto y = lattice.coordinates(nodes.site[to_size(link[1])]);
    const bool along_cube = (x[0] & 1) == (y[0] & 1);
    const int around = along_cube ? 4 : 6;
    if (2 * count < around) continue;
    nodes.add_link(link[0], link[1], lattice);
    any = true;
  }
  return any;
}

std::int64_t count_tets(const std::vector<Stencil>& stencils) {
  constexpr std::array<int, 5> tets = {0, 1, 3, 3, 1};
  std::int64_t count = 0;
  for (const Stencil& stencil : stencils)
    count += tets[to_size(std::count_if(stencil.node.begin(), stencil.node.end(), [](Index n) { return n >= 0; }))];
  return count;
}

StuffedMesh stuff(const Flesh& flesh, const FleshNodes& nodes, const BccLattice& lattice,
                  const std::vector<Stencil>& stencils) {
  Stuffer stuffer(nodes, lattice);
  for (const Stencil& stencil : stencils) stuffer.add_vertices(stencil);
  stuffer.place_cuts(flesh);
  for (const Stencil& stencil : stencils) stuffer.add_tets(stencil);
  return stuffer.take();
}

void drop_unused_vertices(StuffedMesh& stuffed) {
  TetMesh& mesh = stuffed.mesh;
  std::vector<Index> number(mesh.vertices.size(), -1);
  for (const auto& tet : mesh.elements) {
    for (const Index v : tet) number[to_size(v)] = 0;
  }
  std::size_t next = 0;
  for (std::size_t v = 0; v < number.size(); ++v) {
    if (number[v] < 0) continue;
    mesh.vertices[next] = mesh.vertices[v];
    stuffed.wish[next] = stuffed.wish[v];
    stuffed.normal[next] = stuffed.normal[v];
    stuffed.kind[next] = stuffed.kind[v];
    stuffed.node[next] = stuffed.node[v];
    number[v] = static_cast<Index>(next++);
  }
  mesh.vertices.resize(next);
  stuffed.wish.resize(next);
  stuffed.normal.resize(next);
  stuffed.kind.resize(next);
  stuffed.node.resize(next);
  for (auto& tet : mesh.elements) {
    for (Index& v : tet) v = number[to_size(v)];
  }
}

std::vector<NodeLink> torn_links(const FleshNodes& nodes, const BccLattice& lattice, const StuffedMesh& stuffed) {
  const Components pieces = connected_components(stuffed.mesh);
  std::vector<NodeLink> torn;
  if (pieces.count < 2) return torn;
  std::vector<std::set<Index>> pieces_of(nodes.site.size());
  for (std::size_t e = 0; e < pieces.label.size(); ++e) {
    for (const Index v : stuffed.mesh.elements[e]) {
      const Index node = stuffed.node[to_size(v)];
      if (node >= 0) pieces_of[to_size(node)].insert(pieces.label[e]);
    }
  }
  const auto visit = [&](Index a, Index b) {
    const auto &mine = pieces_of[to_size(a)], &other = pieces_of[to_size(b)];
    if ((mine == other && mine.size() == 1) || mine.empty() || other.empty()) return;
    torn.push_back({a, b});
    torn.push_back({b, a});
  };
  nodes.for_each_link(lattice, visit);
  for (const auto& [a, b] : nodes.spare) visit(a, b);
  return torn;
}

}  // namespace supple
