// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/domains/split_mesh.h"

#include <fmt/format.h>

#include "supple/mesh/disjoint_sets.h"
#include "supple/mesh/topology.h"
#include "supple/offline/domains/element_neighbours.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace supple {
namespace {

/// One domain cut out of the mesh.
template <int Nodes>
struct Cut {
  VolumeMesh<Nodes> mesh;
  std::vector<Index> vertex;          ///< of the whole mesh, for each of its own
  std::map<Index, Index> own_vertex;  ///< the other way
};

template <int Nodes>
Cut<Nodes> cut_out(const VolumeMesh<Nodes>& mesh, std::span<const Index> label, Index which) {
  Cut<Nodes> cut;
  cut.mesh.materials = mesh.materials;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    if (label[e] != which) continue;
    auto element = mesh.elements[e];
    for (Index& v : element) {
      const auto [place, is_new] = cut.own_vertex.emplace(v, static_cast<Index>(cut.vertex.size()));
      if (is_new) {
        cut.vertex.push_back(v);
        cut.mesh.vertices.push_back(mesh.vertices[to_size(v)]);
      }
      v = place->second;
    }
    cut.mesh.elements.push_back(element);
    if (!mesh.element_material.empty()) cut.mesh.element_material.push_back(mesh.element_material[e]);
  }
  return cut;
}

using Pair = std::pair<Index, Index>;
/// For each pair of domains that share faces: the area that belongs to each of their common vertices.
using Interfaces = std::map<Pair, std::map<Index, double>>;

template <int Nodes>
Interfaces find_interfaces(const VolumeMesh<Nodes>& mesh, std::span<const Index> label) {
  std::map<std::vector<Index>, Index> owner;  // label of the first element with that face
  Interfaces found;
  const auto faces = faces_of<Nodes>();
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    for (const auto& corners : faces) {
      std::vector<Index> face;
      for (const int c : corners) face.push_back(mesh.elements[e][to_size(c)]);
      std::vector<Index> key = face;
      std::sort(key.begin(), key.end());
      const auto [place, is_new] = owner.emplace(key, label[e]);
      if (is_new || place->second == label[e]) continue;
      double area = 0;
      for (std::size_t k = 2; k < face.size(); ++k) {
        const Vec3& a = mesh.vertices[to_size(face[0])];
        area += 0.5 * (mesh.vertices[to_size(face[k - 1])] - a).cross(mesh.vertices[to_size(face[k])] - a).norm();
      }
      auto& shares = found[std::minmax(place->second, label[e])];
      for (const Index v : face) shares[v] += area / static_cast<double>(face.size());
    }
  }
  return found;
}

class Splitter {
 public:
  explicit Splitter(const SplitSettings& settings) : settings_(settings) {}

  std::string name(Index label) const {
    return to_size(label) < settings_.names.size() && !settings_.names[to_size(label)].empty()
               ? settings_.names[to_size(label)]
               : fmt::format("domain {}", label);
  }

  /// Parents of all domains, and an order with parents first.
  /// Which loop of the settings is closed between two domains; none: null.
  const LoopPlan* loop_between(Index a, Index b) const {
    for (const LoopPlan& loop : settings_.loops) {
      const auto is = [&](int k, Index d) {
        return d < 0 ? loop.between[to_size(k)].empty() : loop.between[to_size(k)] == name(d);
      };
      if ((is(0, a) && is(1, b)) || (is(0, b) && is(1, a))) return &loop;
    }
    return nullptr;
  }

  /// Fails where a loop of the settings is between domains that aren't there or don't touch.
  Status check_loops(Index count, const Interfaces& interfaces) const {
    for (const LoopPlan& loop : settings_.loops) {
      for (const std::string& given : loop.between) {
        bool known = given.empty();
        for (Index d = 0; d < count; ++d) known |= name(d) == given;
        if (!known)
          return input_error(
              fmt::format("a loop is closed at \"{}\", which is none of the domains; name two that touch", given));
      }
      if (loop.between[1].empty()) continue;
      const bool touch = std::any_of(interfaces.begin(), interfaces.end(), [&](const auto& entry) {
        return loop_between(entry.first.first, entry.first.second) == &loop;
      });
      if (!touch)
        return input_error(fmt::format(
            "a loop is closed between \"{}\" and \"{}\", which don't share a face; name two domains that do",
            loop.between[0], loop.between[1]));
    }
    return {};
  }

  /// Parents of all domains, and an order with parents first. Interfaces that close a loop go into `closing`.
  Status find_tree(Index count, const Interfaces& interfaces, Index root, std::vector<Index>& parent,
                   std::vector<Index>& order, std::vector<Pair>& closing) const {
    SUPPLE_RETURN_IF_ERROR(check_loops(count, interfaces));
    std::vector<std::set<Index>> beside(to_size(count));
    for (const auto& [pair, shares] : interfaces) {
      if (loop_between(pair.first, pair.second) != nullptr) {
        closing.push_back(pair);
        continue;
      }
      beside[to_size(pair.first)].insert(pair.second);
      beside[to_size(pair.second)].insert(pair.first);
    }
    parent.assign(to_size(count), -2);
    parent[to_size(root)] = -1;
    order = {root};
    for (std::size_t k = 0; k < order.size(); ++k) {
      const Index here = order[k];
      for (const Index next : beside[to_size(here)]) {
        if (next == parent[to_size(here)]) continue;
        if (parent[to_size(next)] == here) continue;
        if (parent[to_size(next)] != -2 && !settings_.close_loops) return loop_error(parent, here, next);
        if (parent[to_size(next)] != -2) {
          if (here < next) closing.emplace_back(here, next);
          continue;
        }
        parent[to_size(next)] = here;
        order.push_back(next);
      }
    }
    for (Index d = 0; d < count; ++d)
      if (parent[to_size(d)] == -2)
        return input_error(
            fmt::format("\"{}\" has no interface with the rest: it doesn't share a face with another "
                        "domain; join it, or leave it out",
                        name(d)));
    return {};
  }

 private:
  Status loop_error(const std::vector<Index>& parent, Index a, Index b) const {
    const auto path = [&](Index d) {
      std::vector<Index> up;
      for (; d >= 0; d = parent[to_size(d)]) up.push_back(d);
      return up;
    };
    std::vector<Index> left = path(a), right = path(b);
    while (left.size() > 1 && right.size() > 1 && left[left.size() - 2] == right[right.size() - 2]) {
      left.pop_back();
      right.pop_back();
    }
    right.pop_back();
    left.insert(left.end(), right.rbegin(), right.rend());
    std::vector<std::string> names;
    for (const Index d : left) names.push_back(fmt::format("\"{}\"", name(d)));
    return input_error(
        fmt::format("the domains {} touch in a loop; merge two of them, say loops = \"merge\", or hold the "
                    "loop together with loops = \"close\"",
                    fmt::join(names, ", ")));
  }

  const SplitSettings& settings_;
};

/// Every vertex of the whole mesh's surface, as the mean of its copies in the domains.
template <int Nodes>
DomainSurface shared_surface(const VolumeMesh<Nodes>& mesh, const std::vector<Cut<Nodes>>& cuts,
                             const std::vector<Index>& order) {
  std::vector<std::map<Index, Index>> shown(cuts.size());  // vertex of the whole mesh → of the part's surface
  for (std::size_t label = 0; label < cuts.size(); ++label) {
    const std::vector<Index> volume = boundary_surface(cuts[label].mesh).volume_vertex;
    for (std::size_t v = 0; v < volume.size(); ++v)
      shown[label][cuts[label].vertex[to_size(volume[v])]] = static_cast<Index>(v);
  }
  const BoundarySurface whole = boundary_surface(mesh);
  DomainSurface surface;
  surface.first.push_back(0);
  for (const Index v : whole.volume_vertex) {
    for (std::size_t d = 0; d < order.size(); ++d) {
      const auto& own = shown[to_size(order[d])];
      if (const auto found = own.find(v); found != own.end()) {
        surface.domain.push_back(static_cast<Index>(d));
        surface.vertex.push_back(found->second);
      }
    }
    surface.first.push_back(static_cast<Index>(surface.domain.size()));
  }
  surface.triangles = whole.surface.triangles;
  return surface;
}

/// Graph of domains whose loops are joined.
class LoopMerger {
 public:
  LoopMerger(Index count, const Interfaces& interfaces) : sets_(to_size(count)), beside_(to_size(count)) {
    for (const auto& [pair, shares] : interfaces) {
      beside_[to_size(pair.first)].insert(pair.second);
      beside_[to_size(pair.second)].insert(pair.first);
    }
    up_.assign(to_size(count), -2);
    depth_.assign(to_size(count), 0);
  }

  /// What hangs together with `start` is walked through; an edge that closes a loop joins all of it.
  void walk(Index start) {
    if (up_[to_size(start)] != -2) return;
    up_[to_size(start)] = -1;
    std::vector<Index> open = {start};
    for (std::size_t k = 0; k < open.size(); ++k) {
      for (const Index next : beside_[to_size(open[k])]) {
        if (up_[to_size(next)] != -2) continue;
        up_[to_size(next)] = open[k];
        depth_[to_size(next)] = depth_[to_size(open[k])] + 1;
        open.push_back(next);
      }
    }
    for (const Index a : open)
      for (const Index b : beside_[to_size(a)])
        if (a < b && up_[to_size(a)] != b && up_[to_size(b)] != a) join(a, b);
  }

  /// Makes one of two domains and all on the way between them.
  void join(Index a, Index b) {
    while (a != b) {
      Index& deeper = depth_[to_size(a)] >= depth_[to_size(b)] ? a : b;
      if (up_[to_size(deeper)] < 0) return;  // pieces that don't touch
      sets_.unite(deeper, up_[to_size(deeper)]);
      deeper = up_[to_size(deeper)];
    }
  }

  Index find(Index d) { return sets_.find(d); }

 private:
  DisjointSets sets_;
  std::vector<std::set<Index>> beside_;
  std::vector<Index> up_, depth_;
};

template <int Nodes>
MergedLabels merge(const VolumeMesh<Nodes>& mesh, std::span<const Index> label, const SplitSettings& settings) {
  const Splitter splitter(settings);
  const Index count = label.empty() ? 0 : *std::max_element(label.begin(), label.end()) + 1;
  LoopMerger merger(count, find_interfaces(mesh, label));
  for (Index d = 0; d < count; ++d) merger.walk(d);
  const std::set<Index> fixed(settings.fixed.begin(), settings.fixed.end());
  Index held = -1;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const auto& element = mesh.elements[e];
    if (std::none_of(element.begin(), element.end(), [&](Index v) { return fixed.contains(v); })) continue;
    if (held < 0) held = label[e];
    merger.join(held, label[e]);
  }
  MergedLabels out;
  std::map<Index, Index> number;
  std::vector<int> members;
  for (Index d = 0; d < count; ++d) {
    const auto [place, is_new] = number.emplace(merger.find(d), static_cast<Index>(number.size()));
    out.domain_of.push_back(place->second);
    if (is_new) {
      out.names.push_back(splitter.name(d));
      members.push_back(1);
    } else {
      out.names[to_size(place->second)] += " + " + splitter.name(d);
      ++members[to_size(place->second)];
    }
  }
  for (const Index l : label) out.label.push_back(out.domain_of[to_size(l)]);
  for (std::size_t k = 0; k < members.size(); ++k)
    if (members[k] > 1) out.merged.push_back(out.names[k]);
  return out;
}

template <int Nodes>
Result<Index> choose_root(const Splitter& splitter, const SplitSettings& settings,
                          const std::vector<Cut<Nodes>>& cuts) {
  const auto count = static_cast<Index>(cuts.size());
  if (!settings.root.empty()) {
    for (Index d = 0; d < count; ++d)
      if (splitter.name(d) == settings.root) return d;
    return input_error(fmt::format("the root \"{}\" is none of the domains; name one of them", settings.root));
  }
  Index best = 0;
  std::pair<std::size_t, std::size_t> most{0, 0};
  for (Index d = 0; d < count; ++d) {
    std::size_t held = 0;
    for (const Index v : settings.fixed) held += cuts[to_size(d)].own_vertex.contains(v) ? 1 : 0;
    const std::pair<std::size_t, std::size_t> here{held, cuts[to_size(d)].mesh.elements.size()};
    if (here > most) {
      most = here;
      best = d;
    }
  }
  return best;
}

/// Gives the plan a surface of weighted vertices; `place` is that of each label in the plan.
template <int Nodes>
void share_among(const VolumeMesh<Nodes>& mesh, std::span<const Index> label, const SplitSettings& settings,
                 const std::vector<Index>& place, const std::vector<Cut<Nodes>>& cuts, TreePlan& plan) {
  std::vector<Index> domain, cluster;
  for (const Index l : label) domain.push_back(place[to_size(l)]);
  std::vector<std::map<Index, Index>> own_vertex(cuts.size());
  for (std::size_t l = 0; l < cuts.size(); ++l) own_vertex[to_size(place[l])] = cuts[l].own_vertex;
  for (std::size_t d = 0; d < plan.domains.size(); ++d) {
    const DomainPlan& each = plan.domains[d];
    const bool parted = each.parent < 0 || each.joint.kind != JointKind::fixed;
    cluster.push_back(parted ? static_cast<Index>(d) : cluster[to_size(each.parent)]);
  }
  share_surface(CutMesh<Nodes>{mesh, domain, own_vertex, cluster}, settings.rides, settings.smooth, plan);
}

void set_loop(const LoopPlan* loop, ClosurePlan& closure) {
  if (loop == nullptr) return;
  closure.stiffness = loop->stiffness;
  closure.turns = loop->turns;
}

/// Interfaces that close a loop. `place` is that of each label in the plan.
template <int Nodes>
void close_pairs(const Splitter& splitter, const std::vector<Pair>& closing, const Interfaces& interfaces,
                 const std::vector<Cut<Nodes>>& cuts, const std::vector<Index>& place, TreePlan& plan) {
  for (const Pair& pair : closing) {
    ClosurePlan closure;
    closure.first.domain = place[to_size(pair.first)];
    closure.second.domain = place[to_size(pair.second)];
    for (const auto& [v, area] : interfaces.at(pair)) {
      closure.first.vertices.push_back(cuts[to_size(pair.first)].own_vertex.at(v));
      closure.second.vertices.push_back(cuts[to_size(pair.second)].own_vertex.at(v));
      closure.weights.push_back(area);
    }
    set_loop(splitter.loop_between(pair.first, pair.second), closure);
    plan.closures.push_back(std::move(closure));
  }
}

/// What the ground holds beside the root.
template <int Nodes>
void close_to_ground(const Splitter& splitter, const SplitSettings& settings, Index root,
                     const std::vector<Cut<Nodes>>& cuts, const std::vector<Index>& place, TreePlan& plan) {
  const auto& in_root = cuts[to_size(root)].own_vertex;
  std::set<Index> left;
  for (const Index v : settings.fixed)
    if (!in_root.contains(v)) left.insert(v);
  for (std::size_t label = 0; label < cuts.size(); ++label) {
    ClosurePlan closure;
    closure.first.domain = place[label];
    for (const auto& [v, own] : cuts[label].own_vertex) {
      if (left.erase(v) == 0) continue;
      closure.first.vertices.push_back(own);
      closure.weights.push_back(1.0);
    }
    if (closure.first.vertices.empty()) continue;
    set_loop(splitter.loop_between(static_cast<Index>(label), -1), closure);
    plan.closures.push_back(std::move(closure));
  }
}

template <int Nodes>
Result<TreePlan> split(const VolumeMesh<Nodes>& mesh, std::span<const Index> label, const SplitSettings& settings) {
  if (label.size() != mesh.elements.size() || label.empty())
    return input_error(fmt::format("{} labels don't fit a mesh of {} elements", label.size(), mesh.elements.size()));
  const Index count = *std::max_element(label.begin(), label.end()) + 1;
  const Splitter splitter(settings);
  std::vector<Cut<Nodes>> cuts;
  for (Index d = 0; d < count; ++d) {
    cuts.push_back(cut_out(mesh, label, d));
    if (cuts.back().mesh.elements.empty())
      return input_error(fmt::format("\"{}\" has no elements; leave it out, or give it some", splitter.name(d)));
    const Index pieces = connected_components(cuts.back().mesh).count;
    if (pieces > 1)
      return input_error(fmt::format("\"{}\" is in {} pieces that don't touch; make each a domain of its own",
                                     splitter.name(d), pieces));
  }
  const Result<Index> root = choose_root(splitter, settings, cuts);
  SUPPLE_RETURN_IF_ERROR(root);
  const Interfaces interfaces = find_interfaces(mesh, label);
  std::vector<Index> parent, order;
  std::vector<Pair> closing;
  SUPPLE_RETURN_IF_ERROR(splitter.find_tree(count, interfaces, *root, parent, order, closing));
  std::vector<Index> place(to_size(count));
  for (std::size_t k = 0; k < order.size(); ++k) place[to_size(order[k])] = static_cast<Index>(k);

  TreePlan plan;
  if (settings.smooth <= 0 && settings.rides == nullptr && settings.joints.empty())
    plan.surface = shared_surface(mesh, cuts, order);
  for (const Index d : order) {
    Cut<Nodes>& cut = cuts[to_size(d)];
    PartPlan part;
    part.name = splitter.name(d);
    part.size = settings.size;
    DomainPlan domain;
    domain.part = static_cast<Index>(plan.parts.size());
    if (parent[to_size(d)] < 0) {
      for (const Index v : settings.fixed) {
        const bool own = cut.own_vertex.contains(v);
        if (!own && !settings.close_loops)
          return input_error(
              fmt::format("vertex {} is held but isn't in the root \"{}\"; several held parts are one "
                          "domain, or hold the root only, or say loops = \"close\"",
                          v, part.name));
        if (own) part.fixed.push_back(cut.own_vertex.at(v));
      }
    } else {
      const Index above = parent[to_size(d)];
      domain.parent = place[to_size(above)];
      const auto& shares = interfaces.at(std::minmax(above, d));
      double sum = 0;
      for (const auto& [v, area] : shares) {
        domain.interface.push_back(cuts[to_size(above)].own_vertex.at(v));
        domain.interface_weights.push_back(area);
        part.fixed.push_back(cut.own_vertex.at(v));
        domain.position += area * mesh.vertices[to_size(v)];
        sum += area;
      }
      domain.position /= sum;
    }
    std::sort(part.fixed.begin(), part.fixed.end());
    VolumeMesh<Nodes> own = cut.mesh;
    for (Vec3& v : own.vertices) v -= domain.position;
    part.mesh = std::move(own);
    if (parent[to_size(d)] >= 0 && to_size(d) < settings.joints.size()) domain.joint = settings.joints[to_size(d)];
    plan.parts.push_back(std::move(part));
    plan.domains.push_back(std::move(domain));
  }
  close_pairs(splitter, closing, interfaces, cuts, place, plan);
  if (settings.close_loops) close_to_ground(splitter, settings, *root, cuts, place, plan);
  if (plan.surface.first.empty()) share_among(mesh, label, settings, place, cuts, plan);
  return plan;
}

}  // namespace

MergedLabels merge_loops(const TetMesh& mesh, std::span<const Index> label, const SplitSettings& settings) {
  return merge(mesh, label, settings);
}
MergedLabels merge_loops(const HexMesh& mesh, std::span<const Index> label, const SplitSettings& settings) {
  return merge(mesh, label, settings);
}

Result<TreePlan> split_mesh(const TetMesh& mesh, std::span<const Index> label, const SplitSettings& settings) {
  return split(mesh, label, settings);
}
Result<TreePlan> split_mesh(const HexMesh& mesh, std::span<const Index> label, const SplitSettings& settings) {
  return split(mesh, label, settings);
}

}  // namespace supple
