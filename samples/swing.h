// SPDX-License-Identifier: Apache-2.0
// A push and what follows (2005 paper, section 7 and Figure 12): the free end of a body gets a short vertical push and
// swings freely, on the full mesh or in a subspace, with the same integrator, step, damping and force.
//
// Newton's method runs to convergence on both sides. With the paper's single iteration per step the integrator itself
// takes energy: at 200 steps per period, undamped, a swing of the spoon falls from 1.44 m to 0.57 m within one half
// period, where converged steps give 1.84 m and 1.63 m. Full and reduced would agree for the wrong reason.
#pragma once

#include "samples/subspace_samples.h"
#include "supple/fem/elastic_body.h"
#include "supple/offline/sketch/sketch_recording.h"

namespace supple {

/// Vertices around the one that is farthest from all fixed ones, the middle one first: where a hand would grab.
/// `along`: not so far from them, but at this share of that distance.
std::vector<Index> grabbed_vertices(const SubspaceSample& scene, double along = 1);

/// The pull of a sketch for one of the four scenes: across its free end, or at a share `along` of the way there, to
/// both sides along two directions; four times `steps` loads.
Result<SketchRecording> sketch_pull(const SubspaceSample& scene, const ElasticBody& body, const Modes& modes, int steps,
                                    double along = 1);

struct SwingSettings {
  double force = 800;               ///< largest of the push, upwards, shared by the grabbed vertices [N]
  double push_seconds = 0.27;       ///< half a sine wave
  double seconds = 2.7;             ///< in all
  double time_step = 0.015;         ///< [s]
  double stiffness_damping = 1e-3;  ///< [s]
};

/// Heights of the first grabbed vertex over its rest position, one for every step.
struct Swing {
  std::vector<double> time;    ///< [s]
  std::vector<double> height;  ///< [m]
  MatX shapes;                 ///< all displacements, one column for each step; full simulation only
};

Result<Swing> swing_full(const SubspaceSample& scene, const ElasticBody& body, const SwingSettings& settings);
Result<Swing> swing_reduced(const SubspaceSample& scene, const MatX& basis, const SwingSettings& settings);

/// Half-swings end where the height passes through zero (found by linear interpolation); each has an extreme (by a
/// parabola through the three highest samples).
struct SwingMeasure {
  std::vector<double> crossings;  ///< [s]
  std::vector<double> extremes;   ///< |height| before each crossing [m]
};
SwingMeasure measure_swing(const Swing& swing);

struct SwingComparison {
  double amplitude = 0.0, frequency = 0.0;              ///< of the swing [m], [Hz]
  double amplitude_error = 0.0, frequency_error = 0.0;  ///< relative to the reference; positive: larger
  double rms_error = 0.0;                               ///< of the height, relative to the reference's rms
};
/// Means over the half-swings that both have. Fails when there are fewer than two.
Result<SwingComparison> compare_swings(const Swing& reference, const Swing& swing);

}  // namespace supple
