// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/cubature/cubature_samples.h"

#include "supple/offline/cubature/gaussian.h"

#include "supple/base/parallel.h"
#include "supple/fem/element.h"
#include "supple/fem/material_models.h"
#include "supple/fem/posed_rest.h"
#include "supple/math/dense/decompositions.h"
#include "supple/mesh/bounds.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/rig/groups_by_name.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <numbers>

namespace supple {
namespace {

MatX random_coordinates(const MatX& spread, int count, std::mt19937_64& random) {
  Gaussian gaussian(random);
  MatX g(spread.cols(), count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const double gain = std::exp2(4 * gaussian.uniform() - 3);
    for (Eigen::Index j = 0; j < g.rows(); ++j) g(j, k) = gain * gaussian();
  }
  return spread * g;
}

/// What a rest shape makes of an element: see runtime/posespace/cubature_forces.h.
struct PosedElement {
  Mat3 B = Mat3::Identity();
  double volume_ratio = 1;  ///< det F_Φ
};

PosedElement posed_element(const ElasticSampling& sampling, std::size_t e, const ElementShape<4>& shape,
                           std::span<const Vec3> x) {
  Mat3 F = Mat3::Zero();
  for (int a = 0; a < 4; ++a)
    F += x[to_size(sampling.mesh.elements[e][to_size(a)])] * shape.gradient[0].col(a).transpose();
  const PosedRest<double> rest = posed_rest<double>(F);
  const Mat3 inverse = rest.inverse_transpose.transpose();
  return {sampling.directions == BasisDirections::rotating ? Mat3(inverse * rest.rotation) : inverse,
          rest.volume_ratio};
}

std::vector<PosedElement> posed_elements(const ElasticSampling& sampling, std::size_t e, const ElementShape<4>& shape) {
  std::vector<PosedElement> result;
  for (const std::vector<Vec3>& x : sampling.shapes) result.push_back(posed_element(sampling, e, shape, x));
  if (result.empty()) result.push_back(posed_element(sampling, e, shape, sampling.pose.positions));
  return result;
}

Lame<double> lame_of(const ElasticSampling& sampling, std::size_t e) {
  const ElasticMaterial& material =
      sampling.pose.materials.empty() ? sampling.mesh.material_of(e) : sampling.pose.materials[e];
  return lame_from(material.young, material.poisson);
}

MatX gradient_of(const ElasticSampling& sampling, std::size_t e) {
  return sampling.gradient ? sampling.gradient(e)
                           : element_gradient(sampling.mesh, e, sampling.pose, sampling.directions);
}

/// Columns that an element has anything of: bases of patches are zero elsewhere.
struct ColumnRange {
  Eigen::Index first, count;
};
std::vector<ColumnRange> nonzero_columns(const MatX& D) {
  std::vector<ColumnRange> ranges;
  for (Eigen::Index c = 0; c < D.cols(); ++c) {
    if ((D.col(c).array() == 0).all()) continue;
    if (!ranges.empty() && ranges.back().first + ranges.back().count == c)
      ++ranges.back().count;
    else
      ranges.push_back({c, 1});
  }
  return ranges;
}

/// H_0 of an element at rest.
template <class Model>
Eigen::Matrix<double, 9, 9> linear_response(const Lame<double>& lame, const PosedElement& at) {
  Eigen::Matrix<double, 9, 9> J;
  Model(Mat3(Mat3::Identity()), lame).jacobian(J);
  Eigen::Matrix<double, 9, 9> chain = Eigen::Matrix<double, 9, 9>::Zero();  // vec(dF) = chain vec(dG)
  for (int j = 0; j < 3; ++j)
    for (int k = 0; k < 3; ++k) chain.block<3, 3>(3 * k, 3 * j) = at.B(j, k) * Mat3::Identity();
  return at.volume_ratio * chain.transpose() * J * chain;
}

/// Rows of `values`: s_e, one for each of the first `count` rows of G, vec(Ĝ)ᵀ of the samples; the linear answer for
/// those that follow.
template <class Model>
void sample_element(const MatX& G, Eigen::Index count, double volume, const Lame<double>& lame, const PosedElement& own,
                    std::span<const PosedElement> posed, Eigen::MatrixXf& values) {
  using Nine = Eigen::Matrix<double, 9, 1>;
  const Eigen::Matrix<double, 9, 9> linear = linear_response<Model>(lame, own);
  for (Eigen::Index k = count; k < G.rows(); ++k)
    values.row(k) = (volume * linear * G.row(k).transpose()).transpose().cast<float>();
  for (Eigen::Index k = 0; k < count; ++k) {
    const PosedElement& at = posed[to_size(k) % posed.size()];
    const Nine g = G.row(k).transpose();
    const Mat3 F = Mat3::Identity() + Eigen::Map<const Mat3>(g.data()) * at.B;
    const Mat3 P = Model(F, lame).stress() * at.B.transpose() * at.volume_ratio;
    values.row(k) = (volume * (Eigen::Map<const Nine>(P.data()) - linear * g)).transpose().cast<float>();
  }
}

/// Divides each sample by the length of its force: its total, and the part of the force that is known.
void normalize(CubatureSamples& samples, const MatX& known) {
  samples.lengths.resize(samples.samples());
  for (Eigen::Index k = 0; k < samples.samples(); ++k) {
    const double length = std::max((samples.totals.col(k) + known.col(k)).norm(), 1e-300);
    samples.lengths[k] = length;
    samples.totals.col(k) /= length;
    samples.values.row(k) /= static_cast<float>(length);
    if (samples.coordinates.cols() > 0) samples.coordinates.col(k) /= length;
  }
  samples.length = std::sqrt(static_cast<double>(samples.samples()));
}

/// Turns a rotation by a random angle of at most `most`.
Quat perturbed(const Quat& rotation, double most, Gaussian& gaussian) {
  const Vec3 axis = gaussian.in_ball() * most;
  const double angle = axis.norm();
  return angle > 0 ? Quat(rotation * Quat(Eigen::AngleAxisd(angle, axis / angle))) : rotation;
}

/// `order`: of the layout's groups.
std::vector<double> perturbed_pose(const PoseLayout& layout, std::span<const std::size_t> order,
                                   std::span<const double> p, double angle, double length, Gaussian& gaussian) {
  std::vector<double> result(p.begin(), p.end());
  for (const std::size_t g : order) {
    const ParameterGroup& group = layout.groups[g];
    double* values = result.data() + group.first;
    if (group.kind == ParameterKind::rotation) {
      const Quat q = perturbed(unit_quaternion(values), angle, gaussian);
      std::copy(q.coeffs().data(), q.coeffs().data() + 4, values);
    } else if (group.kind == ParameterKind::translation) {
      const Vec3 shift = gaussian.in_ball() * length;
      for (int i = 0; i < 3; ++i) values[i] += shift[i];
    } else if (group.kind == ParameterKind::scalar) {
      // One unit of a group counts `scale` radians in the pose distance. Pure numbers are morph weights, however little
      // they count: they go as far in their range as joints in theirs.
      double unit = group.scale > 0 ? angle / group.scale : angle;
      if (group.unit.empty()) unit = std::min(unit, angle);
      values[0] += unit * (2 * gaussian.uniform() - 1);
    }
  }
  return result;
}

/// Positions of all vertices in `count` random frames.
MatX random_frames(const Rig& rest, std::span<const double> p, double height, int count, std::mt19937_64& random) {
  constexpr double angle = std::numbers::pi / 180;
  const double length = height / 2000;
  Gaussian gaussian(random);
  const std::vector<std::size_t> order = groups_by_name(rest.layout());
  const Vec3 middle = bounds_of(evaluate_all(rest, p)).center();  // what turns about a far place is thrown instead
  MatX frames(3 * rest.vertex_count(), count);
  for (int k = 0; k < count; ++k) {
    const std::vector<Vec3> x = evaluate_all(rest, perturbed_pose(rest.layout(), order, p, angle, length, gaussian));
    const Mat3 turn = perturbed(Quat::Identity(), angle, gaussian).toRotationMatrix();
    const Vec3 shift = gaussian.in_ball() * 10 * length;
    for (std::size_t v = 0; v < x.size(); ++v)
      frames.col(k).segment<3>(3 * static_cast<Eigen::Index>(v)) = turn * (x[v] - middle) + middle + shift;
  }
  return frames;
}

}  // namespace

CubatureSamples elastic_samples(const ElasticSampling& sampling, int count, std::mt19937_64& random, int linear) {
  const TetMesh& mesh = sampling.mesh;
  const std::span<const Index> candidates = sampling.candidates;
  const Eigen::Index r = sampling.stiffness.rows();
  const int all = count + linear;
  MatX q(r, all);
  q << random_coordinates(sampling.spread, count, random),
      random_coordinates(PositiveFactor(sampling.stiffness).solve(MatX(MatX::Identity(r, r))), linear, random);
  CubatureSamples samples;
  samples.site_size = 9;
  samples.bases.emplace_back(r, 9 * std::ssize(candidates));
  samples.counts.push_back(all);
  samples.values.resize(all, 9 * std::ssize(candidates));
  samples.totals = MatX::Zero(r, all);
  // The totals are over all elements, candidates or not; added up in an order that no thread changes.
  const std::int64_t elements = std::ssize(mesh.elements), grain = std::max<std::int64_t>(64, elements / 64);
  std::vector<MatX> totals(to_size((elements + grain - 1) / grain), samples.totals);
  parallel_ranges(elements, grain, [&](std::int64_t begin, std::int64_t end) {
    auto candidate = std::lower_bound(candidates.begin(), candidates.end(), static_cast<Index>(begin));
    Eigen::MatrixXf values(all, 9);
    MatX G(all, 9);
    for (std::int64_t i = begin; i < end; ++i) {
      const auto e = to_size(i);
      const ElementShape<4> shape = element_shape(element_nodes(mesh, e));
      const MatX D = gradient_of(sampling, e);
      const std::vector<ColumnRange> ranges = nonzero_columns(D);
      const Eigen::MatrixXf gradients = D.transpose().cast<float>();
      G.setZero();
      for (const auto& [first, columns] : ranges)
        G.noalias() += q.middleRows(first, columns).transpose() * D.middleCols(first, columns).transpose();
      with_material<double>(sampling.material, [&](auto type) {
        sample_element<typename decltype(type)::type>(G, count, shape.weight[0], lame_of(sampling, e),
                                                      posed_element(sampling, e, shape, sampling.pose.positions),
                                                      posed_elements(sampling, e, shape), values);
      });
      for (const auto& [first, columns] : ranges)
        totals[to_size(begin / grain)].middleRows(first, columns) +=
            (gradients.middleRows(first, columns) * values.transpose()).cast<double>();
      if (candidate == candidates.end() || *candidate != static_cast<Index>(i)) continue;
      const Eigen::Index column = 9 * (candidate - candidates.begin());
      samples.bases.front().middleCols<9>(column) = gradients;
      samples.values.middleCols<9>(column) = values;
      ++candidate;
    }
  });
  for (const MatX& part : totals) samples.totals += part;
  samples.coordinates = q;
  constexpr double linear_weight = 0.1;
  MatX known = sampling.stiffness * q;
  known.rightCols(linear) *= 1 / linear_weight - 1;
  normalize(samples, known);
  samples.length = std::sqrt(static_cast<double>(count));
  return samples;
}

MatX cubature_residual(const ElasticSampling& sampling, const CubatureSamples& samples, const Cubature& cubature) {
  MatX residual = -samples.totals;
  for (std::size_t k = 0; k < cubature.sites.size(); ++k) {
    const auto site = to_size(cubature.sites[k]);
    const MatX D = gradient_of(sampling, to_size(sampling.candidates[site]));
    const MatX s = samples.values.middleCols<9>(9 * static_cast<Eigen::Index>(site)).transpose().cast<double>();
    for (const auto& [first, columns] : nonzero_columns(D))
      residual.middleRows(first, columns).noalias() +=
          cubature.weights[static_cast<Eigen::Index>(k)] * D.middleCols(first, columns).transpose() * s;
  }
  return residual;
}

MatX cubature_stiffness(const ElasticSampling& sampling, const Cubature& cubature) {
  const MatX zero = MatX::Zero(sampling.stiffness.rows(), sampling.stiffness.rows());
  const std::int64_t sites = std::ssize(cubature.sites), grain = std::max<std::int64_t>(16, sites / 64);
  std::vector<MatX> parts(to_size((sites + grain - 1) / grain), zero);
  parallel_ranges(sites, grain, [&](std::int64_t begin, std::int64_t end) {
    MatX& part = parts[to_size(begin / grain)];
    for (std::int64_t i = begin; i < end; ++i) {
      const Index site = cubature.sites[to_size(i)];
      const auto e = to_size(sampling.candidates[to_size(site)]);
      const ElementShape<4> shape = element_shape(element_nodes(sampling.mesh, e));
      Eigen::Matrix<double, 9, 9> H;
      with_material<double>(sampling.material, [&](auto type) {
        H = linear_response<typename decltype(type)::type>(lame_of(sampling, e),
                                                           posed_element(sampling, e, shape, sampling.pose.positions));
      });
      const MatX D = gradient_of(sampling, e), HD = cubature.weights[i] * shape.weight[0] * H * D;
      const std::vector<ColumnRange> ranges = nonzero_columns(D);
      for (const auto& [row, rows] : ranges)
        for (const auto& [first, columns] : ranges)
          part.block(row, first, rows, columns).noalias() +=
              D.middleCols(row, rows).transpose() * HD.middleCols(first, columns);
    }
  });
  MatX K = zero;
  for (const MatX& part : parts) K += part;
  return K;
}

std::vector<std::vector<double>> random_poses(const PoseLayout& layout, std::span<const double> p, double angle,
                                              int count, std::mt19937_64& random) {
  Gaussian gaussian(random);
  const std::vector<std::size_t> order = groups_by_name(layout);
  std::vector<std::vector<double>> poses;
  for (int k = 0; k < count; ++k) poses.push_back(perturbed_pose(layout, order, p, angle, 0, gaussian));
  return poses;
}

MatX random_accelerations(const Rig& rest, std::span<const double> p, double height, int count,
                          std::mt19937_64& random) {
  const MatX frames = random_frames(rest, p, height, count + 2, random);
  return frames.leftCols(count) - 2 * frames.middleCols(1, count) + frames.rightCols(count);
}

MatX mass_averaged(const ElasticBody& body, const MatX& basis) {
  const VecX& lumped = body.lumped_mass();
  const VecX inverse = (lumped.array() > 0).select(lumped.cwiseInverse(), 0.0);
  return inverse.asDiagonal() * multiply_columns(body.consistent_mass(), basis);
}

CubatureSamples inertial_samples(const ElasticBody& body, const MatX& basis, const Rig& rest, std::span<const double> p,
                                 double height, int count, std::mt19937_64& random) {
  return inertial_samples(body, basis, random_accelerations(rest, p, height, count, random));
}

CubatureSamples inertial_samples(const ElasticBody& body, const MatX& basis, const MatX& a) {
  CubatureSamples samples;
  samples.site_size = 3;
  samples.bases.push_back(mass_averaged(body, basis).transpose().cast<float>());
  samples.counts.push_back(static_cast<int>(a.cols()));
  samples.values = (body.lumped_mass().asDiagonal() * a).transpose().cast<float>();
  samples.totals = basis.transpose() * multiply_columns(body.consistent_mass(), a);
  normalize(samples, MatX::Zero(samples.size(), a.cols()));
  return samples;
}

}  // namespace supple
