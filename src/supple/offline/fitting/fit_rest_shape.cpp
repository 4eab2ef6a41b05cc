// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/fit_rest_shape.h"

#include <fmt/format.h>

#include "supple/fem/linear_solver.h"
#include "supple/mesh/bounds.h"
#include "supple/mesh/normals.h"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include <numeric>

namespace supple {
namespace {

VecX stacked_targets(std::span<const Vec3> points) {
  VecX x(3 * static_cast<Eigen::Index>(points.size()));
  for (std::size_t v = 0; v < points.size(); ++v) x.segment<3>(3 * static_cast<Eigen::Index>(v)) = points[v];
  return x;
}

/// Share of the surface's area that belongs to each vertex. Vertices without area (loose ones) still count a little.
VecX area_shares(const Surface& skin) {
  VecX shares = VecX::Zero(static_cast<Eigen::Index>(skin.vertices.size()));
  for (const Triangle& t : skin.triangles) {
    const double area = area_vector(t, skin.vertices).norm();
    for (const Index v : t) shares[v] += area / 3;
  }
  const double total = shares.sum();
  if (total > 0) shares /= total;
  shares.array() += 1e-3 / static_cast<double>(shares.size());
  return shares / shares.sum();
}

double volume_ratio(const TetMesh& mesh, std::size_t element, const VecX& u) {
  Mat3 rest, now;
  const auto& nodes = mesh.elements[element];
  const auto corner = [&](int k) { return mesh.vertices[to_size(nodes[to_size(k)])]; };
  const auto moved = [&](int k) { return Vec3(corner(k) + u.segment<3>(3 * nodes[to_size(k)])); };
  for (int k = 0; k < 3; ++k) {
    rest.col(k) = corner(k + 1) - corner(0);
    now.col(k) = moved(k + 1) - moved(0);
  }
  return now.determinant() / rest.determinant();
}

}  // namespace

struct RestShapeFitter::Impl {
  TetMesh mesh;
  Embedding embedding;
  FitSettings settings;
  ElasticBody body;
  ElasticBody guarded;  ///< its energy is infinite where an element has no volume
  LinearSolver solver;
  VecX rest;    ///< X, stacked_targets
  VecX shares;  ///< a_v
  double diagonal = 1;
  BlockMatrix K;

  VecX target;  ///< the pose that is being fitted

  VecX surface_error(const VecX& u) const { return embedding.interpolate(rest + u) - target; }

  double objective(const ElasticBody& elastic, const VecX& u, double gamma) const {
    const VecX e = surface_error(u);
    double sum = 0;
    for (Eigen::Index v = 0; v < shares.size(); ++v) sum += shares[v] * e.segment<3>(3 * v).squaredNorm();
    return sum / (diagonal * diagonal) + gamma / body.volume() * elastic.energy(u);
  }

  /// Gradient of the objective; K becomes its Hessian.
  VecX linearize(const ElasticBody& elastic, const VecX& u, double gamma) {
    VecX gradient;
    elastic.internal_force_and_stiffness(u, gradient, K, HessianProjection::positive_semidefinite);
    const double share = gamma / body.volume();
    gradient *= share;
    for (double& value : K.values()) value *= share;
    const VecX error = surface_error(u);
    const double data = 2 / (diagonal * diagonal);
    const auto nodes = to_size(embedding.nodes);
    for (std::size_t v = 0; v < embedding.size(); ++v) {
      const double factor = data * shares[static_cast<Eigen::Index>(v)];
      for (std::size_t a = 0; a < nodes; ++a) {
        const double wa = embedding.weights[v * nodes + a];
        const Index row = embedding.vertices[v * nodes + a];
        gradient.segment<3>(3 * row) += factor * wa * error.segment<3>(3 * static_cast<Eigen::Index>(v));
        for (std::size_t b = 0; b < nodes; ++b) {
          K.block_at(row, embedding.vertices[v * nodes + b]).diagonal().array() +=
              factor * wa * embedding.weights[v * nodes + b];
        }
      }
    }
    return gradient;
  }

  /// K step = −gradient. Inverted elements resist nothing once their Hessians are projected, and pieces that little
  /// skin hangs on may turn: where K is singular, or so nearly that the step leaves the body far behind, as much is
  /// added to its diagonal as it takes.
  bool solve_step(const VecX& gradient, VecX& step) {
    double largest = 0;
    for (Index v = 0; v < body.vertex_count(); ++v) largest = std::max(largest, K.block_at(v, v).diagonal().maxCoeff());
    const double far = 10 * diagonal;
    double added = 0;
    for (const double shift : {0.0, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2}) {
      for (Index v = 0; v < body.vertex_count(); ++v) K.block_at(v, v).diagonal().array() += (shift - added) * largest;
      added = shift;
      step.setZero(gradient.size());
      if (!solver.solve(K, -gradient, step).solved() || !step.allFinite()) continue;
      if (step.cwiseAbs().maxCoeff() < far) return true;
    }
    return false;
  }

  /// Newton's method for one γ. True when the last step was small.
  bool minimize(const ElasticBody& elastic, VecX& u, double gamma, FitReport& report) {
    for (int k = 0; k < settings.max_iterations; ++k) {
      const VecX gradient = linearize(elastic, u, gamma);
      VecX step;
      if (!solve_step(gradient, step)) return false;
      ++report.iterations;
      const double start = objective(elastic, u, gamma);
      const double slope = gradient.dot(step);
      double t = 1;
      while (t > 1e-6 && !(objective(elastic, u + t * step, gamma) <= start + 1e-4 * t * slope)) t *= 0.5;
      constexpr double rounding = 1e-9;
      if (!(t > 1e-6)) return -slope <= rounding * start;
      u += t * step;
      if (t * step.cwiseAbs().maxCoeff() < settings.tolerance * diagonal) return true;
    }
    return false;
  }

  std::vector<Index> squeezed_elements(const VecX& u, double limit) const {
    std::vector<Index> found;
    for (std::size_t e = 0; e < mesh.elements.size(); ++e)
      if (volume_ratio(mesh, e, u) <= limit) found.push_back(static_cast<Index>(e));
    return found;
  }

  void measure(const VecX& u, FitReport& report) const {
    const VecX error = surface_error(u);
    for (Eigen::Index v = 0; v < shares.size(); ++v) {
      const double length = error.segment<3>(3 * v).norm() / diagonal;
      report.mean_error += shares[v] * length;
      report.largest_error = std::max(report.largest_error, length);
    }
    report.inverted = static_cast<int>(squeezed_elements(u, 0).size());
    report.smallest_volume_ratio = body.smallest_volume_ratio(u);
  }
};

RestShapeFitter::RestShapeFitter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RestShapeFitter::~RestShapeFitter() = default;
RestShapeFitter::RestShapeFitter(RestShapeFitter&&) noexcept = default;
RestShapeFitter& RestShapeFitter::operator=(RestShapeFitter&&) noexcept = default;

Result<RestShapeFitter> RestShapeFitter::create(const TetMesh& mesh, const Surface& skin, const Embedding& embedding,
                                                const FitSettings& settings) {
  if (embedding.size() != skin.vertices.size() || embedding.mesh_vertices != static_cast<Index>(mesh.vertices.size()) ||
      embedding.nodes != 4) {
    return input_error("the skin's embedding belongs to another mesh; embed it again");
  }
  // Only the shape matters: every element resists alike.
  TetMesh shape;
  shape.vertices = mesh.vertices;
  shape.elements = mesh.elements;
  shape.materials = {{"shape", 1.0, 0.3, 1.0}};
  Result<ElasticBody> body = ElasticBody::create(shape, MaterialModel::stable_neo_hookean);
  SUPPLE_RETURN_IF_ERROR(body);
  const Result<ElasticBody> guarded = ElasticBody::create(shape, MaterialModel::neo_hookean);
  SUPPLE_RETURN_IF_ERROR(guarded);
  Result<FreeVertices> free = FreeVertices::create(*body, {});
  SUPPLE_RETURN_IF_ERROR(free);
  LinearSettings linear;
  linear.direct_limit = 200'000;
  auto impl = std::unique_ptr<Impl>(new Impl{std::move(shape),
                                             embedding,
                                             settings,
                                             *body,
                                             *guarded,
                                             LinearSolver(std::move(*free), linear),
                                             stacked_targets(mesh.vertices),
                                             area_shares(skin),
                                             bounds_of(mesh.vertices).diagonal(),
                                             body->make_matrix(),
                                             {}});
  return RestShapeFitter(std::move(impl));
}

FittedShape RestShapeFitter::fit(std::span<const Vec3> posed, std::span<const Vec3> guess) {
  Impl& f = *impl_;
  f.target = stacked_targets(posed);
  VecX u = stacked_targets(guess) - f.rest;
  FittedShape result;
  FitReport& report = result.report;
  report.inverted_before = static_cast<int>(f.squeezed_elements(u, 0).size());
  for (double gamma = 100 * f.settings.stiffness; gamma > 0.99 * f.settings.stiffness; gamma /= 10)
    report.converged = f.minimize(f.body, u, gamma, report);
  report.repaired = static_cast<int>(f.squeezed_elements(u, f.settings.min_volume_ratio).size());
  if (report.repaired > 0) {
    // From the neutral shape, very stiff at first, no element can turn over on the way.
    u.setZero();
    for (double gamma = 1; gamma > 0.99 * f.settings.stiffness; gamma /= 4)
      report.converged = f.minimize(f.guarded, u, std::max(gamma, f.settings.stiffness), report);
  }
  f.measure(u, report);
  result.positions.resize(guess.size());
  for (std::size_t v = 0; v < guess.size(); ++v)
    result.positions[v] = f.mesh.vertices[v] + u.segment<3>(3 * static_cast<Eigen::Index>(v));
  return result;
}

}  // namespace supple
