// SPDX-License-Identifier: Apache-2.0
// How modes are made visible: amplitudes that are seen but not absurd, and the motion of a plucked body.
#pragma once

#include "supple/mesh/volume_mesh.h"

#include <span>

namespace supple {

/// Largest factor for a mode shape such that no vertex moves farther than `max_displacement` and no element's
/// displacement gradient exceeds `max_gradient` (Frobenius norm): linear modes swell when they turn farther than that.
double visible_scale(const TetMesh& mesh, const VecX& shape, double max_displacement, double max_gradient);

/// Modal amplitudes of the body at rest under a force on `vertices` along `direction`:
///   q_i = φ_iᵀ f / (ω_i² φ_iᵀ M φ_i), with lumped M. The force's size is one, shared evenly.
std::vector<double> pluck_amplitudes(const TetMesh& mesh, std::span<const VecX> shapes,
                                     std::span<const double> frequencies_hz, std::span<const Index> vertices,
                                     const Vec3& direction);

/// A mode after release from amplitude 1 at t = 0: free damped vibration with damping ratio ζ < 1 and undamped
/// frequency f, starting from rest.
double ring(double time, double frequency_hz, double damping_ratio);

}  // namespace supple
