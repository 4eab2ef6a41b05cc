// SPDX-License-Identifier: Apache-2.0
// The door for objects made of many parts.
#include "runtime/allocation_counter.h"
#include "supple/asset/domain_archive.h"
#include "supple/runtime/object.h"
#include "support/domain_bodies.h"
#include "support/object_floats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace supple::domain_object_test {
namespace {

Object stalk(bool held) {
  const DomainModel model = beam_of_domains(soft_beam(), 3, 5, held);
  const std::string bytes = encode_domain_model(model);
  return Object::load(std::as_bytes(std::span(bytes)), "stalk.supple").value();
}

TEST(DomainObject, StepsLikeAnyObject) {
  const Object object = stalk(true);
  EXPECT_TRUE(object.anchored());
  EXPECT_EQ(object.domain_count(), 3);
  EXPECT_EQ(object.coordinate_count(), 15);
  EXPECT_NEAR(object.mass(), 0.9 * 0.1 * 0.12 * 1000, 1e-9);
  ObjectState state = ObjectState::create(object).value();
  Floats rest(3 * to_size(object.vertex_count()));
  object.rest_positions(rest);
  EXPECT_LT(largest_difference(rest, positions(state)), 1e-6F);
  const VertexForce push{.vertex = object.vertex_count() - 1, .force = {0, 0, 2}};
  state.set_forces(std::span(&push, 1));
  state.set_wind({0, 0, 3});
  state.advance(0.01);
  const long allocations = allocation_count();
  for (int k = 0; k < 20; ++k) EXPECT_FALSE(state.advance(1.0 / 60).recovered);
  EXPECT_EQ(allocation_count(), allocations);
  EXPECT_GT(largest_difference(rest, positions(state)), 0.01F);
  Floats displaced(rest.size()), sum = rest;
  state.displacements(displaced);
  for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += displaced[k];
  EXPECT_LT(largest_difference(sum, positions(state)), 1e-5F);
}

TEST(DomainObject, SavedStatesGoOnWithTheSameBits) {
  const Object object = stalk(true);
  ObjectState state = ObjectState::create(object).value(), other = ObjectState::create(object).value();
  state.advance(0.1);
  std::vector<std::byte> bytes(state.saved_size());
  ASSERT_TRUE(state.save(bytes));
  ASSERT_TRUE(other.restore(bytes));
  state.advance(0.1);
  other.advance(0.1);
  EXPECT_EQ(positions(state), positions(other));
}

TEST(DomainObject, FreeOnesFallFromWhereTheyArePut) {
  const Object object = stalk(false);
  EXPECT_FALSE(object.anchored());
  ObjectState state = ObjectState::create(object).value();
  state.place({.position = {0, 2, 0}}, {1, 0, 0});
  Floats start = positions(state);
  const double t = 0.2;
  state.advance(t);
  const Floats end = positions(state);
  for (std::size_t v = 0; v < end.size(); v += 3) {
    EXPECT_NEAR(end[v] - start[v], t, 1e-4);
    EXPECT_NEAR(end[v + 1] - start[v + 1], -9.81 * t * t / 2, 1e-4);
  }
}

TEST(DomainObject, WhatHoldsItCanBeCarried) {
  const Object object = stalk(true);
  ObjectSettings settings;
  settings.gravity = {0, 0, 0};
  settings.stiffness_damping = 1;  // it swings at 0.2 Hz
  ObjectState carried = ObjectState::create(object, settings).value();
  Floats rest(3 * to_size(object.vertex_count()));
  object.rest_positions(rest);
  // Away and round by a quarter within half a second, sixty times a second: the free end lags behind.
  constexpr int frames = 30;
  double lag = 0;
  const long allocations = allocation_count();
  for (int k = 1; k <= frames + 1200; ++k) {
    const double s = std::min(1.0, static_cast<double>(k) / frames), half = s * std::numbers::pi / 4;
    carried.carry({.position = {0, static_cast<float>(0.5 * s), 0},
                   .rotation = {0, 0, static_cast<float>(std::sin(half)), static_cast<float>(std::cos(half))}});
    ASSERT_FALSE(carried.advance(1.0 / 60).recovered);
    if (k <= frames) {
      Floats off(rest.size());
      carried.displacements(off);
      for (const float u : off) lag = std::max(lag, std::abs(static_cast<double>(u)));
    }
  }
  EXPECT_LE(allocation_count() - allocations, frames);  // of the test itself
  EXPECT_GT(lag, 0.02);
  // At rest again it is where it was, turned and moved with its base.
  const Floats end = positions(carried);
  for (std::size_t v = 0; v < end.size(); v += 3) {
    EXPECT_NEAR(end[v], -rest[v + 1], 2e-3);
    EXPECT_NEAR(end[v + 1], 0.5 + rest[v], 2e-3);
    EXPECT_NEAR(end[v + 2], rest[v + 2], 2e-3);
  }
}

}  // namespace
}  // namespace supple::domain_object_test
