// SPDX-License-Identifier: Apache-2.0
// What is looked at of domains: without gaps (C0), without creases (C1), and a finer surface that rides on the mesh.
#include "supple/asset/domain_archive.h"
#include "supple/mesh/topology.h"
#include "support/domain_bodies.h"

#include <gtest/gtest.h>
#include <Eigen/Geometry>

#include <map>

namespace supple::domain_surface_test {
namespace {

TetMesh beam() { return soft_beam(Vec3(0.9, 0.1, 0.12), {36, 2, 2}); }

DomainModel beam_with(double smooth, const RidingSurface* rides = nullptr) {
  const TetMesh mesh = beam();
  SplitSettings settings;
  settings.size = 6;
  settings.fixed = left_end(mesh);
  settings.smooth = smooth;
  settings.rides = rides;
  return build_domains(split_mesh(mesh, labels_along_x(mesh, 3), settings).value()).value().model;
}

std::vector<Vec3> shown(const DomainModel& model, DomainDynamics& dynamics) {
  std::vector<double> xyz(3 * to_size(model.surface.vertex_count()));
  dynamics.update_frames();
  dynamics.surface_positions(xyz);
  std::vector<Vec3> out;
  for (std::size_t v = 0; v < xyz.size(); v += 3) out.emplace_back(xyz[v], xyz[v + 1], xyz[v + 2]);
  return out;
}

/// How much normals turn across the upper surface's edges near an interface [rad], the largest: 0 at rest.
double crease_at(const DomainModel& model, const std::vector<Vec3>& rest, const std::vector<Vec3>& x, double place) {
  std::map<std::pair<Index, Index>, std::vector<Vec3>> normals;
  for (const Triangle& t : model.surface.triangles) {
    const auto corner = [&](std::size_t k) { return to_size(t[k]); };
    const Vec3 at_rest = (rest[corner(1)] - rest[corner(0)]).cross(rest[corner(2)] - rest[corner(0)]).normalized();
    if (at_rest.y() < 0.99) continue;
    const Vec3 n = (x[corner(1)] - x[corner(0)]).cross(x[corner(2)] - x[corner(0)]).normalized();
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [a, b] = std::minmax(t[k], t[(k + 1) % 3]);
      if (std::abs(rest[to_size(a)].x() - place) < 0.026 && std::abs(rest[to_size(b)].x() - place) < 0.026)
        normals[{a, b}].push_back(n);
    }
  }
  double largest = 0;
  for (const auto& [edge, two] : normals)
    if (two.size() == 2) largest = std::max(largest, std::acos(std::clamp(two[0].dot(two[1]), -1.0, 1.0)));
  return largest;
}

/// A wide plate in two halves.
DomainModel plate_with(double smooth) {
  const TetMesh mesh = soft_beam(Vec3(0.9, 0.04, 0.5), {36, 1, 20});
  SplitSettings settings;
  settings.size = 8;
  settings.fixed = left_end(mesh);
  settings.smooth = smooth;
  return build_domains(split_mesh(mesh, labels_along_x(mesh, 2), settings).value()).value().model;
}

/// Bends the first half so that its interface is no longer plane, which the second one can't follow.
void part_by(DomainDynamics& dynamics, double gap) {
  const auto q = dynamics.coordinates();
  std::size_t widest = 0;
  double most = 0;
  for (std::size_t l = 0; l < 8; ++l) {
    std::fill(q.begin(), q.end(), 0.0);
    q[l] = 1e-3;
    dynamics.update_frames();
    if (dynamics.largest_gap() > most) {
      most = dynamics.largest_gap();
      widest = l;
    }
  }
  std::fill(q.begin(), q.end(), 0.0);
  q[widest] = 1e-3 * gap / most;
  dynamics.update_frames();
}

TEST(DomainSurface, MovingLeastSquaresTakeTheCreasesAway) {
  const DomainModel edged = plate_with(0), smooth = plate_with(0.1);
  DomainDynamics one = dynamics_of(edged, {}), two = dynamics_of(smooth, {});
  part_by(one, 0.01);
  part_by(two, 0.01);
  const std::vector<Vec3> x = shown(edged, one), y = shown(smooth, two);
  const double before = crease_at(edged, rest_positions(edged), x, 0.45),
               after = crease_at(smooth, rest_positions(smooth), y, 0.45);
  EXPECT_GT(before, 0.1);
  EXPECT_LT(after, 0.5 * before);
  // Both are of one motion and close the same gap.
  EXPECT_NEAR(one.largest_gap(), 0.01, 2e-3);
  EXPECT_NEAR(two.largest_gap(), one.largest_gap(), 1e-9);
}

TEST(DomainSurface, BlendingIsExactWhereAllMovesAsOne) {
  const DomainModel model = beam_with(0.1);
  DomainDynamics dynamics = dynamics_of(model, {});
  RootMotion root = dynamics.root();
  root.rotation = Eigen::AngleAxisd(0.8, Vec3(1, 2, 3).normalized()).toRotationMatrix();
  root.position = Vec3(3, -1, 2);
  std::vector<double> xyz(3 * to_size(model.surface.vertex_count()));
  dynamics.show(dynamics.coordinates(), root);
  dynamics.surface_positions(xyz);
  const std::vector<Vec3> rest = rest_positions(model);
  const BoundarySurface skin = boundary_surface(beam());
  ASSERT_EQ(rest.size(), skin.surface.vertices.size());
  for (std::size_t v = 0; v < rest.size(); ++v) {
    EXPECT_LT((rest[v] - skin.surface.vertices[v]).norm(), 1e-9);
    EXPECT_LT((Eigen::Map<const Vec3>(xyz.data() + 3 * v) - (root.position + root.rotation * rest[v])).norm(), 1e-9);
  }
}

/// A triangle in the middle of every cell of the beam's upper side, which is no face of its mesh.
Surface cards() {
  Surface surface;
  for (int k = 0; k < 36; ++k) {
    const double x = 0.025 * (k + 0.5);
    const auto first = static_cast<Index>(surface.vertices.size());
    for (const Vec3& v : {Vec3(x - 0.012, 0.09, 0.03), Vec3(x + 0.012, 0.09, 0.04), Vec3(x, 0.09, 0.09)})
      surface.vertices.push_back(v);
    surface.triangles.push_back({first, first + 1, first + 2});
  }
  return surface;
}

TEST(DomainSurface, AFinerSurfaceRidesOnTheMeshAndStaysInTheFile) {
  const Surface surface = cards();
  const Embedding embedding = embed(beam(), surface.vertices).value();
  const RidingSurface rides{surface, embedding};
  for (const double smooth : {0.0, 0.08}) {
    const DomainModel model = beam_with(smooth, &rides);
    const std::vector<Vec3> rest = rest_positions(model);
    ASSERT_EQ(rest.size(), surface.vertices.size());
    for (std::size_t v = 0; v < rest.size(); ++v) EXPECT_LT((rest[v] - surface.vertices[v]).norm(), 1e-9);
    const std::string bytes = encode_domain_model(model);
    const DomainModel read =
        decode_domain_model(Archive::parse(std::as_bytes(std::span(bytes)), "beam").value()).value();
    EXPECT_EQ(read.surface.weight, model.surface.weight);
    EXPECT_EQ(read.surface.seams, model.surface.seams);
    // Inside a domain it moves as the vertices of its element do.
    DomainDynamics dynamics = dynamics_of(read, {});
    for (int k = 0; k < 40; ++k) dynamics.step();
    const std::vector<Vec3> x = shown(read, dynamics);
    const VecX solid = solid_positions(read, dynamics);
    const TetMesh mesh = beam();
    for (const std::size_t v : {std::size_t{9}, std::size_t{20}}) {  // far from interfaces, in the first domain
      Vec3 expected = Vec3::Zero();
      const SubspaceModel& part = read.part_of(0);
      for (std::size_t k = 0; k < 4; ++k) {
        const Vec3 corner = mesh.vertices[to_size(embedding.vertices[4 * v + k])];
        for (Index own = 0; own < part.vertex_count(); ++own)
          if ((part.rest_positions[to_size(own)] - corner).norm() < 1e-9)
            expected += embedding.weights[4 * v + k] * solid.segment<3>(3 * own);
      }
      EXPECT_LT((x[v] - expected).norm(), 1e-9) << v;
    }
  }
}

}  // namespace
}  // namespace supple::domain_surface_test
