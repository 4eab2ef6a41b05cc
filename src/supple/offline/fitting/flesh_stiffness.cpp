// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/fitting/flesh_stiffness.h"

#include "supple/base/parallel.h"
#include "supple/fem/elastic_body.h"
#include "supple/fem/element.h"
#include "supple/mesh/topology.h"
#include "supple/offline/fitting/flesh_frequency.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace supple {
namespace {

constexpr int passes = 3;
constexpr double thick_quantile = 0.75, most_thin = 10;
constexpr double most_compliant = 1.3;    // times that of the softest tenth
constexpr double least_compliant = 0.15;  // of the former, where flesh is thin
constexpr double bearing = 0.1;           // of the mass gives way too far
constexpr double share_of_thickness = 0.4, share_of_gyration = 0.08;

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

/// The value that `share` of the mass stays below.
double quantile(const VecX& values, const VecX& mass, const std::vector<Index>& chosen, double share) {
  std::vector<std::pair<double, double>> ranked;
  double total = 0, seen = 0;
  for (const Index v : chosen) {
    ranked.emplace_back(values[v], mass[3 * v]);
    total += mass[3 * v];
  }
  std::sort(ranked.begin(), ranked.end());
  for (const auto& [value, weight] : ranked)
    if ((seen += weight) >= share * total) return value;
  return ranked.empty() ? 0 : ranked.back().first;
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

/// Thicker flesh is softer.
std::vector<double> thickness_factors(const TetMesh& mesh, const std::vector<double>& thickness, double thick) {
  std::vector<double> factors;
  for (const auto& element : mesh.elements) {
    double t = 0;
    for (const Index v : element) t += thickness[to_size(v)] / 4;
    factors.push_back(std::clamp(thick / t, 1.0, most_thin));
  }
  return factors;
}

/// Factors on Young's modulus of flesh that is the same everywhere, for it to have the frequency.
Result<std::vector<double>> stiffness_factors(const TetMesh& plain, const std::vector<Index>& flesh,
                                              MaterialModel model, double frequency) {
  const std::vector<double> thickness = local_thickness(plain);
  const Result<ElasticBody> even = ElasticBody::create(plain, model);
  SUPPLE_RETURN_IF_ERROR(even);
  const VecX mass = even->lumped_mass();
  const double thick =
      quantile(Eigen::Map<const VecX>(thickness.data(), std::ssize(thickness)), mass, flesh, thick_quantile);
  std::vector<double> factors = thickness_factors(plain, thickness, thick);
  const WaysToBones ways(plain, flesh);
  const std::vector<Index> held = all_but(flesh, plain.vertices.size());
  for (int pass = 0; pass <= passes; ++pass) {
    TetMesh mesh = plain;
    stiffen(factors, mesh);
    const Result<ElasticBody> body = ElasticBody::create(mesh, model);
    SUPPLE_RETURN_IF_ERROR(body);
    Result<VecX> compliance = flesh_compliance(*body, held);
    SUPPLE_RETURN_IF_ERROR(compliance);
    VecX& far = *compliance;
    const double found = frequency_of(*body, flesh, far);
    if (pass == passes) {  // f² ∝ E
      for (double& value : factors) value *= std::pow(frequency / found, 2);
      break;
    }
    far *= std::pow(2 * std::numbers::pi * found, 2) / most_compliant;
    for (const Index v : flesh) far[v] /= std::clamp(std::pow(thickness[to_size(v)] / thick, 2), least_compliant, 1.0);
    ways.carry_down(far);
    for (std::size_t e = 0; e < factors.size(); ++e) {
      double most = 1;
      for (const Index v : mesh.elements[e]) most = std::max(most, far[v]);
      factors[e] *= most;
    }
  }
  return factors;
}

/// About the centre of its mass.
double radius_of_gyration(const TetMesh& mesh, const VecX& mass) {
  Vec3 centre = Vec3::Zero();
  double total = 0, square = 0;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    const double m = mass[3 * static_cast<Eigen::Index>(v)];
    centre += m * mesh.vertices[v];
    total += m;
  }
  centre /= total;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    square += mass[3 * static_cast<Eigen::Index>(v)] * (mesh.vertices[v] - centre).squaredNorm();
  return std::sqrt(square / total);
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

Status set_flesh_stiffness(TetMesh& mesh, std::span<const Index> fixed, MaterialModel model, double frequency,
                           double base_young) {
  const std::vector<Index> flesh = held_flesh(mesh, fixed);
  if (flesh.empty()) return {};
  if (mesh.materials.empty()) set_uniform_material(mesh, default_material());
  TetMesh plain = mesh;
  std::vector<ElasticMaterial> unpainted;
  for (std::size_t e = 0; e < mesh.elements.size(); ++e) {
    unpainted.push_back(mesh.material_of(e));
    unpainted.back().young = base_young;
  }
  set_element_materials(plain, std::move(unpainted));
  const Result<std::vector<double>> factors = stiffness_factors(plain, flesh, model, frequency);
  SUPPLE_RETURN_IF_ERROR(factors);
  stiffen(*factors, mesh);
  return {};
}

Result<double> bearable_acceleration(const TetMesh& mesh, std::span<const Index> fixed, MaterialModel model,
                                     double share) {
  const std::vector<Index> flesh = held_flesh(mesh, fixed);
  if (flesh.empty()) return 0.0;
  const Result<ElasticBody> body = ElasticBody::create(mesh, model);
  SUPPLE_RETURN_IF_ERROR(body);
  Result<VecX> compliance = flesh_compliance(*body, all_but(flesh, mesh.vertices.size()));
  SUPPLE_RETURN_IF_ERROR(compliance);
  VecX& bearable = *compliance;
  const std::vector<double> thickness = local_thickness(mesh);
  const double farthest = share_of_gyration * radius_of_gyration(mesh, body->lumped_mass());
  for (const Index v : flesh)
    bearable[v] =
        share * std::min(share_of_thickness * thickness[to_size(v)], farthest) / std::max(bearable[v], 1e-300);
  return quantile(bearable, body->lumped_mass(), flesh, bearing);
}

}  // namespace supple
