// SPDX-License-Identifier: Apache-2.0
#include "supple/pictures/contact_sheet.h"

#include "supple/pictures/text.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

void fill(Image& image, const Color& color) {
  for (std::size_t i = 0; i < image.rgba.size(); ++i)
    image.rgba[i] =
        i % 4 == 3 ? 255 : static_cast<std::uint8_t>(std::lround(255 * color[static_cast<Eigen::Index>(i % 4)]));
}

// Share of a pixel inside a rectangle with round corners.
double inside_rounded(double x, double y, double width, double height, double radius) {
  const double dx = std::max({radius - x, x - (width - radius), 0.0});
  const double dy = std::max({radius - y, y - (height - radius), 0.0});
  return std::clamp(radius - std::hypot(dx, dy) + 0.5, 0.0, 1.0);
}

void paste(Image& page, const Image& picture, int left, int top, int width, int height) {
  constexpr double corner_radius = 8;
  for (int y = 0; y < std::min(height, picture.height); ++y) {
    for (int x = 0; x < std::min(width, picture.width); ++x) {
      const double share = inside_rounded(x + 0.5, y + 0.5, width, height, corner_radius);
      std::uint8_t* to = page.pixel(left + x, top + y);
      const std::uint8_t* from = picture.pixel(x, y);
      for (int k = 0; k < 3; ++k) to[k] = static_cast<std::uint8_t>(std::lround(to[k] + share * (from[k] - to[k])));
    }
  }
}

}  // namespace

Image contact_sheet(std::span<const SheetPanel> panels, const SheetStyle& style) {
  if (panels.empty()) return Image(1, 1);
  const int width = panels[0].image.width, height = panels[0].image.height;
  const int columns = std::clamp(style.columns, 1, static_cast<int>(panels.size()));
  const int rows = (static_cast<int>(panels.size()) + columns - 1) / columns;
  const double text = style.text_height;
  const int header = style.title.empty() ? 0 : static_cast<int>(3.2 * text);
  Image page(columns * width + (columns + 1) * style.gap, header + rows * height + (rows + 1) * style.gap);
  fill(page, style.paper);
  if (header > 0) {
    const double y = style.gap + 0.8 * text, x = style.gap + 0.5 * text;
    draw_text(page, x, y, 1.4 * text, style.ink, style.title);
    const double end = page.width - style.gap - 0.5 * text - text_width(style.subtitle, text);
    draw_text(page, end, y + 0.4 * text, text, style.pale_ink, style.subtitle);
  }
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const int column = static_cast<int>(i) % columns, row = static_cast<int>(i) / columns;
    const int left = style.gap + column * (width + style.gap), top = header + style.gap + row * (height + style.gap);
    paste(page, panels[i].image, left, top, width, height);
    const double y = top + height - 2.2 * text;
    draw_text(page, left + 1.2 * text, y, text, style.ink, panels[i].caption);
    const double note_left = left + 2.4 * text + text_width(panels[i].caption, text);
    draw_text(page, note_left, y, text, style.pale_ink, panels[i].note);
  }
  return page;
}

}  // namespace supple
