// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/domains/interface_fit.h"

#include <fmt/format.h>

#include "supple/math/dense/decompositions.h"
#include "supple/mesh/embedding.h"

#include <algorithm>
#include <set>

namespace supple {
namespace {

constexpr double flattest = 1e-3;  // ε of the paper: smallest over largest eigenvalue of C

/// The best linear map for the motion of some vertices about their centre, and how they lie around it.
class LinearFit {
 public:
  LinearFit(const SubspaceModel& parent, std::span<const Index> vertices, const VecX& weights)
      : parent_(parent), vertices_(vertices), weights_(weights), mean_(MatX::Zero(3, parent.size())) {
    for (std::size_t k = 0; k < vertices.size(); ++k) {
      centre_ += weight(k) * parent.rest_positions[to_size(vertices[k])];
      mean_ += weight(k) * parent.basis.middleRows<3>(3 * vertices[k]);
    }
    Mat3 C = Mat3::Zero();
    for (std::size_t k = 0; k < vertices.size(); ++k) C += weight(k) * arm(k) * arm(k).transpose();
    eigen_ = symmetric_eigen(C);
  }

  bool on_a_line() const { return !(eigen_.values[2] > 0) || eigen_.values[1] < 1e-6 * eigen_.values[2]; }
  bool flat() const { return eigen_.values[0] < flattest * eigen_.values[2]; }
  Vec3 normal() const { return eigen_.vectors.col(0); }

  /// A_l; what a flat set of vertices doesn't tell is zero.
  Mat3 map(Eigen::Index l) const {
    Mat3 B = Mat3::Zero(), inverse = Mat3::Zero();
    for (std::size_t k = 0; k < vertices_.size(); ++k)
      B += weight(k) * (parent_.basis.col(l).segment<3>(3 * vertices_[k]) - mean_.col(l)) * arm(k).transpose();
    for (Eigen::Index i = flat() ? 1 : 0; i < 3; ++i)
      inverse += eigen_.vectors.col(i) * eigen_.vectors.col(i).transpose() / eigen_.values[i];
    return B * inverse;
  }

 private:
  double weight(std::size_t k) const { return weights_[static_cast<Eigen::Index>(k)]; }
  Vec3 arm(std::size_t k) const { return parent_.rest_positions[to_size(vertices_[k])] - centre_; }

  const SubspaceModel& parent_;
  std::span<const Index> vertices_;
  const VecX& weights_;
  Vec3 centre_ = Vec3::Zero();
  MatX mean_;
  SymmetricEigen eigen_;
};

/// The vertices of all elements that some vertices belong to.
std::vector<Index> ring_of(const SubspaceModel& parent, std::span<const Index> vertices) {
  const std::set<Index> given(vertices.begin(), vertices.end());
  std::set<Index> ring = given;
  const auto nodes = to_size(parent.nodes_per_element);
  for (std::size_t e = 0; e < to_size(parent.element_count()); ++e) {
    const auto element = std::span(parent.elements).subspan(e * nodes, nodes);
    if (std::any_of(element.begin(), element.end(), [&](Index v) { return given.contains(v); }))
      ring.insert(element.begin(), element.end());
  }
  return {ring.begin(), ring.end()};
}

/// A_l of Eq. 2, by rows.
Result<MatX> fit_turn(const SubspaceModel& parent, std::span<const Index> vertices, const VecX& weights) {
  const LinearFit own(parent, vertices, weights);
  if (own.on_a_line())
    return input_error(
        fmt::format("an interface of {} vertices in a line can't hold a part: nothing would keep it from turning; cut "
                    "where there are three or more that aren't on a line",
                    vertices.size()));
  const std::vector<Index> around = ring_of(parent, vertices);
  const VecX equal = VecX::Constant(std::ssize(around), 1.0 / static_cast<double>(around.size()));
  const LinearFit ring(parent, around, equal);
  const Vec3 normal = own.normal();
  MatX turn(9, parent.size());
  for (Eigen::Index l = 0; l < parent.size(); ++l) {
    Mat3 A = own.map(l);
    // Of a flat interface the normal stays upright on the plane, which says how it tilts; how much of it is left, the
    // cosine of a large turn, is what the elements next to it say.
    if (own.flat()) {
      const double stretch = ring.flat() ? 0.0 : normal.dot(ring.map(l) * normal);
      const Vec3 moved = stretch * normal - A.transpose() * normal;
      A += moved * normal.transpose();
    }
    for (Eigen::Index i = 0; i < 3; ++i)
      for (Eigen::Index j = 0; j < 3; ++j) turn(3 * i + j, l) = A(i, j);
  }
  return turn;
}

VecX unit_weights(std::size_t count, std::span<const double> weights) {
  VecX w = VecX::Ones(static_cast<Eigen::Index>(count));
  for (std::size_t k = 0; k < weights.size(); ++k) w[static_cast<Eigen::Index>(k)] = weights[k];
  return w / w.sum();
}

template <int Nodes>
Result<Embedding> embed_in(const SubspaceModel& parent, const Vec3& point) {
  VolumeMesh<Nodes> mesh;
  mesh.vertices = parent.rest_positions;
  mesh.elements.resize(to_size(parent.element_count()));
  for (std::size_t e = 0; e < mesh.elements.size(); ++e)
    for (std::size_t k = 0; k < Nodes; ++k) mesh.elements[e][k] = parent.elements[e * Nodes + k];
  return embed(mesh, std::span(&point, 1));
}

}  // namespace

Result<DomainInterface> fit_interface(const SubspaceModel& parent, std::span<const Index> vertices,
                                      std::span<const double> weights) {
  if (vertices.size() < 3)
    return input_error(fmt::format("an interface of {} can't hold a part; cut where there are at least three vertices",
                                   vertices.size() == 1 ? "one vertex" : fmt::format("{} vertices", vertices.size())));
  const VecX w = unit_weights(vertices.size(), weights);
  DomainInterface face;
  face.move = MatX::Zero(3, parent.size());
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    face.centre += w[static_cast<Eigen::Index>(k)] * parent.rest_positions[to_size(vertices[k])];
    face.move += w[static_cast<Eigen::Index>(k)] * parent.basis.middleRows<3>(3 * vertices[k]);
  }
  Result<MatX> turn = fit_turn(parent, vertices, w);
  SUPPLE_RETURN_IF_ERROR(turn);
  face.turn = std::move(*turn);
  return face;
}

Result<DomainInterface> attach_at(const SubspaceModel& parent, const Vec3& point, double radius) {
  const Result<Embedding> place =
      parent.nodes_per_element == 4 ? embed_in<4>(parent, point) : embed_in<8>(parent, point);
  SUPPLE_RETURN_IF_ERROR(place);
  DomainInterface face;
  face.centre = point;
  face.move = place->interpolate(parent.basis);
  std::set<Index> around(place->vertices.begin(), place->vertices.end());
  for (Index v = 0; v < parent.vertex_count(); ++v)
    if ((parent.rest_positions[to_size(v)] - point).norm() <= radius) around.insert(v);
  const std::vector<Index> vertices(around.begin(), around.end());
  Result<MatX> turn = fit_turn(parent, vertices, unit_weights(vertices.size(), {}));
  SUPPLE_RETURN_IF_ERROR(turn);
  face.turn = std::move(*turn);
  return face;
}

}  // namespace supple
