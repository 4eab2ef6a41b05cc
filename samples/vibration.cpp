// SPDX-License-Identifier: Apache-2.0
#include "samples/vibration.h"

#include "supple/mesh/quality.h"

#include <Eigen/LU>

#include <cmath>
#include <numbers>

namespace supple {
namespace {

Vec3 at(const VecX& stacked, Index vertex) { return stacked.segment<3>(3 * vertex); }

// ∇u of the linear displacement over one tetrahedron.
Mat3 displacement_gradient(const TetMesh& mesh, const TetMesh::Element& tet, const VecX& u) {
  Mat3 edges, changes;
  for (int k = 0; k < 3; ++k) {
    edges.col(k) = mesh.vertices[to_size(tet[k + 1])] - mesh.vertices[to_size(tet[0])];
    changes.col(k) = at(u, tet[k + 1]) - at(u, tet[0]);
  }
  return changes * edges.inverse();
}

std::vector<double> lumped_masses(const TetMesh& mesh) {
  std::vector<double> masses(mesh.vertices.size(), 0.0);
  const std::vector<double> volumes = element_volumes(mesh);
  for (std::size_t e = 0; e < volumes.size(); ++e) {
    for (const Index v : mesh.elements[e]) masses[to_size(v)] += mesh.material_of(e).density * volumes[e] / 4;
  }
  return masses;
}

}  // namespace

double visible_scale(const TetMesh& mesh, const VecX& shape, double max_displacement, double max_gradient) {
  double displacement = 1e-300, gradient = 1e-300;
  for (Index v = 0; v < static_cast<Index>(mesh.vertices.size()); ++v)
    displacement = std::max(displacement, at(shape, v).norm());
  for (const TetMesh::Element& tet : mesh.elements)
    gradient = std::max(gradient, displacement_gradient(mesh, tet, shape).norm());
  return std::min(max_displacement / displacement, max_gradient / gradient);
}

std::vector<double> pluck_amplitudes(const TetMesh& mesh, std::span<const VecX> shapes,
                                     std::span<const double> frequencies_hz, std::span<const Index> vertices,
                                     const Vec3& direction) {
  const std::vector<double> masses = lumped_masses(mesh);
  std::vector<double> amplitudes;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    double force = 0, mass = 0;
    for (const Index v : vertices) force += at(shapes[i], v).dot(direction) / static_cast<double>(vertices.size());
    for (std::size_t v = 0; v < masses.size(); ++v)
      mass += masses[v] * at(shapes[i], static_cast<Index>(v)).squaredNorm();
    const double omega = 2 * std::numbers::pi * frequencies_hz[i];
    amplitudes.push_back(force / (omega * omega * mass));
  }
  return amplitudes;
}

double ring(double time, double frequency_hz, double damping_ratio) {
  if (time <= 0) return 1;
  const double omega = 2 * std::numbers::pi * frequency_hz;
  const double decay = damping_ratio * omega;
  const double damped = omega * std::sqrt(1 - damping_ratio * damping_ratio);
  return std::exp(-decay * time) * (std::cos(damped * time) + decay / damped * std::sin(damped * time));
}

}  // namespace supple
