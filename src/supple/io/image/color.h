// SPDX-License-Identifier: Apache-2.0
// Colours. `Color` holds sRGB values from 0 to 1, what a colour picker shows; lighting works on linear values.
#pragma once

#include "supple/base/types.h"

namespace supple {

using Color = Eigen::Vector3f;

/// Converts a colour from sRGB to linear light, or back, each channel by itself. Values outside [0, 1] are clamped.
Color to_linear(const Color& srgb);
Color to_srgb(const Color& linear);

/// A colour from its hexadecimal name: 0xRRGGBB.
Color hex_color(std::uint32_t rgb);

/// A sequential colour map for t in [0, 1]: indigo, blue, teal, green, yellow. Lightness rises evenly, so that it reads
/// in grey and with any colour vision. It is an arc in the OKLab space, not a table.
Color color_map(double t);

}  // namespace supple
