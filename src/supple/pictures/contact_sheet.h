// SPDX-License-Identifier: Apache-2.0
// Contact sheets: several pictures with captions on one page.
#pragma once

#include "supple/io/image/color.h"
#include "supple/io/image/image.h"

#include <span>
#include <string>

namespace supple {

struct SheetPanel {
  Image image;
  std::string caption;  ///< lower left corner
  std::string note;     ///< after the caption, lighter
};

struct SheetStyle {
  int columns = 3;
  int gap = 10;
  double text_height = 13;  ///< of capitals, in pixels
  std::string title;
  std::string subtitle;
  Color paper = hex_color(0xffffff);
  Color ink = hex_color(0x2b2f36);
  Color pale_ink = hex_color(0x68707b);
};

/// All panels have the size of the first; others are cut or padded with paper.
Image contact_sheet(std::span<const SheetPanel> panels, const SheetStyle& style);

}  // namespace supple
