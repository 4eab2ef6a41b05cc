// SPDX-License-Identifier: Apache-2.0
#include "supple/asset/subspace_model.h"

#include "supple/base/assert.h"

namespace supple {
namespace {

/// Old pair number of each pair of the kept coordinates.
std::vector<Index> kept_pairs(const std::vector<Index>& coordinates) {
  std::vector<Index> pairs;
  for (std::size_t b = 0; b < coordinates.size(); ++b) {
    for (std::size_t a = 0; a <= b; ++a) pairs.push_back(pair_index(coordinates[a], coordinates[b]));
  }
  return pairs;
}

StiffnessPolynomial select(const StiffnessPolynomial& polynomial, const std::vector<Index>& coordinates,
                           const std::vector<Index>& pairs) {
  return {polynomial.constant(pairs), polynomial.linear(pairs, coordinates), polynomial.quadratic(pairs, pairs)};
}

MassMoments select(const MassMoments& moments, const std::vector<Index>& coordinates) {
  std::vector<Index> fields{0};
  for (const Index c : coordinates) fields.push_back(c + 1);
  std::vector<Index> rows;
  for (const Index field : fields)
    for (Index i = 0; i < 3; ++i) rows.push_back(3 * field + i);
  return {moments.volume, moments.first(Eigen::all, fields), moments.second(rows, rows)};
}

}  // namespace

StiffnessPolynomial StiffnessPolynomial::zero(Index r) {
  const Index pairs = pair_count(r);
  return {VecX::Zero(pairs), MatX::Zero(pairs, r), MatX::Zero(pairs, pairs)};
}

void StiffnessPolynomial::add(double scale, const StiffnessPolynomial& other) {
  SUPPLE_ASSERT(size() == other.size());
  constant += scale * other.constant;
  linear += scale * other.linear;
  quadratic += scale * other.quadratic;
}

MassMoments MassMoments::zero(Index r) { return {0.0, MatX::Zero(3, r + 1), MatX::Zero(3 * (r + 1), 3 * (r + 1))}; }

void MassMoments::add(double scale, const MassMoments& other) {
  SUPPLE_ASSERT(size() == other.size());
  volume += scale * other.volume;
  first += scale * other.first;
  second += scale * other.second;
}

MatX MassMoments::reduced_mass() const {
  const Index r = size();
  MatX mass(r, r);
  for (Index b = 0; b < r; ++b)
    for (Index a = 0; a < r; ++a) mass(a, b) = second.block<3, 3>(3 * (a + 1), 3 * (b + 1)).trace();
  return mass;
}

MassMoments mass_moments(const SubspaceModel& model) {
  MassMoments total = MassMoments::zero(model.size());
  for (const MaterialGroup& group : model.groups) total.add(group.material.density, group.moments);
  return total;
}

VecX reduced_gravity(const SubspaceModel& model, const Vec3& gravity) {
  VecX force = VecX::Zero(model.size());
  for (const MaterialGroup& group : model.groups)
    force += group.material.density * group.moments.first.rightCols(model.size()).transpose() * gravity;
  return force;
}

SubspaceModel select_coordinates(const SubspaceModel& model, const std::vector<Index>& coordinates) {
  const std::vector<Index> pairs = kept_pairs(coordinates);
  SubspaceModel result;
  result.rest_positions = model.rest_positions;
  result.basis = model.basis(Eigen::all, coordinates);
  for (const MaterialGroup& group : model.groups) {
    result.groups.push_back({group.material, select(group.lambda, coordinates, pairs),
                             select(group.mu, coordinates, pairs), select(group.moments, coordinates)});
  }
  result.nodes_per_element = model.nodes_per_element;
  result.elements = model.elements;
  result.element_group = model.element_group;
  result.fixed_vertices = model.fixed_vertices;
  result.surface = {model.surface.rest_positions, model.surface.triangles,
                    model.surface.basis(Eigen::all, coordinates)};
  return result;
}

Status check_subspace_model(const SubspaceModel& model) {
  if (model.size() < 1 || model.groups.empty()) return input_error("the subspace model has no coordinates");
  for (const MaterialGroup& group : model.groups) {
    const ElasticMaterial& m = group.material;
    if (!(m.young > 0) || !(m.poisson > -1 && m.poisson < 0.5) || !(m.density > 0)) {
      return input_error("material \"" + m.name +
                         "\" needs a positive Young's modulus and density, and a Poisson's ratio "
                         "between -1 and 0.5");
    }
  }
  return {};
}

}  // namespace supple
