// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/limit_sway.h"

#include "supple/base/parallel.h"
#include "supple/fem/elastic_body.h"
#include "supple/fem/element.h"
#include "supple/fem/free_vertices.h"
#include "supple/math/sparse/sparse_factor.h"
#include "supple/mesh/topology.h"
#include "supple/offline/fitting/flesh_frequency.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace supple {
namespace {

constexpr int passes = 3;
constexpr double share_of_thickness = 0.5, share_of_extent = 0.04;
constexpr double most_stiffening = 25;

/// Vertices that can move, of pieces that a bone holds. What a piece without a bone does isn't flesh.
std::vector<Index> held_flesh(const TetMesh& mesh, std::span<const Index> fixed) {
  std::vector<char> is_fixed(mesh.vertices.size(), 0), wanted(mesh.vertices.size(), 0);
  for (const Index v : fixed) is_fixed[to_size(v)] = 1;
  const Components pieces = connected_components(mesh);
  std::vector<char> held(to_size(pieces.count), 0);
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const auto count = std::count_if(mesh.elements[e].begin(), mesh.elements[e].end(),
                                     [&](Index v) { return is_fixed[to_size(v)] != 0; });
    if (count >= 3) held[to_size(pieces.label[e])] = 1;
  }
  for (std::size_t e = 0; e < mesh.elements.size(); ++e)
    for (const Index v : mesh.elements[e])
      if (held[to_size(pieces.label[e])]) wanted[to_size(v)] = 1;
  std::vector<Index> flesh;
  for (std::size_t v = 0; v < wanted.size(); ++v)
    if (wanted[v] && !is_fixed[v]) flesh.push_back(static_cast<Index>(v));
  return flesh;
}

std::vector<Index> all_but(const std::vector<Index>& flesh, std::size_t count) {
  std::vector<char> keep(count, 1);
  for (const Index v : flesh) keep[to_size(v)] = 0;
  std::vector<Index> result;
  for (std::size_t v = 0; v < count; ++v)
    if (keep[v]) result.push_back(static_cast<Index>(v));
  return result;
}

/// Brings Young's modulus of all materials to where the flesh has the frequency.
Status tune(TetMesh& mesh, std::span<const Index> held, MaterialModel model, double frequency) {
  const Result<ElasticBody> body = ElasticBody::create(mesh, model);
  SUPPLE_RETURN_IF_ERROR(body);
  const Result<double> found = flesh_frequency(*body, held);
  SUPPLE_RETURN_IF_ERROR(found);
  for (ElasticMaterial& material : mesh.materials) material.young *= std::pow(frequency / *found, 2);
  return {};
}

/// How far each vertex gives way in vigorous moments, |x| in the mean of fourth powers; empty where flesh isn't held.
VecX sway(const ElasticBody& body, const std::vector<Index>& flesh, const MatX& accelerations, SparseFactor& factor,
          bool analyze) {
  BlockMatrix K = body.make_matrix();
  VecX f(body.dof_count());
  body.internal_force_and_stiffness(VecX::Zero(body.dof_count()), f, K);
  const Eigen::SparseMatrix<double> lower = K.to_sparse_lower(flesh);
  if (analyze) factor.analyze(lower, 3);
  if (!factor.factorize(lower)) return {};
  MatX loads(3 * std::ssize(flesh), accelerations.cols());
  for (std::size_t i = 0; i < flesh.size(); ++i)
    loads.middleRows<3>(3 * static_cast<Eigen::Index>(i)) =
        body.lumped_mass()[3 * flesh[i]] * accelerations.middleRows<3>(3 * flesh[i]);
  const MatX x = factor.solve(loads);
  VecX far = VecX::Zero(body.vertex_count());
  for (std::size_t i = 0; i < flesh.size(); ++i) {
    const auto lengths = x.middleRows<3>(3 * static_cast<Eigen::Index>(i)).colwise().squaredNorm();
    far[flesh[i]] = std::pow(lengths.array().square().mean(), 0.25);
  }
  return far;
}

/// Materials times the factors of their elements.
void stiffen(const std::vector<double>& factors, TetMesh& mesh) {
  std::vector<ElasticMaterial> materials;
  for (std::size_t e = 0; e < factors.size(); ++e) {
    materials.push_back(mesh.material_of(e));
    materials.back().young *= factors[e];
  }
  set_element_materials(mesh, std::move(materials));
}

double mean_edge(const TetMesh& mesh) {
  double sum = 0;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    const auto x = element_nodes(mesh, e);
    sum += (x[1] - x[0]).norm();
  }
  return mesh.elements.empty() ? 0.0 : sum / static_cast<double>(mesh.elements.size());
}

/// Distance of every vertex from the nearest on the boundary.
std::vector<double> depths(const TetMesh& mesh) {
  const std::vector<Index> skin = boundary_surface(mesh).volume_vertex;
  std::vector<double> depth(mesh.vertices.size(), 0.0);
  parallel_for(std::ssize(depth), 64, [&](std::int64_t v) {
    double nearest = std::numeric_limits<double>::infinity();
    const Vec3& x = mesh.vertices[to_size(v)];
    for (const Index w : skin) nearest = std::min(nearest, (mesh.vertices[to_size(w)] - x).squaredNorm());
    depth[to_size(v)] = std::sqrt(nearest);
  });
  return depth;
}

/// Vertices that lie as deep as any of their neighbours: the middles of large balls.
std::vector<Index> deepest(const TetMesh& mesh, const std::vector<double>& depth) {
  std::vector<char> is_deepest(mesh.vertices.size(), 1);
  for (const auto& element : mesh.elements) {
    double most = 0;
    for (const Index v : element) most = std::max(most, depth[to_size(v)]);
    for (const Index v : element)
      if (depth[to_size(v)] < most * (1 - 1e-9)) is_deepest[to_size(v)] = 0;
  }
  std::vector<Index> result;
  for (std::size_t v = 0; v < is_deepest.size(); ++v)
    if (is_deepest[v] && depth[v] > 0) result.push_back(static_cast<Index>(v));
  return result;
}

/// Vertices in the order of how many elements away from a held one they are, farthest first, with those around them
/// that are nearer.
struct WaysToBones {
  std::vector<Index> order;
  std::vector<std::vector<Index>> nearer;

  WaysToBones(const TetMesh& mesh, const std::vector<Index>& flesh) : nearer(mesh.vertices.size()) {
    std::vector<std::vector<Index>> around(mesh.vertices.size());
    for (const auto& element : mesh.elements)
      for (const Index v : element) around[to_size(v)].insert(around[to_size(v)].end(), element.begin(), element.end());
    order = all_but(flesh, mesh.vertices.size());
    std::vector<int> steps(mesh.vertices.size(), -1);
    for (const Index v : order) steps[to_size(v)] = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto v = to_size(order[i]);
      for (const Index w : around[v]) {
        int& other = steps[to_size(w)];
        if (other < 0) other = steps[v] + 1, order.push_back(w);
        if (other < steps[v]) nearer[v].push_back(w);
      }
    }
    std::reverse(order.begin(), order.end());
  }

  /// What a vertex asks for is asked for all the way to the bones.
  void carry_down(VecX& asked) const {
    for (const Index v : order)
      for (const Index w : nearer[to_size(v)]) asked[w] = std::max(asked[w], asked[v]);
  }
};

/// Factors on Young's modulus of flesh that is the same everywhere.
Result<std::vector<double>> stiffening(const TetMesh& plain, const std::vector<Index>& flesh, MaterialModel model,
                                       const MatX& accelerations, double extent) {
  const std::vector<double> thickness = local_thickness(plain);
  const double widest = share_of_extent * extent;
  const WaysToBones ways(plain, flesh);
  std::vector<double> factors(plain.elements.size(), 1.0);
  SparseFactor factor;
  for (int pass = 0; pass < passes; ++pass) {
    TetMesh mesh = plain;
    stiffen(factors, mesh);
    const Result<ElasticBody> body = ElasticBody::create(mesh, model);
    SUPPLE_RETURN_IF_ERROR(body);
    VecX beyond = sway(*body, flesh, accelerations, factor, pass == 0);
    if (beyond.size() == 0) break;
    for (Eigen::Index v = 0; v < beyond.size(); ++v)
      beyond[v] /= std::min(share_of_thickness * thickness[to_size(v)], widest);
    ways.carry_down(beyond);
    for (std::size_t e = 0; e < factors.size(); ++e) {
      double most = 1;
      for (const Index v : mesh.elements[e]) most = std::max(most, beyond[v]);
      factors[e] = std::min(most_stiffening, factors[e] * most);
    }
  }
  return factors;
}

}  // namespace

std::vector<double> local_thickness(const TetMesh& mesh) {
  const std::vector<double> depth = depths(mesh);
  const std::vector<Index> middles = deepest(mesh, depth);
  const double edge = mean_edge(mesh);
  std::vector<double> thickness(mesh.vertices.size(), edge);
  parallel_for(std::ssize(thickness), 64, [&](std::int64_t i) {
    const auto v = to_size(i);
    for (const Index w : middles) {
      const double radius = depth[to_size(w)];
      if (2 * radius <= thickness[v]) continue;
      const double reach = std::numbers::sqrt3 * radius + 0.5 * edge;  // the corners of a cube belong to its ball
      if ((mesh.vertices[to_size(w)] - mesh.vertices[v]).squaredNorm() <= reach * reach) thickness[v] = 2 * radius;
    }
  });
  return thickness;
}

Status limit_sway(TetMesh& mesh, std::span<const Index> fixed, MaterialModel model, double frequency,
                  const MatX& accelerations, double extent) {
  const std::vector<Index> flesh = held_flesh(mesh, fixed);
  if (flesh.empty()) return {};
  const std::vector<Index> held = all_but(flesh, mesh.vertices.size());
  if (mesh.materials.empty()) set_uniform_material(mesh, default_material());
  TetMesh plain = mesh;
  set_uniform_material(plain, default_material());
  SUPPLE_RETURN_IF_ERROR(tune(mesh, held, model, frequency));
  if (!(accelerations.norm() > 0)) return {};
  SUPPLE_RETURN_IF_ERROR(tune(plain, held, model, frequency));
  const Result<std::vector<double>> factors = stiffening(plain, flesh, model, accelerations, extent);
  SUPPLE_RETURN_IF_ERROR(factors);
  stiffen(*factors, mesh);
  return {};
}

}  // namespace supple
