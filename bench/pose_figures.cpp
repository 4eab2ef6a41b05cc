// SPDX-License-Identifier: Apache-2.0
#include "bench/pose_figures.h"

#include "bench/pose_ringing.h"
#include "supple/fem/elastic_body.h"
#include "supple/io/file.h"
#include "supple/math/dense/decompositions.h"
#include "supple/offline/modes/mass_pca.h"

#include <fmt/format.h>

#include <cmath>

namespace supple::bench {
namespace {

/// Milliseconds of Hahn et al.'s assembly alone, as the paper measured it.
std::optional<double> published_reassembly(std::string_view name) {
  if (name == "arm") return 38;
  if (name == "bear") return 82;
  if (name == "gorilla") return 320;
  return {};
}

class Figures {
 public:
  Figures(Report& report, const Options& options, const FigureInput& input)
      : report_(report), options_(options), in_(input), name_(input.published.name) {}

  void run() {
    const bool local = in_.recipe.flesh.local, small = name_ == "X" || name_ == "arm";
    add_row("all_poses", in_.row);
    add("all_poses", "largest_motion", 100 * in_.full.peak, "%", 3);
    add_reassembly();
    if (name_ != "gorilla") {
      const std::optional<CompareRow> one = add_variant("one_pose", [](Recipe& r) { r.flesh.poses = 1; });
      if (one)
        add("all_poses", "one_pose_error_over_all", one->error / in_.row.error, "",
            small ? std::optional(2.0) : std::nullopt);
    }
    if (small) {
      add_variant("all_poses world", [](Recipe& r) { r.flesh.directions = BasisDirections::world; });
      add_variant("one_pose world", [](Recipe& r) {
        r.flesh.poses = 1;
        r.flesh.directions = BasisDirections::world;
      });
    }
    if (local && name_ != "gorilla") add_variant("all_poses global", [](Recipe& r) { r.flesh.local = false; });
    if (name_ == "bear") add_ringing();
    if (name_ == "arm") add_variant("all_poses contact", [](Recipe& r) { r.flesh.contact = true; });
    if (small) add_pca();
    if (small) add_coarse();
    if (name_ == "X") add_between();
    if (name_ == "X") add_sizes();
  }

 private:
  void add(const std::string& variant, const char* metric, double value, const char* unit,
           std::optional<double> target = {}, std::optional<double> paper = {}) {
    report_.add({.table = "pose/figures",
                 .row = fmt::format("{} {}", name_, variant),
                 .metric = metric,
                 .value = value,
                 .unit = unit,
                 .paper = paper,
                 .target = target});
  }
  void add_error(const std::string& variant, const std::string& message) {
    report_.add({.table = "pose/figures",
                 .row = fmt::format("{} {}", name_, variant),
                 .metric = "error_vs_full",
                 .error = message});
  }
  void add_row(const std::string& variant, const CompareRow& row) {
    add(variant, "error_vs_full", row.error, "");
    add(variant, "projection_error", row.projection, "");
    add(variant, "elastic_error", row.elastic_error, "");
    add(variant, "step_ms", 1e3 * row.step_seconds, "ms");
  }

  Result<CompareRow> run_variant(const std::function<void(Recipe&)>& change) {
    Recipe recipe = in_.recipe;
    change(recipe);
    const Result<ReducedBody> reduced = reduce_again(in_.folder, recipe, in_.built);
    SUPPLE_RETURN_IF_ERROR(reduced);
    return in_.comparison.run_reduced(*reduced);
  }

  std::optional<CompareRow> add_variant(const std::string& variant, const std::function<void(Recipe&)>& change) {
    const Result<CompareRow> row = run_variant(change);
    if (!row.ok()) {
      add_error(variant, row.error().message);
      return {};
    }
    add_row(variant, *row);
    return *row;
  }

  /// UᵀKU, UᵀMU and Uᵀf over all elements, as a basis that changes in every step would need them.
  void add_reassembly() {
    const ReducedBody& reduced = in_.built.reduced;
    const Result<ElasticBody> body = ElasticBody::create(reduced.mesh, reduced.model->material);
    if (!body.ok()) return add_error("reassembly", body.error().message);
    BlockMatrix K = body->make_matrix();
    const VecX u = VecX::Zero(body->dof_count());
    VecX f(u.size());
    double checksum = 0;
    const double ms = median_ms(options_.quick ? 1 : 5, [&] {
      body->internal_force_and_stiffness(u, f, K);
      const MatX stiffness = reduced.basis.transpose() * multiply_columns(K, reduced.basis);
      const MatX mass = reduced.basis.transpose() * multiply_columns(body->consistent_mass(), reduced.basis);
      const VecX force = reduced.basis.transpose() * f;
      checksum += stiffness(0, 0) + mass(0, 0) + force[0];
    });
    if (!std::isfinite(checksum)) return add_error("reassembly", "what was assembled is no number");
    add("reassembly", "assembly_ms", ms, "ms", {}, published_reassembly(name_));
    add("reassembly", "assembly_over_step", ms / (1e3 * in_.row.step_seconds), "");
  }

  /// Flesh that moves in the principal directions of all poses' bases (Fig. 14), with all elements and in the frames
  /// that turn with it, which is more than pose-independent bases were given in the paper; and the best that
  /// coordinates in them could do.
  void add_pca() {
    const ReducedBody& reduced = in_.built.reduced;
    const Result<ElasticBody> body = ElasticBody::create(reduced.mesh, reduced.model->material);
    if (!body.ok()) return add_error("pca", body.error().message);
    const Eigen::Index r = reduced.basis.cols();
    MatX all(reduced.basis.rows(), r * std::ssize(reduced.poses));
    for (std::size_t i = 0; i < reduced.poses.size(); ++i)
      all.middleCols(static_cast<Eigen::Index>(i) * r, r) = reduced.poses[i].basis;
    const Result<MassPca> pca = mass_pca(body->consistent_mass(), std::move(all));
    if (!pca.ok()) return add_error("pca", pca.error().message);
    for (const Eigen::Index size : {r, 2 * r}) {
      const MatX basis = pca->basis.leftCols(std::min(size, pca->basis.cols()));
      const std::string variant = fmt::format("pca r={}", basis.cols());
      const Result<double> error = in_.comparison.error_in_basis(basis);
      if (error.ok())
        add(variant, "error_vs_full", *error, "");
      else
        add_error(variant, error.error().message);
      add(variant, "projection_error", in_.comparison.projection_error(reduced, basis), "");
    }
  }

  /// The cheeks are pulled and let go: in bases of patches, in one for the whole body, and in full (Fig. 11).
  void add_ringing() {
    const CheekPull pull(in_.built, in_.comparison.dynamics());
    const Result<Ringing> full = pull.full();
    if (!full.ok()) return add_error("pulled cheeks full", full.error().message);
    Recipe recipe = in_.recipe;
    recipe.flesh.local = false;
    const Result<ReducedBody> whole = reduce_again(in_.folder, recipe, in_.built);
    PlotPanel cheeks{"time [s]", "cheeks [mm]", {}}, arm{"time [s]", "left arm [mm]", {}};
    const auto show = [&](const std::string& variant, const Result<Ringing>& ringing) {
      const std::string row = "pulled cheeks " + variant;
      if (!ringing.ok()) return add_error(row, ringing.error().message);
      const auto most = [](const std::vector<double>& motion) {
        return *std::max_element(motion.begin(), motion.end());
      };
      add(row, "cheeks_mm", 1e3 * most(ringing->cheeks), "mm");
      add(row, "arm_mm", 1e3 * most(ringing->arm), "mm");
      add(row, "arm_over_cheeks", ringing->share(), "");
      add(row, "cheeks_error", CheekPull::error(ringing->cheeks, full->cheeks), "");
      for (auto& [panel, motion] : {std::pair{&cheeks, &ringing->cheeks}, std::pair{&arm, &ringing->arm}}) {
        PlotSeries series{variant, ringing->time, {}};
        for (const double value : *motion) series.y.push_back(1e3 * value);
        panel->series.push_back(std::move(series));
      }
    };
    show("full", full);
    show("patches", pull.reduced(in_.built.reduced));
    show("whole body", whole.ok() ? pull.reduced(*whole) : Result<Ringing>(whole.error()));
    report_.add_plot("pose_bear_ringing", {.title = "The bear's cheeks are pulled for a quarter of a second",
                                           .panels = {std::move(cheeks), std::move(arm)},
                                           .panel_height = 260});
  }

  /// Meshes so coarse that every vertex costs no more than our step, and the next few that cost more.
  void add_coarse() {
    for (const int tets : {150, 400, 1200}) {
      const std::string variant = fmt::format("coarse full {}", tets);
      Recipe recipe = in_.recipe;
      recipe.tets = tets;
      recipe.flesh.size = 6;
      recipe.flesh.poses = 1;
      recipe.flesh.local = false;
      const Status same = paint_as_fine(recipe);
      if (!same.ok()) {
        add_error(variant, same.error().message);
        continue;
      }
      const Result<BuiltCharacter> coarse = build_again(in_.folder, recipe);
      if (!coarse.ok()) {
        add_error(variant, coarse.error().message);
        continue;
      }
      FullComparison comparison(*coarse, *find_clip(*coarse, in_.published.clip), figure_settings(options_.quick));
      CompareReport report;
      const Status status = comparison.run_full(report);
      if (!status.ok()) {
        add_error(variant, status.error().message);
        continue;
      }
      add(variant, "tets", static_cast<double>(coarse->reduced.mesh.elements.size()), "");
      add(variant, "error_vs_full", in_.comparison.error_of(comparison), "");
      add(variant, "step_ms", 1e3 * report.full_step_seconds, "ms");
    }
  }

  /// Gives the coarse mesh of a recipe the stiffness that the fine one has at the same places.
  Status paint_as_fine(Recipe& recipe) {
    const Result<CharacterSource> source = load_source(recipe, in_.folder.path());
    SUPPLE_RETURN_IF_ERROR(source);
    const Result<CharacterBody> body = make_body(*source, Progress::silent(), in_.folder.cache());
    SUPPLE_RETURN_IF_ERROR(body);
    const TetMesh& fine = in_.built.reduced.mesh;
    const std::vector<Vec3> centres = element_centres(fine);
    std::string numbers;
    for (const Vec3& x : element_centres(body->body.mesh)) {
      std::size_t nearest = 0;
      for (std::size_t e = 1; e < centres.size(); ++e)
        if ((centres[e] - x).squaredNorm() < (centres[nearest] - x).squaredNorm()) nearest = e;
      numbers += fmt::format("{:.17g}\n", fine.material_of(nearest).young);
    }
    RecipePaint paint;
    paint.quantity = PaintQuantity::young;
    paint.tets = "coarse_young.txt";
    recipe.paints.push_back(paint);
    return write_file_atomically(in_.folder.path() / paint.tets, numbers);
  }
  static std::vector<Vec3> element_centres(const TetMesh& mesh) {
    std::vector<Vec3> centres;
    for (const auto& element : mesh.elements) {
      Vec3& centre = centres.emplace_back(Vec3::Zero());
      for (const Index v : element) centre += 0.25 * mesh.vertices[to_size(v)];
    }
    return centres;
  }

  /// Share of a basis found at a pose between the known ones that the blend of theirs, or the neutral pose's alone,
  /// doesn't reach: √(|U − P U|² / r) by mass.
  void add_between() {
    Recipe recipe = in_.recipe;
    recipe.poses.push_back({"between", in_.published.clip, 0.08});  // half of the way out
    const Result<BuiltCharacter> there = build_again(in_.folder, recipe);
    if (!there.ok()) return add_error("between", there.error().message);
    const std::vector<PoseBasis>& known = in_.built.reduced.poses;
    const PoseBasis& own = there->reduced.poses.back();
    if (there->reduced.poses.size() != known.size() + 1 || !in_.built.reduced.model->poses)
      return add_error("between", "the pose is one of those that are known");
    const Result<ElasticBody> body = ElasticBody::create(in_.built.reduced.mesh, in_.built.reduced.model->material);
    if (!body.ok()) return add_error("between", body.error().message);
    std::vector<double> w(known.size()), scratch = w;
    in_.built.reduced.model->poses->evaluate(own.p, w, scratch);
    MatX blend = MatX::Zero(own.basis.rows(), own.basis.cols());
    for (std::size_t i = 0; i < known.size(); ++i) blend += w[i] * known[i].basis;
    const BlockMatrix& mass = body->consistent_mass();
    const auto missed = [&](const MatX& wanted, const MatX& U) {
      const MatX MU = multiply_columns(mass, U);
      const MatX rest = wanted - U * solve_symmetric(U.transpose() * MU, MatX(MU.transpose() * wanted));
      return std::sqrt(mass_norms(mass, rest).squaredNorm() / mass_norms(mass, wanted).squaredNorm());
    };
    add("between", "interpolated_basis_missed", missed(own.basis, blend), "");
    add("between", "neutral_basis_missed", missed(own.basis, known.front().basis), "");
    // All columns count alike above, and flesh hardly uses most of them. Sorted by stiffness:
    const MatX modes = own.basis * symmetric_eigen(there->reduced.model->linear.back()).vectors;
    const Eigen::Index third = std::max<Eigen::Index>(1, modes.cols() / 3);
    add("between", "softest_third_missed", missed(modes.leftCols(third), blend), "");
    add("between", "stiffest_third_missed", missed(modes.rightCols(third), blend), "");
    add("between", "softest_third_missed_by_neutral", missed(modes.leftCols(third), known.front().basis), "");
    add("between", "motion_missed", in_.row.projection, "");
    add("between", "cubature_at_poses", in_.built.reduced.elastic_error, "", 0.03, 0.019);
    add("between", "cubature_between", in_.built.reduced.posed_error, "", 0.04, 0.015);
  }

  /// Errors over the number of coordinates.
  void add_sizes() {
    const int most = in_.recipe.flesh.size;
    PlotPanel errors{"coordinates r", "error against the full simulation [%]", {}};
    PlotPanel projections{"coordinates r", "best that the basis could do [%]", {}};
    struct Line {
      const char* name;
      int poses;
      BasisDirections directions;
    };
    for (const Line& line : {Line{"all poses, rotating", 0, BasisDirections::rotating},
                             Line{"all poses, world", 0, BasisDirections::world},
                             Line{"one pose, turned along", 1, BasisDirections::rotating}}) {
      PlotSeries error{line.name, {}, {}}, projection{line.name, {}, {}};
      for (const int size : {most / 3, 2 * most / 3, most}) {
        const Result<CompareRow> row = run_variant([&](Recipe& r) {
          r.flesh.size = size;
          r.flesh.poses = line.poses;
          r.flesh.directions = line.directions;
        });
        if (!row.ok()) continue;
        error.x.push_back(size), error.y.push_back(100 * row->error);
        projection.x.push_back(size), projection.y.push_back(100 * row->projection);
      }
      errors.series.push_back(std::move(error));
      projections.series.push_back(std::move(projection));
    }
    report_.add_plot("pose_x_errors", {.title = "The X bends: reduced against full simulation",
                                       .panels = {std::move(errors), std::move(projections)},
                                       .panel_height = 280});
  }

  Report& report_;
  const Options& options_;
  const FigureInput& in_;
  std::string name_;
};

}  // namespace

CompareSettings figure_settings(bool quick) {
  CompareSettings settings;
  settings.simulate.time_step = 1.0 / 90;
  settings.most_seconds = quick ? 0.2 : 1.0;
  return settings;
}

void add_figures(Report& report, const Options& options, const FigureInput& input) {
  Figures(report, options, input).run();
}

}  // namespace supple::bench
