// SPDX-License-Identifier: Apache-2.0
// The door for deformable objects: anchored and free ones.
#include "supple/runtime/object.h"
#include "support/object_floats.h"

#include "runtime/allocation_counter.h"
#include "supple/asset/subspace_archive.h"
#include "supple/fem/modes.h"
#include "supple/mesh/box.h"
#include "supple/offline/forces/cubic_forces.h"

#include <gtest/gtest.h>

namespace supple::object_test {
namespace {

constexpr int modes = 6;

/// A bar, held at one end or nowhere.
Object bar(bool anchored) {
  TetMesh mesh = make_tet_box(Vec3(0.4, 0.1, 0.1), {4, 1, 1});
  set_uniform_material(mesh, {"soft", 1e5, 0.3, 1000});
  std::vector<Index> fixed;
  for (std::size_t v = 0; anchored && v < mesh.vertices.size(); ++v)
    if (mesh.vertices[v].x() < 1e-9) fixed.push_back(static_cast<Index>(v));
  const ElasticBody body = ElasticBody::create(mesh, MaterialModel::stvk).value();
  SubspaceModel model = build_subspace_model(mesh, compute_modes(body, fixed, {.count = modes}).value().shapes).value();
  model.fixed_vertices = fixed;
  const std::string bytes = encode_subspace_model(model);
  return Object::load(std::as_bytes(std::span(bytes)), "bar.supple").value();
}

Floats coordinates(const ObjectState& state) {
  Floats q(to_size(state.object().coordinate_count()));
  state.coordinates(q);
  return q;
}

TEST(Object, SaysWhatIsInTheFile) {
  const Object object = bar(true);
  EXPECT_TRUE(object.anchored());
  EXPECT_FALSE(bar(false).anchored());
  EXPECT_EQ(object.coordinate_count(), modes);
  EXPECT_NEAR(object.mass(), 0.4 * 0.1 * 0.1 * 1000, 1e-9);
  EXPECT_FALSE(object.triangles().empty());
  Floats rest(3 * to_size(object.vertex_count()));
  object.rest_positions(rest);
  ObjectState state = ObjectState::create(object).value();
  EXPECT_EQ(positions(state), rest);
  EXPECT_FALSE(Object::load("/does/not/exist.supple").ok());
  EXPECT_FALSE(ObjectState::create(object, {.time_step = -1}).ok());
}

TEST(ObjectState, AnAnchoredBarSagsAndAFreeOneFalls) {
  ObjectState held = ObjectState::create(bar(true), {.mass_damping = 5}).value();
  const Floats rest = positions(held);
  for (int k = 0; k < 300; ++k) EXPECT_FALSE(held.advance(1.0 / 60).recovered);
  const Floats sagged = positions(held);
  float lowest = 0;
  for (std::size_t k = 1; k < rest.size(); k += 3) lowest = std::min(lowest, sagged[k] - rest[k]);
  EXPECT_LT(lowest, -1e-3F);
  EXPECT_GT(lowest, -0.4F);

  ObjectState free = ObjectState::create(bar(false)).value();
  free.place({.position = {0, 10, 0}}, {1, 0, 0}, {0, 2, 0});
  for (int k = 0; k < 60; ++k) EXPECT_FALSE(free.advance(1.0 / 60).recovered);
  const Floats fallen = positions(free);
  double height = 0;
  for (std::size_t k = 1; k < fallen.size(); k += 3) height += fallen[k] / (static_cast<double>(fallen.size()) / 3);
  EXPECT_NEAR(height, 10 + 0.05 - 0.5 * 9.81, 0.05);
}

TEST(ObjectState, ForcesActUntilTheyAreTakenAway) {
  ObjectState state = ObjectState::create(bar(true), {.mass_damping = 5, .gravity = {0, 0, 0}}).value();
  const Floats rest = positions(state);
  std::size_t tip = 0;
  for (std::size_t v = 0; v < rest.size() / 3; ++v)
    if (rest[3 * v] > rest[3 * tip]) tip = v;
  const VertexForce forces[] = {{static_cast<int>(tip), {0, 0.2F, 0}}, {-1, {9, 9, 9}}};
  state.set_forces(forces);
  for (int k = 0; k < 240; ++k) state.advance(1.0 / 60);
  EXPECT_GT(positions(state)[3 * tip + 1] - rest[3 * tip + 1], 1e-4F);
  state.set_forces({});
  for (int k = 0; k < 600; ++k) state.advance(1.0 / 60);
  EXPECT_NEAR(positions(state)[3 * tip + 1], rest[3 * tip + 1], 1e-5);
}

TEST(ObjectState, AnyDisplayRateGivesTheSameMotion) {
  for (const bool anchored : {true, false}) {
    const Object object = bar(anchored);
    ObjectState slow = ObjectState::create(object).value(), fast = ObjectState::create(object).value();
    for (int k = 0; k < 30; ++k) slow.advance(1.0 / 30);
    for (int k = 0; k < 144; ++k) fast.advance(1.0 / 144);
    EXPECT_LT(largest_difference(positions(slow), positions(fast)), 1e-5F);
  }
}

TEST(ObjectState, ContinuesWithTheSameBits) {
  for (const bool anchored : {true, false}) {
    const Object object = bar(anchored);
    ObjectState state = ObjectState::create(object).value(), other = ObjectState::create(object).value();
    state.place({.position = {0, 1, 0}}, {1, 0, 0}, {0, 3, 1});
    for (int k = 0; k < 20; ++k) state.advance(0.013);
    std::vector<std::byte> saved(state.saved_size());
    ASSERT_TRUE(state.save(saved));
    ASSERT_TRUE(other.restore(saved));
    for (ObjectState* moved : {&state, &other})
      for (int k = 0; k < 50; ++k) moved->advance(0.017);
    EXPECT_EQ(coordinates(state), coordinates(other));
    EXPECT_EQ(positions(state), positions(other));
    EXPECT_FALSE(other.restore(std::span(saved).first(20)));
    state.reset();
    EXPECT_EQ(coordinates(state), Floats(modes, 0.0F));
  }
}

TEST(ObjectState, AllocatesNothing) {
  for (const bool anchored : {true, false}) {
    ObjectState state = ObjectState::create(bar(anchored)).value();
    Floats x(3 * to_size(state.object().vertex_count())), q(modes);
    const VertexForce forces[] = {{2, {0, 1, 0}}};
    const long before = allocation_count();
    for (int k = 0; k < 20; ++k) {
      state.set_forces(forces);
      state.set_gravity({0, -1, 0});
      state.advance(0.01);
      state.positions(x);
      state.displacements(x);
      state.coordinates(q);
    }
    EXPECT_EQ(allocation_count() - before, 0) << (anchored ? "anchored" : "free");
  }
}

}  // namespace
}  // namespace supple::object_test
