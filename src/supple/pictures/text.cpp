// SPDX-License-Identifier: Apache-2.0
#include "supple/pictures/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace supple {
namespace {

constexpr int glyph_columns = 5;
constexpr int glyph_rows = 9;
constexpr int glyphs_per_band = 16;
constexpr double stroke_radius = 0.42;  // in dots

// ASCII 32 to 126 in six bands of 16 glyphs, each glyph five dots wide with a blank column after it.
// clang-format off
constexpr std::array<std::string_view, std::size_t{6 * glyph_rows}> font = {
    "        #    # #   # #    #   ##     ##     #      #   #                                      # ",
    "        #    # #   # #   #### ##  # #  #    #     #     #     #     #                        #  ",
    "        #    # #  ##### # #      #  # #     #    #       #  # # #   #                        #  ",
    "        #          # #   ###    #    #           #       #   ###  #####        ###          #   ",
    "        #         #####   # #  #    # # #        #       #  # # #   #                      #    ",
    "                   # #  ####  #  ## #  #          #     #     #     #                      #    ",
    "        #          # #    #      ##  ## #          #   #                  #           #   #     ",
    "                                                                          #                     ",
    "                                                                         #                      ",
    " ##     #    ###   ###     #  #####   ##  #####  ###   ###                 #         #     ###  ",
    "#  #   ##   #   # #   #   ##  #      #        # #   # #   #               #           #   #   # ",
    "#  #  # #       #     #  # #  ####  #        #  #   # #   #   #     #    #    #####    #      # ",
    "#  #    #      #    ##  #  #      # ####     #   ###   ####             #               #    #  ",
    "#  #    #     #       # #####     # #   #   #   #   #     #              #    #####    #    #   ",
    "#  #    #    #    #   #    #  #   # #   #   #   #   #    #    #           #           #         ",
    " ##     #   #####  ###     #   ###   ###    #    ###   ##           #      #         #      #   ",
    "                                                                   #                            ",
    "                                                                                                ",
    " ###    #   ####   ###  ####  ##### #####  ###  #   #  ###    ### #   # #     #   # #   #  ###  ",
    "#   #  # #  #   # #   # #   # #     #     #   # #   #   #      #  #  #  #     ## ## ##  # #   # ",
    "# ###  # #  #   # #     #   # #     #     #     #   #   #      #  # #   #     # # # ##  # #   # ",
    "# # # #   # ####  #     #   # ####  ####  #  ## #####   #      #  ##    #     # # # # # # #   # ",
    "# ### ##### #   # #     #   # #     #     #   # #   #   #      #  # #   #     #   # #  ## #   # ",
    "#     #   # #   # #   # #   # #     #     #   # #   #   #   #  #  #  #  #     #   # #  ## #   # ",
    " ###  #   # ####   ###  ####  ##### #      ###  #   #  ###   ##   #   # ##### #   # #   #  ###  ",
    "                                                                                                ",
    "                                                                                                ",
    "####   ###  ####   ###  ##### #   # #   # #   # #   # #   # #####  ###  #      ###    #         ",
    "#   # #   # #   # #   #   #   #   # #   # #   # #   # #   #     #  #     #       #   # #        ",
    "#   # #   # #   # #       #   #   # #   # #   #  # #   # #     #   #     #       #  #   #       ",
    "####  #   # ####   ###    #   #   # #   # # # #   #     #     #    #      #      #              ",
    "#     # # # # #       #   #   #   #  # #  # # #  # #    #    #     #       #     #              ",
    "#     #  #  #  #  #   #   #   #   #  # #  ## ## #   #   #   #      #       #     #              ",
    "#      ## # #   #  ###    #    ###    #   #   # #   #   #   #####  ###      #  ###        ##### ",
    "                                                                                                ",
    "                                                                                                ",
    " #          #               #         ##        #       #     #   #      #                      ",
    "  #         #               #        #          #                 #      #                      ",
    "       ###  ####   ####  ####  ###  ####   #### ####    #     #   #  #   #    ## #  ####   ###  ",
    "          # #   # #     #   # #   #  #    #   # #   #   #     #   # #    #    # # # #   # #   # ",
    "       #### #   # #     #   # #####  #    #   # #   #   #     #   ##     #    # # # #   # #   # ",
    "      #   # #   # #     #   # #      #    #   # #   #   #     #   # #    #    # # # #   # #   # ",
    "       #### ####   ####  ####  ####  #     #### #   #   #     #   #  #    #   # # # #   #  ###  ",
    "                                              #               #                                 ",
    "                                           ###               #                                  ",
    "                         #                                          ##    #    ##               ",
    "                         #                                         #      #      #              ",
    "####   #### # ##   #### ####  #   # #   # #   # #   # #   # #####  #      #      #              ",
    "#   # #   # ##    #      #    #   # #   # #   #  # #  #   #    #  #       #       #  #          ",
    "#   # #   # #      ###   #    #   #  # #  # # #   #   #   #   #    #      #      #  # ##        ",
    "#   # #   # #         #  #    #   #  # #  # # #  # #  #   #  #     #      #      #              ",
    "####   #### #     ####    ##   ####   #    # #  #   #  #### #####   ##    #    ##               ",
    "#         #                                               #                                     ",
    "#         #                                            ###                                      ",
};
// clang-format on

struct Stroke {
  double x0, y0, x1, y1;
};

int glyph_index(char c) { return c >= 32 && c < 127 ? c - 32 : '?' - 32; }

bool dot(int glyph, int column, int row) {
  if (column < 0 || column >= glyph_columns || row < 0 || row >= glyph_rows) return false;
  const auto line = to_size(glyph / glyphs_per_band * glyph_rows + row);
  return font[line][to_size(glyph % glyphs_per_band * (glyph_columns + 1) + column)] == '#';
}

// Dots side by side are joined; dots on a diagonal only where no right-angled way joins them already.
void add_strokes(int glyph, double left, std::vector<Stroke>& strokes) {
  for (int row = 0; row < glyph_rows; ++row) {
    for (int column = 0; column < glyph_columns; ++column) {
      if (!dot(glyph, column, row)) continue;
      const auto add = [&](int dx, int dy) {
        strokes.push_back({left + column, double(row), left + column + dx, double(row + dy)});
      };
      add(0, 0);
      const bool right = dot(glyph, column + 1, row), below = dot(glyph, column, row + 1);
      if (right) add(1, 0);
      if (below) add(0, 1);
      if (dot(glyph, column + 1, row + 1) && !right && !below) add(1, 1);
      if (dot(glyph, column - 1, row + 1) && !dot(glyph, column - 1, row) && !below) add(-1, 1);
    }
  }
}

double distance(const Stroke& s, double x, double y) {
  const double dx = s.x1 - s.x0, dy = s.y1 - s.y0;
  const double squared = dx * dx + dy * dy;
  const double t = squared > 0 ? std::clamp(((x - s.x0) * dx + (y - s.y0) * dy) / squared, 0.0, 1.0) : 0.0;
  return std::hypot(x - s.x0 - t * dx, y - s.y0 - t * dy);
}

struct GlyphExtent {
  int first = 0;     // column of its leftmost dot
  double width = 0;  // from there to where the next letter begins
};

// Letters take the room they need, unlike a typewriter's.
GlyphExtent extent(int glyph) {
  if (glyph == 0) return {0, 3.0};
  int first = glyph_columns, last = 0;
  for (int row = 0; row < glyph_rows; ++row) {
    for (int column = 0; column < glyph_columns; ++column) {
      if (dot(glyph, column, row)) first = std::min(first, column), last = std::max(last, column);
    }
  }
  return {first, last - first + 2.1};
}

void blend(std::uint8_t* pixel, const Color& color, double coverage) {
  for (int channel = 0; channel < 3; ++channel) {
    const double mixed = pixel[channel] + coverage * (255.0 * color[channel] - pixel[channel]);
    pixel[channel] = static_cast<std::uint8_t>(std::lround(std::clamp(mixed, 0.0, 255.0)));
  }
}

// Draws strokes given in dots; (x, y) is the pixel of dot (0, 0), `scale` the pixels per dot.
void draw_strokes(Image& image, const std::vector<Stroke>& strokes, double x, double y, double scale,
                  const Color& color) {
  if (strokes.empty()) return;
  double left = 1e9, right = -1e9;
  for (const Stroke& s : strokes) left = std::min({left, s.x0, s.x1}), right = std::max({right, s.x0, s.x1});
  const int x_begin = std::max(0, static_cast<int>(x + (left - 1) * scale));
  const int x_end = std::min(image.width, static_cast<int>(x + (right + 1) * scale) + 2);
  const int y_begin = std::max(0, static_cast<int>(y - scale));
  const int y_end = std::min(image.height, static_cast<int>(y + glyph_rows * scale) + 2);
  for (int py = y_begin; py < y_end; ++py) {
    for (int px = x_begin; px < x_end; ++px) {
      double nearest = 1e9;
      for (const Stroke& s : strokes)
        nearest = std::min(nearest, distance(s, (px + 0.5 - x) / scale, (py + 0.5 - y) / scale));
      const double coverage = std::clamp((stroke_radius - nearest) * scale + 0.5, 0.0, 1.0);
      if (coverage > 0) blend(image.pixel(px, py), color, coverage);
    }
  }
}

}  // namespace

double text_width(std::string_view text, double height) {
  double dots = 0;
  for (const char c : text) dots += extent(glyph_index(c)).width;
  return text.empty() ? 0 : (dots - 1) * height / 7;
}

void draw_text(Image& image, double x, double y, double height, const Color& color, std::string_view text) {
  const double scale = height / 7;
  double left = 0;
  for (const char c : text) {
    const int glyph = glyph_index(c);
    const GlyphExtent room = extent(glyph);
    std::vector<Stroke> strokes;
    add_strokes(glyph, left - room.first, strokes);
    draw_strokes(image, strokes, x + 0.5 * scale, y + 0.5 * scale, scale, color);
    left += room.width;
  }
}

}  // namespace supple
