// SPDX-License-Identifier: Apache-2.0
// What the materials of users may have.
#pragma once

namespace supple {

inline constexpr double stiffest_young = 1e15;  ///< [Pa]; diamond has 1e12
inline constexpr double highest_density = 1e9;  ///< [kg/m³]
/// Linear elements can't change their shape at a constant volume: closer to Poisson's ratio 0.5 a body is frozen, not
/// incompressible.
inline constexpr double highest_poisson = 0.4999;

}  // namespace supple
