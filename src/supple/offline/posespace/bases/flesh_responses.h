// SPDX-License-Identifier: Apache-2.0
// How flesh answers to what moves it: the shapes that a reduced basis has to know.
//
//   K⁻¹ M ∂Φ/∂p_j: the rig moves flesh through its parameters, so M ∂Φ/∂p_j are the loads that there can be, whatever
//   the clip (load-dependent Ritz vectors: Wilson, Yuan and Dickens 1982)
#pragma once

#include "supple/fem/elastic_body.h"
#include "supple/rig/rig.h"

#include <span>
#include <vector>

namespace supple {

/// ∂Φ/∂p in pose p, one column for each way in which one parameter can change (by a radian, or a twentieth of the
/// height), evenly thinned out where there are more than `most`, and for each way in which the whole character can be
/// moved and turned.
MatX rig_accelerations(const Rig& rest, std::span<const double> p, double height, int most = 240);

}  // namespace supple
