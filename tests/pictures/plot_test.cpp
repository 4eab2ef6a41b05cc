// SPDX-License-Identifier: Apache-2.0
#include "supple/pictures/plot.h"

#include "supple/io/file.h"

#include "io/io_tools.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>

namespace supple::plot_test {
namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

PlotSeries wave(const std::string& name, int points) {
  PlotSeries series{name, {}, {}};
  for (int i = 0; i < points; ++i) {
    series.x.push_back(0.1 * i);
    series.y.push_back(std::sin(0.3 * i));
  }
  return series;
}

std::vector<std::string> all_matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) found.push_back((*it)[1]);
  return found;
}
std::vector<std::string> polylines(const std::string& svg) {
  return all_matches(svg, "<polyline[^>]* points=\"([^\"]*)\"");
}

std::vector<std::array<double, 2>> points_of(const std::string& polyline) {
  std::vector<std::array<double, 2>> points;
  const std::regex pair("([-0-9.]+),([-0-9.]+)");
  for (std::sregex_iterator it(polyline.begin(), polyline.end(), pair), end; it != end; ++it)
    points.push_back({std::stod((*it)[1]), std::stod((*it)[2])});
  return points;
}

/// Tags that close in the order in which they opened, attributes in quotes, no bare & or <.
void expect_well_formed(const std::string& svg) {
  std::vector<std::string> open;
  std::size_t at = 0;
  const std::regex tag("<(/?)([a-z]+)((?: [A-Za-z0-9-]+=\"[^\"<]*\")*)(/?)>");
  const std::regex reference("&(amp|lt|gt|quot);");
  while (at < svg.size()) {
    std::smatch match;
    const auto begin = svg.begin() + static_cast<std::ptrdiff_t>(at);
    if (svg[at] == '<') {
      ASSERT_TRUE(std::regex_search(begin, svg.end(), match, tag, std::regex_constants::match_continuous))
          << svg.substr(at, 80);
      if (match[1] == "/") {
        ASSERT_FALSE(open.empty());
        ASSERT_EQ(open.back(), match[2]);
        open.pop_back();
      } else if (match[4] != "/") {
        open.push_back(match[2]);
      }
      at += to_size(match.length());
    } else {
      if (svg[at] == '&') {
        ASSERT_TRUE(std::regex_search(begin, svg.end(), match, reference, std::regex_constants::match_continuous))
            << svg.substr(at, 80);
      }
      ASSERT_TRUE(static_cast<unsigned char>(svg[at]) >= 0x20 || svg[at] == '\n');
      ++at;
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(svg.rfind("<svg ", 0), 0u);
}

TEST(Plot, HasEverySeriesPointByPoint) {
  const Plot plot{"Two panels",
                  {{"time [s]", "height [m]", {wave("a", 20), wave("b", 30)}}, {"time [s]", "error", {wave("a", 10)}}}};
  const std::string svg = encode_plot(plot);
  expect_well_formed(svg);
  const auto lines = polylines(svg);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(points_of(lines[0]).size(), 20u);
  EXPECT_EQ(points_of(lines[1]).size(), 30u);
  EXPECT_EQ(points_of(lines[2]).size(), 10u);
  // One entry of the legend for each name, and the same look for the same name.
  EXPECT_EQ(all_matches(svg, ">(a)</text>").size(), 1u);
  EXPECT_EQ(all_matches(svg, ">(b)</text>").size(), 1u);
  const auto colors = all_matches(svg, "<polyline[^>]* stroke=\"([^\"]*)\"");
  EXPECT_EQ(colors[0], colors[2]);
  EXPECT_NE(colors[0], colors[1]);
  for (const char* label : {"Two panels", "time [s]", "height [m]", "error"})
    EXPECT_NE(svg.find(std::string(">") + label + "</text>"), std::string::npos) << label;
}

TEST(Plot, PutsPointsWhereTheAxesSay) {
  const Plot plot{"", {{"x", "y", {{"line", {0, 5, 10}, {0, 50, 100}}}}}};
  const std::string svg = encode_plot(plot);
  const auto points = points_of(polylines(svg).at(0));
  ASSERT_EQ(points.size(), 3u);
  // Straight in, straight out; y grows upwards on paper and downwards in SVG.
  EXPECT_NEAR(points[1][0], (points[0][0] + points[2][0]) / 2, 0.011);
  EXPECT_NEAR(points[1][1], (points[0][1] + points[2][1]) / 2, 0.011);
  EXPECT_GT(points[2][0], points[0][0]);
  EXPECT_LT(points[2][1], points[0][1]);
  // The label "100" stands at the height of the last point, 5 px lower for its baseline.
  const auto heights = all_matches(svg, "y=\"([0-9.]+)\" text-anchor=\"end\">100</text>");
  ASSERT_EQ(heights.size(), 1u);
  EXPECT_NEAR(std::stod(heights[0]) - 5, points[2][1], 0.011);
}

TEST(Plot, LeavesGapsWhereValuesAreNotFinite) {
  PlotSeries series{"gaps", {}, {}};
  for (int i = 0; i < 12; ++i) series.x.push_back(i), series.y.push_back(i);
  series.y[3] = nan_value;
  series.y[5] = infinity;
  series.x[9] = -infinity;
  series.y[11] = 1e300;
  const std::string svg = encode_plot({"", {{"x", "y", {series}}}});
  expect_well_formed(svg);
  const auto lines = polylines(svg);
  ASSERT_EQ(lines.size(), 2u);  // 0–2 and 6–8
  EXPECT_EQ(points_of(lines[0]).size(), 3u);
  EXPECT_EQ(points_of(lines[1]).size(), 3u);
  EXPECT_EQ(all_matches(svg, "<(circle) ").size(), 2u);  // 4 and 10 are alone
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(Plot, SurvivesEmptyAndConstantSeries) {
  const Plot plot{"", {{"", "", {{"none", {}, {}}, {"", {1}, {nan_value}}}}, {"", "", {{"flat", {0, 1}, {3, 3}}}}}};
  const std::string svg = encode_plot(plot);
  expect_well_formed(svg);
  EXPECT_EQ(polylines(svg).size(), 1u);
  expect_well_formed(encode_plot({}));
}

TEST(Plot, EscapesLabels) {
  const Plot plot{"<b>&\"title\"</b>", {{"a < b", "x & y\x01", {wave("1 > 0", 3)}}}};
  const std::string svg = encode_plot(plot);
  expect_well_formed(svg);
  for (const char* label : {"&lt;b&gt;&amp;&quot;title&quot;&lt;/b&gt;", "a &lt; b", "x &amp; y ", "1 &gt; 0"})
    EXPECT_NE(svg.find(std::string(">") + label + "</text>"), std::string::npos) << label;
}

TEST(Plot, TicksAreRoundAndCoverTheRange) {
  EXPECT_EQ(nice_ticks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(nice_ticks(-0.3, 0.9, 3), (std::vector<double>{-0.5, 0, 0.5, 1}));
  EXPECT_EQ(nice_ticks(7, 7, 4).front(), 6);
  EXPECT_EQ(nice_ticks(nan_value, 1, 4), nice_ticks(0, 1, 4));
  EXPECT_EQ(nice_ticks(0, infinity, 4), nice_ticks(0, 1, 4));
  for (const double low : {-1e9, -3.3, 0.0, 1e-7, 12345.678}) {
    for (const double width : {1e-6, 0.37, 42.0, 9.9e8}) {
      const auto ticks = nice_ticks(low, low + width, 6);
      SCOPED_TRACE(testing::Message() << low << " + " << width);
      ASSERT_GE(ticks.size(), 2u);
      EXPECT_LE(ticks.size(), 7u);
      EXPECT_LE(ticks.front(), low + 1e-8 * width + 1e-12 * std::abs(low));
      EXPECT_GE(ticks.back(), low + width - 1e-8 * width - 1e-12 * std::abs(low));
    }
  }
}

TEST(Plot, IsWrittenOrSaysWhyNot) {
  const ScratchFolder folder;
  const Plot plot{"t", {{"x", "y", {wave("a", 4)}}}};
  ASSERT_TRUE(write_plot(folder / "a.svg", plot).ok());
  EXPECT_EQ(*read_file(folder / "a.svg"), encode_plot(plot));
  EXPECT_FALSE(write_plot(folder / "none" / "a.svg", plot).ok());
}

}  // namespace
}  // namespace supple::plot_test
