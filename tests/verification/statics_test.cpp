// SPDX-License-Identifier: Apache-2.0
// Static equilibrium with closed forms. A bar with ν = 0, held at X = 0, pulled with the nominal stress P at X = L,
// stretches evenly by s, and every mesh holds that solution exactly:
//   linear, corotational   s = 1 + P/E
//   St. Venant-Kirchhoff   P = E (s³ − s)/2
//   neo-Hookean            P = E (s − 1/s)/2        (λ = 0, μ = E/2, so the sides stay as they are)
// A cantilever under a small end load F sinks by F L³/(3EI) + F L/(κGA) (Timoshenko), reached at second order in the
// mesh size.
#include "supple/fem/statics.h"
#include "verification/beam_theory.h"

#include "support/bodies.h"

namespace supple::verified_statics_test {
namespace {

/// A uniform traction on the end face of a straight box mesh, integrated exactly: each cell's face on its corners.
VecX end_load(const ElasticBody& body, const BoxSpec& spec, ElementKind kind, const Vec3& force) {
  VecX load = VecX::Zero(body.dof_count());
  const int ny = spec.cells[1], nz = spec.cells[2];
  const auto vertex = [&](int j, int k) { return spec.cells[0] + (spec.cells[0] + 1) * (j + (ny + 1) * k); };
  for (int j = 0; j < ny; ++j) {
    for (int k = 0; k < nz; ++k) {
      // Kuhn's tetrahedra cut every face along the diagonal of its lowest and highest corner.
      const double on_diagonal = kind == ElementKind::tet ? 1.0 / 3 : 0.25, off = 0.5 - on_diagonal;
      const Vec3 cell = force / (ny * nz);
      load.segment<3>(3 * vertex(j, k)) += on_diagonal * cell;
      load.segment<3>(3 * vertex(j + 1, k + 1)) += on_diagonal * cell;
      load.segment<3>(3 * vertex(j + 1, k)) += off * cell;
      load.segment<3>(3 * vertex(j, k + 1)) += off * cell;
    }
  }
  return load;
}

/// The stretch s > 0 with law(s) = 0, law increasing.
template <class Law>
double root(const Law& law) {
  double low = 0.6, high = 3;
  for (int k = 0; k < 100; ++k) (law(0.5 * (low + high)) < 0 ? low : high) = 0.5 * (low + high);
  return low;
}

double stretch_under(MaterialModel model, double P) {  // P in units of E
  switch (model) {
    case MaterialModel::stvk:
      return root([&](double s) { return 0.5 * (s * s * s - s) - P; });
    case MaterialModel::neo_hookean:
      return root([&](double s) { return 0.5 * (s - 1 / s) - P; });
    default:
      return 1 + P;
  }
}

class AxialBar : public EveryBody {};

TEST_P(AxialBar, StretchesByItsClosedForm) {
  if (model() == MaterialModel::stable_neo_hookean || model() == MaterialModel::flesh)
    GTEST_SKIP() << "its sides contract even for Poisson's ratio zero";
  BoxSpec spec{.size = Vec3(2, 0.5, 0.4), .cells = {6, 3, 2}, .distortion = 0.2};
  spec.material.poisson = 0;
  const ElasticBody body = box_body(kind(), spec, model());
  for (const double P : {0.5, 1e-3, -0.004}) {  // beyond −π²I/(4L²A) = −0.008 it buckles instead
    const Vec3 force(P * spec.material.young * 0.5 * 0.4, 0, 0);
    const Result<StaticsResult> result =
        solve_static(body, left_face(body), end_load(body, spec, kind(), force), {.load_steps = 2, .tolerance = 1e-12});
    ASSERT_TRUE(result.ok()) << result.error().message;
    const double s = stretch_under(model(), P);
    const VecX expected = displacement(body, [&](const Vec3& X) { return Vec3((s - 1) * X[0], 0, 0); });
    const double error = (result->u - expected).lpNorm<Eigen::Infinity>() / std::abs((s - 1) * 2);
    measured("error at P/E = " + std::to_string(P), error);
    EXPECT_LT(error, 1e-9);
    EXPECT_LT(result->residual, 1e-10);
    EXPECT_NEAR(result->energy, body.energy(expected), 1e-9 * result->energy);
  }
}
SUPPLE_FOR_EVERY_BODY(AxialBar);

class CantileverDeflection : public testing::TestWithParam<ElementKind> {};

TEST_P(CantileverDeflection, MeetsTimoshenkoAtSecondOrder) {
  const SquareBeam beam{.length = 1, .side = 0.1, .young = 1e5, .density = 1};
  const double F = 1e-4;
  const auto deflection = [&](int n) {
    BoxSpec spec{.size = Vec3(beam.length, beam.side, beam.side), .cells = {8 * n, n, n}};
    spec.material = {.name = "beam", .young = beam.young, .poisson = 0, .density = 1};
    const ElasticBody body = box_body(GetParam(), spec, MaterialModel::stvk);
    const StaticsResult result =
        must(solve_static(body, left_face(body), end_load(body, spec, GetParam(), Vec3(0, 0, -F))));
    double sum = 0;
    const auto end = vertices_where(body, [&](const Vec3& X) { return X[0] > beam.length - 1e-9; });
    for (const Index v : end) sum -= result.u[3 * v + 2];
    return sum / static_cast<double>(end.size());
  };
  const double theory = F * std::pow(beam.length, 3) / (3 * beam.young * beam.inertia()) +
                        F * beam.length / (SquareBeam::shear_coefficient * beam.shear() * beam.area());
  // As stiffnesses, whose error is even in h sooner than that of deflections.
  const double coarse = 1 / deflection(3), middle = 1 / deflection(6), fine = 1 / deflection(12);
  const double order = order_of(coarse - middle, middle - fine), limit = (4 * fine - middle) / 3;
  measured("stiffness, fine mesh / theory - 1", fine * theory - 1);
  measured("stiffness, limit / theory - 1", limit * theory - 1);
  measured("order", order);
  EXPECT_NEAR(order, 2, 0.3);
  EXPECT_NEAR(limit * theory, 1, 4e-3);
}
INSTANTIATE_TEST_SUITE_P(All, CantileverDeflection, testing::ValuesIn(all_elements),
                         [](const auto& info) { return element_name(info.param); });

}  // namespace
}  // namespace supple::verified_statics_test
