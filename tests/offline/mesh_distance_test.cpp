// SPDX-License-Identifier: Apache-2.0
// Colliders of any closed mesh against colliders in closed form, and the meshes that are none.
#include "supple/offline/quasistatic/mesh_distance.h"
#include "supple/mesh/box.h"
#include "supple/mesh/topology.h"
#include "supple/offline/quasistatic/collider.h"

#include <gtest/gtest.h>

#include <random>

namespace supple::mesh_distance_test {
namespace {

/// Around the origin.
Surface box_surface(const Vec3& size) {
  Surface surface = boundary_surface(make_tet_box(size, {3, 2, 4})).surface;
  for (Vec3& x : surface.vertices) x -= 0.5 * size;
  return surface;
}

void turn_inside_out(Surface& surface) {
  for (Triangle& t : surface.triangles) std::swap(t[1], t[2]);
}

Surface both(const Surface& a, const Surface& b) {
  Surface result = a;
  const auto first = static_cast<Index>(a.vertices.size());
  result.vertices.insert(result.vertices.end(), b.vertices.begin(), b.vertices.end());
  for (Triangle t : b.triangles) result.triangles.push_back({t[0] + first, t[1] + first, t[2] + first});
  return result;
}

std::string fault_of(const Surface& surface) {
  const auto made = MeshDistance::create(surface);
  return made.ok() ? "" : made.error().message;
}

TEST(MeshDistance, IsThatOfTheBoxInClosedForm) {
  const Vec3 size(1, 0.6, 0.8);
  const Collider box{.shape = Collider::Shape::box, .size = size};
  const auto mesh = MeshDistance::create(box_surface(size)).value();
  std::mt19937 random(3);
  std::uniform_real_distribution<double> place(-1, 1);
  int inside = 0;
  for (int k = 0; k < 2000; ++k) {
    const Vec3 x(place(random), place(random), place(random));
    Vec3 out_mesh, out_box;
    const double wanted = box.distance(x, out_box);
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_NEAR(mesh->distance(x, infinity, out_mesh), wanted, 1e-12);
    EXPECT_LT((out_mesh - out_box).norm(), 1e-9);
    inside += wanted < 0 ? 1 : 0;
    // Beyond its reach anything may come that is beyond it.
    const double near = mesh->distance(x, 0.1, out_mesh);
    if (wanted < 0.1)
      EXPECT_NEAR(near, wanted, 1e-12);
    else
      EXPECT_GE(near, 0.1);
  }
  EXPECT_GT(inside, 50);
}

TEST(MeshDistance, OnATriangleItsNormalLeadsOut) {
  const auto mesh = MeshDistance::create(box_surface(Vec3(1, 1, 1))).value();
  Vec3 out;
  EXPECT_NEAR(mesh->distance(Vec3(0.5, 0.1, 0.05), 1, out), 0, 1e-12);
  EXPECT_LT((out - Vec3::UnitX()).norm(), 1e-9);
}

TEST(MeshDistance, SeamsOfAFileAreJoinedAndCavitiesAreOutside) {
  Surface outer = box_surface(Vec3(1, 1, 1)), inner = box_surface(Vec3(0.5, 0.5, 0.5));
  turn_inside_out(inner);
  Surface split;  // each triangle with vertices of its own, as STL has them
  for (const Triangle& t : both(outer, inner).triangles) {
    const Surface whole = both(outer, inner);
    for (const Index v : t) split.vertices.push_back(whole.vertices[to_size(v)]);
    const auto n = static_cast<Index>(split.vertices.size());
    split.triangles.push_back({n - 3, n - 2, n - 1});
  }
  const auto mesh = MeshDistance::create(split).value();
  Vec3 out;
  EXPECT_NEAR(mesh->distance(Vec3(0, 0, 0.1), 1, out), 0.15, 1e-12);
  EXPECT_LT((out + Vec3::UnitZ()).norm(), 1e-9);
  EXPECT_NEAR(mesh->distance(Vec3(0, 0, 0.3), 1, out), -0.05, 1e-12);
  EXPECT_LT((out + Vec3::UnitZ()).norm(), 1e-9);
}

TEST(MeshDistance, RefusesWhatHasNoInside) {
  Surface open = box_surface(Vec3(1, 1, 1));
  open.triangles.pop_back();
  EXPECT_NE(fault_of(open).find("is open"), std::string::npos);
  Surface inverse = box_surface(Vec3(1, 1, 1));
  turn_inside_out(inverse);
  EXPECT_NE(fault_of(inverse).find("inside out"), std::string::npos);
  Surface mixed = box_surface(Vec3(1, 1, 1));
  std::swap(mixed.triangles[0][0], mixed.triangles[0][1]);
  EXPECT_NE(fault_of(mixed).find("don't all look out"), std::string::npos);
  Surface beside = box_surface(Vec3(1, 1, 1));  // as turned round as it is alone, and in no other
  for (Vec3& x : beside.vertices) x += Vec3(3, 0, 0);
  turn_inside_out(beside);
  EXPECT_NE(fault_of(both(box_surface(Vec3(1, 1, 1)), beside)).find("inside out"), std::string::npos);
  EXPECT_NE(fault_of({}).find("no triangles"), std::string::npos);
}

}  // namespace
}  // namespace supple::mesh_distance_test
