// SPDX-License-Identifier: Apache-2.0
// The floor of a motion, and the soles that stand on it.
//
// Ankles alone don't tell who stands: on tiptoe they are high, and a longer foot needs them higher still. So each foot
// gets points of its sole, fixed to its joints, from the skin where there is one, and otherwise under the ankle and the
// toes of a pose that stands. A foot touches where its lowest point does.
//
// Recordings float: suits of inertial sensors don't see the floor, and theirs drifts by a decimetre or two within
// seconds. A floor is something to stand on, so it is the opening of the lowest point's height over time, with a window
// longer than people stay in the air (J. Serra, Image Analysis and Mathematical Morphology, 1982: the highest of the
// lowest, which fills jumps but keeps what lasts):
//
//   floor(t) = max over |s−t| ≤ w of  min over |r−s| ≤ w of  h(r)
//
// A floor that hardly moves is level and taken as such, by its lowest frames; one that moves by half a leg is a climb,
// and none of our business.
#pragma once

#include "supple/rig/motion/retarget_reference.h"
#include "supple/rig/raw_character.h"

namespace supple {

/// Under the ankle and the toes, at the height of the lowest joint of both feet. Needs body.stands().
Soles soles_of(const Skeleton& skeleton, const BodyJoints& body, const std::vector<Affine>& standing, const Vec3& up);

/// The lower skin of the feet at rest; empty where a foot has none.
Soles soles_of(const RawCharacter& character);

double lowest_point(std::span<const SolePoint> sole, const std::vector<Affine>& world, const Vec3& up);

/// Finds the height of the floor at each time of a motion whose lowest point is at `heights`. `leg`, the length of one,
/// tells what is a large change.
std::vector<double> find_floor(std::span<const double> times, std::span<const double> heights, double leg,
                               const FloorSettings& settings = {});

/// Height that one in twenty frames is below.
double low_height(std::span<const double> heights);

}  // namespace supple
