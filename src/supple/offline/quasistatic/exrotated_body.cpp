// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/quasistatic/exrotated_body.h"

#include <fmt/format.h>

#include "supple/base/parallel.h"
#include "supple/fem/element.h"
#include "supple/fem/material.h"
#include "supple/math/dense/svd3.h"

#include <algorithm>

namespace supple {
namespace {

constexpr std::int64_t element_grain = 2048, assembly_grain = 512, product_grain = 1024;

/// Σ q_v with each turned to the side of the first; nothing has to be normalised.
Mat3 mean_rotation(const TetMesh::Element& corners, std::span<const Eigen::Vector4d> rotations) {
  const Eigen::Vector4d& first = rotations[to_size(corners[0])];
  Eigen::Vector4d sum = first;
  for (std::size_t k = 1; k < 4; ++k) {
    const Eigen::Vector4d& q = rotations[to_size(corners[k])];
    sum += q.dot(first) < 0 ? Eigen::Vector4d(-q) : q;
  }
  return Quat(sum).normalized().toRotationMatrix();
}

}  // namespace

void ExRotatedBody::number_vertices(const TetMesh& mesh, std::span<const Index> fixed) {
  skin_ = boundary_surface(mesh);
  enum class Kind : char { held, interior, boundary };
  std::vector<Kind> kind(mesh.vertices.size(), Kind::held);
  for (const TetMesh::Element& element : mesh.elements)
    for (const Index v : element) kind[to_size(v)] = Kind::interior;
  for (const Index v : skin_.volume_vertex) kind[to_size(v)] = Kind::boundary;
  for (const Index v : fixed) kind[to_size(v)] = Kind::held;
  number_of_.assign(mesh.vertices.size(), -1);
  for (const Kind wanted : {Kind::interior, Kind::boundary, Kind::held}) {
    if (wanted == Kind::boundary) interior_ = vertex_count();
    if (wanted == Kind::held) free_ = vertex_count();
    for (std::size_t v = 0; v < kind.size(); ++v) {
      if (kind[v] != wanted) continue;
      number_of_[v] = vertex_count();
      vertex_of_.push_back(static_cast<Index>(v));
      rest_.push_back(mesh.vertices[v]);
    }
  }
}

Status ExRotatedBody::prepare_elements(const TetMesh& mesh) {
  mass_ = VecX::Zero(vertex_count());
  double edges = 0;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const ElementShape<4> shape = element_shape(element_nodes(mesh, e));
    const ElasticMaterial& material = mesh.material_of(e);
    if (!(shape.volume() > 0)) return input_error(fmt::format("tetrahedron {} has no volume", e + 1));
    if (!(material.young > 0) || !(material.poisson > -1 && material.poisson < 0.5))
      return input_error(
          fmt::format("tetrahedron {}: Young's modulus must be positive, and Poisson's ratio below 0.5", e + 1));
    const Lame<double> lame = lame_from(material.young, material.poisson);
    gradient_.push_back(shape.gradient[0]);
    mu_.push_back(lame.mu * shape.volume());
    lambda_.push_back(lame.lambda * shape.volume());
    TetMesh::Element corners{};
    for (std::size_t k = 0; k < 4; ++k) {
      corners[k] = number_of_[to_size(mesh.elements[e][k])];
      mass_[corners[k]] += 0.25 * material.density * shape.volume();
    }
    edges += (rest_[to_size(corners[0])] - rest_[to_size(corners[1])]).norm();
    elements_.push_back(corners);
  }
  mean_edge_ = edges / static_cast<double>(elements_.size());
  turned_.resize(elements_.size());
  turn_.resize(elements_.size());
  return {};
}

void ExRotatedBody::prepare_rows() {
  std::vector<Index> flat;
  for (const TetMesh::Element& element : elements_) flat.insert(flat.end(), element.begin(), element.end());
  // All vertices are coupled in the pattern; rows of held ones are then left away.
  const std::shared_ptr<const BlockPattern> all = make_block_pattern(vertex_count(), flat, 4);
  auto pattern = std::make_shared<BlockPattern>();
  const auto last = all->row_begin[to_size(free_)];
  pattern->row_begin = all->row_begin;
  std::fill(pattern->row_begin.begin() + free_, pattern->row_begin.end(), last);
  pattern->column.assign(all->column.begin(), all->column.begin() + last);
  for (Index row = 0; row < free_; ++row) {
    const auto begin = pattern->column.begin() + pattern->row_begin[to_size(row)];
    const auto end = pattern->column.begin() + pattern->row_begin[to_size(row) + 1];
    first_boundary_.push_back(static_cast<Index>(std::lower_bound(begin, end, interior_) - pattern->column.begin()));
    diagonal_.push_back(static_cast<Index>(std::lower_bound(begin, end, row) - pattern->column.begin()));
    first_held_.push_back(static_cast<Index>(std::lower_bound(begin, end, free_) - pattern->column.begin()));
  }
  visit_begin_.assign(to_size(free_) + 1, 0);
  for (const Index v : flat)
    if (v < free_) ++visit_begin_[to_size(v) + 1];
  for (std::size_t v = 1; v < visit_begin_.size(); ++v) visit_begin_[v] += visit_begin_[v - 1];
  visits_.resize(to_size(visit_begin_.back()));
  std::vector<Index> next(visit_begin_.begin(), visit_begin_.end() - 1);
  constant_.assign(to_size(pattern->blocks()), 0);
  for (std::size_t e = 0; e < elements_.size(); ++e) {
    for (std::size_t a = 0; a < 4; ++a) {
      const Index row = elements_[e][a];
      if (row >= free_) continue;
      Visit& visit = visits_[to_size(next[to_size(row)]++)];
      visit.element = static_cast<Index>(e);
      visit.corner = static_cast<std::uint16_t>(a);
      for (std::size_t b = 0; b < 4; ++b) {
        const Index position = pattern->find(row, elements_[e][b]);
        visit.place[b] = static_cast<std::uint16_t>(position - pattern->row_begin[to_size(row)]);
        constant_[to_size(position)] +=
            2 * mu_[e] *
            gradient_[e].col(static_cast<Eigen::Index>(a)).dot(gradient_[e].col(static_cast<Eigen::Index>(b)));
      }
    }
  }
  K_ = BlockMatrix(std::move(pattern));
  b_ = VecX::Zero(3 * Eigen::Index{vertex_count()});
}

Result<ExRotatedBody> ExRotatedBody::create(const TetMesh& mesh, std::span<const Index> fixed) {
  if (mesh.elements.empty()) return input_error("there are no tetrahedra to be soft");
  ExRotatedBody body;
  body.number_vertices(mesh, fixed);
  SUPPLE_RETURN_IF_ERROR(body.prepare_elements(mesh));
  if (body.free_ == 0)
    return input_error("everything is held by bones or is a hard part, so nothing is left to be soft");
  const Components pieces = connected_components(mesh);
  std::vector<char> held(to_size(pieces.count), 0);
  for (std::size_t e = 0; e < mesh.elements.size(); ++e)
    for (const Index corner : body.elements_[e])
      if (corner >= body.free_) held[to_size(pieces.label[e])] = 1;
  const auto loose = std::count(held.begin(), held.end(), 0);
  if (loose > 0)
    return input_error(fmt::format(
        "{} of {} pieces of flesh {} held by no bone and would float away; let a bone cross "
        "{}, or hold {} whole",
        loose, pieces.count, loose == 1 ? "is" : "are", loose == 1 ? "it" : "each", loose == 1 ? "it" : "them"));
  body.prepare_rows();
  body.pose(std::vector<Eigen::Vector4d>(to_size(body.vertex_count()), Eigen::Vector4d::UnitW()));
  return body;
}

void ExRotatedBody::pose(std::span<const Eigen::Vector4d> rotations) {
  parallel_for(std::ssize(elements_), element_grain, [&](std::int64_t i) {
    const auto e = to_size(i);
    turn_[e] = mean_rotation(elements_[e], rotations);
  });
  assemble();
}

void ExRotatedBody::pose_elements(std::span<const Mat3> rotations) {
  std::copy(rotations.begin(), rotations.end(), turn_.begin());
  assemble();
}

void ExRotatedBody::assemble() {
  parallel_for(std::ssize(elements_), element_grain,
               [&](std::int64_t e) { turned_[to_size(e)].noalias() = turn_[to_size(e)] * gradient_[to_size(e)]; });
  const BlockPattern& pattern = K_.pattern();
  parallel_for(free_, assembly_grain, [&](std::int64_t i) {
    const auto row = to_size(i);
    const auto first = pattern.row_begin[row], last = pattern.row_begin[row + 1];
    double* values = K_.block(first);
    std::fill_n(values, 9 * (last - first), 0.0);
    for (Index k = first; k < last; ++k) {
      const double c = constant_[to_size(k)];
      double* own = values + 9 * (k - first);
      own[0] = own[4] = own[8] = c;
    }
    if (inertia_ > 0) {
      double* own = K_.block(diagonal_[row]);
      for (const int k : {0, 4, 8}) own[k] += inertia_ * mass_[i];
    }
    Vec3 load = Vec3::Zero();
    for (Index k = visit_begin_[row]; k < visit_begin_[row + 1]; ++k) {
      const Visit& visit = visits_[to_size(k)];
      const auto e = to_size(visit.element);
      const double* g = turned_[e].data();
      const double* own = g + 3 * visit.corner;
      const double h[3] = {lambda_[e] * own[0], lambda_[e] * own[1], lambda_[e] * own[2]};
      for (std::size_t b = 0; b < 4; ++b) {
        double* block = values + 9 * visit.place[b];
        for (std::size_t c = 0; c < 3; ++c)
          for (std::size_t r = 0; r < 3; ++r) block[3 * c + r] += h[r] * g[3 * b + c];
      }
      load += (2 * mu_[e] + 3 * lambda_[e]) * Vec3(own[0], own[1], own[2]);
    }
    b_.segment<3>(3 * i) = load;
  });
}

namespace {

/// y_r = scale · Σ_k block_k x_column over positions first … last of each row, added to `y` where `add`.
template <class First, class Last, class Store>
void multiply_rows(const BlockMatrix& K, Index begin, Index end, const VecX& x, const First& first, const Last& last,
                   const Store& store) {
  const Index* column = K.pattern().column.data();
  const double* in = x.data();
  parallel_ranges(end - begin, product_grain, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t row = begin + from; row < begin + to; ++row) {
      double s[9] = {};
      const Index stop = last(row);
      for (Index k = first(row); k < stop; ++k) {
        const double* b = K.block(k);
        const double* v = in + 3 * static_cast<std::ptrdiff_t>(column[k]);
        for (int c = 0; c < 3; ++c)
          for (int r = 0; r < 3; ++r) s[3 * c + r] += b[3 * c + r] * v[c];
      }
      store(row, Vec3(s[0] + s[3] + s[6], s[1] + s[4] + s[7], s[2] + s[5] + s[8]));
    }
  });
}

}  // namespace

void ExRotatedBody::force(const VecX& x, Range rows, VecX& f) const {
  const BlockPattern& pattern = K_.pattern();
  multiply_rows(
      K_, rows.begin, rows.end, x, [&](std::int64_t row) { return pattern.row_begin[to_size(row)]; },
      [&](std::int64_t row) { return pattern.row_begin[to_size(row) + 1]; },
      [&](std::int64_t row, const Vec3& sum) { f.segment<3>(3 * row) = b_.segment<3>(3 * row) - sum; });
}

void ExRotatedBody::multiply(Range rows, Range columns, const VecX& x, VecX& y) const {
  const BlockPattern& pattern = K_.pattern();
  const auto cut = [&](Index column) {
    return [&, column](std::int64_t row) {
      if (column == 0) return pattern.row_begin[to_size(row)];
      if (column == interior_) return first_boundary_[to_size(row)];
      return column == free_ ? first_held_[to_size(row)] : pattern.row_begin[to_size(row) + 1];
    };
  };
  multiply_rows(K_, rows.begin, rows.end, x, cut(columns.begin), cut(columns.end),
                [&](std::int64_t row, const Vec3& sum) { y.segment<3>(3 * row) = sum; });
}

Mat3 ExRotatedBody::deformation(std::size_t element, const VecX& x) const {
  Mat3 F = Mat3::Zero();
  for (std::size_t a = 0; a < 4; ++a)
    F += x.segment<3>(3 * Eigen::Index{elements_[element][a]}) *
         gradient_[element].col(static_cast<Eigen::Index>(a)).transpose();
  return F;
}

std::vector<Mat3> ExRotatedBody::rotations_of(const VecX& x) const {
  std::vector<Mat3> rotations(elements_.size());
  parallel_for(std::ssize(elements_), element_grain, [&](std::int64_t e) {
    const Svd3<double> svd = svd3(deformation(to_size(e), x));
    rotations[to_size(e)].noalias() = svd.U * svd.V.transpose();
  });
  return rotations;
}

double ExRotatedBody::energy(const VecX& x) const {
  return parallel_sum(std::ssize(elements_), element_grain, [&](std::int64_t begin, std::int64_t end) {
    double sum = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const auto e = to_size(i);
      const Mat3 F = deformation(e, x);
      const double trace = (turn_[e].transpose() * F).trace() - 3;
      sum += mu_[e] * (F - turn_[e]).squaredNorm() + 0.5 * lambda_[e] * trace * trace;
    }
    return sum;
  });
}

}  // namespace supple
