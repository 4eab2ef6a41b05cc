// SPDX-License-Identifier: Apache-2.0
// Reduced St. Venant-Kirchhoff dynamics: one step of force, stiffness and implicit Newmark at r = 12, 20 and 30, beside
// a plain evaluation of the paper's polynomials, and the precomputation of their coefficients. Paper: Figures 5 and 11
// of the 2005 paper; peer: the best open program on this kind of machine, double precision.
#include "bench/report.h"

#include "supple/base/parallel.h"
#include "supple/fem/modes.h"
#include "supple/mesh/box.h"
#include "supple/offline/forces/cubic_forces.h"
#include "supple/offline/modes/modal_derivatives.h"
#include "supple/runtime/subspace/subspace_dynamics.h"

#include <fmt/format.h>

#include <cmath>

namespace supple::bench {
namespace {

struct Figures {
  int r;
  std::optional<double> paper_us;
  double peer_us, target_us;
};

/// About as many tetrahedra as the bridge of the peer's distribution.
TetMesh beam() {
  TetMesh mesh = make_tet_box(Vec3(1.5, 1.1, 1.3), {15, 11, 13});
  set_uniform_material(mesh, {.name = "soft", .young = 1e6, .poisson = 0.4, .density = 1000});
  return mesh;
}

std::vector<Index> left_face(const TetMesh& mesh) {
  std::vector<Index> fixed;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    if (mesh.vertices[v].x() < 1e-9) fixed.push_back(static_cast<Index>(v));
  }
  return fixed;
}

MatX linear_modes(const TetMesh& mesh, int count) {
  const ElasticBody body = ElasticBody::create(mesh, MaterialModel::stvk).value();
  return compute_modes(body, left_face(mesh), {.count = count}).value().shapes;
}

/// What a direct reading of Equations 10 and 11 does: every coefficient of K̃ for every ordered pair i ≤ j, no symmetry
/// of K̃, force by its own cubic polynomials.
class PlainPolynomials {
 public:
  explicit PlainPolynomials(const SubspaceModel& model) : r_(model.size()) {
    StiffnessPolynomial total = StiffnessPolynomial::zero(r_);
    for (const MaterialGroup& group : model.groups) {
      const Lame<double> lame = lame_from(group.material.young, group.material.poisson);
      total.add(lame.lambda, group.lambda);
      total.add(lame.mu, group.mu);
    }
    const auto n = to_size(r_);
    for (Index a = 0; a < r_; ++a) {
      for (Index b = 0; b < r_; ++b) {
        for (Index p = 0; p < pair_count(r_); ++p) stiffness_.push_back(total.quadratic(pair_index(a, b), p));
      }
      for (Index i = 0; i < r_; ++i) {
        for (Index j = i; j < r_; ++j) {
          for (Index k = j; k < r_; ++k) force_.push_back(total.quadratic(pair_index(a, i), pair_index(j, k)));
        }
      }
    }
    K_.assign(n * n, 0.0);
    R_.assign(n, 0.0);
    products_.assign(to_size(pair_count(r_)), 0.0);
  }

  void evaluate(const double* q) {
    std::size_t p = 0;
    for (Index j = 0; j < r_; ++j) {
      for (Index i = 0; i <= j; ++i) products_[p++] = q[i] * q[j];
    }
    const double* c = stiffness_.data();
    for (double& entry : K_) {
      double sum = 0;
      for (const double product : products_) sum += *c++ * product;
      entry = sum;
    }
    const double* s = force_.data();
    for (double& entry : R_) {
      double sum = 0;
      for (Index i = 0; i < r_; ++i) {
        for (Index j = i; j < r_; ++j) {
          const double qij = q[i] * q[j];
          for (Index k = j; k < r_; ++k) sum += *s++ * qij * q[k];
        }
      }
      entry = sum;
    }
  }
  double checksum() const { return K_[0] + R_[0]; }

 private:
  Index r_;
  std::vector<double> stiffness_, force_, K_, R_, products_;
};

template <class T>
double step_us(const SubspaceModel& model) {
  auto dynamics =
      SubspaceDynamics<T>::create(model, {.time_step = 1e-3, .stiffness_damping = 1e-3, .tolerance = 0}).value();
  std::vector<T> force(to_size(model.size()), T(10));
  constexpr int steps = 200;
  return median_ms(21,
                   [&] {
                     for (int k = 0; k < steps; ++k) dynamics.step(force);
                   }) *
         1000 / steps;
}

void bench_size(Report& report, const SubspaceModel& full, const Figures& figures) {
  std::vector<Index> kept;
  for (Index k = 0; k < figures.r; ++k) kept.push_back(k);
  const SubspaceModel model = select_coordinates(full, kept);
  const std::string row = fmt::format("r{}", figures.r);
  const auto add = [&](const std::string& name, const std::string& metric, double value, const std::string& unit) {
    report.add({.table = "subspace/step", .row = name, .metric = metric, .value = value, .unit = unit});
  };
  report.add({.table = "subspace/step",
              .row = row,
              .metric = "step_us",
              .value = step_us<double>(model),
              .unit = "us",
              .paper = figures.paper_us,
              .peer = figures.peer_us,
              .target = figures.target_us});
  report.add({.table = "subspace/step",
              .row = row + "/single",
              .metric = "step_us",
              .value = step_us<float>(model),
              .unit = "us",
              .paper = figures.paper_us,
              .target = figures.target_us});

  ReducedForces<double> forces(model);
  PlainPolynomials plain(model);
  VecX q = VecX::Constant(figures.r, 0.01);
  constexpr int rounds = 100;
  const double ours = median_ms(21,
                                [&] {
                                  for (int k = 0; k < rounds; ++k) forces.evaluate(q.data());
                                }) /
                      rounds;
  const double theirs = median_ms(5,
                                  [&] {
                                    for (int k = 0; k < rounds / 10; ++k) plain.evaluate(q.data());
                                  }) /
                        (rounds / 10);
  add(row, "evaluate_us", 1000 * ours, "us");
  add(row + "/plain", "evaluate_us", 1000 * theirs, "us");
  const auto bytes = static_cast<double>(forces.bytes_read());
  const double ceiling = read_bandwidth(forces.bytes_read());
  add(row, "bytes_per_step", bytes, "B");
  add(row, "bandwidth_gb_s", bytes / (ours * 1e6), "GB/s");
  add(row, "cache_bandwidth_gb_s", ceiling, "GB/s");
  report.add({.table = "subspace/step",
              .row = row,
              .metric = "share_of_bandwidth",
              .value = bytes / (ours * 1e6) / ceiling,
              .unit = "1",
              .target = 0.5});
}

void bench_coefficients(Report& report, const TetMesh& mesh, const MatX& basis, int threads) {
  set_thread_count(threads);
  const double ms = median_ms(1, [&] { static_cast<void>(build_subspace_model(mesh, basis).value()); });
  set_thread_count(1);
  Row row{.table = "subspace/coefficients",
          .row = fmt::format("tets12870_r{}/threads{}", basis.cols(), threads),
          .metric = "coefficients_s",
          .value = ms / 1000,
          .unit = "s"};
  if (basis.cols() == 30) row.paper = 79.2 * 60, row.peer = 54, row.target = 8;
  report.add(row);
}

/// All derivatives of 20 modes of a compact body, whose factor fills in more than a thin one's.
void bench_derivatives(Report& report) {
  TetMesh mesh = make_tet_box(Vec3(1, 1, 1), {15, 15, 15});
  set_uniform_material(mesh, {.name = "soft", .young = 1e6, .poisson = 0.4, .density = 1000});
  const ElasticBody body = ElasticBody::create(mesh, MaterialModel::stvk).value();
  const std::vector<Index> fixed = left_face(mesh);
  Row row{.table = "subspace/derivatives",
          .row = fmt::format("cube_{}dofs_k20", body.dof_count()),
          .metric = "derivatives_s",
          .unit = "s",
          .target = 5};
  std::string error;
  const double ms = median_ms(1, [&] {
    const Result<Modes> modes = compute_modes(body, fixed, {.count = 20});
    if (!modes.ok()) return void(error = modes.error().message);
    const Result<ModalDerivatives> derivatives = static_derivatives(body, fixed, *modes, 20);
    if (!derivatives.ok()) error = derivatives.error().message;
  });
  if (error.empty()) row.value = ms / 1000;
  row.error = error;
  report.add(row);
}

}  // namespace

Report run_subspace(const Options& options) {
  Report report;
  const TetMesh mesh = beam();
  const MatX basis = linear_modes(mesh, 30);
  const SubspaceModel model = build_subspace_model(mesh, basis).value();
  for (const Figures& figures : {Figures{12, 30.2, 5, 2}, Figures{20, {}, 22, 8}, Figures{30, 1395, 76, 25}}) {
    bench_size(report, model, figures);
  }
  if (!options.quick) {
    bench_coefficients(report, mesh, basis, 1);
    bench_coefficients(report, mesh, basis, 2);
    bench_coefficients(report, mesh, linear_modes(mesh, 60), 2);
    bench_derivatives(report);
  }
  add_subspace_samples(report, options);
  add_subspace_floating(report, options);
  add_subspace_haptics(report, options);
  add_subspace_figures(report, options);
  return report;
}

}  // namespace supple::bench
