// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/contact/bounded_deformation_tree.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace supple {
namespace {

constexpr int header = 8;  // entries of a node before its coordinates
/// Rounding of sums of r products must not let a point out.
constexpr double slack = 1 + 1e-12;

std::vector<Index> all_points(std::size_t count) {
  std::vector<Index> points(count);
  std::iota(points.begin(), points.end(), 0);
  return points;
}

std::vector<double> largest_motions(const MatX& basis) {
  std::vector<double> scales(static_cast<std::size_t>(basis.cols()));
  for (Eigen::Index a = 0; a < basis.cols(); ++a) {
    double largest = 0;
    for (Eigen::Index v = 0; v + 2 < basis.rows(); v += 3)
      largest = std::max(largest, basis.col(a).segment<3>(v).norm());
    scales[static_cast<std::size_t>(a)] = largest;
  }
  return scales;
}

/// At least the spectral norm of the symmetric matrix, without its eigenvalues.
double norm_bound(const Mat3& gram) { return std::min(gram.trace(), gram.cwiseAbs().rowwise().sum().maxCoeff()); }

}  // namespace

BoundedDeformationTree::BoundedDeformationTree(const DisplaySurface& surface)
    : rest_positions_(surface.rest_positions),
      triangles_(surface.triangles),
      rows_(surface.basis, all_points(surface.rest_positions.size())),
      scales_(largest_motions(surface.basis)),
      padded_((rows_.size() + width - 1) / width * width),
      stride_(header + 4 * padded_) {
  if (triangles_.empty()) return;
  build_nodes(surface);
  bounds_.assign(nodes_.size() * static_cast<std::size_t>(stride_), 0.0);
  for (std::size_t k = 0; k < nodes_.size(); ++k) bound_node(static_cast<Index>(k), surface.basis);
}

void BoundedDeformationTree::build_nodes(const DisplaySurface& surface) {
  std::vector<Vec3> centroids;
  centroids.reserve(triangles_.size());
  for (const Triangle& t : triangles_) {
    Vec3 sum = Vec3::Zero();
    for (const Index v : t) sum += surface.rest_positions[static_cast<std::size_t>(v)];
    centroids.emplace_back(sum / 3);
  }
  order_ = all_points(triangles_.size());
  nodes_.push_back({.count = static_cast<Index>(triangles_.size())});
  // Nodes are appended while they are split, so children come after all nodes of their parents' level.
  for (std::size_t k = 0; k < nodes_.size(); ++k) split(static_cast<Index>(k), centroids);
}

void BoundedDeformationTree::split(Index node, std::span<const Vec3> centroids) {
  const Node parent = nodes_[static_cast<std::size_t>(node)];
  if (parent.count <= triangles_per_leaf) return;
  const auto at = [&](Index t) -> const Vec3& { return centroids[static_cast<std::size_t>(t)]; };
  Vec3 low = at(order_[static_cast<std::size_t>(parent.first)]), high = low;
  const auto begin = order_.begin() + parent.first, end = begin + parent.count;
  for (auto t = begin; t != end; ++t) low = low.cwiseMin(at(*t)), high = high.cwiseMax(at(*t));
  int axis = 0;
  (high - low).maxCoeff(&axis);
  const Index half = parent.count / 2;
  std::nth_element(begin, begin + half, end,
                   [&](Index a, Index b) { return at(a)[axis] != at(b)[axis] ? at(a)[axis] < at(b)[axis] : a < b; });
  nodes_[static_cast<std::size_t>(node)].first_child = static_cast<Index>(nodes_.size());
  nodes_.push_back({.first = parent.first, .count = half});
  nodes_.push_back({.first = parent.first + half, .count = parent.count - half});
}

void BoundedDeformationTree::collect_vertices(const Node& node, std::vector<Index>& vertices) const {
  vertices.clear();
  for (Index k = node.first; k < node.first + node.count; ++k) {
    const Triangle& t = triangles_[static_cast<std::size_t>(order_[static_cast<std::size_t>(k)])];
    vertices.insert(vertices.end(), t.begin(), t.end());
  }
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
}

void BoundedDeformationTree::bound_node(Index node, const MatX& basis) {
  std::vector<Index> vertices;
  collect_vertices(nodes_[static_cast<std::size_t>(node)], vertices);
  double* out = block(node);
  Vec3 low = rest_positions_[static_cast<std::size_t>(vertices[0])], high = low;
  for (const Index v : vertices) {
    low = low.cwiseMin(rest_positions_[static_cast<std::size_t>(v)]);
    high = high.cwiseMax(rest_positions_[static_cast<std::size_t>(v)]);
  }
  const Vec3 center = 0.5 * (low + high);
  double radius = 0;
  for (const Index v : vertices)
    radius = std::max(radius, (rest_positions_[static_cast<std::size_t>(v)] - center).norm());

  std::vector<Mat3> grams(vertices.size(), Mat3::Zero());  // of D_p S⁻¹
  for (Eigen::Index a = 0; a < basis.cols(); ++a) {
    Vec3 least = basis.col(a).segment<3>(3 * vertices[0]), most = least;
    for (const Index v : vertices) {
      least = least.cwiseMin(basis.col(a).segment<3>(3 * v));
      most = most.cwiseMax(basis.col(a).segment<3>(3 * v));
    }
    const Vec3 middle = 0.5 * (least + most);
    const double scale = scales_[static_cast<std::size_t>(a)];
    double deviation = 0;
    for (std::size_t k = 0; k < vertices.size(); ++k) {
      const Vec3 difference = basis.col(a).segment<3>(3 * vertices[k]) - middle;
      deviation = std::max(deviation, difference.norm());
      if (scale > 0) grams[k] += difference * difference.transpose() / (scale * scale);
    }
    double* lanes = out + header + 4 * (a / width * width) + a % width;
    for (int i = 0; i < 3; ++i) lanes[i * width] = middle[i];
    lanes[3 * width] = deviation;
  }
  double largest = 0;
  for (const Mat3& gram : grams) largest = std::max(largest, norm_bound(gram));
  Eigen::Map<Vec3>(out + 0) = center;
  out[3] = radius;
  out[4] = std::sqrt(largest);
}

ReducedShape BoundedDeformationTree::make_shape() const {
  const auto r = static_cast<std::size_t>(size());
  const auto padded = static_cast<std::size_t>(padded_);
  return {.q = std::vector<double>(r, 0.0),
          .padded = std::vector<double>(padded, 0.0),
          .magnitudes = std::vector<double>(padded, 0.0)};
}

void BoundedDeformationTree::assign(std::span<const double> q, ReducedShape& shape) const {
  SUPPLE_ASSERT(static_cast<int>(q.size()) == size() && shape.q.size() == q.size());
  double sum = 0;
  for (std::size_t a = 0; a < q.size(); ++a) {
    shape.q[a] = shape.padded[a] = q[a];
    shape.magnitudes[a] = std::abs(q[a]);
    sum += scales_[a] * q[a] * scales_[a] * q[a];
  }
  shape.scaled_norm = std::sqrt(sum);
}

Sphere BoundedDeformationTree::bound(Index node, const ReducedShape& shape) const {
  const double* in = block(node);
  const auto load = [](const double* source) {
    Vector v;
    std::memcpy(&v.v, source, sizeof v.v);
    return v;
  };
  const auto sum = [](const Vector& v) { return (v[0] + v[1]) + (v[2] + v[3]); };
  Vector x(0.0), y(0.0), z(0.0), growth(0.0);
  const double* lanes = in + header;
  for (int a = 0; a < padded_; a += width, lanes += 4 * width) {
    const Vector q = load(shape.padded.data() + a);
    x += load(lanes) * q;
    y += load(lanes + width) * q;
    z += load(lanes + 2 * width) * q;
    growth += load(lanes + 3 * width) * load(shape.magnitudes.data() + a);
  }
  const double widening = std::min(sum(growth), in[4] * shape.scaled_norm);
  const Vec3 center = Eigen::Map<const Vec3>(in) + Vec3(sum(x), sum(y), sum(z));
  return {center, slack * (in[3] + widening) + (slack - 1) * center.cwiseAbs().maxCoeff()};
}

Vec3 BoundedDeformationTree::position(Index vertex, const ReducedShape& shape) const {
  return rest_positions_[static_cast<std::size_t>(vertex)] +
         rows_.displacement(static_cast<int>(vertex), shape.q.data());
}

}  // namespace supple
