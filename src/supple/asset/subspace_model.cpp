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

SubspaceModel select_coordinates(const SubspaceModel& model, const std::vector<Index>& coordinates) {
  const std::vector<Index> pairs = kept_pairs(coordinates);
  SubspaceModel result;
  result.rest_positions = model.rest_positions;
  result.basis = model.basis(Eigen::all, coordinates);
  for (const MaterialGroup& group : model.groups) {
    result.groups.push_back({group.material, select(group.lambda, coordinates, pairs),
                             select(group.mu, coordinates, pairs), group.mass(coordinates, coordinates)});
  }
  return result;
}

}  // namespace supple
