// SPDX-License-Identifier: Apache-2.0
// Small bodies made of domains, and where all vertices of their solid meshes are: the independent view of a tree.
#pragma once

#include "supple/fem/elastic_body.h"
#include "supple/mesh/box.h"
#include "supple/offline/domains/split_mesh.h"
#include "supple/runtime/domains/domain_dynamics.h"

#include <tuple>

namespace supple {

/// A beam along x, its elements labelled by thirds.
inline TetMesh soft_beam(const Vec3& size = Vec3(0.9, 0.1, 0.12), std::array<int, 3> cells = {9, 1, 1},
                         double young = 2e5) {
  TetMesh mesh = make_tet_box(size, cells);
  set_uniform_material(mesh, {.name = "soft", .young = young, .poisson = 0.4, .density = 1000});
  return mesh;
}

template <class Mesh>
std::vector<Index> labels_along_x(const Mesh& mesh, int count) {
  double longest = 0;
  for (const Vec3& v : mesh.vertices) longest = std::max(longest, v.x());
  std::vector<Index> labels;
  for (const auto& element : mesh.elements) {
    double x = 0;
    for (const Index v : element) x += mesh.vertices[to_size(v)].x() / static_cast<double>(element.size());
    labels.push_back(std::min(count - 1, static_cast<Index>(count * x / longest)));
  }
  return labels;
}

inline std::vector<Index> left_end(const TetMesh& mesh) {
  std::vector<Index> fixed;
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v)
    if (mesh.vertices[v].x() < 1e-9) fixed.push_back(static_cast<Index>(v));
  return fixed;
}

/// The beam in `count` domains, held at its left end or free.
inline DomainModel beam_of_domains(const TetMesh& mesh, int count, int size, bool held) {
  SplitSettings settings;
  settings.size = size;
  if (held) settings.fixed = left_end(mesh);
  const TreePlan plan = split_mesh(mesh, labels_along_x(mesh, count), settings).value();
  return build_domains(plan).value().model;
}

inline DomainDynamics dynamics_of(const DomainModel& model, const DomainSettings& settings) {
  return DomainDynamics::create(std::make_shared<const PreparedTree>(prepare_tree(model).value()), settings).value();
}

/// Where the vertices of all domains' solid meshes are, one domain after the other.
inline VecX solid_positions(const DomainModel& model, DomainDynamics& dynamics) {
  dynamics.update_frames();
  std::vector<double> x;
  for (Index d = 0; d < model.domain_count(); ++d) {
    const SubspaceModel& part = model.part_of(d);
    Mat3 R;
    Vec3 c;
    dynamics.frame(d, R, c);
    const double* q = dynamics.coordinates().data() + dynamics.tree().offset_of[to_size(d)];
    const VecX u = part.basis * Eigen::Map<const VecX>(q, part.size());
    for (Index v = 0; v < part.vertex_count(); ++v) {
      const Vec3 p = c + model.domains[to_size(d)].scale * R * (part.rest_positions[to_size(v)] + u.segment<3>(3 * v));
      x.insert(x.end(), p.begin(), p.end());
    }
  }
  return Eigen::Map<VecX>(x.data(), std::ssize(x));
}

/// M x of those vertices, with every domain's own consistent mass.
inline VecX solid_mass_times(const DomainModel& model, const VecX& x) {
  VecX result(x.size());
  Eigen::Index at = 0;
  for (Index d = 0; d < model.domain_count(); ++d) {
    const SubspaceModel& part = model.part_of(d);
    TetMesh mesh;
    mesh.vertices = part.rest_positions;
    for (std::size_t e = 0; e < to_size(part.element_count()); ++e)
      mesh.elements.push_back(
          {part.elements[4 * e], part.elements[4 * e + 1], part.elements[4 * e + 2], part.elements[4 * e + 3]});
    set_uniform_material(mesh, part.groups[0].material);
    const ElasticBody body = ElasticBody::create(mesh, MaterialModel::stvk).value();
    const Eigen::Index n = 3 * part.vertex_count();
    const VecX own = x.segment(at, n);
    result.segment(at, n) = std::pow(model.domains[to_size(d)].scale, 3) * (body.consistent_mass() * own);
    at += n;
  }
  return result;
}

/// M and K of small motion about rest, from the energies of the whole assembly alone: T = ½ q̇ᵀMq̇ and V = ½ qᵀKq.
struct SmallMotion {
  MatX mass, stiffness;
};
inline SmallMotion small_motion(DomainDynamics& dynamics) {
  const auto q = dynamics.coordinates(), v = dynamics.velocities();
  const Eigen::Index n = std::ssize(q);
  const double e = 1e-7;  // V is not quadratic far from rest
  const auto energies = [&](std::size_t a, std::size_t b) {
    q[a] += e;
    q[b] += e;
    v[a] += 1;
    v[b] += 1;
    const DomainMeasures sums = dynamics.measure();
    q[a] = q[b] = v[a] = v[b] = 0;
    return std::pair(sums.kinetic_energy, sums.elastic_energy / (e * e));
  };
  // Velocities are measured at the displaced q, which is near enough to rest. E(a, a) is that of twice the unit vector.
  SmallMotion out{MatX(n, n), MatX(n, n)};
  for (Eigen::Index a = 0; a < n; ++a)
    std::tie(out.mass(a, a), out.stiffness(a, a)) = [&] {
      const auto [T, V] = energies(to_size(a), to_size(a));
      return std::pair(T / 2, V / 2);
    }();
  for (Eigen::Index a = 0; a < n; ++a)
    for (Eigen::Index b = 0; b < a; ++b) {
      const auto [T, V] = energies(to_size(a), to_size(b));
      out.mass(a, b) = out.mass(b, a) = T - (out.mass(a, a) + out.mass(b, b)) / 2;
      out.stiffness(a, b) = out.stiffness(b, a) = V - (out.stiffness(a, a) + out.stiffness(b, b)) / 2;
    }
  return out;
}

}  // namespace supple
