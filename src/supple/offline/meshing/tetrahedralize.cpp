// SPDX-License-Identifier: Apache-2.0
#include "supple/offline/meshing/tetrahedralize.h"

#include "supple/mesh/bounds.h"
#include "supple/mesh/quality.h"
#include "supple/mesh/topology.h"
#include "supple/offline/meshing/manifold_skin.h"
#include "supple/offline/meshing/skin_thinning.h"
#include "supple/offline/meshing/slits.h"
#include "supple/offline/meshing/soup.h"
#include "supple/offline/meshing/surface_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace supple {
namespace {

constexpr double max_sites = 3e8;

/// One spacing, counted.
struct Trial {
  BccLattice lattice;
  FleshNodes nodes;
  GradedInterior interior;
  std::vector<Stencil> stencils;
  double tets = 0;     ///< expected in the end
  double thinned = 0;  ///< of the stencils', expected to go with the short edges of the skin
};

/// Looks for the spacing that gives the number of tetrahedra asked for. Their number falls with the spacing like a
/// power between two (sheets) and three (bodies), so a secant through logarithms is soon there; a bracket keeps it
/// honest.
class SpacingSearch {
 public:
  SpacingSearch(const Flesh& flesh, const Surface& soup, const TetMeshingOptions& options, double goal,
                double first_cube, Progress& progress)
      : flesh_(flesh),
        soup_(soup),
        options_(options),
        goal_(goal),
        progress_(progress),
        bounds_(bounds_of(soup.vertices)),
        first_cube_(first_cube > 0 ? first_cube : bounds_.size().maxCoeff() / 10) {}

  Result<std::unique_ptr<Trial>> run() {
    constexpr int most_tries = 14;
    double cube = first_cube_;
    double power = 2.6, last_cube = 0, last_tets = 0;
    for (tries_ = 1; tries_ <= most_tries; ++tries_) {
      progress_.update(static_cast<double>(tries_ - 1) / 8);
      if (progress_.cancelled()) return failure("Meshing was stopped.");
      if (sites(cube) > max_sites)
        return input_error(fmt::format(
            "{} tetrahedra in so thin a shape need a lattice of {:.0f} million sites; ask for fewer tetrahedra.",
            options_.tets, sites(cube) / 1e6));
      auto trial = count(cube);
      const double tets = std::max(1.0, trial->tets);
      (tets > goal_ ? lower_ : upper_) = cube;
      if (!best_ || error(tets) < error(best_->tets)) best_ = std::move(trial);
      if (error(tets) < (tries_ < 6 ? 0.07 : 0.1)) break;
      // With cells as large as the whole, larger ones make no fewer tetrahedra, and nothing that looks like the input.
      if (cube >= widest_cube() && tets > most_over * goal_) return too_many_pieces(tets);
      if (cube >= widest_cube() && tets > goal_) break;
      if (last_tets > 0 && std::abs(std::log(cube / last_cube)) > 0.01)
        power = std::clamp(std::log(tets / last_tets) / std::log(last_cube / cube), 1.2, 4.0);
      last_cube = cube;
      last_tets = tets;
      // Not more than a factor of eight at once: the power is better known from nearby, and coarse counts are cheap.
      cube *= std::pow(std::clamp(tets / goal_, 0.12, 8.0), 1 / power);
      if (cube > widest_cube() && tets > goal_) cube = widest_cube();
      if (lower_ > 0 && cube <= lower_) cube = upper_ > 0 ? std::sqrt(lower_ * upper_) : 1.1 * lower_;
      if (upper_ > 0 && cube >= upper_) cube = lower_ > 0 ? std::sqrt(lower_ * upper_) : 0.9 * upper_;
    }
    return std::move(best_);
  }

  int tries() const { return tries_; }

 private:
  static constexpr double most_over = 1.5;

  double error(double tets) const { return std::abs(tets / goal_ - 1); }
  double widest_cube() const { return bounds_.size().maxCoeff(); }

  Error too_many_pieces(double tets) const {
    return input_error(fmt::format(
        "the surface is so many loose pieces that it takes {:.0f} tetrahedra at least, and {} are asked for; join its "
        "vertices, leave out what is loose, or ask for {:.0f}",
        tets, options_.tets, 1.5 * tets));
  }

  double sites(double cube) const { return 2 * (bounds_.size() / cube + Vec3::Constant(5)).prod(); }

  std::unique_ptr<Trial> count(double cube) const {
    auto trial = std::make_unique<Trial>(Trial{BccLattice(bounds_, cube), {}, {}, {}, 0, 0});
    trial->nodes = find_flesh_nodes(flesh_, soup_, trial->lattice, options_.keep_separate);
    if (options_.graded) trial->interior = GradedInterior(trial->nodes, trial->lattice);
    trial->stencils = find_stencils(trial->nodes, trial->lattice, trial->interior);
    trial->thinned = expected_thinning(trial->nodes, trial->stencils);
    trial->tets = static_cast<double>(count_tets(trial->stencils)) - trial->thinned;
    return trial;
  }

  const Flesh& flesh_;
  const Surface& soup_;
  const TetMeshingOptions& options_;
  double goal_;
  Progress& progress_;
  Bounds bounds_;
  double first_cube_;
  std::unique_ptr<Trial> best_;
  double lower_ = 0, upper_ = 0;  // spacings with too many and with too few tetrahedra; 0: none known
  int tries_ = 0;
};

/// Slits end where they leave no pinched vertices. Ending one a cell earlier may show the next.
void settle(Trial& trial) {
  constexpr int rounds = 4;
  const auto refresh = [&] { trial.stencils = find_stencils(trial.nodes, trial.lattice, trial.interior); };
  if (settle_links(trial.stencils, trial.lattice, trial.nodes)) refresh();
  for (int k = 1; k < rounds && settle_nodes(trial.stencils, trial.lattice, trial.nodes); ++k) refresh();
}

/// Stuffs a counted lattice. What comes off though its flesh is continuous is tied on more firmly, and all done again,
/// unless that costs more flesh than it saves, as in a heap of splinters. What still comes off then, if small, is lost.
StuffedMesh make_body(const Flesh& flesh, Trial& trial) {
  constexpr int rounds = 3;
  constexpr double bearable = 0.97;
  StuffedMesh best;
  std::vector<NodeLink> torn;
  for (int round = 0;; ++round) {
    settle(trial);
    StuffedMesh stuffed = stuff(flesh, trial.nodes, trial.lattice, trial.stencils);
    make_skin_manifold(stuffed);
    const auto size = [](const StuffedMesh& s) { return static_cast<double>(s.mesh.elements.size()); };
    const bool worse = round > 0 && size(stuffed) < bearable * size(best);
    if (!worse) {
      torn = torn_links(trial.nodes, trial.lattice, stuffed);
      best = std::move(stuffed);
    }
    const Flesh* view = round == 0 ? &flesh : nullptr;
    if (worse || torn.empty() || round == rounds ||
        (!widen_links(torn, view, trial.lattice, trial.nodes) &&
         (view == nullptr || !widen_links(torn, nullptr, trial.lattice, trial.nodes)))) {
      drop_strays(torn, best);
      return best;
    }
    trial.stencils = find_stencils(trial.nodes, trial.lattice, trial.interior);
  }
}

/// Moves the vertices to the surface, thins the skin out, and moves once more what found room by that.
void finish_skin(const Flesh& flesh, StuffedMesh& stuffed) {
  fit_to_surface(stuffed, flesh.tree(), {});
  thin_skin(stuffed, {});
  FitOptions again;
  again.first_dihedral = again.min_dihedral;
  again.sweeps = 3;
  fit_to_surface(stuffed, flesh.tree(), again);
}

/// Pieces of the soup whose box is smaller than a cube.
Index count_specks(const Surface& soup, double cube) {
  const Components pieces = connected_components(soup);
  std::vector<Bounds> bounds(to_size(pieces.count));
  for (std::size_t t = 0; t < soup.triangles.size(); ++t) {
    for (const Index v : soup.triangles[t]) bounds[to_size(pieces.label[t])].add(soup.vertices[to_size(v)]);
  }
  return static_cast<Index>(
      std::count_if(bounds.begin(), bounds.end(), [&](const Bounds& box) { return box.diagonal() < cube; }));
}

void measure(const CleanSoup& soup, const Flesh& flesh, const TetMeshingOptions& options, TetMeshingResult& result) {
  TetMeshingReport& report = result.report;
  const QualityReport shape = quality(result.mesh);
  report.min_dihedral = shape.dihedral.min;
  report.max_dihedral = shape.dihedral.max;
  report.volume = shape.volume;
  report.pieces = connected_components(result.mesh).count;
  report.diagonal = bounds_of(soup.surface.vertices).diagonal();
  report.input_pieces = soup.pieces;
  report.dropped_triangles = soup.dropped_triangles;
  report.turned_triangles = soup.turned_triangles;
  report.specks = count_specks(soup.surface, report.cube);
  const Surface skin = boundary_surface(result.mesh).surface;
  report.skin_to_input = sampled_distance(skin, flesh.tree(), options.distance_samples);
  report.input_to_skin = sampled_distance(soup.surface, TriangleTree(skin), options.distance_samples);
}

/// The surface as seen from its own frame: from its least corner, in units of its largest extent, on a grid of some ten
/// millionths. Where the lattice falls hangs on the last bits of the coordinates, and those on the place and the unit
/// that they are given in; like this the body is the same in any place and any unit.
struct OwnFrame {
  Eigen::Quaterniond axes;
  Vec3 low = Vec3::Zero();
  double extent = 0;

  OwnFrame(const Surface& surface, const Eigen::Quaterniond& given) : axes(given) {
    if (surface.vertices.empty()) return;
    const Eigen::Quaterniond into = axes.conjugate();
    Bounds bounds;
    for (const Vec3& x : surface.vertices) bounds.add(into * x);
    low = bounds.min;
    extent = bounds.size().maxCoeff();
  }

  Surface take(const Surface& surface) const {
    // Off by an odd part, so that halves and other tidy numbers don't fall between two of its points.
    constexpr double grid = 1 << 22, odd = 0.3137;
    Surface result = surface;
    const Eigen::Quaterniond into = axes.conjugate();
    for (Vec3& x : result.vertices) x = (((into * x - low) / extent * grid).array() + odd).round().matrix() / grid;
    return result;
  }
  Vec3 give(const Vec3& x) const { return axes * Vec3(x * extent + low); }
};

void bring_back(const OwnFrame& frame, TetMeshingResult& result) {
  const double extent = frame.extent;
  for (Vec3& x : result.mesh.vertices) x = frame.give(x);
  TetMeshingReport& report = result.report;
  report.volume *= extent * extent * extent;
  for (double* length : {&report.cube, &report.diagonal, &report.skin_to_input.mean, &report.skin_to_input.max,
                         &report.input_to_skin.mean, &report.input_to_skin.max})
    *length *= extent;
}

/// A piece takes two dozen tetrahedra, however small it is. A soup of far more pieces than can be had would take hours
/// and give something that nobody asked for.
constexpr double tets_of_piece = 24, overshoot = 3;

Index most_pieces(int tets) { return static_cast<Index>(overshoot * tets / tets_of_piece); }

Status check_pieces(Index pieces, int tets) {
  if (pieces <= most_pieces(tets)) return {};
  return input_error(fmt::format(
      "the surface is {} loose pieces, each of which takes {:g} tetrahedra or more, and {} are asked for; join its "
      "vertices, leave out what is loose, or ask for {:.0f}",
      pieces, tets_of_piece, tets, std::ceil(tets_of_piece * pieces / overshoot)));
}

Result<TetMeshingResult> tetrahedralize_unit(const Surface& surface, const TetMeshingOptions& options,
                                             Progress& progress) {
  progress.stage("sorting triangles");
  const Result<CleanSoup> soup = clean_soup(surface, most_pieces(options.tets));
  if (!soup) return soup.error();
  SUPPLE_RETURN_IF_ERROR(check_pieces(soup->pieces, options.tets));
  const Flesh flesh(soup->surface);
  TetMeshingResult result;
  // Crumbs that come off change the number a little, in a heap of splinters a lot: then the goal is corrected by it.
  double goal = options.tets, cube = 0;
  for (int round = 0; round < 3; ++round) {
    progress.stage("searching the spacing");
    SpacingSearch search(flesh, soup->surface, options, goal, cube, progress);
    Result<std::unique_ptr<Trial>> trial = search.run();
    if (!trial) return trial.error();
    progress.stage("stuffing");
    StuffedMesh stuffed = make_body(flesh, **trial);
    const double share = (static_cast<double>(stuffed.mesh.elements.size()) - (*trial)->thinned) / options.tets;
    const bool close = std::abs(share - 1) < 0.12;
    goal /= std::max(share, 0.1);
    cube = (*trial)->lattice.cube() * std::cbrt(share);
    if (!close && round < 2) continue;
    progress.stage("fitting the skin");
    finish_skin(flesh, stuffed);
    result.report.cube = (*trial)->lattice.cube();
    result.report.tries = search.tries();
    result.report.thin_nodes = static_cast<Index>((*trial)->nodes.samples.size());
    result.mesh = std::move(stuffed.mesh);
    break;
  }
  progress.stage("measuring");
  measure(*soup, flesh, options, result);
  return result;
}

}  // namespace

Result<TetMeshingResult> tetrahedralize(const Surface& surface, const TetMeshingOptions& options, Progress& progress) {
  if (options.tets < TetMeshingOptions::min_tets || options.tets > TetMeshingOptions::max_tets)
    return usage_error(fmt::format("A body of {} tetrahedra can't be made; ask for {} to {}.", options.tets,
                                   TetMeshingOptions::min_tets, TetMeshingOptions::max_tets));
  const OwnFrame frame(surface, options.axes);
  if (!(frame.extent > 0) || !std::isfinite(frame.extent)) return tetrahedralize_unit(surface, options, progress);
  Result<TetMeshingResult> result = tetrahedralize_unit(frame.take(surface), options, progress);
  if (result.ok()) bring_back(frame, *result);
  return result;
}

}  // namespace supple
