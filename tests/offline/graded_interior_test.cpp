// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/graded_interior.h"

#include "offline/meshing_checks.h"
#include "supple/io/mesh/mesh_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numbers>

namespace supple::graded_interior_test {
namespace {

/// An octahedron whose triangles were quartered `times` times, blown up to the unit sphere.
Surface ball(int times) {
  Surface surface;
  surface.vertices = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  surface.triangles = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
  for (int k = 0; k < times; ++k) {
    std::map<std::pair<Index, Index>, Index> middles;
    const auto middle = [&](Index a, Index b) {
      const auto [at, fresh] = middles.try_emplace(std::minmax(a, b), static_cast<Index>(surface.vertices.size()));
      const Vec3 sum = surface.vertices[to_size(a)] + surface.vertices[to_size(b)];
      if (fresh) surface.vertices.push_back(sum.normalized());
      return at->second;
    };
    std::vector<Triangle> finer;
    for (const auto& [a, b, c] : surface.triangles) {
      const Index p = middle(a, b), q = middle(b, c), r = middle(c, a);
      finer.insert(finer.end(), {{a, p, r}, {p, b, q}, {r, q, c}, {p, q, r}});
    }
    surface.triangles = std::move(finer);
  }
  return surface;
}

double area(const Surface& surface) {
  double sum = 0;
  for (const auto& [a, b, c] : surface.triangles) {
    const Vec3& x = surface.vertices[to_size(a)];
    const Vec3 u = surface.vertices[to_size(b)] - x, v = surface.vertices[to_size(c)] - x;
    sum += 0.5 * std::sqrt(u.squaredNorm() * v.squaredNorm() - u.dot(v) * u.dot(v));
  }
  return sum;
}

double volume(const Surface& surface) {
  double sum = 0;
  for (const auto& [a, b, c] : surface.triangles)
    sum += tet_volume(Vec3::Zero(), surface.vertices[to_size(a)], surface.vertices[to_size(b)],
                      surface.vertices[to_size(c)]);
  return sum;
}

/// The mean length of the edges of tetrahedra whose middle lies between two radii.
double mean_edge(const TetMesh& mesh, double from, double to) {
  double sum = 0, count = 0;
  for (const auto& tet : mesh.elements) {
    Vec3 middle = Vec3::Zero();
    for (const Index v : tet) middle += mesh.vertices[to_size(v)] / 4;
    if (middle.norm() < from || middle.norm() > to) continue;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < i; ++j, ++count) {
        sum += (mesh.vertices[to_size(tet[i])] - mesh.vertices[to_size(tet[j])]).norm();
      }
    }
  }
  return sum / count;
}

/// Lattice and octree without any cutting: all sites of a box are flesh.
FleshNodes all_flesh(const BccLattice& lattice) {
  FleshNodes nodes;
  nodes.real_at.assign(to_size(lattice.site_count()), -1);
  nodes.has_thin.assign(nodes.real_at.size(), 0);
  for (Site s = 0; s < lattice.site_count(); ++s) {
    nodes.real_at[to_size(s)] = nodes.real++;
    nodes.site.push_back(s);
    unsigned joined = 0;
    for (int d = 0; d < BccLattice::neighbor_count; ++d)
      joined |= lattice.holds(BccLattice::step(lattice.coordinates(s), d)) ? 1u << d : 0u;
    nodes.joined.push_back(static_cast<std::uint16_t>(joined));
  }
  return nodes;
}

TEST(GradedInterior, ConformsAndKeepsAngles) {
  const BccLattice lattice(bounds_of(std::vector<Vec3>{{0, 0, 0}, {29, 31, 34}}), 1);
  const FleshNodes nodes = all_flesh(lattice);
  const GradedInterior interior(nodes, lattice);
  EXPECT_GE(interior.levels(), 3);
  TetMesh mesh;
  for (Site s = 0; s < lattice.site_count(); ++s) mesh.vertices.push_back(lattice.position(s));
  const auto add = [&](const GradedInterior::Tet& tet) {
    auto& element = mesh.elements.emplace_back();
    for (std::size_t c = 0; c < 4; ++c) element[c] = static_cast<Index>(lattice.site(tet[c]));
  };
  for (const auto& tet : interior.tets()) add(tet);
  const QualityReport coarse = quality(mesh);
  EXPECT_EQ(coarse.inverted, 0);
  EXPECT_GT(coarse.dihedral.min, 45 - 1e-9);
  EXPECT_LT(coarse.dihedral.max, 120 + 1e-9);
  std::size_t uniform = 0;
  for (Site s = 0; s < lattice.site_count(); s += 2) {
    for (int k = 0; k < BccLattice::tet_count; ++k) {
      const auto tet = BccLattice::tet(lattice.coordinates(s), k);
      if (!lattice.holds(tet[1]) || !lattice.holds(tet[2]) || !lattice.holds(tet[3])) continue;
      ++uniform;
      if (!interior.swallowed(tet[2]) && !interior.swallowed(tet[3])) add(tet);
    }
  }
  // Twelfths of a cube, all of them; and a single skin without an inner crack.
  EXPECT_NEAR(quality(mesh).volume, static_cast<double>(uniform) / 12, 1e-6 * static_cast<double>(uniform));
  const BoundarySurface skin = boundary_surface(mesh);
  EXPECT_EQ(skin.crowded_faces, 0);
  EXPECT_EQ(surface_topology(skin.surface).components, 1);
  EXPECT_EQ(surface_topology(skin.surface).euler_characteristic, 2);
  EXPECT_LT(2 * mesh.elements.size(), uniform);
}

TEST(GradedInterior, ABallHasAFineSkinAndACoarseCore) {
  const Surface input = ball(5);
  const TetMeshingResult graded = fill(input, 24000, true), uniform = fill(input, 24000);
  expect_sound(graded, 24000);
  const Surface skin = boundary_surface(graded.mesh).surface;
  EXPECT_EQ(surface_topology(skin).components, 1);
  EXPECT_EQ(surface_topology(skin).euler_characteristic, 2);
  EXPECT_GT(mean_edge(graded.mesh, 0, 0.3), 2 * mean_edge(graded.mesh, 0.85, 1.1));
  EXPECT_LT(mean_edge(uniform.mesh, 0, 0.3), 1.5 * mean_edge(uniform.mesh, 0.85, 1.1));
  EXPECT_LT(graded.report.cube, 0.92 * uniform.report.cube);
  EXPECT_LT(graded.report.skin_to_input.mean, uniform.report.skin_to_input.mean);
  // What lies between the skin and the input is no more than the distance times the area of the outer one: a skin all
  // of whose vertices lie on a ball is inside it.
  const double outer = std::max(area(skin), area(input));
  // The mean distance is taken over samples, to a hundredth of itself.
  EXPECT_NEAR(graded.report.volume, volume(input), 1.01 * outer * graded.report.skin_to_input.mean);
  EXPECT_NEAR(graded.report.volume, 4 * std::numbers::pi / 3, 0.03);
}

TEST(GradedInterior, NeighborsStayApartAndThinPartsOn) {
  Surface surface = box({0, 0, 0}, {1, 1, 1});
  append(surface, box({1.001, 0, 0}, {2.001, 1, 1}));
  append(surface, box({-0.6, 0.5, 0.5}, {0.1, 0.52, 0.52}));  // a tail of a third of a cell
  const TetMeshingResult made = fill(surface, 8000, true);
  expect_sound(made, 8000);
  EXPECT_EQ(made.report.pieces, 2);
  EXPECT_GT(made.report.cube, 0.06);
  EXPECT_LT(bounds_of(made.mesh.vertices).min.x(), -0.55);
  EXPECT_NEAR(made.report.volume, 2, 0.06);
}

TEST(GradedInterior, SharedAssets) {
  const std::filesystem::path assets = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets";
  if (!std::filesystem::exists(assets)) GTEST_SKIP() << "the shared assets aren't there";
  constexpr int tets = 12000;
  for (const char* name :
       {"soup/koala/koala_low_resolution.obj", "soup/cgal_elephant_holes/elephant-with-holes.off",
        "soup/spot/spot_low_resolution.obj", "soup/penguin/penguin.obj", "soup/head_leeperrysmith/LeePerrySmith.glb",
        "soup/scorpion/scorpion_low_resolution.obj", "rigged/quat_frog/Frog.glb", "rigged/farm_pig/Pig.gltf"}) {
    SCOPED_TRACE(name);
    const Result<LoadedMesh> loaded = load_mesh(assets / name);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    const TetMeshingResult made = fill(std::get<Surface>(loaded->mesh), tets, true);
    expect_sound(made, tets);
    EXPECT_LE(made.report.pieces, made.report.input_pieces);
    EXPECT_LT(made.report.input_to_skin.mean, made.report.cube);
    EXPECT_LT(made.report.skin_to_input.mean, 0.2 * made.report.cube);
  }
}

}  // namespace
}  // namespace supple::graded_interior_test
