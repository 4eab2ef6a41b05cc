// SPDX-License-Identifier: Apache-2.0
// Short labels on pictures, without a font library.
//
// The letters are a 5 × 7 dot design of our own, two more rows for descenders. Neighbouring dots are joined by round
// strokes, so that they look drawn, at any size, rather than like a dot matrix.
#pragma once

#include "supple/io/image/color.h"
#include "supple/io/image/image.h"

#include <string_view>

namespace supple {

/// Width in pixels of a text whose capitals are `height` pixels high. Characters outside ASCII count as one '?' a byte.
double text_width(std::string_view text, double height);

/// Draws the text with the top left corner of its first capital at (x, y); parts outside the image are cut off.
void draw_text(Image& image, double x, double y, double height, const Color& color, std::string_view text);

}  // namespace supple
