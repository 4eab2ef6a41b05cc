// SPDX-License-Identifier: Apache-2.0
#include "supple/pictures/plot.h"

#include "supple/base/to_size.h"

#include "supple/io/file.h"
#include "supple/io/xml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace supple {
namespace {

constexpr double margin_left = 78, margin_right = 24, title_height = 44, legend_row_height = 24, axis_height = 58;
constexpr double font_size = 14, letter_width = 0.6 * font_size;

struct Look {
  const char* color;
  const char* dashes;
};
constexpr std::array<Look, 7> looks = {{{"#000000", "none"},
                                        {"#D55E00", "9 4"},
                                        {"#0072B2", "3 3"},
                                        {"#009E73", "12 3 3 3"},
                                        {"#CC79A7", "6 2"},
                                        {"#E69F00", "2 2"},
                                        {"#56B4E9", "16 4"}}};

// Differences of larger numbers could overflow.
bool drawable(double value) { return std::abs(value) < 1e150; }

/// From values to pixels along one axis.
struct Axis {
  double low = 0, high = 1;
  double from = 0, to = 1;  // [px]
  std::vector<double> ticks;

  double at(double value) const { return from + (to - from) * (value - low) / (high - low); }
};

struct Range {
  double low = INFINITY, high = -INFINITY;
  void add(double value) { low = std::min(low, value), high = std::max(high, value); }
};

/// A range of some width, also for no values or only one.
Range opened(Range range) {
  if (range.low > range.high || !drawable(range.low) || !drawable(range.high)) return {0, 1};
  if (range.high - range.low > 1e-12 * std::max(std::abs(range.low), std::abs(range.high))) return range;
  const double half = range.low == 0 ? 0.5 : 0.1 * std::abs(range.low);
  return {range.low - half, range.high + half};
}

std::size_t point_count(const PlotSeries& series) { return std::min(series.x.size(), series.y.size()); }

class SvgWriter {
 public:
  explicit SvgWriter(const Plot& plot) : plot_(plot) { name_series(); }

  std::string write() {
    const double top = title_height + legend_rows() * legend_row_height;
    const double height = top + static_cast<double>(plot_.panels.size()) * plot_.panel_height;
    append(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:g}\" height=\"{1:g}\" viewBox=\"0 0 {0:g} {1:g}\" "
        "font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" font-size=\"{2:g}\">\n",
        plot_.width, height, font_size);
    append("<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    append("<text x=\"{:g}\" y=\"26\" font-size=\"17\" font-weight=\"bold\" text-anchor=\"middle\">{}</text>\n",
           plot_.width / 2, xml_escaped(plot_.title));
    legend();
    double panel_top = top;
    for (const PlotPanel& panel : plot_.panels) {
      draw(panel, panel_top);
      panel_top += plot_.panel_height;
    }
    return svg_ + "</svg>\n";
  }

 private:
  template <class... Args>
  void append(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(svg_), format, std::forward<Args>(args)...);
  }

  void name_series() {
    for (const PlotPanel& panel : plot_.panels) {
      for (const PlotSeries& series : panel.series) {
        if (!series.name.empty() && std::find(names_.begin(), names_.end(), series.name) == names_.end())
          names_.push_back(series.name);
      }
    }
  }
  const Look& look_of(const PlotSeries& series, std::size_t place) const {
    const auto found = std::find(names_.begin(), names_.end(), series.name);
    if (found != names_.end()) place = to_size(found - names_.begin());
    return looks[place % looks.size()];
  }

  struct LegendEntry {
    double x;
    int row;
  };
  // Entries side by side, in as many rows as they need.
  std::vector<LegendEntry> legend_layout() const {
    std::vector<LegendEntry> layout;
    double x = margin_left;
    int row = 0;
    for (const std::string& name : names_) {
      const double width = 62 + letter_width * static_cast<double>(name.size());
      if (x > margin_left && x + width > plot_.width - margin_right) x = margin_left, ++row;
      layout.push_back({x, row});
      x += width;
    }
    return layout;
  }
  int legend_rows() const { return names_.empty() ? 0 : legend_layout().back().row + 1; }

  void legend() {
    const std::vector<LegendEntry> layout = legend_layout();
    for (std::size_t k = 0; k < names_.size(); ++k) {
      const Look& look = looks[k % looks.size()];
      const double y = title_height + layout[k].row * legend_row_height + 8;
      append(
          "<line x1=\"{:g}\" y1=\"{:g}\" x2=\"{:g}\" y2=\"{:g}\" stroke=\"{}\" stroke-width=\"2.2\" "
          "stroke-dasharray=\"{}\"/>\n",
          layout[k].x, y, layout[k].x + 36, y, look.color, look.dashes);
      append("<text x=\"{:g}\" y=\"{:g}\">{}</text>\n", layout[k].x + 42, y + 5, xml_escaped(names_[k]));
    }
  }

  void draw(const PlotPanel& panel, double top) {
    Range x_range, y_range;
    for (const PlotSeries& series : panel.series) {
      for (std::size_t i = 0; i < point_count(series); ++i) {
        if (drawable(series.x[i]) && drawable(series.y[i])) x_range.add(series.x[i]), y_range.add(series.y[i]);
      }
    }
    x_range = opened(x_range), y_range = opened(y_range);
    const double bottom = top + plot_.panel_height - axis_height;
    const std::vector<double> y_ticks =
        nice_ticks(y_range.low, y_range.high, std::max(2, static_cast<int>(plot_.panel_height / 45)));
    const Axis y{y_ticks.front(), y_ticks.back(), bottom, top + 10, y_ticks};
    const Axis x{x_range.low, x_range.high, margin_left, plot_.width - margin_right,
                 nice_ticks(x_range.low, x_range.high, std::max(2, static_cast<int>(plot_.width / 90)))};
    draw_axes(x, y, panel);
    for (std::size_t k = 0; k < panel.series.size(); ++k)
      draw_series(panel.series[k], x, y, look_of(panel.series[k], k));
  }

  void draw_axes(const Axis& x, const Axis& y, const PlotPanel& panel) {
    const auto line = [&](double x1, double y1, double x2, double y2, const char* color) {
      append("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"{}\"/>\n", x1, y1, x2, y2, color);
    };
    const auto text = [&](double tx, double ty, const char* anchor, const std::string& label) {
      append("<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\">{}</text>\n", tx, ty, anchor, xml_escaped(label));
    };
    const double slack = 1e-9 * (x.high - x.low);
    for (const double tick : x.ticks) {
      if (tick < x.low - slack || tick > x.high + slack) continue;
      line(x.at(tick), y.from, x.at(tick), y.to, "#dddddd");
      text(x.at(tick), y.from + 19, "middle", tick_label(tick, x.ticks));
    }
    for (const double tick : y.ticks) {
      line(x.from, y.at(tick), x.to, y.at(tick), "#dddddd");
      text(x.from - 8, y.at(tick) + 5, "end", tick_label(tick, y.ticks));
    }
    line(x.from, y.from, x.to, y.from, "#444444");
    line(x.from, y.from, x.from, y.to, "#444444");
    text((x.from + x.to) / 2, y.from + 42, "middle", panel.x_label);
    append("<text transform=\"translate(18 {:.2f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
           (y.from + y.to) / 2, xml_escaped(panel.y_label));
  }

  static std::string tick_label(double tick, const std::vector<double>& ticks) {
    const double step = ticks[1] - ticks[0];
    const double largest = std::max(std::abs(ticks.front()), std::abs(ticks.back()));
    if (largest >= 1e6 || step < 1e-4) return fmt::format("{:.6g}", tick);
    return fmt::format("{:.{}f}", tick, std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9))));
  }

  void draw_series(const PlotSeries& series, const Axis& x, const Axis& y, const Look& look) {
    const auto good = [&](std::size_t i) { return drawable(series.x[i]) && drawable(series.y[i]); };
    const std::size_t count = point_count(series);
    for (std::size_t i = 0; i < count; ++i) {
      if (!good(i)) continue;
      const std::size_t first = i;
      while (i + 1 < count && good(i + 1)) ++i;
      if (i == first) {  // between two gaps; a line of one point would not be seen
        append("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"2\" fill=\"{}\"/>\n", x.at(series.x[i]), y.at(series.y[i]),
               look.color);
        continue;
      }
      append(
          "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" stroke-linejoin=\"round\" "
          "stroke-dasharray=\"{}\" points=\"",
          look.color, look.dashes);
      for (std::size_t p = first; p <= i; ++p) {
        append("{}{:.2f},{:.2f}", p == first ? "" : " ", x.at(series.x[p]), y.at(series.y[p]));
      }
      append("\"/>\n");
    }
  }

  const Plot& plot_;
  std::vector<std::string> names_;
  std::string svg_;
};

}  // namespace

std::vector<double> nice_ticks(double low, double high, int most) {
  const Range range = opened({low, high});
  const double least = (range.high - range.low) / std::max(1, most);
  double decade = std::pow(10.0, std::floor(std::log10(least)));
  // From just below the wanted step upwards, until the rounded-out range needs few enough.
  for (;; decade *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double step = factor * decade;
      const double first = std::floor(range.low / step + 1e-9), last = std::ceil(range.high / step - 1e-9);
      // However narrow, a range may straddle a tick, so two steps are always allowed.
      if (last - first > std::max(2, most)) continue;
      std::vector<double> ticks;
      for (double k = first; k <= last; ++k) ticks.push_back(k == 0 ? 0.0 : k * step);
      if (ticks.size() > 1) return ticks;
    }
  }
}

std::string encode_plot(const Plot& plot) { return SvgWriter(plot).write(); }

Status write_plot(const std::filesystem::path& path, const Plot& plot) {
  return write_file_atomically(path, encode_plot(plot));
}

}  // namespace supple
