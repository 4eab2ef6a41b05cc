// SPDX-License-Identifier: Apache-2.0
// The pose-space engine's own comparison: reduced characters of several sizes against the truth, with what the basis
// alone costs. Any two engines are compared by compare_engines.h.
//
// The truth is every vertex of the same mesh simulated over the same clip, with the same
// materials, bones, rest shape, damping and step (offline/dynamics/full_pose_dynamics.h).
//
//   error       √(Σ |ū_reduced − ū_full|² / Σ |ū_full|²) over the vertices of the skin and the steps of the clip
//   projection  the same for the best that any coordinates could do: what the basis alone costs
//   in basis    the error of a run in that basis with all elements, all mass and exact strain: what is left of the
//   error
//               is cubature, and the gradient of R that strain leaves out (runtime/posespace/cubature_forces.h)
//   unseen      the error of a model whose basis and cubature were made without this clip
//   truth error √(Σ |ū_h − ū_h/2|² / Σ |ū_h/2|²): what the truth's own time step costs it; if asked for, the same with
//   a
//               quarter of the step, and with Newton's method taken to its end
#pragma once

#include "supple/pipeline/character/build_posespace.h"
#include "supple/pipeline/character/simulate_clip.h"
#include "supple/runtime/posespace/pose_space_dynamics.h"

#include <optional>

namespace supple {

class FullPoseDynamics;

struct CompareRow {
  int size = 0;   ///< r
  int poses = 1;  ///< m
  double error = 0, projection = 0;
  std::optional<double> in_basis;  ///< of a run in the same basis with all elements and exact strain; one pose only
  std::optional<double> unseen;    ///< of a model that knows nothing of the clip …
  std::optional<double> unseen_in_basis;         ///< … and of a run in its basis with all elements
  double elastic_error = 0, inertial_error = 0;  ///< of cubature, on unseen samples
  double step_seconds = 0;
};

struct CompareReport {
  std::string clip;
  int steps = 0;
  double exaggeration = 1;  ///< that both were driven with
  double peak = 0;          ///< of the full simulation, share of the height
  double full_step_seconds = 0;
  /// Of the full simulation itself, against one of half the step, of a quarter of it, and of converged steps.
  std::optional<double> truth_error, truth_error_quarter, truth_error_newton;
  std::vector<CompareRow> rows;
};

struct CompareSettings {
  std::string clip;         ///< empty: the first
  std::vector<int> sizes;   ///< empty: the recipe's
  std::vector<int> poses;   ///< most poses with a reduced model, each for each size; empty: the recipe's
  double most_seconds = 2;  ///< of the clip
  bool ladder = true;       ///< whether the truth's own error, runs in the basis and unseen clips are measured, too
  bool truth = false;       ///< whether the truth's own error is measured in all ways
  bool as_baked = true;     ///< driven as a bake of the character is: `simulate.exaggeration` is found (exaggeration.h)
  SimulateSettings simulate;
};

/// The truth over one clip, simulated once, and what is measured by it.
class FullComparison {
 public:
  /// `built` and `clip` must outlive it.
  FullComparison(const BuiltCharacter& built, const Clip& clip, const CompareSettings& settings);

  /// Comes first. Fills all of the report but its rows and the truth's own error.
  Status run_full(CompareReport& report, Progress& progress = Progress::silent());
  /// The truth against a simulation whose steps are so many times finer and have so many Newton iterations at least.
  Result<double> truth_error(int finer, int iterations, Progress& progress = Progress::silent()) const;
  /// The error of flesh that moves in a model's basis of the neutral pose, and is otherwise simulated in full.
  Result<double> error_in_basis(const ReducedBody& reduced) const { return error_in_basis(reduced.basis); }
  /// The same in any basis over all vertices.
  Result<double> error_in_basis(const MatX& basis) const;
  /// A reduced model of the same mesh.
  Result<CompareRow> run_reduced(const ReducedBody& reduced) const;
  /// Of another full simulation of the same clip and skin, on whatever mesh: √(Σ |ū_other − ū|² / Σ |ū|²).
  double error_of(const FullComparison& other) const;
  /// The least that a basis over all vertices, turned along with the flesh and the same in all poses, leaves of the
  /// truth, measured as the error is.
  double projection_error(const ReducedBody& reduced, const MatX& basis) const;

  int steps() const { return run_.steps; }
  const PoseSpaceSettings& dynamics() const { return dynamics_; }
  void sample(int step, CharacterPose& pose) const { motion_.sample(time(step), pose); }

 private:
  /// What the full simulation did, at every `stride`-th step.
  struct FullRun {
    static constexpr int stride = 4;
    std::vector<MatX> skin;   ///< displacements of the skin in the root's frame, stacked
    std::vector<VecX> local;  ///< of the mesh, turned back by the rotation of each vertex
    std::vector<std::vector<Mat3>> turns;
    std::vector<std::vector<double>> poses;
    int steps = 0;
  };

  Result<FullPoseDynamics> make_full(const PoseSpaceSettings& dynamics) const;
  /// Fails where flesh has left the body: that is no truth.
  Status check_sane(const FullPoseDynamics& full, bool broken, double since_start) const;
  double time(int step) const { return motion_.start() + step * dynamics_.time_step; }
  void record(const FullPoseDynamics& full, const CharacterPose& pose, CompareReport& report);
  double projection_error(const ReducedBody& reduced, std::span<const MatX* const> bases) const;

  const BuiltCharacter& built_;
  std::string clip_;
  ClipMotion motion_;
  PoseSpaceSettings dynamics_;
  double height_;  ///< [m]
  FullRun run_;
};

Result<CompareReport> compare_full(CharacterSource source, CompareSettings settings,
                                   Progress& progress = Progress::silent());

}  // namespace supple
