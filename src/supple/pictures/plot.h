// SPDX-License-Identifier: Apache-2.0
// Line plots as SVG text: curves over one axis, in one panel or several below each other.
//
// Colours are those of Okabe and Ito, which stay apart for every kind of colour vision; each series also has a dash
// pattern of its own, so that the plot survives a black and white printer and curves that lie on each other are seen.
#pragma once

#include "supple/base/result.h"

#include <filesystem>
#include <string>
#include <vector>

namespace supple {

/// A curve through (x[i], y[i]) in the given order. Where a value isn't finite the curve has a gap.
struct PlotSeries {
  std::string name;  ///< for the legend; series with the same name look the same in all panels; empty: not listed
  std::vector<double> x, y;
};

struct PlotPanel {
  std::string x_label, y_label;  ///< with the unit: "time [s]"
  std::vector<PlotSeries> series;
};

struct Plot {
  std::string title;
  std::vector<PlotPanel> panels;  ///< from top to bottom, of equal height
  double width = 900;             ///< [px]
  double panel_height = 360;      ///< [px]
};

/// The picture as a complete SVG document. Labels are plain text: what XML would read as markup is escaped.
std::string encode_plot(const Plot& plot);

/// Writes the SVG document. Fails when the file can't be written.
Status write_plot(const std::filesystem::path& path, const Plot& plot);

/// Round numbers (1, 2 or 5 times a power of ten apart) that cover [low, high] from outside, in at most `most` steps
/// (never fewer than two are allowed). Ends that are equal are moved apart; what isn't finite counts as [0, 1].
std::vector<double> nice_ticks(double low, double high, int most);

}  // namespace supple
