// SPDX-License-Identifier: Apache-2.0
// How stiff the parts of a plant are, when nobody knows. Trees are built by elastic similarity (T. A. McMahon, Size and
// Shape in Biology, 1973): frequencies go with the root of length, f ∝ 1/√L, from the trunk to the leaves.
//
// Every domain gets the stiffness with which it would carry its subtree, rigid, at that frequency; then all of them are
// scaled so that the whole tree's lowest frequency is the one asked for. That one is Rayleigh's: with the static shape
// u under a sideways pull g of all mass, ω² = ∫ρ g·u / ∫ρ |u|².
#pragma once

#include "supple/asset/domain_model.h"

namespace supple {

/// K0 = UᵀKU of a part at rest, as it was built: the same for all materials.
MatX rest_stiffness(const SubspaceModel& part);

/// Scales the stiffness of all domains. `height`: L of the whole [m]; no domain is faster than four times the lowest.
void tune_frequencies(DomainModel& model, double lowest, double height);

/// Rayleigh's estimate of the lowest frequency of a tree whose root is held [Hz]: no less than the true one.
double rayleigh_frequency(const DomainModel& model);

}  // namespace supple
