// SPDX-License-Identifier: Apache-2.0
// Bases from sketches and what bases are worth: what the static solves of a sketch cost (2005 paper, Figure 10), and
// how the spoon swings after a push, full and in three subspaces of the paper's size (section 7 and Figure 12).
//
// Sketches have as many loads as the paper's, and the spoon's pulls at two thirds of the way to the tip, where nothing
// is judged: the swing that compares bases is pushed at the tip. The paper's swings in
// the bases of modal derivatives and of a sketch have "almost correct amplitudes" and frequencies that are off by 4.6 %
// and 10.1 %.
#include "bench/report.h"

#include "samples/swing.h"
#include "supple/offline/modes/mass_pca.h"
#include "supple/offline/modes/modal_basis.h"
#include "supple/offline/sketch/sketch_basis.h"

#include <fmt/format.h>

#include <cmath>

#include <unistd.h>

namespace supple::bench {
namespace {

constexpr int swing_size = 12, swing_modes = 6;  // r and k of the paper's spoon

/// Figure 10; the time is for all solves of the selected loads. The tower and the heart had no sketch.
struct PublishedSketch {
  std::optional<double> loads, shapes, seconds;
};
PublishedSketch published_sketch(const std::string& name) {
  if (name == "spoon") return {353, 45, 45 * 60};
  if (name == "bridge") return {326, 142, 2.4 * 3600};
  return {};
}

class ScratchFolder {
 public:
  ScratchFolder() : path_(std::filesystem::temp_directory_path() / fmt::format("supple_bench_{}", getpid())) {}
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Pulled at this share of the way to the free end, where swings are pushed.
constexpr double pulled_along = 2.0 / 3;

Result<SketchBasis> sketch(const SubspaceSample& scene, const ElasticBody& body, int steps, int size) {
  const ScratchFolder folder;
  const Result<Modes> modes = compute_modes(body, scene.fixed_vertices, {.count = 12});
  SUPPLE_RETURN_IF_ERROR(modes);
  const Result<SketchRecording> pull = sketch_pull(scene, body, *modes, steps, pulled_along);
  SUPPLE_RETURN_IF_ERROR(pull);
  return solve_sketch(body, scene.fixed_vertices, *pull,
                      {.folder = folder.path(), .load_separation = 0.01, .size = size});
}

void add_figure10(Report& report, const std::string& name, const Result<SketchBasis>& basis) {
  const PublishedSketch paper = published_sketch(name);
  if (!basis.ok()) {
    report.add({.table = "subspace/figure10", .row = name, .metric = "one_solve_s", .error = basis.error().message});
    return;
  }
  const auto add = [&](const std::string& metric, double value, const std::string& unit, std::optional<double> figure) {
    report.add({.table = "subspace/figure10",
                .row = fmt::format("{}/{}_loads", name, basis->loads_recorded),
                .metric = metric,
                .value = value,
                .unit = unit,
                .paper = figure});
  };
  const double solves = basis->shapes_solved + static_cast<double>(basis->failures.size());
  add("selected_loads", basis->loads_selected, "1", paper.loads);
  add("failed_loads", static_cast<double>(basis->failures.size()), "1", {});
  add("selected_shapes", basis->shapes_selected, "1", paper.shapes);
  add("solves_s", basis->solve_seconds, "s", paper.seconds);
  std::optional<double> per_solve;
  if (paper.seconds) per_solve = *paper.seconds / *paper.loads;
  add("one_solve_s", basis->solve_seconds / solves, "s", per_solve);
}

class SwingRows {
 public:
  SwingRows(Report& report, const SubspaceSample& scene, const ElasticBody& body, const SwingSettings& settings)
      : report_(report), scene_(scene), body_(body), settings_(settings) {}

  void run(const Result<SketchBasis>& sketch) {
    full_ = swing_full(scene_, body_, settings_);
    if (!full_.ok()) return add_error("full", full_.error().message);
    const SwingMeasure measure = measure_swing(full_.value());
    if (const auto self = compare_swings(*full_, *full_); self.ok()) {
      add("full", "largest_height_m", measure.extremes[0], "m");
      add("full", "amplitude_m", self->amplitude, "m");
      add("full", "frequency_hz", self->frequency, "Hz");
    }
    show("full", *full_);

    const Result<MassPca> pca = mass_pca(body_.consistent_mass(), full_->shapes);
    if (!pca.ok()) return add_error("motion", pca.error().message);
    add_reduced("motion", pca->basis.leftCols(swing_size), {});
    const Result<ModalBasis> modal =
        build_modal_basis(body_, scene_.fixed_vertices, {.linear_modes = swing_modes, .size = swing_size});
    if (!modal.ok()) return add_error("derivatives", modal.error().message);
    add_reduced("derivatives", modal->basis, 4.6);
    if (sketch.ok()) {
      add_reduced("sketch", sketch->basis, 10.1);
    } else {
      add_error("sketch", sketch.error().message);
    }
    report_.add_plot("spoon_trajectories", plot());
  }

 private:
  void add(const std::string& row, const std::string& metric, double value, const std::string& unit,
           std::optional<double> paper = {}) {
    report_.add({.table = "subspace/figure12",
                 .row = row == "full" ? row : fmt::format("{}_r{}", row, swing_size),
                 .metric = metric,
                 .value = value,
                 .unit = unit,
                 .paper = paper,
                 .target = paper});
  }
  void add_error(const std::string& row, const std::string& message) {
    report_.add({.table = "subspace/figure12", .row = row, .metric = "frequency_error", .error = message});
  }

  void add_reduced(const std::string& name, const MatX& basis, std::optional<double> paper_frequency_error) {
    const Result<Swing> swing = swing_reduced(scene_, basis, settings_);
    if (!swing.ok()) return add_error(name, swing.error().message);
    const Result<SwingComparison> errors = compare_swings(*full_, *swing);
    if (!errors.ok()) return add_error(name, errors.error().message);
    add(name, "amplitude_m", errors->amplitude, "m");
    add(name, "frequency_hz", errors->frequency, "Hz");
    add(name, "amplitude_error", 100 * std::abs(errors->amplitude_error), "%");
    add(name, "frequency_error", 100 * std::abs(errors->frequency_error), "%", paper_frequency_error);
    add(name, "rms_error", 100 * errors->rms_error, "%");
    show(name == "motion" ? "the motion's own PCA" : name == "sketch" ? "sketch" : "modes and derivatives", *swing);
  }

  void show(const std::string& name, const Swing& swing) {
    heights_.push_back({name, swing.time, swing.height});
    if (name == "full") return;
    PlotSeries difference{name, swing.time, {}};
    for (std::size_t k = 0; k < swing.height.size(); ++k) {
      difference.y.push_back(100 * (swing.height[k] - full_->height[k]));
    }
    differences_.push_back(std::move(difference));
  }
  Plot plot() const {
    return {.title = fmt::format("Tip of the spoon (2.5 m) after a push: full, and in subspaces of {}", swing_size),
            .panels = {{"time [s]", "height over rest [m]", heights_},
                       {"time [s]", "difference from full [cm]", differences_}},
            .panel_height = 300};
  }

  Report& report_;
  const SubspaceSample& scene_;
  const ElasticBody& body_;
  SwingSettings settings_;
  Result<Swing> full_ = Swing{};
  std::vector<PlotSeries> heights_, differences_;
};

/// The spoon's sketch gives the basis of Figure 12. A quick one has a few loads.
Result<SketchBasis> measured_sketch(const SubspaceSample& scene, const ElasticBody& body, const Options& options) {
  const auto steps = [&](int loads) { return options.quick ? 1 : loads / 4; };  // to each of four corners
  if (scene.name == "spoon") return sketch(scene, body, steps(352), swing_size);
  if (scene.name == "bridge") return sketch(scene, body, steps(328), 0);
  return failure("not measured: the paper has no figure for it");
}

void add_swing(Report& report, const SubspaceSample& spoon, const ElasticBody& body, const Options& options,
               const Result<SketchBasis>& basis) {
  SwingSettings settings;
  if (options.quick) settings.seconds = 1.4, settings.time_step = 0.0176;
  SwingRows(report, spoon, body, settings).run(basis);
}

}  // namespace

void add_subspace_figures(Report& report, const Options& options) {
  for (const SubspaceSample& scene : make_subspace_samples()) {
    const bool is_spoon = scene.name == "spoon";
    if (options.quick && !is_spoon) continue;
    const ElasticBody body = ElasticBody::create(scene.bricks, MaterialModel::stvk).value();
    const Result<SketchBasis> basis = measured_sketch(scene, body, options);
    add_figure10(report, scene.name, basis);
    if (is_spoon) add_swing(report, scene, body, options, basis);
  }
}

}  // namespace supple::bench
