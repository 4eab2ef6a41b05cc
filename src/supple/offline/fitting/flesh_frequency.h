// SPDX-License-Identifier: Apache-2.0
// Feel, not pascals: how fast flesh sways, as a number that scales with nothing.
//
// Push the whole body with an acceleration a: free flesh gives way by s = K⁻¹ M a. A mass on a spring gives way by
// a/ω², so at each vertex ω = √(a/s). The flesh's frequency is that of the tenth of its mass that gives way most,
// whatever the direction of the push: thin appendages that weigh little don't decide it, nor what sits close to bones.
// Stiffness counts linearly: f² ∝ E, so one solve tells how stiff flesh of a wanted frequency must be.
#pragma once

#include "supple/base/result.h"
#include "supple/fem/elastic_body.h"
#include "supple/runtime/rayleigh_damping.h"

#include <span>

namespace supple {

/// How far each vertex gives way to an acceleration of 1 m/s², in the direction that moves it most [m]. Fails when the
/// body isn't held everywhere.
Result<VecX> flesh_compliance(const ElasticBody& body, std::span<const Index> fixed);

/// [Hz] of the softest tenth of the mass of the vertices `free`, whose compliance is known.
double frequency_of(const ElasticBody& body, std::span<const Index> free, const VecX& compliance);

/// [Hz]. Fails when the body isn't held everywhere.
Result<double> flesh_frequency(const ElasticBody& body, std::span<const Index> fixed);

}  // namespace supple
