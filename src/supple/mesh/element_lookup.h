// SPDX-License-Identifier: Apache-2.0
// Which elements are near a point? A uniform grid over the mesh, with about one element per cell.
#pragma once

#include "supple/mesh/bounds.h"
#include "supple/mesh/volume_mesh.h"

namespace supple {

class ElementLookup {
 public:
  template <int Nodes>
  explicit ElementLookup(const VolumeMesh<Nodes>& mesh) {
    std::vector<Bounds> boxes(mesh.elements.size());
    for (std::size_t e = 0; e < boxes.size(); ++e) {
      for (const Index v : mesh.elements[e]) boxes[e].add(mesh.vertices[to_size(v)]);
    }
    build(boxes);
  }

  /// Calls visit(element) for the elements around a point, from near to far, some of them repeatedly, until
  /// `best()`, the distance of the nearest found so far, shows that the rest can't be nearer.
  template <class Visit, class Best>
  void search(const Vec3& point, const Visit& visit, const Best& best) const {
    const std::array<int, 3> home = cell_of(point);
    for (int ring = 0; ring <= std::max({cells_[0], cells_[1], cells_[2]}); ++ring) {
      // Whatever lies outside the rings seen so far is this far away or farther.
      if (ring > 0 && best() <= (ring - 1) * cell_size_) return;
      visit_ring(home, ring, visit);
    }
  }

  double cell_size() const { return cell_size_; }

 private:
  void build(const std::vector<Bounds>& boxes);
  std::array<int, 3> cell_of(const Vec3& point) const;

  template <class Visit>
  void visit_ring(const std::array<int, 3>& home, int ring, const Visit& visit) const {
    std::array<int, 3> low{}, high{};
    for (std::size_t a = 0; a < 3; ++a) {
      low[a] = std::max(0, home[a] - ring);
      high[a] = std::min(cells_[a] - 1, home[a] + ring);
    }
    for (int k = low[2]; k <= high[2]; ++k) {
      for (int j = low[1]; j <= high[1]; ++j) {
        const bool whole_row = std::abs(k - home[2]) == ring || std::abs(j - home[1]) == ring;
        for (int i = low[0]; i <= high[0]; ++i) {
          if (whole_row || std::abs(i - home[0]) == ring) visit_cell(i, j, k, visit);
        }
      }
    }
  }

  template <class Visit>
  void visit_cell(int i, int j, int k, const Visit& visit) const {
    const std::size_t cell = offset(i, j, k);
    for (Index e = first_[cell]; e < first_[cell + 1]; ++e) visit(elements_[to_size(e)]);
  }

  std::size_t offset(int i, int j, int k) const {
    return to_size(i) + to_size(cells_[0]) * (to_size(j) + to_size(cells_[1]) * to_size(k));
  }

  Vec3 origin_ = Vec3::Zero();
  double cell_size_ = 1;
  std::array<int, 3> cells_{1, 1, 1};
  std::vector<Index> first_;     // per cell, where its elements begin
  std::vector<Index> elements_;  //
};

}  // namespace supple
