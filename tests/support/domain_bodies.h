// SPDX-License-Identifier: Apache-2.0
// Small bodies made of domains, and where all vertices of their solid meshes are: the independent view of a tree.
#pragma once

#include "supple/fem/elastic_body.h"
#include "supple/mesh/box.h"
#include "supple/mesh/low_side.h"
#include "supple/offline/domains/split_mesh.h"
#include "supple/pipeline/object/small_motion.h"
#include "supple/runtime/domains/domain_dynamics.h"

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

inline std::vector<Index> left_end(const TetMesh& mesh) { return vertices_at_zero(mesh.vertices, 0); }

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

}  // namespace supple
