// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/domains/part_cubature.h"

#include "supple/base/parallel.h"
#include "supple/fem/element.h"
#include "supple/fem/material_models.h"
#include "supple/math/dense/decompositions.h"
#include "supple/mesh/bounds.h"
#include "supple/offline/cubature/cubature.h"
#include "supple/offline/cubature/gaussian.h"

#include <cmath>

namespace supple {
namespace {

using Stress = Eigen::Matrix<double, 3, 3>;
using Vector9 = Eigen::Matrix<double, 9, 1>;

/// Points of the mesh as all of them: weights are volumes.
template <int Nodes>
PartCubature points_of(const VolumeMesh<Nodes>& mesh, const MatX& basis, MaterialModel material) {
  constexpr auto per_element = static_cast<Eigen::Index>(ElementShape<Nodes>::points);
  const Eigen::Index count = std::ssize(mesh.elements) * per_element;
  PartCubature all;
  all.material = material;
  all.weight.resize(count);
  all.lame.resize(2, count);
  all.gradients.resize(9 * count, basis.cols());
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const ElementShape<Nodes> shape = element_shape(element_nodes(mesh, e));
    const ElasticMaterial& own = mesh.material_of(e);
    const Lame<double> lame = lame_from(own.young, own.poisson);
    for (std::size_t k = 0; k < to_size(per_element); ++k) {
      const Eigen::Index s = static_cast<Eigen::Index>(e) * per_element + static_cast<Eigen::Index>(k);
      all.weight[s] = shape.weight[k];
      all.lame.col(s) << lame.mu, lame.lambda;
      for (Eigen::Index l = 0; l < basis.cols(); ++l) {
        Mat3 G = Mat3::Zero();
        for (Eigen::Index a = 0; a < Nodes; ++a)
          G += basis.col(l).segment<3>(3 * mesh.elements[e][to_size(a)]) * shape.gradient[k].col(a).transpose();
        all.gradients.col(l).segment<9>(9 * s) = Eigen::Map<const Vector9>(G.data());
      }
    }
  }
  all.correction = MatX::Zero(basis.cols(), basis.cols());
  return all;
}

Vector9 stress_at(const PartCubature& all, Eigen::Index s, const VecX& q) {
  Vector9 F = all.gradients.middleRows<9>(9 * s) * q;
  for (const int k : {0, 4, 8}) F[k] += 1;
  const Lame<double> lame{all.lame(0, s), all.lame(1, s)};
  return with_material<double>(all.material, [&]<class Model>(std::type_identity<Model>) {
    const Stress P = Model(Eigen::Map<const Stress>(F.data()), lame).stress();
    return Vector9(Eigen::Map<const Vector9>(P.data()));
  });
}

/// Random shapes of the part, a column each.
MatX random_shapes(const PartCubature& all, const MatX& basis, const MatX& stiffness, double length, Eigen::Index count,
                   Gaussian& random) {
  constexpr double farthest = 0.3;  // of the length, that any vertex goes
  constexpr double steepest = 0.8;  // |F − 1| of any point
  const SymmetricEigen spectrum = symmetric_eigen(stiffness);
  MatX shapes(basis.cols(), count);
  for (Eigen::Index k = 0; k < count; ++k) {
    VecX q = VecX::Zero(basis.cols());
    for (Eigen::Index l = 0; l < q.size(); ++l)
      q += random() / std::sqrt(std::max(spectrum.values[l], 1e-12 * spectrum.values[q.size() - 1])) *
           spectrum.vectors.col(l);
    const double far = (basis * q).cwiseAbs().maxCoeff() / (farthest * length);
    const double steep = (all.gradients * q).cwiseAbs().maxCoeff() / steepest;
    // From barely to fully bent, one after the other.
    shapes.col(k) = q * std::pow(2.0, -3.0 * static_cast<double>(k % 8) / 7) / std::max({far, steep, 1e-300});
  }
  return shapes;
}

/// What each candidate contributes to the forces of the shapes.
CubatureSamples samples_of(const PartCubature& all, std::span<const Index> candidates, const MatX& shapes) {
  const auto sites = static_cast<Eigen::Index>(candidates.size());
  const Eigen::Index r = shapes.rows(), count = shapes.cols();
  CubatureSamples samples;
  samples.site_size = 9;
  samples.counts = {count};
  samples.bases.emplace_back(r, 9 * sites);
  samples.values.resize(count, 9 * sites);
  samples.totals = MatX::Zero(r, count);
  for (Eigen::Index e = 0; e < sites; ++e)
    samples.bases[0].middleCols(9 * e, 9) =
        all.gradients.middleRows<9>(9 * candidates[to_size(e)]).transpose().cast<float>();
  parallel_for(count, 1, [&](std::int64_t k) {
    VecX force = VecX::Zero(r);
    std::size_t next = 0;
    for (Eigen::Index s = 0; s < all.weight.size(); ++s) {
      const Vector9 t = all.weight[s] * stress_at(all, s, shapes.col(k));
      force += all.gradients.middleRows<9>(9 * s).transpose() * t;
      if (next == candidates.size() || candidates[next] != s) continue;
      samples.values.block(k, 9 * static_cast<Eigen::Index>(next), 1, 9) = t.transpose().cast<float>();
      ++next;
    }
    const double size = std::max(force.norm(), 1e-300);
    samples.values.row(k) /= static_cast<float>(size);
    samples.totals.col(k) = force / size;
  });
  samples.length = std::sqrt(static_cast<double>(count));
  return samples;
}

/// Σ w Dᵀ H₀ D.
MatX stiffness_of(const PartCubature& some) {
  MatX K = MatX::Zero(some.gradients.cols(), some.gradients.cols());
  for (Eigen::Index s = 0; s < some.weight.size(); ++s) {
    const MatX D = some.gradients.middleRows<9>(9 * s);
    const Lame<double> lame{some.lame(0, s), some.lame(1, s)};
    Matrix9<double> H;
    LinearModel<double>(Mat3::Identity(), lame).jacobian(H);
    K += some.weight[s] * D.transpose() * H * D;
  }
  return K;
}

/// At most so many points, evenly spread.
std::vector<Index> candidates_of(Eigen::Index points) {
  constexpr Eigen::Index most = 12000;
  std::vector<Index> chosen;
  const Eigen::Index count = std::min(points, most);
  for (Eigen::Index k = 0; k < count; ++k) chosen.push_back(static_cast<Index>(k * points / count));
  return chosen;
}

}  // namespace

PartCubature all_points(const PartMesh& mesh, const MatX& basis, MaterialModel material) {
  return std::visit([&](const auto& m) { return points_of(m, basis, material); }, mesh);
}

PartCubature train_part_cubature(const PartMesh& mesh, const MatX& basis, MaterialModel material, const MatX& stiffness,
                                 double tolerance, double& error, Progress& progress) {
  const PartCubature all = all_points(mesh, basis, material);
  const double length = std::visit([](const auto& m) { return bounds_of(m.vertices).diagonal(); }, mesh);
  const std::vector<Index> candidates = candidates_of(all.weight.size());
  std::mt19937_64 engine(1);
  Gaussian random(engine);
  const Eigen::Index count = std::max<Eigen::Index>(40, 3 * basis.cols());
  const CubatureSamples known =
      samples_of(all, candidates, random_shapes(all, basis, stiffness, length, count, random));
  const CubatureSamples unknown =
      samples_of(all, candidates, random_shapes(all, basis, stiffness, length, count / 2, random));
  CubatureSettings settings;
  settings.tolerance = tolerance;
  const Cubature chosen = select_cubature(known, settings, progress, &unknown);
  error = cubature_error(unknown, chosen);
  PartCubature out;
  out.material = material;
  const auto sites = static_cast<Eigen::Index>(chosen.sites.size());
  out.weight.resize(sites);
  out.lame.resize(2, sites);
  out.gradients.resize(9 * sites, basis.cols());
  for (Eigen::Index s = 0; s < sites; ++s) {
    const Index from = candidates[to_size(chosen.sites[to_size(s)])];
    out.weight[s] = chosen.weights[s] * all.weight[from];
    out.lame.col(s) = all.lame.col(from);
    out.gradients.middleRows<9>(9 * s) = all.gradients.middleRows<9>(9 * from);
  }
  out.correction = stiffness - stiffness_of(out);
  return out;
}

}  // namespace supple
