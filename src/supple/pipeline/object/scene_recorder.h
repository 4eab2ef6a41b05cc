// SPDX-License-Identifier: Apache-2.0
// What every run of a scene measures, in one place: peaks, energies, tracks.
#pragma once

#include "supple/pipeline/object/scene_output.h"
#include "supple/pipeline/object/solve_scene.h"

namespace supple {

/// Gives a summary with what is known about the body before it moves.
SceneSummary summarize(const SceneBody& body);

class SceneRecorder {
 public:
  SceneRecorder(const Scene& scene, const SceneBody& body, SceneSummary& summary)
      : scene_(scene), body_(body), summary_(summary) {}

  /// Measures the displacements u, and keeps the peak.
  HistoryRow measure(const VecX& u, double time, double kinetic, double elastic);
  /// Completes the summary at the end of the run. Fails where the body was carried or stretched farther than any can
  /// be: numbers that no load of this world leads to are a slip of units, and no result.
  Status conclude(const HistoryRow& last);

 private:
  const Scene& scene_;
  const SceneBody& body_;
  SceneSummary& summary_;
};

}  // namespace supple
