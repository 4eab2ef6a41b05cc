// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/frame_sites.h"

#include "supple/base/parallel.h"
#include "supple/fem/element.h"
#include "supple/fem/posed_rest.h"
#include "supple/mesh/bounds.h"
#include "supple/rig/pose_layout.h"
#include "supple/runtime/frame_field.h"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

namespace supple {
namespace {

constexpr std::size_t near_sites = 16;  // that a vertex may blend four of
constexpr double unreached = std::numeric_limits<double>::infinity();

std::array<Vec3, 4> corners(std::span<const Vec3> positions, const std::array<Index, 4>& vertices) {
  std::array<Vec3, 4> x;
  for (std::size_t k = 0; k < 4; ++k) x[k] = positions[to_size(vertices[k])];
  return x;
}

Mat3 edges(const std::array<Vec3, 4>& x) {
  Mat3 result;
  for (int k = 0; k < 3; ++k) result.col(k) = x[to_size(k) + 1] - x[0];
  return result;
}

/// The first of those whose measure is largest. Meshes are regular enough for many to tie: rounding must not choose.
template <class Items, class Measure>
Index largest_of(const Items& items, const Measure& measure) {
  Index best = items.front();
  double value = measure(best);
  for (const Index item : items) {
    const double other = measure(item);
    if (other > value * (1 + 1e-9)) best = item, value = other;
  }
  return best;
}

/// Rotations of tetrahedra from the neutral to the posed shape.
std::vector<Eigen::Vector4d> tet_rotations(std::span<const Vec3> neutral, std::span<const std::array<Index, 4>> tets,
                                           std::span<const Vec3> posed) {
  std::vector<Eigen::Vector4d> result(tets.size());
  parallel_for(static_cast<std::int64_t>(result.size()), 256, [&](std::int64_t i) {
    const auto& tet = tets[to_size(i)];
    const Mat3 F = edges(corners(posed, tet)) * edges(corners(neutral, tet)).inverse();
    result[to_size(i)] = Eigen::Quaterniond(posed_rest<double>(F).rotation).coeffs();
  });
  return result;
}

/// Pack4 of the vertices that span much: far ends first, then the largest triangle, then the largest volume on it.
std::array<Index, 4> fattest_tet(std::span<const Vec3> x, const std::vector<Index>& among, Index start) {
  const auto at = [&](Index v) -> const Vec3& { return x[to_size(v)]; };
  const auto best = [&](const auto& measure) { return largest_of(among, measure); };
  std::array<Index, 4> tet{};
  tet[0] = best([&](Index v) { return (at(v) - at(start)).squaredNorm(); });
  tet[1] = best([&](Index v) { return (at(v) - at(tet[0])).squaredNorm(); });
  const Vec3 axis = at(tet[1]) - at(tet[0]);
  tet[2] = best([&](Index v) { return axis.cross(at(v) - at(tet[0])).squaredNorm(); });
  const Vec3 normal = axis.cross(at(tet[2]) - at(tet[0]));
  tet[3] = best([&](Index v) { return std::abs(normal.dot(at(v) - at(tet[0]))); });
  if (normal.dot(at(tet[3]) - at(tet[0])) < 0) std::swap(tet[2], tet[3]);
  return tet;
}

/// Edges of the mesh as lists of neighbours.
struct Neighbours {
  std::vector<std::vector<std::pair<Index, double>>> of;

  explicit Neighbours(const TetMesh& mesh) : of(mesh.vertices.size()) {
    for (const auto& element : mesh.elements) {
      for (const Index a : element) {
        for (const Index b : element) {
          if (a != b) of[to_size(a)].emplace_back(b, (mesh.vertices[to_size(a)] - mesh.vertices[to_size(b)]).norm());
        }
      }
    }
    for (auto& list : of) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  }

  /// Length of the shortest way through the mesh from a vertex (Dijkstra).
  std::vector<double> distances_from(Index source) const {
    std::vector<double> distance(of.size(), unreached);
    using Entry = std::pair<double, Index>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    distance[to_size(source)] = 0;
    queue.emplace(0.0, source);
    while (!queue.empty()) {
      const auto [d, v] = queue.top();
      queue.pop();
      if (d > distance[to_size(v)]) continue;
      for (const auto& [w, length] : of[to_size(v)]) {
        if (d + length >= distance[to_size(w)]) continue;
        distance[to_size(w)] = d + length;
        queue.emplace(d + length, w);
      }
    }
    return distance;
  }
};

/// Each rotation drawn towards those around it: elements that a rig crushes turn wildly.
std::vector<Eigen::Vector4d> smoothed(const Neighbours& neighbours, std::vector<Eigen::Vector4d> rotations) {
  constexpr int passes = 3;
  for (Eigen::Vector4d& q : rotations) q.normalize();
  std::vector<Eigen::Vector4d> next(rotations.size());
  for (int pass = 0; pass < passes; ++pass) {
    parallel_for(static_cast<std::int64_t>(rotations.size()), 256, [&](std::int64_t i) {
      const auto v = to_size(i);
      const auto& around = neighbours.of[v];
      Eigen::Vector4d sum = static_cast<double>(std::max<std::size_t>(around.size(), 1)) * rotations[v];
      for (const auto& [w, length] : around) {
        const Eigen::Vector4d& q = rotations[to_size(w)];
        sum += q.dot(rotations[v]) < 0 ? Eigen::Vector4d(-q) : q;
      }
      next[v] = sum.normalized();
    });
    rotations.swap(next);
  }
  return rotations;
}

/// Minimises wᵀ G w − 2 bᵀ w over w ≥ 0 with sum one, from a w that is allowed: weight goes from the entry that gains
/// most by losing it to the one that gains most by having it, as much as helps.
void minimize_on_simplex(const MatX& G, const VecX& b, VecX& w) {
  VecX slope = G * w - b;
  for (int step = 0; step < 200; ++step) {
    Eigen::Index to = 0, from = -1;
    slope.minCoeff(&to);
    for (Eigen::Index k = 0; k < w.size(); ++k)
      if (w[k] > 0 && (from < 0 || slope[k] > slope[from])) from = k;
    const double gain = slope[from] - slope[to], curve = G(to, to) + G(from, from) - 2 * G(to, from);
    if (!(gain > 1e-9 * G.trace()) || !(curve > 0)) return;
    const double moved = std::min(w[from], gain / curve);
    w[to] += moved;
    w[from] = moved == w[from] ? 0.0 : w[from] - moved;
    slope += moved * (G.col(to) - G.col(from));
  }
}

/// Blends that give the rotations vertices have in the known poses:
///   min_w Σ_poses |Σ_k w_k R_k − R_v|² + ε |w − w⁰|²,  w ≥ 0, Σ w = 1
/// with w⁰ by distance: where all near sites turn alike, or no pose is known, distance decides.
class BlendFit {
 public:
  using Rotations = std::vector<std::vector<Eigen::Vector4d>>;  ///< of each pose

  BlendFit(const Rotations& sites, const Rotations& vertices) : vertices_(vertices) {
    if (sites.empty()) return;
    stacked_.resize(9 * std::ssize(sites), std::ssize(sites.front()));
    for (std::size_t p = 0; p < sites.size(); ++p)
      for (std::size_t s = 0; s < sites[p].size(); ++s) put(sites[p][s], p, stacked_.col(static_cast<Eigen::Index>(s)));
    products_ = stacked_.transpose() * stacked_;
  }

  FrameBlend improved(std::size_t v, std::span<const Index> sites, const VecX& by_distance) const {
    constexpr double trust = 0.01;
    if (sites.empty()) return {{}, {1, 0, 0, 0}};
    VecX weights = by_distance;
    std::vector<Eigen::Index> chosen(sites.size());
    for (std::size_t k = 0; k < chosen.size(); ++k) chosen[k] = static_cast<Eigen::Index>(k);
    for (const std::size_t most : {sites.size(), to_size(FrameBlend::most)}) {
      keep_heaviest(weights, chosen, most);
      if (stacked_.rows() == 0) continue;
      const std::vector<Eigen::Index> used = places(sites, chosen);
      MatX G = products_(used, used);
      VecX b = stacked_(Eigen::all, used).transpose() * stacked(v);
      const double ridge = trust * static_cast<double>(vertices_.size());
      G.diagonal().array() += ridge;
      b += ridge * by_distance(chosen);
      minimize_on_simplex(G, b, weights);
    }
    keep_heaviest(weights, chosen, FrameBlend::most);
    FrameBlend blend;
    for (std::size_t k = 0; k < FrameBlend::most; ++k) {
      const bool has = k < chosen.size();
      blend.site[k] = sites[to_size(chosen[has ? k : 0])];
      blend.weight[k] = has ? weights[static_cast<Eigen::Index>(k)] : 0.0;
    }
    return blend;
  }

 private:
  static void put(const Eigen::Vector4d& q, std::size_t pose, Eigen::Ref<VecX> column) {
    const Mat3 R = Eigen::Quaterniond(q).normalized().toRotationMatrix();
    column.segment<9>(9 * static_cast<Eigen::Index>(pose)) = R.reshaped();
  }

  VecX stacked(std::size_t v) const {
    VecX column(stacked_.rows());
    for (std::size_t p = 0; p < vertices_.size(); ++p) put(vertices_[p][v], p, column);
    return column;
  }

  static std::vector<Eigen::Index> places(std::span<const Index> sites, const std::vector<Eigen::Index>& chosen) {
    std::vector<Eigen::Index> result;
    for (const Eigen::Index k : chosen) result.push_back(sites[to_size(k)]);
    return result;
  }

  /// The heaviest entries, in falling order, brought to sum one.
  static void keep_heaviest(VecX& weights, std::vector<Eigen::Index>& chosen, std::size_t most) {
    std::vector<Eigen::Index> order(chosen.size());
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<Eigen::Index>(k);
    std::stable_sort(order.begin(), order.end(),
                     [&](Eigen::Index a, Eigen::Index b) { return weights[a] > weights[b] * (1 + 1e-9); });
    order.resize(std::min(order.size(), most));
    std::vector<Eigen::Index> kept;
    for (const Eigen::Index k : order) kept.push_back(chosen[to_size(k)]);
    weights = VecX(weights(order));
    weights /= weights.sum();
    chosen = std::move(kept);
  }

  const Rotations& vertices_;
  MatX stacked_;   ///< nine numbers for each pose, a column for each site
  MatX products_;  ///< of the columns with each other
};

class SiteChooser {
 public:
  SiteChooser(const TetMesh& mesh, std::span<const Index> free, std::span<const std::vector<Vec3>> poses)
      : mesh_(mesh),
        free_(free),
        poses_(poses),
        neighbours_(mesh),
        nearest_(mesh.vertices.size(), unreached),
        element_at_(largest_element_at(mesh)) {
    for (const auto& posed : poses) vertex_rotations_.push_back(smoothed(neighbours_, vertex_rotations(mesh, posed)));
  }

  int count() const { return static_cast<int>(site_vertices_.size()); }

  void add(Index vertex) {
    site_vertices_.push_back(vertex);
    distances_.push_back(neighbours_.distances_from(vertex));
    for (std::size_t v = 0; v < nearest_.size(); ++v) nearest_[v] = std::min(nearest_[v], distances_.back()[v]);
  }

  /// The free vertex that is farthest from all sites; one that no site reaches comes first.
  Index farthest() const {
    return largest_of(free_, [&](Index v) { return nearest_[to_size(v)]; });
  }
  bool covers_all() const { return nearest_[to_size(farthest())] < unreached; }
  double spacing() const { return nearest_[to_size(farthest())]; }

  void blend() {
    make_sites();
    const BlendFit fit(site_rotations_, vertex_rotations_);
    result_.vertices.resize(mesh_.vertices.size());
    parallel_for(static_cast<std::int64_t>(result_.vertices.size()), 64, [&](std::int64_t v) {
      const auto at = to_size(v);
      const NearSites near = nearest_sites(at);
      result_.vertices[at] = fit.improved(at, near.sites, blend_by_distance(near));
    });
  }

  /// Largest angle between blended and true rotation over all poses, for each free vertex.
  std::vector<double> errors() const {
    std::vector<double> result(free_.size(), 0.0);
    parallel_for(static_cast<std::int64_t>(free_.size()), 64, [&](std::int64_t i) {
      const auto v = to_size(free_[to_size(i)]);
      for (std::size_t k = 0; k < vertex_rotations_.size(); ++k) {
        const double angle = rotation_angle(blended(v, k), vertex_rotations_[k][v]);
        result[to_size(i)] = std::max(result[to_size(i)], angle);
      }
    });
    return result;
  }

  /// Adds sites at the worst vertices that are not close to each other.
  void add_at_worst(const std::vector<double>& errors, int count, double tolerance) {
    std::vector<std::size_t> order(errors.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto rank = [&](std::size_t i) { return std::floor(errors[i] * 1e9); };  // ties as in largest_of()
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rank(a) > rank(b); });
    const double apart = 0.25 * spacing();
    int added = 0;
    for (const std::size_t i : order) {
      if (added == count || errors[i] <= tolerance) break;
      if (nearest_[to_size(free_[i])] < apart * (1 - 1e-9)) continue;
      add(free_[i]);
      ++added;
    }
    if (added == 0) add(farthest());
  }

  FrameSites& result() { return result_; }

 private:
  void make_sites() {
    result_.sites.clear();
    for (std::size_t s = 0; s < site_vertices_.size(); ++s) {
      double radius = unreached;
      for (std::size_t t = 0; t < site_vertices_.size(); ++t)
        if (t != s) radius = std::min(radius, distances_[s][to_size(site_vertices_[t])]);
      if (radius == unreached) radius = bounds_of(mesh_.vertices).diagonal();
      result_.sites.push_back(site_around(s, 0.5 * radius));
    }
    site_rotations_.clear();
    for (const auto& posed : poses_) site_rotations_.push_back(tet_rotations(mesh_.vertices, result_.sites, posed));
  }
  std::array<Index, 4> site_around(std::size_t s, double radius) const {
    std::vector<Index> ball;
    for (std::size_t v = 0; v < mesh_.vertices.size(); ++v)
      if (distances_[s][v] <= radius * (1 + 1e-9)) ball.push_back(static_cast<Index>(v));
    const Index element = element_at_[to_size(site_vertices_[s])];
    const auto& smallest = mesh_.elements[to_size(element)];
    if (ball.size() < 4) return smallest;
    const std::array<Index, 4> tet = fattest_tet(mesh_.vertices, ball, site_vertices_[s]);
    const auto volume = [&](const std::array<Index, 4>& t) { return edges(corners(mesh_.vertices, t)).determinant(); };
    return volume(tet) > volume(smallest) ? tet : smallest;
  }

  static std::vector<Index> largest_element_at(const TetMesh& mesh) {
    std::vector<Index> best(mesh.vertices.size(), 0);
    std::vector<double> volume(mesh.vertices.size(), -1);
    for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
      const double size = edges(element_nodes(mesh, e)).determinant();
      for (const Index v : mesh.elements[e]) {
        if (size <= volume[to_size(v)] * (1 + 1e-9)) continue;
        volume[to_size(v)] = size;
        best[to_size(v)] = static_cast<Index>(e);
      }
    }
    return best;
  }

  struct NearSites {
    std::vector<Index> sites;  ///< nearest first, only those that are connected with the vertex
    std::vector<double> distance;
  };

  NearSites nearest_sites(std::size_t v) const {
    std::vector<std::pair<double, Index>> all;
    for (std::size_t s = 0; s < distances_.size(); ++s)
      if (distances_[s][v] < unreached) all.emplace_back(distances_[s][v], static_cast<Index>(s));
    const auto kept = std::min<std::size_t>(all.size(), near_sites);
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end());
    NearSites near;
    for (std::size_t k = 0; k < kept; ++k) {
      near.distance.push_back(all[k].first);
      near.sites.push_back(all[k].second);
    }
    return near;
  }

  /// One for each of the near sites; nothing beyond the fourth.
  static VecX blend_by_distance(const NearSites& near) {
    const std::size_t count = near.sites.size();
    VecX weights = VecX::Zero(static_cast<Eigen::Index>(count));
    if (count == 0) return weights;
    const double least = 1e-3 * near.distance[0] + 1e-12;
    const double limit = count > FrameBlend::most ? 1 / near.distance[FrameBlend::most] : 0;
    for (std::size_t k = 0; k < std::min<std::size_t>(count, FrameBlend::most); ++k)
      weights[static_cast<Eigen::Index>(k)] = std::pow(std::max(0.0, 1 / std::max(near.distance[k], least) - limit), 2);
    if (!(weights.sum() > 0)) weights[0] = 1;
    return weights / weights.sum();
  }

  Eigen::Vector4d blended(std::size_t v, std::size_t pose) const {
    const FrameBlend& blend = result_.vertices[v];
    const auto at = [&](std::size_t k) -> const Eigen::Vector4d& {
      return site_rotations_[pose][to_size(blend.site[k])];
    };
    Eigen::Vector4d sum = Eigen::Vector4d::Zero();
    for (std::size_t k = 0; k < FrameBlend::most; ++k)
      sum += at(k) * (at(k).dot(at(0)) < 0 ? -blend.weight[k] : blend.weight[k]);
    return sum;
  }

  const TetMesh& mesh_;
  std::span<const Index> free_;
  std::span<const std::vector<Vec3>> poses_;
  Neighbours neighbours_;
  std::vector<double> nearest_;
  std::vector<Index> element_at_;
  std::vector<Index> site_vertices_;
  std::vector<std::vector<double>> distances_;
  std::vector<std::vector<Eigen::Vector4d>> site_rotations_, vertex_rotations_;
  FrameSites result_;
};

double percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

std::vector<Eigen::Vector4d> vertex_rotations(const TetMesh& mesh, std::span<const Vec3> posed) {
  const std::vector<Eigen::Vector4d> elements = tet_rotations(mesh.vertices, mesh.elements, posed);
  std::vector<Eigen::Vector4d> sums(mesh.vertices.size(), Eigen::Vector4d::Zero());
  for (std::size_t e = 0; e < elements.size(); ++e) {
    const double volume = edges(element_nodes(mesh, e)).determinant();
    for (const Index v : mesh.elements[e]) {
      Eigen::Vector4d& sum = sums[to_size(v)];
      sum += elements[e] * (sum.dot(elements[e]) < 0 ? -volume : volume);
    }
  }
  return sums;
}

FrameSites choose_frame_sites(const TetMesh& mesh, std::span<const Index> free,
                              std::span<const std::vector<Vec3>> poses, const FrameSiteSettings& settings) {
  SiteChooser chooser(mesh, free, poses);
  if (free.empty()) return {};
  while (chooser.count() < settings.least || !chooser.covers_all()) chooser.add(chooser.farthest());
  for (;;) {
    chooser.blend();
    const std::vector<double> errors = chooser.errors();
    chooser.result().error = percentile(errors, 0.95);
    const int room = settings.most - chooser.count();
    if (chooser.result().error <= settings.tolerance || room <= 0) break;
    chooser.add_at_worst(errors, std::min(16, room), settings.tolerance);
  }
  return std::move(chooser.result());
}

std::vector<Mat3> blended_rotations(const TetMesh& mesh, const FrameSites& frames, std::span<const Vec3> posed) {
  std::vector<PosedTet> sites;
  for (const std::array<Index, 4>& site : frames.sites) {
    Mat3 edges;
    for (std::size_t k = 1; k < 4; ++k)
      edges.col(static_cast<int>(k) - 1) = mesh.vertices[to_size(site[k])] - mesh.vertices[to_size(site[0])];
    sites.push_back({site, edges.inverse()});
  }
  FrameField<double> field(sites);
  field.update(posed);
  std::vector<Mat3> turns;
  for (const FrameBlend& blend : frames.vertices) turns.push_back(field.blend(blend));
  return turns;
}

}  // namespace supple
