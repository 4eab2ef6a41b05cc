// SPDX-License-Identifier: Apache-2.0
#include "offline/meshing_checks.h"
#include "supple/base/parallel.h"
#include "supple/io/mesh/mesh_file.h"
#include "supple/offline/meshing/bcc_lattice.h"
#include "supple/offline/meshing/stuffing_stencils.h"

#include <fmt/format.h>
#include <Eigen/Geometry>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <iostream>

namespace supple::tetrahedralize_test {
namespace {

// ---- lattice --------------------------------------------------------------------------------------------------------

TEST(BccLattice, TetrahedraAreCongruentAndTileSpace) {
  const BccLattice lattice(bounds_of(std::vector<Vec3>{{0, 0, 0}, {4, 4, 4}}), 1);
  TetMesh mesh;
  for (int k = 0; k < BccLattice::tet_count; ++k) {
    const auto corners = BccLattice::tet({4, 4, 4}, k);
    TetMesh::Element& tet = mesh.elements.emplace_back();
    for (std::size_t c = 0; c < 4; ++c) {
      tet[c] = static_cast<Index>(mesh.vertices.size());
      mesh.vertices.push_back(lattice.position(corners[c]));
      for (std::size_t d = 0; d < c; ++d) EXPECT_GE(BccLattice::direction_between(corners[c], corners[d]), 0);
    }
  }
  const QualityReport shape = quality(mesh);
  EXPECT_NEAR(shape.volume, 1, 1e-12);  // twelve fill a cube
  EXPECT_NEAR(shape.element_volume.min, 1.0 / 12, 1e-12);
  EXPECT_NEAR(shape.dihedral.min, 60, 1e-9);
  EXPECT_NEAR(shape.dihedral.max, 90, 1e-9);
}

TEST(BccLattice, FindsTheTetrahedronAndTheNearestSite) {
  const BccLattice lattice(bounds_of(std::vector<Vec3>{{0, 0, 0}, {3, 3, 3}}), 1);
  for (int k = 0; k < 500; ++k) {
    const Vec3 p(3 * std::fmod(0.7548 * k, 1.0), 3 * std::fmod(0.5698 * k, 1.0), 3 * std::fmod(0.4302 * k, 1.0));
    std::array<Vec3, 4> x;
    const auto corners = lattice.tet_around(p);
    for (std::size_t c = 0; c < 4; ++c) x[c] = lattice.position(corners[c]);
    const double whole = std::abs(tet_volume(x[0], x[1], x[2], x[3]));
    const double parts = std::abs(tet_volume(p, x[1], x[2], x[3])) + std::abs(tet_volume(x[0], p, x[2], x[3])) +
                         std::abs(tet_volume(x[0], x[1], p, x[3])) + std::abs(tet_volume(x[0], x[1], x[2], p));
    EXPECT_NEAR(whole, 1.0 / 12, 1e-12);
    EXPECT_NEAR(parts, whole, 1e-12);
    const auto near = lattice.nearest_site(p);
    EXPECT_EQ(lattice.coordinates(lattice.site(near)), near);
    double best = 1e9;
    for (Site s = 0; s < lattice.site_count(); ++s) best = std::min(best, (lattice.position(s) - p).norm());
    EXPECT_NEAR((lattice.position(near) - p).norm(), best, 1e-12);
    EXPECT_NE(std::find(corners.begin(), corners.end(), near), corners.end());
  }
}

/// All sixteen patterns with cuts in the range that stuffing begins with: positive volumes that add up, good angles.
TEST(StuffingStencils, KeepAngles) {
  const BccLattice lattice(bounds_of(std::vector<Vec3>{{0, 0, 0}, {3, 3, 3}}), 1);
  const auto corners = BccLattice::tet({2, 2, 2}, 0);
  double worst = 180;
  for (int pattern = 1; pattern < 16; ++pattern) {
    std::array<bool, 4> inside{};
    for (std::size_t k = 0; k < 4; ++k) inside[k] = ((pattern >> k) & 1) != 0;
    for (int shares = 0; shares < 81; ++shares) {
      TetMesh mesh;
      for (const auto& c : corners) mesh.vertices.push_back(lattice.position(c));
      std::array<std::array<Index, 4>, 4> cuts{};
      for (std::size_t i = 0, n = 0; i < 4; ++i) {
        for (std::size_t o = 0; o < 4; ++o) {
          if (!inside[i] || inside[o]) continue;
          const double t = 0.4 + 0.1 * (shares / static_cast<int>(std::pow(3, n++)) % 3);
          cuts[i][o] = static_cast<Index>(mesh.vertices.size());
          mesh.vertices.push_back((1 - t) * lattice.position(corners[i]) + t * lattice.position(corners[o]));
        }
      }
      const auto rank = [&](std::size_t i, std::size_t o) {
        if ((corners[i][0] & 1) == (corners[o][0] & 1)) return 0;
        return BccLattice::parity(corners[i]) == BccLattice::parity(corners[o]) ? 2 : 1;
      };
      fill_lattice_tet(
          {0, 1, 2, 3}, inside, [&](std::size_t i, std::size_t o) { return cuts[i][o]; }, rank,
          [](Index u, Index v, Index w, Index x) { return u + v < w + x; },
          [&](const TetMesh::Element& tet) { mesh.elements.push_back(tet); });
      for (const double volume : element_volumes(mesh)) EXPECT_GT(volume, 0);
      EXPECT_TRUE(surface_topology(boundary_surface(mesh).surface).watertight());
      worst = std::min(worst, quality(mesh).dihedral.min);
    }
  }
  EXPECT_GT(worst, 17.4);
}

// ---- shapes with known answers --------------------------------------------------------------------------------------

TEST(Tetrahedralize, ABoxKeepsItsVolume) {
  const TetMeshingResult made = fill(box({0, 0, 0}, {1, 2, 3}), 4000);
  expect_sound(made, 4000);
  EXPECT_NEAR(made.report.volume, 6, 0.1);
  EXPECT_EQ(made.report.pieces, 1);
  // Edges of the box are cut off where following them would flatten tetrahedra below ten degrees.
  EXPECT_LT(made.report.skin_to_input.mean, 0.05 * made.report.cube);
}

TEST(Tetrahedralize, InsideOutAndDoubledIsTheSameBody) {
  Surface surface = box({0, 0, 0}, {1, 2, 3});
  for (Triangle& t : surface.triangles) std::swap(t[0], t[1]);
  append(surface, box({0, 0, 0}, {1, 2, 3}));
  surface.triangles.push_back({0, 0, 1});
  const TetMeshingResult made = fill(surface, 4000);
  expect_sound(made, 4000);
  EXPECT_NEAR(made.report.volume, 6, 0.1);
  EXPECT_EQ(made.report.dropped_triangles, 13);
}

TEST(Tetrahedralize, NeighborsAreNotFused) {
  // Two blocks a hundredth of a cell apart: two pieces, and nothing lost of either.
  Surface surface = box({0, 0, 0}, {1, 1, 1});
  append(surface, box({1.001, 0, 0}, {2.001, 1, 1}));
  const TetMeshingResult made = fill(surface, 4000);
  expect_sound(made, 4000);
  EXPECT_EQ(made.report.pieces, 2);
  EXPECT_NEAR(made.report.volume, 2, 0.1);
  EXPECT_GT(made.report.cube, 0.05);
}

TEST(Tetrahedralize, ThinFingersStayApartAndOn) {
  // A palm with three fingers, each a third of a cell thick and as far from the next.
  Surface palm = box({0, 0, 0}, {1, 1, 0.5});
  for (int k = 0; k < 3; ++k) {
    const double y = 0.4 + 0.05 * k;
    append(palm, box({0.9, y, 0.2}, {1.6, y + 0.025, 0.225}));
  }
  const TetMeshingResult made = fill(palm, 3000);
  expect_sound(made, 3000);
  EXPECT_GT(made.report.cube, 0.1);
  EXPECT_EQ(made.report.pieces, 1);
  EXPECT_GT(bounds_of(made.mesh.vertices).max.x(), 1.55);
  // Across the fingers, a slice holds three separate loops: as many pieces as fingers where x > 1.2.
  TetMesh tips;
  tips.vertices = made.mesh.vertices;
  for (const auto& tet : made.mesh.elements) {
    double least = 1e9;
    for (const Index v : tet) least = std::min(least, made.mesh.vertices[to_size(v)].x());
    if (least > 1.15) tips.elements.push_back(tet);
  }
  EXPECT_EQ(connected_components(tips).count, 3);
}

/// Two prongs on a base, one closed surface: a square of 2 with a slit from above down to y = 0.5.
Surface fork(double gap) {
  constexpr Index n = 8;
  const double left = 1 - gap / 2, right = 1 + gap / 2;
  Surface surface;
  for (const double z : {0.0, 0.7}) {
    for (const Vec3& x : {Vec3(0, 0, z), Vec3(2, 0, z), Vec3(2, 2, z), Vec3(right, 2, z), Vec3(right, 0.5, z),
                          Vec3(left, 0.5, z), Vec3(left, 2, z), Vec3(0, 2, z)})
      surface.vertices.push_back(x);
  }
  const auto quad = [&](Index a, Index b, Index c, Index d) {
    surface.triangles.push_back({a, b, c});
    surface.triangles.push_back({a, c, d});
  };
  for (Index i = 0; i < n; ++i) quad(i, (i + 1) % n, n + (i + 1) % n, n + i);
  for (const auto& [a, b, c, d] : {std::array<Index, 4>{0, 5, 6, 7}, {0, 1, 4, 5}, {1, 2, 3, 4}}) {
    quad(n + a, n + b, n + c, n + d);
    quad(a, d, c, b);
  }
  return surface;
}

/// Pieces that hang together by tetrahedra for which `pick(lowest y, highest y)` is true.
template <class Pick>
Index pieces_where(const TetMesh& mesh, const Pick& pick) {
  TetMesh picked;
  picked.vertices = mesh.vertices;
  for (const auto& tet : mesh.elements) {
    double low = 1e9, high = -1e9;
    for (const Index v : tet) {
      low = std::min(low, mesh.vertices[to_size(v)].y());
      high = std::max(high, mesh.vertices[to_size(v)].y());
    }
    if (pick(low, high)) picked.elements.push_back(tet);
  }
  return connected_components(picked).count;
}

TEST(Tetrahedralize, ProngsAreTwoFromTheirRootOn) {
  // Slits of half a cell down to a fourteenth: no tetrahedron bridges them farther than half a cell above their end.
  for (const double gap : {0.02, 0.06, 0.13}) {
    for (const int tets : {2000, 3000, 6000}) {
      SCOPED_TRACE(fmt::format("gap {} tets {}", gap, tets));
      const TetMeshingResult made = fill(fork(gap), tets);
      expect_sound(made, tets);
      EXPECT_GT(made.report.cube, 1.6 * gap);
      EXPECT_EQ(made.report.pieces, 1);
      const double above = 0.5 + 0.5 * made.report.cube;
      EXPECT_EQ(pieces_where(made.mesh, [&](double low, double) { return low > above; }), 2);
    }
  }
}

TEST(Tetrahedralize, ThighsAreNotFused) {
  // They part at 0.83 m, come within a quarter of a cell below that, and open from 0.75 m on: where cells hold both of
  // them, a tetrahedron that does reaches down by a cell at most.
  const auto file = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets/soup/smpl_man/human_man.obj";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "the shared assets aren't there";
  const Result<LoadedMesh> loaded = load_mesh(file);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const TetMeshingResult made = fill(std::get<Surface>(loaded->mesh), 6000);
  const double open = 0.75 - made.report.cube;
  EXPECT_LT(made.report.cube, 0.09);
  EXPECT_EQ(pieces_where(made.mesh, [&](double low, double) { return low < open; }), 2);
}

TEST(Tetrahedralize, TheSkinHasNoNeedlesslyShortEdges) {
  // Cut at every edge that leaves the flesh, a ball of this size has 3.66 tetrahedra per vertex.
  Surface ball;
  constexpr int rings = 24, sides = 48;
  for (int i = 0; i <= rings; ++i) {
    for (int j = 0; j < sides; ++j) {
      const double polar = 3.14159265358979 * i / rings, turn = 2 * 3.14159265358979 * j / sides;
      ball.vertices.push_back({std::sin(polar) * std::cos(turn), std::sin(polar) * std::sin(turn), std::cos(polar)});
    }
  }
  for (Index i = 0; i < rings; ++i) {
    for (Index j = 0; j < sides; ++j) {
      const Index a = i * sides + j, b = i * sides + (j + 1) % sides;
      ball.triangles.push_back({a, a + sides, b + sides});
      ball.triangles.push_back({a, b + sides, b});
    }
  }
  const TetMeshingResult made = fill(ball, 8000);
  expect_sound(made, 8000);
  EXPECT_GT(static_cast<double>(made.mesh.elements.size()) / static_cast<double>(made.mesh.vertices.size()), 3.8);
  EXPECT_LT(made.report.skin_to_input.mean, 0.04 * made.report.cube);
  EXPECT_EQ(surface_topology(boundary_surface(made.mesh).surface).euler_characteristic, 2);
}

TEST(Tetrahedralize, AnOpenSheetBecomesAShell) {
  Surface sheet;
  sheet.vertices = {{0, 0, 0}, {1, 0, 0.1}, {1, 1, 0}, {0, 1, 0.1}};
  sheet.triangles = {{0, 1, 2}, {0, 2, 3}};
  const TetMeshingResult made = fill(sheet, 3000);
  expect_sound(made, 3000);
  EXPECT_EQ(made.report.pieces, 1);
  EXPECT_LT(made.report.input_to_skin.max, made.report.cube);
  EXPECT_LT(made.report.skin_to_input.max, made.report.cube);
}

TEST(Tetrahedralize, WingsAreNotPerforated) {
  // Wings and fins of about half a cell. A hole at every place where no site falls into them would make a hundred.
  const auto file = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets/soup/plane_holes/plane_holes.obj";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "the shared assets aren't there";
  const Result<LoadedMesh> loaded = load_mesh(file);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const TetMeshingResult made = fill(std::get<Surface>(loaded->mesh), 16000);
  expect_sound(made, 16000);
  EXPECT_GE(surface_topology(boundary_surface(made.mesh).surface).euler_characteristic, 2 - 2 * 5);
}

TEST(Tetrahedralize, TwoSidesOfThinFleshDoNotTouch) {
  // Wings, fins and twigs thinner than a cell: hardly a hole, not even one of no width. Where the lattice falls decides
  // the last of them; as slits between neighbours of one sheet there were up to ten in each.
  for (const char* name : {"rigged/quat_manta_ray/Manta_ray.glb", "rigged/quat_shark/Shark.glb",
                           "soup/tree_dead/CommonTree_Dead_1.glb", "soup/tree_gnarled/tree5.glb"}) {
    SCOPED_TRACE(name);
    const auto file = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets" / name;
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "the shared assets aren't there";
    const Result<LoadedMesh> loaded = load_mesh(file);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    const TetMeshingResult made = fill(std::get<Surface>(loaded->mesh), 6000);
    expect_sound(made, 6000);
    const SurfaceTopology skin = surface_topology(boundary_surface(made.mesh).surface);
    EXPECT_LE(skin.nonmanifold_vertices, 1);
    EXPECT_GE(skin.euler_characteristic, 2 - 2 * 3);
  }
}

TEST(Tetrahedralize, TwoSidesOfSlopingPlatesDoNotTouch) {
  // From a twentieth of a cell to a third, at angles that no plane of the lattice has.
  for (const double thickness : {0.01, 0.03, 0.06}) {
    for (const double slope : {0.37, 0.74, 1.11}) {
      SCOPED_TRACE(fmt::format("thickness {} slope {}", thickness, slope));
      const double c = std::cos(slope), s = std::sin(slope);
      Surface plate = box({0, 0, 0}, {1.7, 1.3, thickness});
      for (Vec3& x : plate.vertices) {
        x = Vec3(x.x(), c * x.y() - s * x.z(), s * x.y() + c * x.z());
        x = Vec3(0.8 * x.x() - 0.6 * x.y(), 0.6 * x.x() + 0.8 * x.y(), x.z());
      }
      const TetMeshingResult made = fill(plate, 4000);
      expect_sound(made, 4000);
      EXPECT_GT(made.report.cube, 2.4 * thickness);
      EXPECT_EQ(surface_topology(boundary_surface(made.mesh).surface).nonmanifold_vertices, 0);
    }
  }
}

/// One of several ways for a shape to lie in the lattice.
Surface turned(Surface surface, double way) {
  const Mat3 turn = (Eigen::AngleAxisd(0.7 * way, Vec3(0.3, 0.5, 0.81).normalized()) *
                     Eigen::AngleAxisd(1.1 * way, Vec3(-0.8, 0.2, 0.3).normalized()))
                        .toRotationMatrix();
  for (Vec3& x : surface.vertices) x = turn * x;
  return surface;
}

TEST(Tetrahedralize, PlatesAreWholeWhereverTheLatticeFalls) {
  // From a fiftieth of a cell to one and a half: balls, without a tunnel, a cavity or a pinched vertex.
  for (const double thickness : {0.002, 0.03, 0.1, 0.14}) {
    for (const double way : {0.3, 1.3, 2.3, 3.3}) {
      SCOPED_TRACE(fmt::format("thickness {} way {}", thickness, way));
      const TetMeshingResult made = fill(turned(box({0, 0, 0}, {1.7, 1.3, thickness}), way), 3000);
      expect_sound(made, 3000);
      const SurfaceTopology skin = surface_topology(boundary_surface(made.mesh).surface);
      EXPECT_EQ(skin.nonmanifold_vertices, 0);
      EXPECT_EQ(skin.euler_characteristic, 2);
    }
  }
}

TEST(Tetrahedralize, ThinFleshIsWholeWhereverTheLatticeFalls) {
  // A sheet of no thickness that becomes a ring, twigs, and wings and fins: exactly their topology, and no pinched
  // vertex. A hole at every place where no site falls into the ring would make about ten.
  for (const auto& [name, euler] : {std::pair("gc_pathological/moebius.obj", 0),
                                    {"tree_dead/CommonTree_Dead_1.glb", 2},
                                    {"plane_holes/plane_holes.obj", 2}}) {
    const auto file = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets/soup" / name;
    if (!std::filesystem::exists(file)) GTEST_SKIP() << "the shared assets aren't there";
    const Result<LoadedMesh> loaded = load_mesh(file);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    for (const double way : {0, 1, 2, 3}) {
      SCOPED_TRACE(fmt::format("{} way {}", name, way));
      const TetMeshingResult made = fill(turned(std::get<Surface>(loaded->mesh), way), 6000);
      expect_sound(made, 6000);
      const SurfaceTopology skin = surface_topology(boundary_surface(made.mesh).surface);
      EXPECT_EQ(skin.nonmanifold_vertices, 0);
      EXPECT_EQ(skin.euler_characteristic, euler);
    }
  }
}

/// Chords between neighbouring sites come out of a bowl; none of them may slit it.
TEST(Tetrahedralize, DentsAreNoSlits) {
  constexpr int n = 40;
  Surface surface;
  for (int side = 0; side < 2; ++side) {
    for (int j = 0; j <= n; ++j) {
      for (int i = 0; i <= n; ++i) {
        const double x = 2.0 * i / n - 1, y = 2.0 * j / n - 1;
        surface.vertices.push_back({x, y, side == 0 ? -0.8 : 0.5 * (x * x + y * y)});
      }
    }
  }
  const auto at = [](int side, int i, int j) { return static_cast<Index>(side * (n + 1) * (n + 1) + j * (n + 1) + i); };
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      surface.triangles.push_back({at(1, i, j), at(1, i + 1, j), at(1, i + 1, j + 1)});
      surface.triangles.push_back({at(1, i, j), at(1, i + 1, j + 1), at(1, i, j + 1)});
      surface.triangles.push_back({at(0, i, j), at(0, i + 1, j + 1), at(0, i + 1, j)});
      surface.triangles.push_back({at(0, i, j), at(0, i, j + 1), at(0, i + 1, j + 1)});
    }
    for (const bool far : {false, true}) {
      const int e = far ? n : 0;
      const auto wall = [&](Index a, Index b, Index c, Index d) {
        surface.triangles.push_back(far ? Triangle{a, b, c} : Triangle{a, c, b});
        surface.triangles.push_back(far ? Triangle{b, d, c} : Triangle{b, c, d});
      };
      wall(at(0, e, j), at(0, e, j + 1), at(1, e, j), at(1, e, j + 1));
      wall(at(0, j + 1, e), at(0, j, e), at(1, j + 1, e), at(1, j, e));
    }
  }
  const TetMeshingResult made = fill(surface, 6000);
  expect_sound(made, 6000);
  const Surface skin = boundary_surface(made.mesh).surface;
  EXPECT_EQ(surface_topology(skin).euler_characteristic, 2);
  // In the bowl, away from its rim, the skin follows the surface to a small part of a cell.
  for (const Vec3& x : skin.vertices) {
    const double height = 0.5 * (x.x() * x.x() + x.y() * x.y());
    if (std::max(std::abs(x.x()), std::abs(x.y())) < 0.7 && x.z() > -0.5) {
      EXPECT_NEAR(x.z(), height, 0.1 * made.report.cube);
    }
  }
}

TEST(Tetrahedralize, SameBitsForAnyThreadCount) {
  Surface surface = box({0, 0, 0}, {1, 1, 1});
  append(surface, box({0.9, 0.5, 0.5}, {2, 0.52, 0.52}));
  set_thread_count(1);
  const TetMeshingResult one = fill(surface, 2000);
  set_thread_count(3);
  const TetMeshingResult three = fill(surface, 2000);
  set_thread_count(0);
  EXPECT_EQ(one.mesh.elements, three.mesh.elements);
  EXPECT_EQ(one.mesh.vertices, three.mesh.vertices);
}

/// Two fingers thinner than a cell and a box: thin flesh, where nearest triangles at edges decide.
TEST(Tetrahedralize, TheOrderOfAFileDoesNotMatter) {
  Surface hand = box({0, 0, 0}, {1, 1, 0.5});
  append(hand, box({0.2, 0.9, 0.2}, {0.3, 2, 0.26}));
  append(hand, box({0.34, 0.9, 0.2}, {0.44, 2, 0.26}));
  const TetMeshingResult first = fill(hand, 1500);
  for (const unsigned seed : {1u, 2u}) {
    std::vector<Index> place;
    const TetMeshingResult other = fill(shuffled(hand, seed, place), 1500);
    EXPECT_EQ(other.mesh.vertices, first.mesh.vertices);
    EXPECT_EQ(other.mesh.elements, first.mesh.elements);
  }
}

/// Closed ones too, all inside out, of which each would be looked for inside of all others.
/// So many small tetrahedra, apart from each other.
Surface loose_pieces(int count) {
  Surface soup;
  for (int k = 0; k < count; ++k) {
    const double x = k % 40, y = k / 40 % 40, z = k / 1600;  // NOLINT(bugprone-integer-division)
    const auto v = static_cast<Index>(soup.vertices.size());
    for (const Vec3& corner : {Vec3(0, 0, 0), Vec3(0.5, 0, 0), Vec3(0, 0.5, 0), Vec3(0, 0, 0.5)})
      soup.vertices.push_back(Vec3(x, y, z) + corner);
    for (const Triangle& t : {Triangle{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}})
      soup.triangles.push_back({v + t[0], v + t[1], v + t[2]});
  }
  return soup;
}

TEST(Tetrahedralize, FarTooManyPiecesAreRefusedAtOnce) {
  const Surface soup = loose_pieces(40000);
  const auto start = std::chrono::steady_clock::now();
  const Result<TetMeshingResult> made = tetrahedralize(soup, {.tets = 16000});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("40000 loose pieces"), std::string::npos) << made.error().message;
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 10);
}

/// What can't be had with cells as large as the whole isn't sought with larger ones, which look like nothing.
TEST(Tetrahedralize, MorePiecesThanTheTetrahedraAreForAreRefused) {
  const Surface soup = loose_pieces(200);
  const Result<TetMeshingResult> made = tetrahedralize(soup, {.tets = 1700});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("so many loose pieces that it takes"), std::string::npos) << made.error().message;
  const Result<TetMeshingResult> enough = tetrahedralize(soup, {.tets = 9000});
  ASSERT_TRUE(enough.ok()) << enough.error().message;
  EXPECT_EQ(enough->report.pieces, 200);
  EXPECT_LT(enough->report.input_to_skin.max, 1);  // pieces stand so far from each other
}

TEST(Tetrahedralize, BadInputIsOneSentence) {
  const auto message = [](const Surface& surface, int tets) {
    TetMeshingOptions options;
    options.tets = tets;
    const Result<TetMeshingResult> made = tetrahedralize(surface, options);
    EXPECT_FALSE(made.ok());
    return made.ok() ? "" : made.error().message;
  };
  EXPECT_NE(message({}, 1000).find("no triangles"), std::string::npos);
  Surface flat;
  flat.vertices = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  flat.triangles = {{0, 1, 2}};
  EXPECT_NE(message(flat, 1000).find("flat"), std::string::npos);
  flat.triangles = {{0, 1, 7}};
  EXPECT_NE(message(flat, 1000).find("vertex 7"), std::string::npos);
  EXPECT_NE(message(box({0, 0, 0}, {1, 1, 1}), 3).find("3 tetrahedra"), std::string::npos);
}

// ---- the wild -------------------------------------------------------------------------------------------------------

std::vector<std::filesystem::path> soup_files() {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path folder = std::filesystem::path(SUPPLE_SHARED_DIR) / "assets/soup";
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".obj" || extension == ".off" || extension == ".stl" || extension == ".ply")
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Tetrahedralize, EveryMeshOfTheSoupFolder) {
  const auto files = soup_files();
  if (files.empty()) GTEST_SKIP() << "the shared assets aren't there";
  constexpr int tets = 6000;
  for (const auto& file : files) {
    SCOPED_TRACE(file.filename().string());
    const Result<LoadedMesh> loaded = load_mesh(file);
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    const auto start = std::chrono::steady_clock::now();
    const TetMeshingResult made = fill(std::get<Surface>(loaded->mesh), tets);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const TetMeshingReport& report = made.report;
    std::cout << fmt::format(
        "{:32} {:6} tets, dihedral {:5.2f}, skin to input {:.2f} % mean {:5.2f} % max, input to skin {:.2f} % {:5.2f} "
        "%, "
        "spacing {:5.2f} %, pieces {} to {}, {:.2f} s\n",
        file.filename().string(), made.mesh.elements.size(), report.min_dihedral,
        100 * report.skin_to_input.mean / report.diagonal, 100 * report.skin_to_input.max / report.diagonal,
        100 * report.input_to_skin.mean / report.diagonal, 100 * report.input_to_skin.max / report.diagonal,
        100 * report.cube / report.diagonal, report.input_pieces, report.pieces, seconds);
    expect_sound(made, tets);
    EXPECT_LE(report.pieces, report.input_pieces);  // nothing comes off
    // Nothing of the input is farther than a cell from the skin, inner walls aside.
    EXPECT_LT(report.input_to_skin.mean, report.cube);
  }
}

}  // namespace
}  // namespace supple::tetrahedralize_test
