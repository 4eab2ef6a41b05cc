// SPDX-License-Identifier: Apache-2.0
// External forces as stacked vectors [N], to be added up by the caller.
#pragma once

#include "supple/fem/elastic_body.h"
#include "supple/mesh/surface.h"

#include <span>

namespace supple {

/// ∫ ρ g N_a dV for a uniform acceleration g [m/s²].
VecX gravity_force(const ElasticBody& body, const Vec3& acceleration);

/// Adds a force [N] at one vertex.
void add_point_force(VecX& force, Index vertex, const Vec3& newtons);

/// Adds a constant traction [N/m²] on triangles of the body's surface, at their rest area (a dead load).
void add_traction(VecX& force, const ElasticBody& body, std::span<const Triangle> triangles, const Vec3& traction);

/// Adds a pressure [Pa] on triangles of the displaced surface, against their outward normals (a follower load).
void add_pressure(VecX& force, const ElasticBody& body, const VecX& u, std::span<const Triangle> triangles,
                  double pressure);

}  // namespace supple
