// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/domains/branch_labels.h"

#include "supple/base/to_size.h"
#include "supple/fem/element.h"
#include "supple/mesh/bounds.h"
#include "supple/mesh/disjoint_sets.h"
#include "supple/offline/domains/element_neighbours.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <queue>
#include <set>

namespace supple {
namespace {

using FacePair = std::pair<Index, Index>;

/// The length of the shortest way along edges from the held vertices.
template <int Nodes>
std::vector<double> distances_along(const VolumeMesh<Nodes>& mesh, std::span<const Index> held) {
  std::vector<std::vector<Index>> beside(mesh.vertices.size());
  for (const auto& element : mesh.elements)
    for (const Index a : element)
      for (const Index b : element)
        if (a != b) beside[to_size(a)].push_back(b);
  std::vector<double> distance(mesh.vertices.size(), std::numeric_limits<double>::infinity());
  using Entry = std::pair<double, Index>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  for (const Index v : held) {
    distance[to_size(v)] = 0;
    open.emplace(0.0, v);
  }
  while (!open.empty()) {
    const auto [d, v] = open.top();
    open.pop();
    if (d > distance[to_size(v)]) continue;
    for (const Index w : beside[to_size(v)]) {
      const double next = d + (mesh.vertices[to_size(v)] - mesh.vertices[to_size(w)]).norm();
      if (next >= distance[to_size(w)]) continue;
      distance[to_size(w)] = next;
      open.emplace(next, w);
    }
  }
  return distance;
}

/// Slices of a body and the tree that they form.
template <int Nodes>
class SliceTree {
 public:
  SliceTree(const VolumeMesh<Nodes>& mesh, std::span<const Index> held, std::span<const char> covered)
      : mesh_(mesh), pairs_(touching_elements(mesh)) {
    const std::vector<double> distance = distances_along(mesh, held);
    far_ = 0;
    std::vector<double> middle(mesh.elements.size(), 0.0);
    for (std::size_t e = 0; e < middle.size(); ++e)
      for (const Index v : mesh.elements[e]) middle[e] += std::min(distance[to_size(v)], 1e300) / Nodes;
    for (const double d : middle) far_ = std::max(far_, d);
    slice_elements(middle);
    const std::set<Index> fixed(held.begin(), held.end());
    find_root(fixed);
    find_parents();
    sum_up(middle, covered);
  }

  Index count() const { return static_cast<Index>(slices_.size()); }
  double far() const { return far_; }
  Index loops() const { return loops_; }

  BranchLabels branches(const BranchSettings& settings, double shortest) {
    BranchLabels out;
    out.loops = loops_;
    std::vector<Index> branch(slices_.size(), -1);
    branch[to_size(root_)] = 0;
    for (const Index s : order_) {
      std::vector<Index> arms;
      for (const Index child : slices_[to_size(s)].children) {
        branch[to_size(child)] = branch[to_size(s)];
        const Slice& arm = slices_[to_size(child)];
        if (arm.end - arm.begin >= shortest * far_ && arm.elements_above >= settings.fewest_elements &&
            arm.joint_vertices >= 3 && 2 * arm.covered_above < arm.elements_above)
          arms.push_back(child);
      }
      if (arms.size() < 2) continue;
      std::sort(arms.begin(), arms.end(), [&](Index a, Index b) {
        const double va = slices_[to_size(a)].volume_above, vb = slices_[to_size(b)].volume_above;
        return va > vb || (va == vb && a < b);
      });
      constexpr double nearly_as_large = 0.5;
      const bool leads =
          slices_[to_size(arms[1])].volume_above < nearly_as_large * slices_[to_size(arms[0])].volume_above;
      for (std::size_t k = leads ? 1 : 0; k < arms.size(); ++k) branch[to_size(arms[k])] = out.count++;
    }
    out.label.resize(mesh_.elements.size());
    for (std::size_t e = 0; e < out.label.size(); ++e) out.label[e] = branch[to_size(slice_of(static_cast<Index>(e)))];
    return out;
  }

 private:
  struct Slice {
    Index parent = -1;
    std::vector<Index> children;
    Index elements = 0, elements_above = 0, covered_above = 0;
    double volume = 0, volume_above = 0;
    double begin = 1e300, end = 0;  ///< distances of itself and all above
    Index joint_vertices = 0;       ///< shared with the parent
  };

  void slice_elements(const std::vector<double>& middle) {
    constexpr double slices_along = 30;
    constexpr double edges_across = 1.5;  // thinner slices would fall into single elements
    const double thick = std::max({far_ / slices_along, edges_across * mean_edge(), 1e-12});
    DisjointSets sets(mesh_.elements.size());
    const auto band = [&](Index e) { return static_cast<int>(middle[to_size(e)] / thick); };
    for (const auto& [a, b] : pairs_)
      if (band(a) == band(b)) sets.unite(a, b);
    std::map<Index, Index> number;
    slice_.resize(mesh_.elements.size());
    for (std::size_t e = 0; e < slice_.size(); ++e)
      slice_[e] = number.emplace(sets.find(static_cast<Index>(e)), static_cast<Index>(number.size())).first->second;
    slices_.resize(number.size());
    band_.assign(number.size(), 0);
    for (std::size_t e = 0; e < slice_.size(); ++e) band_[to_size(slice_[e])] = band(static_cast<Index>(e));
    joined_.emplace(number.size());
  }

  double mean_edge() const {
    double sum = 0;
    for (const auto& t : mesh_.elements) sum += (mesh_.vertices[to_size(t[0])] - mesh_.vertices[to_size(t[1])]).norm();
    return sum / static_cast<double>(std::max<std::size_t>(1, mesh_.elements.size()));
  }

  /// All slices with held vertices are one.
  void find_root(const std::set<Index>& fixed) {
    root_ = -1;
    for (std::size_t e = 0; e < slice_.size(); ++e) {
      const auto& element = mesh_.elements[e];
      if (std::none_of(element.begin(), element.end(), [&](Index v) { return fixed.contains(v); })) continue;
      if (root_ < 0) root_ = slice_[e];
      joined_->unite(root_, slice_[e]);
    }
    if (root_ < 0) root_ = slice_.empty() ? 0 : slice_[0];
  }

  /// Grows a tree from the root over slices that touch; an edge that would close a loop joins all of the loop.
  void find_parents() {
    std::set<FacePair> edges;
    for (const auto& [a, b] : pairs_)
      if (slice_[to_size(a)] != slice_[to_size(b)]) edges.insert(std::minmax(slice_[to_size(a)], slice_[to_size(b)]));
    std::vector<std::vector<Index>> beside(slices_.size());
    for (const auto& [a, b] : edges) {
      beside[to_size(a)].push_back(b);
      beside[to_size(b)].push_back(a);
    }
    up_.assign(slices_.size(), -2);
    depth_.assign(slices_.size(), 0);
    std::vector<Index> open;
    for (Index s = 0; s < count(); ++s) {
      if (joined_->find(s) != joined_->find(root_)) continue;
      up_[to_size(s)] = -1;
      open.push_back(s);
    }
    root_ = joined_->find(root_);
    for (std::size_t k = 0; k < open.size(); ++k) {
      const Index here = open[k];
      for (const Index next : beside[to_size(here)]) {
        if (up_[to_size(next)] == -2) {
          up_[to_size(next)] = here;
          depth_[to_size(next)] = depth_[to_size(here)] + 1;
          open.push_back(next);
        }
      }
    }
    for (const auto& [a, b] : edges)
      if (up_[to_size(a)] != b && up_[to_size(b)] != a) close_loop(a, b);
    grow(open);
  }

  void close_loop(Index a, Index b) {
    if (joined_->find(a) == joined_->find(b)) return;
    ++loops_;
    while (joined_->find(a) != joined_->find(b)) {
      Index& deeper = depth_[to_size(a)] >= depth_[to_size(b)] ? a : b;
      const Index above = up_[to_size(deeper)];
      if (above < 0) {  // the root's slices are one already; the other end comes up to them
        Index& other = &deeper == &a ? b : a;
        if (up_[to_size(other)] < 0) break;
        joined_->unite(other, up_[to_size(other)]);
        other = up_[to_size(other)];
        continue;
      }
      joined_->unite(deeper, above);
      deeper = above;
    }
  }

  /// Parents and children of what became one.
  void grow(const std::vector<Index>& open) {
    root_ = joined_->find(root_);
    std::vector<char> seen(slices_.size(), 0);
    seen[to_size(root_)] = 1;
    order_ = {root_};
    for (const Index s : open) {
      const Index own = joined_->find(s);
      if (up_[to_size(s)] < 0 || seen[to_size(own)]) continue;
      const Index above = joined_->find(up_[to_size(s)]);
      if (above == own) continue;
      seen[to_size(own)] = 1;
      slices_[to_size(own)].parent = above;
      slices_[to_size(above)].children.push_back(own);
      order_.push_back(own);
    }
  }

  void sum_up(const std::vector<double>& middle, std::span<const char> covered) {
    for (std::size_t e = 0; e < slice_.size(); ++e) {
      Slice& slice = slices_[to_size(slice_of(static_cast<Index>(e)))];
      ++slice.elements;
      if (!covered.empty() && covered[e] != 0) ++slice.covered_above;
      slice.volume += std::abs(element_shape(element_nodes(mesh_, e)).volume());
      slice.begin = std::min(slice.begin, middle[e]);
      slice.end = std::max(slice.end, middle[e]);
    }
    std::map<Index, std::set<Index>> shared;
    for (const auto& [a, b] : pairs_) {
      const Index sa = slice_of(a), sb = slice_of(b);
      if (sa == sb) continue;
      const Index lower = slices_[to_size(sa)].parent == sb ? sa : sb;
      for (const Index v : mesh_.elements[to_size(a)]) {
        const auto& other = mesh_.elements[to_size(b)];
        if (std::find(other.begin(), other.end(), v) != other.end()) shared[lower].insert(v);
      }
    }
    for (const auto& [s, vertices] : shared) slices_[to_size(s)].joint_vertices = static_cast<Index>(vertices.size());
    for (Slice& slice : slices_) {
      slice.elements_above = slice.elements;
      slice.volume_above = slice.volume;
    }
    for (auto s = order_.rbegin(); s != order_.rend(); ++s) {
      const Slice& slice = slices_[to_size(*s)];
      if (slice.parent < 0) continue;
      Slice& above = slices_[to_size(slice.parent)];
      above.elements_above += slice.elements_above;
      above.covered_above += slice.covered_above;
      above.volume_above += slice.volume_above;
      above.end = std::max(above.end, slice.end);
    }
  }

  Index slice_of(Index element) const { return joined_->find(slice_[to_size(element)]); }

  const VolumeMesh<Nodes>& mesh_;
  std::vector<FacePair> pairs_;
  double far_ = 0;
  std::vector<Index> slice_, band_, up_, depth_, order_;
  std::vector<Slice> slices_;
  mutable std::optional<DisjointSets> joined_;
  Index root_ = 0, loops_ = 0;
};

/// Where to begin where nothing is held: an end of the longest side.
template <int Nodes>
Index end_vertex(const VolumeMesh<Nodes>& mesh) {
  Eigen::Index axis = 0;
  bounds_of(mesh.vertices).size().maxCoeff(&axis);
  const auto lower = [axis](const Vec3& a, const Vec3& b) { return a[axis] < b[axis]; };
  return static_cast<Index>(std::min_element(mesh.vertices.begin(), mesh.vertices.end(), lower) -
                            mesh.vertices.begin());
}

template <int Nodes>
BranchLabels branches_of(const VolumeMesh<Nodes>& mesh, std::span<const Index> held, std::span<const char> covered,
                         const BranchSettings& settings) {
  const Index end = end_vertex(mesh);
  SliceTree<Nodes> slices(mesh, held.empty() ? std::span(&end, 1) : held, covered);
  double shortest = settings.shortest;
  BranchLabels labels = slices.branches(settings, shortest);
  while (labels.count > settings.most_branches && shortest < 1) {
    shortest *= 1.3;
    labels = slices.branches(settings, shortest);
  }
  return labels;
}

}  // namespace

BranchLabels label_branches(const TetMesh& mesh, std::span<const Index> held, std::span<const char> covered,
                            const BranchSettings& settings) {
  return branches_of(mesh, held, covered, settings);
}
BranchLabels label_branches(const HexMesh& mesh, std::span<const Index> held, std::span<const char> covered,
                            const BranchSettings& settings) {
  return branches_of(mesh, held, covered, settings);
}

TetMesh largest_solid(const TetMesh& mesh) {
  DisjointSets sets(mesh.elements.size());
  for (const auto& [a, b] : touching_elements(mesh)) sets.unite(a, b);
  std::map<Index, std::size_t> sizes;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) ++sizes[sets.find(static_cast<Index>(e))];
  if (sizes.empty()) return mesh;
  const Index most = std::max_element(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) {
                       return a.second < b.second;
                     })->first;
  TetMesh out;
  out.materials = mesh.materials;
  std::map<Index, Index> number;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    if (sets.find(static_cast<Index>(e)) != most) continue;
    auto element = mesh.elements[e];
    for (Index& v : element) {
      const auto [place, is_new] = number.emplace(v, static_cast<Index>(out.vertices.size()));
      if (is_new) out.vertices.push_back(mesh.vertices[to_size(v)]);
      v = place->second;
    }
    out.elements.push_back(element);
  }
  return out;
}

}  // namespace supple
