// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/posespace/train_cubature.h"

#include "supple/offline/cubature/cubature_samples.h"
#include "supple/offline/modes/mass_pca.h"

#include <Eigen/Eigenvalues>

#include <algorithm>

namespace supple {
namespace {

/// Elements with a vertex that can move; at most as many as fit into memory, evenly spread.
std::vector<Index> candidate_elements(const TetMesh& mesh, std::span<const Index> free) {
  std::vector<char> is_free(mesh.vertices.size(), 0);
  for (const Index v : free) is_free[static_cast<std::size_t>(v)] = 1;
  std::vector<Index> all;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    if (std::any_of(mesh.elements[e].begin(), mesh.elements[e].end(),
                    [&](Index v) { return is_free[static_cast<std::size_t>(v)] != 0; }))
      all.push_back(static_cast<Index>(e));
  }
  constexpr std::size_t most = 40'000;
  if (all.size() <= most) return all;
  std::vector<Index> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
  return some;
}

/// Λ − K_c; the flesh must not lose its stiffness where few elements lose theirs, so at most a share of Λ is taken
/// away.
MatX limited_correction(const VecX& stiffness, const MatX& K_c) {
  constexpr double most = 0.5;
  const VecX root = stiffness.cwiseSqrt();
  const MatX scaled = root.cwiseInverse().asDiagonal() * K_c * root.cwiseInverse().asDiagonal();
  const Eigen::SelfAdjointEigenSolver<MatX> eigen(MatX(MatX::Identity(K_c.rows(), K_c.cols()) - scaled));
  const VecX values = eigen.eigenvalues().cwiseMax(-most);
  const MatX V = root.asDiagonal() * eigen.eigenvectors();
  return V * values.asDiagonal() * V.transpose();
}

/// How far the coordinates go: their static answers to the inertia of the known motion, none of them below a tenth of
/// the largest force. Without a known motion all get the same force. Flesh is taken to sway by no more than a
/// two-hundredth of the height: clips jump.
VecX typical_deviations(const ElasticBody& body, const MatX& basis, const VecX& stiffness, const MatX& accelerations,
                        double height) {
  const double largest = 0.005 * height;
  const VecX equal = equal_force_deviations(basis, stiffness, 0.005 * height);
  if (!(accelerations.norm() > 0)) return equal;
  const MatX f = basis.transpose() * multiply_columns(body.consistent_mass(), accelerations);
  const VecX force = (f.rowwise().squaredNorm() / static_cast<double>(f.cols())).cwiseSqrt();
  const VecX deviations = force.cwiseMax(0.1 * force.maxCoeff()).cwiseQuotient(stiffness);
  if (!(deviations.minCoeff() > 0)) return equal;
  const VecX squares = basis.cwiseAbs2() * deviations.cwiseAbs2();
  double sway = 0;
  for (Eigen::Index v = 0; v < squares.size(); v += 3) sway = std::max(sway, std::sqrt(squares.segment<3>(v).sum()));
  return deviations * std::min(1.0, largest / sway);
}

/// Where the flesh may be: in the known poses, in some that nobody has shown, and at rest.
std::vector<std::vector<Vec3>> training_shapes(const TrainingInput& input, std::mt19937_64& random) {
  constexpr double angle = 0.2;  // [rad] a joint
  constexpr int unknown = 7;
  std::vector<std::vector<Vec3>> shapes = random_shapes(input.rest, angle, unknown, random);
  shapes.insert(shapes.end(), input.shapes.begin(), input.shapes.end());
  shapes.push_back(input.mesh.vertices);
  return shapes;
}

/// Sites are chosen with some samples, how many with others; neither may judge the result.
template <class Sampler>
Cubature choose_sites(const Sampler& sample, int samples, const CubatureSettings& settings, Progress& progress) {
  const CubatureSamples known = sample(samples, true), watched = sample(24, false);
  return select_cubature(known, settings, progress, &watched);
}

void train_elements(const TrainingInput& input, const ReduceSettings& settings, int samples, std::mt19937_64& random,
                    PoseCubature& result, Progress& progress) {
  const std::vector<Index> candidates = candidate_elements(input.mesh, input.free);
  const std::vector<std::vector<Vec3>> shapes = training_shapes(input, random);
  const VecX deviations =
      typical_deviations(input.body, input.basis, input.stiffness, input.accelerations, input.height);
  const ElasticSampling sampling{input.mesh, settings.material, input.basis, input.stiffness,
                                 deviations, candidates,        shapes};
  const auto sample = [&](int count, bool training) {
    return elastic_samples(sampling, count, random, training ? static_cast<int>(input.basis.cols()) : 0);
  };
  result.elements = choose_sites(
      sample, samples, {.most_sites = settings.cubature_elements, .tolerance = settings.cubature_tolerance}, progress);
  const MatX K_c = neutral_stiffness(sampling, result.elements);
  result.correction = limited_correction(input.stiffness, K_c);
  const CubatureSamples unseen = sample(64, false);
  const MatX limits = result.correction + K_c - MatX(input.stiffness.asDiagonal());
  result.elastic_error =
      (cubature_residual(unseen, result.elements) + limits * unseen.coordinates).norm() / unseen.length;
  for (Index& site : result.elements.sites) site = candidates[static_cast<std::size_t>(site)];
}

void train_vertices(const TrainingInput& input, const ReduceSettings& settings, int samples, std::mt19937_64& random,
                    PoseCubature& result, Progress& progress) {
  // What counts of an inertial force is how far it moves the flesh, Λ⁻¹ f: a small error along a soft coordinate is
  // seen.
  const MatX responding = input.basis * (input.stiffness[0] * input.stiffness.cwiseInverse()).asDiagonal();
  const auto sample = [&](int count, bool = false) {
    return inertial_samples(input.body, responding, input.rest, input.rest.layout().neutral, input.height, count,
                            random);
  };
  result.vertices = choose_sites(
      sample, samples, {.most_sites = settings.cubature_vertices, .tolerance = settings.cubature_tolerance}, progress);
  result.inertial_error = cubature_error(sample(40), result.vertices);
}

}  // namespace

PoseCubature train_cubature(const TrainingInput& input, const ReduceSettings& settings, Progress& progress) {
  std::mt19937_64 random(settings.seed);
  const int samples = std::max(120, static_cast<int>(input.basis.cols()));
  PoseCubature result;
  progress.stage("choosing elements");
  train_elements(input, settings, samples, random, result, progress);
  progress.stage("choosing vertices");
  train_vertices(input, settings, samples, random, result, progress);
  return result;
}

}  // namespace supple
