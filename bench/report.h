// SPDX-License-Identifier: Apache-2.0
// What a benchmark writes: rows of one number each, with the published figure, another program's and our target beside
// it, and a description of the machine and the build.
#pragma once

#include "supple/base/result.h"
#include "supple/pictures/plot.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace supple::bench {

struct Row {
  std::string table;   ///< "fem/step"
  std::string row;     ///< "cube16k"
  std::string metric;  ///< "step_ms"
  std::optional<double> value = {};
  std::string unit = {};
  std::optional<double> paper = {};   ///< the published figure
  std::optional<double> peer = {};    ///< another program's
  std::optional<double> target = {};  ///< ours
  std::string error = {};             ///< why there is no value
};

struct Options {
  bool quick = false;                  ///< smaller sizes and fewer repetitions, for a first look
  std::vector<std::string> only = {};  ///< parts of the benchmark; empty: all

  bool wants(std::string_view part) const {
    return only.empty() || std::find(only.begin(), only.end(), part) != only.end();
  }
};

class Report {
 public:
  void add(Row row);
  const std::vector<Row>& rows() const { return rows_; }
  /// A figure, to be written as NAME.svg where somebody wants it.
  void add_plot(std::string name, Plot plot);
  Status write_plots(const std::filesystem::path& folder) const;

  std::string to_text() const;  ///< an aligned table
  std::string to_json() const;
  std::string to_csv() const;

 private:
  std::vector<Row> rows_;
  std::vector<std::pair<std::string, Plot>> plots_;
};

/// Median wall time of `work` in milliseconds, over `repetitions` runs after one that is not counted.
double median_ms(int repetitions, const std::function<void()>& work);

/// The middle one of some values; there must be one.
double median(std::vector<double> values);

/// The shortest wall time of `work` in milliseconds, likewise: for ceilings, which others on the machine only lower.
double best_ms(int repetitions, const std::function<void()>& work);

/// GB/s of reading `bytes` again and again, at best: the ceiling for data of that size, which lies in the level of the
/// caches that is large enough. For data that is read several times, `bytes` is its size, not what is read in all.
double read_bandwidth(std::size_t bytes);
/// GFLOP/s of a product of matrices in single precision, at best: the ceiling for arithmetic.
double product_gflops();

struct ChildResult {
  std::vector<double> values;  ///< what `work` returned
  double peak_memory = 0.0;    ///< largest resident size of the child [bytes]
};
/// Runs `work` in a process of its own, so that its peak memory is its own. Fails when the child does.
Result<ChildResult> run_in_child(const std::function<std::vector<double>()>& work);

/// Exponent p of the least-squares fit y ≈ c x^p.
double fitted_exponent(const std::vector<double>& x, const std::vector<double>& y);

/// Names that `run` knows.
std::vector<std::string> benchmark_names();
/// Runs one benchmark; one thread unless a row says otherwise.
Result<Report> run(const std::string& name, const Options& options);

Report run_fem(const Options& options);
Report run_subspace(const Options& options);
/// The pose-space system: its rigs, modes under contact, and steps of its soft tissue.
Report run_pose(const Options& options);
/// Trees of reduced domains: the 2011 paper's Table 1, accuracy, conservation and time against the number of domains.
Report run_domains(const Options& options);
/// Flesh at rest: the 2014 paper's tables of section 7 and iterations of Figure 4. All cores.
Report run_quasistatic(const Options& options);
/// Parts of run_pose: Table 3, the steps of our characters beside their full simulations, with the stages of a step
/// (Table 2), the comparisons of Figures 4 to 15, a character of 50,000 tetrahedra, and a crowd.
void add_pose_characters(Report& report, const Options& options);
/// Errors of our characters and of strangers' against their full simulations, a part of run_pose.
void add_pose_truth(Report& report, const Options& options);
/// How deep skin is inside skin without and with contact, a part of run_pose.
void add_pose_contact(Report& report, const Options& options);
/// The mascot beside its full simulation, a part of run_pose.
void add_pose_steps(Report& report, const Options& options);
/// Modes of posed characters under contact, a part of run_pose.
void add_pose_modes(Report& report, const Options& options);
/// Parts of run_subspace: the 2005 paper's own models; their bases from sketches and the swinging spoon.
void add_subspace_samples(Report& report, const Options& options);
/// The rows of free bodies, a part of run_subspace.
void add_subspace_floating(Report& report, const Options& options);
/// A ball against the bridge at 1 kHz, a part of run_subspace.
void add_subspace_haptics(Report& report, const Options& options);
void add_subspace_figures(Report& report, const Options& options);

}  // namespace supple::bench
