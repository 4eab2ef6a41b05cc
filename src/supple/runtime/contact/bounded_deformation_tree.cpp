// SPDX-License-Identifier: Apache-2.0
#include "supple/runtime/contact/bounded_deformation_tree.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace supple {
namespace {

/// Entries of a node before those of its coordinates.
enum Rest : int {
  rest_center = 0,       // three
  rest_radius = 3,       // max |X_p − c0|
  rest_half_widths = 4,  // three
  norm_factor = 7,       // κ of the sphere
  axis_factors = 8,      // three: κ of the box
  rest_size = 16
};

/// No less than the value.
float rounded_up(double value) {
  const auto nearest = static_cast<float>(value);
  return static_cast<double>(nearest) < value ? std::nextafter(nearest, std::numeric_limits<float>::infinity())
                                              : nearest;
}

Pack<float, 8> load(const float* source) {
  Pack<float, 8> v;
  std::memcpy(&v.v, source, sizeof v.v);
  return v;
}

float sum(const Pack<float, 8>& v) { return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7])); }

std::vector<Index> all_points(std::size_t count) {
  std::vector<Index> points(count);
  std::iota(points.begin(), points.end(), 0);
  return points;
}

std::vector<double> largest_motions(const MatX& basis) {
  std::vector<double> scales(to_size(basis.cols()));
  for (Eigen::Index a = 0; a < basis.cols(); ++a) {
    double largest = 0;
    for (Eigen::Index v = 0; v + 2 < basis.rows(); v += 3)
      largest = std::max(largest, basis.col(a).segment<3>(v).norm());
    scales[to_size(a)] = largest;
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
      stride_(rest_size + 7 * padded_) {
  if (triangles_.empty()) return;
  build_nodes(surface);
  for (const Vec3& x : rest_positions_) extent_ = std::max(extent_, x.cwiseAbs().maxCoeff());
  bounds_.assign(nodes_.size() * to_size(stride_), 0.0F);
  for (std::size_t k = 0; k < nodes_.size(); ++k) bound_node(static_cast<Index>(k), surface.basis);
}

void BoundedDeformationTree::build_nodes(const DisplaySurface& surface) {
  std::vector<Vec3> centroids;
  centroids.reserve(triangles_.size());
  for (const Triangle& t : triangles_) {
    Vec3 sum = Vec3::Zero();
    for (const Index v : t) sum += surface.rest_positions[to_size(v)];
    centroids.emplace_back(sum / 3);
  }
  order_ = all_points(triangles_.size());
  nodes_.push_back({.count = static_cast<Index>(triangles_.size())});
  // Nodes are appended while they are split, so children come after all nodes of their parents' level.
  for (std::size_t k = 0; k < nodes_.size(); ++k) split(static_cast<Index>(k), centroids);
}

void BoundedDeformationTree::split(Index node, std::span<const Vec3> centroids) {
  const Node parent = nodes_[to_size(node)];
  if (parent.count <= triangles_per_leaf) return;
  const auto at = [&](Index t) -> const Vec3& { return centroids[to_size(t)]; };
  Vec3 low = at(order_[to_size(parent.first)]), high = low;
  const auto begin = order_.begin() + parent.first, end = begin + parent.count;
  for (auto t = begin; t != end; ++t) low = low.cwiseMin(at(*t)), high = high.cwiseMax(at(*t));
  int axis = 0;
  (high - low).maxCoeff(&axis);
  const Index half = parent.count / 2;
  std::nth_element(begin, begin + half, end,
                   [&](Index a, Index b) { return at(a)[axis] != at(b)[axis] ? at(a)[axis] < at(b)[axis] : a < b; });
  nodes_[to_size(node)].first_child = static_cast<Index>(nodes_.size());
  nodes_.push_back({.first = parent.first, .count = half});
  nodes_.push_back({.first = parent.first + half, .count = parent.count - half});
}

void BoundedDeformationTree::collect_vertices(const Node& node, std::vector<Index>& vertices) const {
  vertices.clear();
  for (Index k = node.first; k < node.first + node.count; ++k) {
    const Triangle& t = triangles_[to_size(order_[to_size(k)])];
    vertices.insert(vertices.end(), t.begin(), t.end());
  }
  std::sort(vertices.begin(), vertices.end());
  vertices.erase(std::unique(vertices.begin(), vertices.end()), vertices.end());
}

void BoundedDeformationTree::bound_node(Index node, const MatX& basis) {
  std::vector<Index> vertices;
  collect_vertices(nodes_[to_size(node)], vertices);
  bound_rest(vertices, block(node));
  bound_motion(vertices, basis, block(node));
}

void BoundedDeformationTree::bound_rest(std::span<const Index> vertices, float* out) const {
  const auto at = [&](Index v) -> const Vec3& { return rest_positions_[to_size(v)]; };
  Vec3 low = at(vertices[0]), high = low;
  for (const Index v : vertices) low = low.cwiseMin(at(v)), high = high.cwiseMax(at(v));
  Eigen::Map<Eigen::Vector3f> center(out + rest_center);
  center = (0.5 * (low + high)).cast<float>();
  double radius = 0;
  Vec3 half = Vec3::Zero();
  for (const Index v : vertices) {
    const Vec3 difference = at(v) - center.cast<double>();
    radius = std::max(radius, difference.norm());
    half = half.cwiseMax(difference.cwiseAbs());
  }
  out[rest_radius] = rounded_up(radius);
  for (int i = 0; i < 3; ++i) out[rest_half_widths + i] = rounded_up(half[i]);
}

void BoundedDeformationTree::bound_motion(std::span<const Index> vertices, const MatX& basis, float* out) const {
  std::vector<Mat3> grams(vertices.size(), Mat3::Zero());  // of D_p S⁻¹
  for (Eigen::Index a = 0; a < basis.cols(); ++a) {
    const auto at = [&](Index v) { return basis.col(a).segment<3>(3 * v); };
    Vec3 low = at(vertices[0]), high = low;
    for (const Index v : vertices) low = low.cwiseMin(at(v)), high = high.cwiseMax(at(v));
    const Eigen::Vector3f middle = (0.5 * (low + high)).cast<float>();
    const double scale = scales_[to_size(a)];
    double deviation = 0;
    Vec3 axes = Vec3::Zero();
    for (std::size_t k = 0; k < vertices.size(); ++k) {
      const Vec3 difference = at(vertices[k]) - middle.cast<double>();
      deviation = std::max(deviation, difference.norm());
      axes = axes.cwiseMax(difference.cwiseAbs());
      if (scale > 0) grams[k] += difference * difference.transpose() / (scale * scale);
    }
    const auto block = static_cast<int>(a) / width * width, lane = static_cast<int>(a) % width;
    float* sphere = out + rest_size + 4 * block + lane;
    float* box = out + rest_size + 4 * padded_ + 3 * block + lane;
    for (int i = 0; i < 3; ++i) sphere[i * width] = middle[i], box[i * width] = rounded_up(axes[i]);
    sphere[3 * width] = rounded_up(deviation);
  }
  double largest = 0;
  Vec3 axes = Vec3::Zero();
  for (const Mat3& gram : grams) {
    largest = std::max(largest, norm_bound(gram));
    axes = axes.cwiseMax(gram.diagonal());
  }
  out[norm_factor] = rounded_up(std::sqrt(largest));
  for (int i = 0; i < 3; ++i) out[axis_factors + i] = rounded_up(std::sqrt(axes[i]));
}

ReducedShape BoundedDeformationTree::make_shape() const {
  const auto r = to_size(size());
  const auto padded = to_size(padded_);
  return {.q = std::vector<double>(r, 0.0),
          .padded = std::vector<float>(padded, 0.0F),
          .magnitudes = std::vector<float>(padded, 0.0F)};
}

void BoundedDeformationTree::assign(std::span<const double> q, ReducedShape& shape) const {
  SUPPLE_ASSERT(static_cast<int>(q.size()) == size() && shape.q.size() == q.size());
  double squared = 0, reach = extent_;
  for (std::size_t a = 0; a < q.size(); ++a) {
    shape.q[a] = q[a];
    shape.padded[a] = static_cast<float>(q[a]);
    shape.magnitudes[a] = rounded_up(std::abs(q[a]));
    squared += scales_[a] * q[a] * scales_[a] * q[a];
    reach += scales_[a] * std::abs(q[a]);
  }
  shape.scaled_norm = rounded_up(std::sqrt(squared) * (1 + 1e-12));
  // No entry of Ū exceeds s_a, no deviation 2 s_a: every sum of a bound stays below 2 · reach, and each of its fewer
  // than r + 8 roundings loses at most 2⁻²⁴ of it. Twelve such sums make the bounds of a node.
  shape.slack = 24 * (size() + 8) * std::ldexp(reach, -24);
}

Sphere BoundedDeformationTree::sphere(Index node, const ReducedShape& shape) const {
  const float* in = block(node);
  const float* rows = in + rest_size;
  Vector x(0.0F), y(0.0F), z(0.0F), growth(0.0F);
  for (int a = 0; a < padded_; a += width, rows += 4 * width) {
    const Vector q = load(shape.padded.data() + a);
    x += load(rows) * q;
    y += load(rows + width) * q;
    z += load(rows + 2 * width) * q;
    growth += load(rows + 3 * width) * load(shape.magnitudes.data() + a);
  }
  const float widening = std::min(sum(growth), in[norm_factor] * shape.scaled_norm);
  const Eigen::Map<const Eigen::Vector3f> center(in + rest_center);
  return {(center + Eigen::Vector3f(sum(x), sum(y), sum(z))).cast<double>(),
          static_cast<double>(in[rest_radius] + widening) + shape.slack};
}

Vec3 BoundedDeformationTree::half_widths(Index node, const ReducedShape& shape) const {
  const float* in = block(node);
  const float* rows = in + rest_size + 4 * padded_;
  Vector x(0.0F), y(0.0F), z(0.0F);
  for (int a = 0; a < padded_; a += width, rows += 3 * width) {
    const Vector magnitudes = load(shape.magnitudes.data() + a);
    x += load(rows) * magnitudes;
    y += load(rows + width) * magnitudes;
    z += load(rows + 2 * width) * magnitudes;
  }
  Vec3 half;
  const float growth[3] = {sum(x), sum(y), sum(z)};
  for (int i = 0; i < 3; ++i)
    half[i] =
        static_cast<double>(in[rest_half_widths + i] + std::min(growth[i], in[axis_factors + i] * shape.scaled_norm)) +
        shape.slack;
  return half;
}

Vec3 BoundedDeformationTree::position(Index vertex, const ReducedShape& shape) const {
  return rest_positions_[to_size(vertex)] + rows_.displacement(static_cast<int>(vertex), shape.q.data());
}

}  // namespace supple
