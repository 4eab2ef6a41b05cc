// SPDX-License-Identifier: Apache-2.0
// Uniform stretch. Under u = (F − I) X with F = diag(s₁, s₂, s₃) the stress is the same everywhere and known:
//   linear, corotational   P_i = 2μ (s_i − 1) + λ Σ(s_j − 1)
//   St. Venant-Kirchhoff   P_i = s_i (2μ e_i + λ Σe_j),  e_i = (s_i² − 1)/2
//   neo-Hookean            P_i = μ (s_i − 1/s_i) + λ log(J) / s_i
//   stable neo-Hookean     P_i = m (1 − 1/(Σs_j² + 1)) s_i + l (J − α) J / s_i,  m = 4μ/3, l = λ + 5μ/6, α = 1 + 3m/4l
// Hence the vertices of the face X_i = L_i carry together the force P_i A_i, those inside carry none, and the energy is
// the volume times Ψ. Both hold to rounding on any mesh of the box.
#include "support/bodies.h"

namespace supple::uniform_stretch_test {
namespace {

struct ClosedForm {
  Vec3 stress;
  double energy;
};

ClosedForm closed_form(MaterialModel model, const Lame<double>& lame, const Vec3& s) {
  const double mu = lame.mu, lambda = lame.lambda, J = s.prod();
  const Vec3 small = s.array() - 1;
  const Vec3 green = 0.5 * (s.array().square() - 1);
  const Vec3 inverse = s.cwiseInverse();
  switch (model) {
    case MaterialModel::linear:
    case MaterialModel::corotational:
      return {2 * mu * small + Vec3::Constant(lambda * small.sum()),
              mu * small.squaredNorm() + 0.5 * lambda * small.sum() * small.sum()};
    case MaterialModel::stvk:
      return {s.cwiseProduct(2 * mu * green + Vec3::Constant(lambda * green.sum())),
              mu * green.squaredNorm() + 0.5 * lambda * green.sum() * green.sum()};
    case MaterialModel::neo_hookean:
      return {mu * (s - inverse) + lambda * std::log(J) * inverse,
              0.5 * mu * (s.squaredNorm() - 3) - mu * std::log(J) + 0.5 * lambda * std::log(J) * std::log(J)};
    case MaterialModel::stable_neo_hookean:
    case MaterialModel::flesh:
      break;
  }
  const double m = 4.0 / 3 * mu, l = lambda + 5.0 / 6 * mu, alpha = 1 + 0.75 * m / l;
  const auto energy = [&](const Vec3& t) {
    return 0.5 * m * (t.squaredNorm() - std::log(t.squaredNorm() + 1)) + 0.5 * l * std::pow(t.prod() - alpha, 2);
  };
  const ClosedForm stable{m * (1 - 1 / (s.squaredNorm() + 1)) * s + l * (J - alpha) * J * inverse,
                          energy(s) - energy(Vec3::Ones())};
  if (model == MaterialModel::stable_neo_hookean) return stable;
  const double kappa = 10 / mu;
  return {(1 + kappa * stable.energy) * stable.stress, stable.energy + kappa / 2 * stable.energy * stable.energy};
}

class UniformStretch : public EveryBody {
 protected:
  /// Whether the box under R diag(s) has the closed-form energy and face forces, in units of the largest.
  double largest_error(const Vec3& s, const Mat3& R) const {
    const BoxSpec spec{.size = Vec3(2, 1, 0.5), .cells = {4, 3, 2}, .distortion = 0.2};
    const ElasticBody body = box_body(kind(), spec, model());
    const VecX u = homogeneous(body, R * s.asDiagonal());
    const VecX f = force_at(body, u);
    const ClosedForm expected = closed_form(model(), lame_from(spec.material.young, spec.material.poisson), s);
    double error = std::abs(body.energy(u) / (spec.size.prod() * expected.energy) - 1);
    for (int axis = 0; axis < 3; ++axis) {
      const double area = spec.size.prod() / spec.size[axis];
      Vec3 total = Vec3::Zero();
      for (Index v = 0; v < body.vertex_count(); ++v) {
        if (rest_position(body, v)[axis] > spec.size[axis] * (1 - 1e-9)) total += f.segment<3>(3 * v);
      }
      // The edges of the face also carry the two neighbouring faces' tractions, which act along other axes.
      const double along = (R.transpose() * total)[axis];
      error = std::max(error, std::abs(along - area * expected.stress[axis]) / (area * expected.stress.norm()));
    }
    for (Index v = 0; v < body.vertex_count(); ++v) {
      if (!on_surface(rest_position(body, v), spec.size))
        error = std::max(error, f.segment<3>(3 * v).norm() / expected.stress.norm());
    }
    return error;
  }
};

TEST_P(UniformStretch, HasTheClosedFormForceAndEnergy) {
  double error = 0;
  for (const Vec3& s : {Vec3(1.6, 0.9, 0.8), Vec3(0.7, 0.7, 0.7), Vec3(1.01, 1, 1), Vec3(1.3, 1.3, 1.5)})
    error = std::max(error, largest_error(s, Mat3::Identity()));
  measured("error", error);
  EXPECT_LT(error, 1e-11);
}

TEST_P(UniformStretch, TurnsWithTheBody) {
  if (model() == MaterialModel::linear) GTEST_SKIP() << "small strain is not made for finite rotations";
  const double error = largest_error(Vec3(1.6, 0.9, 0.8), some_rotation());
  measured("error", error);
  EXPECT_LT(error, 1e-11);
}

SUPPLE_FOR_EVERY_BODY(UniformStretch);

}  // namespace
}  // namespace supple::uniform_stretch_test
