// SPDX-License-Identifier: Apache-2.0
// The page of `supple report`: every table and figure of the four papers (bench/papers.json lists them with the rows
// that belong there), what was measured beside what was published, and the command that measures it again. What is
// expected and wasn't measured is in red. One HTML file that needs nothing else.
#pragma once

#include "measured_rows.h"

namespace supple {

/// A drawing, a film or a live page of the results folder that goes into the report.
struct ReportPicture {
  std::string name;        ///< "subspace_spoon_trajectories"
  std::string media_type;  ///< "image/svg+xml"; "text/html": a page of `supple view`, which starts when somebody asks
  std::string bytes;
};

struct ReportPage {
  std::string html;
  std::size_t shown = 0;       ///< rows with a value
  std::size_t missing = 0;     ///< expected rows that aren't there, or that have no value
  std::size_t figures = 0;     ///< tables and figures of the papers
  std::size_t unmeasured = 0;  ///< those of them that nothing of ours stands beside
};

/// The benchmarks that the papers' tables and figures need.
std::vector<std::string> report_benches();

/// `machine` is the name of the folder with the results.
ReportPage make_report_page(const std::string& machine, const std::vector<MeasuredRun>& runs,
                            const std::vector<ReportPicture>& pictures);

}  // namespace supple
