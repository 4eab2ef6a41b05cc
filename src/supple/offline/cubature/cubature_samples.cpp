// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/cubature/cubature_samples.h"

#include "supple/base/parallel.h"
#include "supple/fem/element.h"
#include "supple/fem/material_models.h"
#include "supple/offline/modes/mass_pca.h"

#include <Eigen/Geometry>

#include <numbers>

namespace supple {
namespace {

/// Gaussian numbers; the library's own distribution differs between implementations.
class Gaussian {
 public:
  explicit Gaussian(std::mt19937_64& random) : random_(random) {}
  double operator()() {
    const double u = uniform(), v = uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }
  /// Within (0, 1].
  double uniform() { return (static_cast<double>(random_() >> 11) + 1) * 0x1p-53; }
  Vec3 in_ball() {
    for (;;) {
      const Vec3 x{2 * uniform() - 1, 2 * uniform() - 1, 2 * uniform() - 1};  // braces: in this order, always
      if (x.squaredNorm() <= 1) return x;
    }
  }

 private:
  std::mt19937_64& random_;
};

MatX random_coordinates(const MatX& basis, const VecX& stiffness, double amplitude, int count,
                        std::mt19937_64& random) {
  Eigen::Index softest = 0;
  stiffness.minCoeff(&softest);
  double largest = 0;
  for (Eigen::Index v = 0; v < basis.rows(); v += 3)
    largest = std::max(largest, basis.col(softest).segment<3>(v).norm());
  const double scale = amplitude / std::max(largest, 1e-300);
  Gaussian gaussian(random);
  MatX q(basis.cols(), count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const double size = scale * std::pow(10.0, -1.5 * gaussian.uniform());
    for (Eigen::Index j = 0; j < q.rows(); ++j) q(j, k) = gaussian() * size * stiffness[softest] / stiffness[j];
  }
  return q;
}

/// D_eᵀ of a tetrahedron: column 3j+i is Σ_a g_a(j) U_a(i, ·).
Eigen::MatrixXf gradient_rows(const MatX& basis, const TetMesh& mesh, std::size_t e, const ElementShape<4>& shape) {
  MatX rows = MatX::Zero(basis.cols(), 9);
  for (int a = 0; a < 4; ++a) {
    const auto U = basis.middleRows<3>(3 * mesh.elements[e][static_cast<std::size_t>(a)]);
    for (int j = 0; j < 3; ++j) rows.middleCols<3>(3 * j) += shape.gradient[0](j, a) * U.transpose();
  }
  return rows.cast<float>();
}

template <class Model>
void sample_element(const Eigen::MatrixXf& gradients, const MatX& q, double volume, const Lame<double>& lame,
                    Eigen::Ref<Eigen::MatrixXf> values) {
  const MatX G = q.transpose() * gradients.cast<double>();  // T × 9
  for (Eigen::Index k = 0; k < G.rows(); ++k) {
    const Eigen::Matrix<double, 9, 1> g = G.row(k).transpose();
    const Mat3 F = Mat3::Identity() + Eigen::Map<const Mat3>(g.data());
    const Mat3 P = Model(F, lame).stress() * volume;
    for (int i = 0; i < 9; ++i) values(k, i) = static_cast<float>(P.data()[i]);
  }
}

/// Divides each sample by the length of its total.
void normalize(CubatureSamples& samples) {
  for (Eigen::Index k = 0; k < samples.samples(); ++k) {
    const double length = std::max(samples.totals.col(k).norm(), 1e-300);
    samples.totals.col(k) /= length;
    samples.values.row(k) /= static_cast<float>(length);
  }
}

/// Turns a rotation by a random angle of at most `most`.
Quat perturbed(const Quat& rotation, double most, Gaussian& gaussian) {
  const Vec3 axis = gaussian.in_ball() * most;
  const double angle = axis.norm();
  return angle > 0 ? Quat(rotation * Quat(Eigen::AngleAxisd(angle, axis / angle))) : rotation;
}

std::vector<double> perturbed_pose(const PoseLayout& layout, std::span<const double> p, double angle, double length,
                                   Gaussian& gaussian) {
  std::vector<double> result(p.begin(), p.end());
  for (const ParameterGroup& group : layout.groups) {
    double* values = result.data() + group.first;
    if (group.kind == ParameterKind::rotation) {
      const Quat q = perturbed(unit_quaternion(values), angle, gaussian);
      std::copy(q.coeffs().data(), q.coeffs().data() + 4, values);
    } else if (group.kind == ParameterKind::translation) {
      const Vec3 shift = gaussian.in_ball() * length;
      for (int i = 0; i < 3; ++i) values[i] += shift[i];
    } else if (group.kind == ParameterKind::scalar) {
      // One unit of a group counts `scale` radians in the pose distance.
      const double unit = group.scale > 0 ? angle / group.scale : angle;
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
  MatX frames(3 * rest.vertex_count(), count);
  for (int k = 0; k < count; ++k) {
    const std::vector<Vec3> x = evaluate_all(rest, perturbed_pose(rest.layout(), p, angle, length, gaussian));
    const Mat3 turn = perturbed(Quat::Identity(), angle, gaussian).toRotationMatrix();
    const Vec3 shift = gaussian.in_ball() * 10 * length;
    for (std::size_t v = 0; v < x.size(); ++v)
      frames.col(k).segment<3>(3 * static_cast<Eigen::Index>(v)) = turn * x[v] + shift;
  }
  return frames;
}

}  // namespace

CubatureSamples elastic_samples(const TetMesh& mesh, MaterialModel model, const MatX& basis, const VecX& stiffness,
                                std::span<const Index> candidates, double amplitude, int count,
                                std::mt19937_64& random) {
  const MatX q = random_coordinates(basis, stiffness, amplitude, count, random);
  const auto sites = static_cast<Eigen::Index>(candidates.size());
  CubatureSamples samples;
  samples.site_size = 9;
  samples.basis.resize(basis.cols(), 9 * sites);
  samples.values.resize(count, 9 * sites);
  parallel_for(sites, 64, [&](std::int64_t i) {
    const auto e = static_cast<std::size_t>(candidates[static_cast<std::size_t>(i)]);
    const ElementShape<4> shape = element_shape(element_nodes(mesh, e));
    const Eigen::MatrixXf gradients = gradient_rows(basis, mesh, e, shape);
    const ElasticMaterial& material = mesh.material_of(e);
    samples.basis.middleCols<9>(9 * i) = gradients;
    with_material<double>(model, [&](auto type) {
      sample_element<typename decltype(type)::type>(gradients, q, shape.weight[0],
                                                    lame_from(material.young, material.poisson),
                                                    samples.values.middleCols<9>(9 * i));
    });
  });
  // The totals are over all elements, candidates or not.
  const Result<ElasticBody> body = ElasticBody::create(mesh, model);
  samples.totals.resize(basis.cols(), count);
  VecX f(basis.rows());
  for (int k = 0; k < count; ++k) {
    body->internal_force(basis * q.col(k), f);
    samples.totals.col(k) = basis.transpose() * f;
  }
  normalize(samples);
  return samples;
}

MatX random_accelerations(const Rig& rest, std::span<const double> p, double height, int count,
                          std::mt19937_64& random) {
  const MatX frames = random_frames(rest, p, height, count + 2, random);
  return frames.leftCols(count) - 2 * frames.middleCols(1, count) + frames.rightCols(count);
}

CubatureSamples inertial_samples(const ElasticBody& body, const MatX& basis, const Rig& rest, std::span<const double> p,
                                 double height, int count, std::mt19937_64& random) {
  const MatX a = random_accelerations(rest, p, height, count, random);
  CubatureSamples samples;
  samples.site_size = 3;
  samples.basis = basis.transpose().cast<float>();
  samples.values = (body.lumped_mass().asDiagonal() * a).transpose().cast<float>();
  samples.totals = basis.transpose() * multiply_columns(body.consistent_mass(), a);
  normalize(samples);
  return samples;
}

}  // namespace supple
