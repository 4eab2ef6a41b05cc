// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/domains/neck_labels.h"

#include "supple/mesh/disjoint_sets.h"
#include "supple/mesh/topology.h"
#include "supple/mesh/triangle_tree.h"
#include "supple/offline/domains/element_neighbours.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>

namespace supple {
namespace {

/// Of the middle and the corners of an element, how far the deepest is under the surface. Rounded: elements of one
/// layer are equally deep, and bulks then meet halfway between each other.
template <int Nodes>
std::vector<double> depths_of(const VolumeMesh<Nodes>& mesh) {
  const TriangleTree skin(boundary_surface(mesh).surface);
  std::vector<double> of_vertex;
  double deepest = 0;
  for (const Vec3& v : mesh.vertices) of_vertex.push_back(skin.nearest(v).distance);
  std::vector<double> depth;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    double d = skin.nearest(middle_of(mesh, e)).distance;
    for (const Index v : mesh.elements[e]) d = std::max(d, of_vertex[to_size(v)]);
    depth.push_back(d);
    deepest = std::max(deepest, d);
  }
  const double unit = std::max(deepest, 1e-300) / 200;
  for (double& d : depth) d = unit * std::round(d / unit);
  return depth;
}

class NeckFinder {
 public:
  /// `edge`: how long edges of the mesh are. Depths are not known better than to a part of that.
  NeckFinder(std::vector<double> depth, const std::vector<std::pair<Index, Index>>& pairs, double edge,
             const NeckSettings& settings)
      : settings_(settings),
        unsure_(0.15 * edge),
        depth_(std::move(depth)),
        beside_(depth_.size()),
        peak_(depth_.size()) {
    for (const auto& [a, b] : pairs) {
      beside_[to_size(a)].push_back(b);
      beside_[to_size(b)].push_back(a);
    }
    std::iota(peak_.begin(), peak_.end(), Index{0});
  }

  NeckLabels labels() {
    flood(bulks());
    while (join_smallest()) {
    }
    NeckLabels out;
    std::map<Index, Index> number;
    for (const Index l : label_)
      out.label.push_back(number.emplace(l, static_cast<Index>(number.size())).first->second);
    out.count = static_cast<Index>(number.size());
    return out;
  }

 private:
  double peak_depth(Index set) const { return depth_[to_size(peak_[to_size(set)])]; }

  /// The deepest element of each bulk: elements are taken from deep to shallow, and where one joins two bulks these
  /// become one unless it is a neck between them.
  std::vector<Index> bulks() {
    std::vector<Index> order(depth_.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return depth_[to_size(a)] > depth_[to_size(b)]; });
    DisjointSets sets(depth_.size());
    std::vector<char> taken(depth_.size(), 0);
    for (const Index e : order) {
      taken[to_size(e)] = 1;
      Index deepest = -1;
      for (const Index n : beside_[to_size(e)])
        if (taken[to_size(n)] && (deepest < 0 || peak_depth(sets.find(n)) > peak_depth(deepest)))
          deepest = sets.find(n);
      if (deepest < 0) continue;
      join(sets, deepest, e);
      for (const Index n : beside_[to_size(e)]) {
        if (!taken[to_size(n)]) continue;
        const Index a = sets.find(n), b = sets.find(e);
        const double neck = depth_[to_size(e)] + unsure_;
        if (a != b && neck >= settings_.narrow * std::min(peak_depth(a), peak_depth(b))) join(sets, a, b);
      }
    }
    std::vector<Index> found;
    for (const Index e : order)
      if (peak_[to_size(sets.find(e))] == e) found.push_back(e);
    return found;
  }

  void join(DisjointSets& sets, Index a, Index b) {
    a = sets.find(a);
    b = sets.find(b);
    const Index peak = peak_depth(a) >= peak_depth(b) ? peak_[to_size(a)] : peak_[to_size(b)];
    sets.unite(a, b);
    peak_[to_size(sets.find(a))] = peak;
  }

  /// Every bulk grows from its deepest element: deep elements first, and among equals those that were reached first.
  void flood(const std::vector<Index>& seeds) {
    struct Front {
      double depth;
      std::size_t order;
      Index element;
      bool operator<(const Front& other) const {
        return depth < other.depth || (depth == other.depth && order > other.order);
      }
    };
    std::priority_queue<Front> open;
    std::size_t order = 0;
    label_.assign(depth_.size(), -1);
    for (const Index e : seeds) {
      label_[to_size(e)] = e;
      open.push({depth_[to_size(e)], order++, e});
    }
    while (!open.empty()) {
      const Index e = open.top().element;
      open.pop();
      for (const Index n : beside_[to_size(e)]) {
        if (label_[to_size(n)] >= 0) continue;
        label_[to_size(n)] = label_[to_size(e)];
        open.push({depth_[to_size(n)], order++, n});
      }
    }
  }

  /// False where no bulk is too small.
  bool join_smallest() {
    std::map<Index, int> size;
    for (const Index l : label_) ++size[l];
    const auto least =
        std::min_element(size.begin(), size.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (size.size() < 2 || least->second >= settings_.fewest_elements) return false;
    std::map<Index, int> shared;
    for (std::size_t e = 0; e < label_.size(); ++e)
      if (label_[e] == least->first)
        for (const Index n : beside_[e])
          if (label_[to_size(n)] != least->first) ++shared[label_[to_size(n)]];
    if (shared.empty()) return false;
    const Index into = std::max_element(shared.begin(), shared.end(), [](const auto& a, const auto& b) {
                         return a.second < b.second;
                       })->first;
    std::replace(label_.begin(), label_.end(), Index{least->first}, into);
    return true;
  }

  NeckSettings settings_;
  double unsure_;
  std::vector<double> depth_;
  std::vector<std::vector<Index>> beside_;
  std::vector<Index> peak_;  ///< of the set whose root this is
  std::vector<Index> label_;
};

/// Of one edge of each element, the mean.
template <int Nodes>
double edge_of(const VolumeMesh<Nodes>& mesh) {
  double sum = 0;
  for (const auto& e : mesh.elements) sum += (mesh.vertices[to_size(e[0])] - mesh.vertices[to_size(e[1])]).norm();
  return sum / static_cast<double>(std::max<std::size_t>(1, mesh.elements.size()));
}

}  // namespace

NeckLabels label_necks(const TetMesh& mesh, const NeckSettings& settings) {
  return NeckFinder(depths_of(mesh), touching_elements(mesh), edge_of(mesh), settings).labels();
}
NeckLabels label_necks(const HexMesh& mesh, const NeckSettings& settings) {
  return NeckFinder(depths_of(mesh), touching_elements(mesh), edge_of(mesh), settings).labels();
}

}  // namespace supple
