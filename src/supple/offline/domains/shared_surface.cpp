// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/domains/shared_surface.h"

#include "supple/base/parallel.h"
#include "supple/math/dense/decompositions.h"
#include "supple/mesh/point_tree.h"
#include "supple/mesh/topology.h"
#include "supple/mesh/triangle_tree.h"
#include "supple/offline/domains/element_neighbours.h"

#include <Eigen/Geometry>

#include <cmath>

namespace supple {
namespace {

/// Weights of vertices of the mesh, by domain: the copy that this domain has of the vertex.
using CopyWeights = std::map<std::pair<Index, Index>, double>;

/// A vertex of what is looked at: where it is, on which side of joints, and which vertices of the mesh carry it.
struct ShownVertex {
  Vec3 place;
  Index cluster;
  std::vector<std::pair<Index, double>> carriers;
};

struct Shown {
  std::vector<ShownVertex> vertices;
  std::vector<Triangle> triangles;
};

template <int Nodes>
class SurfaceSharer {
 public:
  SurfaceSharer(const CutMesh<Nodes>& cut, double smooth, TreePlan& plan) : cut_(cut), radius_(smooth), plan_(plan) {
    for (std::size_t d = 0; d < cut.own_vertex.size(); ++d)
      for (const auto& [v, own] : cut.own_vertex[d]) copies_[v].push_back(static_cast<Index>(d));
    if (radius_ > 0) find_copies_and_interfaces();
  }

  /// The boundary, torn open where joints are.
  Shown boundary() const {
    VolumeMesh<Nodes> torn;
    std::map<std::pair<Index, Index>, Index> number;  // vertex and cluster, in this order
    for (std::size_t e = 0; e < cut_.mesh.elements.size(); ++e)
      for (const Index v : cut_.mesh.elements[e]) number.emplace(std::pair{v, cluster_of(cut_.domain[e])}, 0);
    std::vector<std::pair<Index, Index>> origin;
    for (auto& [key, own] : number) {
      own = static_cast<Index>(origin.size());
      origin.push_back(key);
      torn.vertices.push_back(cut_.mesh.vertices[to_size(key.first)]);
    }
    for (std::size_t e = 0; e < cut_.mesh.elements.size(); ++e) {
      auto element = cut_.mesh.elements[e];
      for (Index& v : element) v = number.at({v, cluster_of(cut_.domain[e])});
      torn.elements.push_back(element);
    }
    const BoundarySurface skin = boundary_surface(torn);
    Shown shown;
    for (const Index v : skin.volume_vertex) {
      const auto [vertex, cluster] = origin[to_size(v)];
      shown.vertices.push_back({cut_.mesh.vertices[to_size(vertex)], cluster, {{vertex, 1.0}}});
    }
    shown.triangles = skin.surface.triangles;
    return shown;
  }

  Shown riding(const RidingSurface& rides) const {
    Shown shown;
    const Embedding& hold = rides.embedding;
    for (std::size_t v = 0; v < hold.size(); ++v) {
      ShownVertex vertex{rides.surface.vertices[v], cluster_of(cut_.domain[to_size(hold.element[v])]), {}};
      for (std::size_t k = 0; k < Nodes; ++k)
        vertex.carriers.emplace_back(hold.vertices[Nodes * v + k], hold.weights[Nodes * v + k]);
      shown.vertices.push_back(std::move(vertex));
    }
    shown.triangles = rides.surface.triangles;
    return shown;
  }

  void share(const Shown& shown) {
    std::vector<CopyWeights> weights(shown.vertices.size());
    parallel_for(std::ssize(weights), 16,
                 [&](std::int64_t v) { weights[to_size(v)] = weights_of(shown.vertices[to_size(v)]); });
    for (PartPlan& part : plan_.parts) part.points.emplace();
    DomainSurface& surface = plan_.surface;
    surface = {};
    surface.first.push_back(0);
    for (const CopyWeights& each : weights) add_vertex(each);
    surface.triangles = shown.triangles;
    add_seams();
  }

 private:
  struct Copy {
    Index domain, vertex;
  };

  Index cluster_of(Index domain) const { return cut_.cluster[to_size(domain)]; }

  void find_copies_and_interfaces() {
    std::vector<Vec3> places;
    for (const auto& [v, domains] : copies_)
      for (const Index d : domains) {
        all_.push_back({d, v});
        places.push_back(cut_.mesh.vertices[to_size(v)]);
      }
    near_.emplace(places);
    Surface faces;
    faces.vertices = cut_.mesh.vertices;
    const auto& elements = cut_.mesh.elements;
    for (const auto& [a, b] : touching_elements(cut_.mesh)) {
      const Index da = cut_.domain[to_size(a)], db = cut_.domain[to_size(b)];
      if (da == db || cluster_of(da) != cluster_of(db)) continue;
      std::vector<Index> face;
      for (const auto& corners : faces_of<Nodes>()) {
        face.clear();
        for (const int c : corners) face.push_back(elements[to_size(a)][to_size(c)]);
        const auto in_b = [&](Index v) {
          return std::find(elements[to_size(b)].begin(), elements[to_size(b)].end(), v) != elements[to_size(b)].end();
        };
        if (std::all_of(face.begin(), face.end(), in_b)) break;
      }
      for (std::size_t k = 2; k < face.size(); ++k) faces.triangles.push_back({face[0], face[k - 1], face[k]});
    }
    interfaces_.emplace(faces);
  }

  /// How much moving least squares count at a distance from the interfaces: 1 there, 0 at the radius, smooth between.
  double share_of_fit(const Vec3& place) const {
    if (!interfaces_ || interfaces_->empty()) return 0;
    const double t = 1 - interfaces_->nearest(place, radius_).distance / radius_;
    return t > 0 ? t * t * (3 - 2 * t) : 0;
  }

  CopyWeights weights_of(const ShownVertex& vertex) const {
    const double fit = share_of_fit(vertex.place);
    CopyWeights weights;
    if (fit < 1)
      for (const auto& [v, weight] : vertex.carriers) add_mean(v, (1 - fit) * weight, vertex.cluster, weights);
    if (fit > 0) add_fit(vertex, fit, weights);
    return weights;
  }

  void add_mean(Index v, double weight, Index cluster, CopyWeights& out) const {
    std::vector<Index> domains;
    for (const Index d : copies_.at(v))
      if (cluster_of(d) == cluster) domains.push_back(d);
    for (const Index d : domains) out[{d, v}] += weight / static_cast<double>(domains.size());
  }

  /// N_i of moving least squares; with a larger radius where the vertices within it are all in a plane.
  void add_fit(const ShownVertex& vertex, double share, CopyWeights& out) const {
    using Moments = Eigen::Matrix4d;
    for (double radius = radius_; radius < 1e3 * radius_; radius *= 1.5) {
      const std::vector<std::pair<Copy, double>> around = within(vertex, radius);
      Moments M = Moments::Zero();
      const auto polynomial = [&](const Copy& copy) {
        const Vec3 x = (cut_.mesh.vertices[to_size(copy.vertex)] - vertex.place) / radius;
        return Eigen::Vector4d(1, x.x(), x.y(), x.z());
      };
      for (const auto& [copy, w] : around) M += w * polynomial(copy) * polynomial(copy).transpose();
      const VecX values = symmetric_eigenvalues(M);
      if (!(values[0] > 1e-4 * values[3])) continue;
      const VecX answer = solve_symmetric(M, VecX(VecX::Unit(4, 0)));  // M⁻¹ p(X), and p is 1, 0, 0, 0 there
      for (const auto& [copy, w] : around) out[{copy.domain, copy.vertex}] += share * w * answer.dot(polynomial(copy));
      return;
    }
    for (const auto& [v, weight] : vertex.carriers) add_mean(v, share * weight, vertex.cluster, out);
  }

  std::vector<std::pair<Copy, double>> within(const ShownVertex& vertex, double radius) const {
    std::vector<std::pair<Copy, double>> found;
    for (int k = 64;; k *= 2) {
      const std::vector<PointTree::Neighbour> nearest = near_->nearest(vertex.place, k);
      if (std::ssize(nearest) == k && nearest.back().distance < radius) continue;  // there may be more
      for (const PointTree::Neighbour& n : nearest) {
        const double t = 1 - std::pow(n.distance / radius, 2);
        const Copy& copy = all_[to_size(n.point)];
        if (t > 0 && cluster_of(copy.domain) == vertex.cluster) found.emplace_back(copy, t * t * t);
      }
      return found;
    }
  }

  /// One source for each domain: the weighted mean of its own vertices, as a point of its part.
  void add_vertex(const CopyWeights& weights) {
    DomainSurface& surface = plan_.surface;
    for (auto first = weights.begin(); first != weights.end();) {
      const Index d = first->first.first;
      auto end = first;
      double sum = 0, size = 0;
      for (; end != weights.end() && end->first.first == d; ++end) {
        sum += end->second;
        size += std::abs(end->second);
      }
      if (size > 1e-9) {
        if (std::abs(sum) < 1e-9) sum = 1e-9;  // a place far away, of no weight: the same sum
        PartPoints& points = *plan_.parts[to_size(plan_.domains[to_size(d)].part)].points;
        surface.domain.push_back(d);
        surface.vertex.push_back(points.count());  // among the points of the part
        surface.weight.push_back(sum);
        for (auto k = first; k != end; ++k) {
          points.vertex.push_back(cut_.own_vertex[to_size(d)].at(k->first.second));
          points.weight.push_back(k->second / sum);
        }
        points.first.push_back(static_cast<Index>(points.vertex.size()));
      }
      first = end;
    }
    surface.first.push_back(static_cast<Index>(surface.domain.size()));
  }

  /// Pairs of copies at interfaces, whose distance is a gap.
  void add_seams() {
    for (const auto& [v, domains] : copies_)
      for (std::size_t k = 1; k < domains.size(); ++k)
        if (cluster_of(domains[0]) == cluster_of(domains[k])) {
          plan_.surface.seams.push_back(
              {domains[0], single_point(domains[0], v), domains[k], single_point(domains[k], v)});
        }
  }

  Index single_point(Index domain, Index v) {
    PartPoints& points = *plan_.parts[to_size(plan_.domains[to_size(domain)].part)].points;
    points.vertex.push_back(cut_.own_vertex[to_size(domain)].at(v));
    points.weight.push_back(1.0);
    points.first.push_back(static_cast<Index>(points.vertex.size()));
    return points.count() - 1;
  }

  const CutMesh<Nodes>& cut_;
  double radius_;
  TreePlan& plan_;
  std::map<Index, std::vector<Index>> copies_;  ///< domains that have a vertex
  std::vector<Copy> all_;
  std::optional<PointTree> near_;
  std::optional<TriangleTree> interfaces_;
};

template <int Nodes>
void share(const CutMesh<Nodes>& cut, const RidingSurface* rides, double smooth, TreePlan& plan) {
  SurfaceSharer<Nodes> sharer(cut, smooth, plan);
  sharer.share(rides != nullptr ? sharer.riding(*rides) : sharer.boundary());
}

}  // namespace

void share_surface(const CutMesh<4>& cut, const RidingSurface* rides, double smooth, TreePlan& plan) {
  share(cut, rides, smooth, plan);
}
void share_surface(const CutMesh<8>& cut, const RidingSurface* rides, double smooth, TreePlan& plan) {
  share(cut, rides, smooth, plan);
}

}  // namespace supple
