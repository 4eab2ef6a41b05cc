// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/rehearsal.h"

#include "supple/base/parallel.h"
#include "supple/offline/dynamics/full_pose_dynamics.h"
#include "supple/offline/fitting/liveliest_clips.h"
#include "supple/offline/posespace/known_motion.h"
#include "supple/pipeline/character/exaggeration.h"
#include "supple/pipeline/character/feel.h"
#include "supple/rig/motion/clip_motion.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr std::size_t most_clips = 3;
constexpr double surprise = 0.2;  // how far flesh goes is all that is asked
constexpr int settling = 15;      // long steps: flesh that is at rest in the middle of a clip catches up first
constexpr int most_tries = 3, finer = 2;

/// From the middle of the liveliest clips.
std::vector<MotionRun> liveliest_runs(const CharacterSource& source, double extent, int steps) {
  std::vector<MotionRun> runs;
  const std::vector<Index> clips =
      liveliest_clips(source.character, source.rig, wanted_frequency(source.recipe), height_of(source), most_clips);
  for (const Index c : clips) {
    const Clip& clip = source.character.clips[to_size(c)];
    const int each = std::max(12, steps / static_cast<int>(clips.size()));
    const double room = std::max(0.0, clip.duration - first_key(clip) - each * MotionRun::step);
    runs.push_back(run_of_clip(source.rig, clip, first_key(clip) + 0.5 * room, each, extent, finer));
  }
  return runs;
}

/// Nothing where flesh flies apart.
std::optional<ShownMotion> rehearse(const TaughtBody& body, const Embedding& skin, const MotionRun& run,
                                    double height) {
  Result<FullPoseDynamics> full = FullPoseDynamics::create(body.mesh, body.material, body.fixed, body.rest,
                                                           teaching_settings(body, run.time_step()), body.frames);
  if (!full.ok()) return {};
  full->set_surprise(surprise);
  double squares = 0, farthest = 0, count = 0;
  for (std::size_t k = 0; k < run.length(); ++k) {
    if (full->step(run.placements[k], run.poses[k]).recovered) return {};
    if (k < to_size(settling * run.finer) && 2 * to_size(settling * run.finer) < run.length()) continue;
    const MatX u = skin.interpolate(full->displacements());
    for (Eigen::Index v = 0; v < u.rows(); v += 3, ++count) {
      const double square = u.col(0).segment<3>(v).squaredNorm();
      squares += square;
      farthest = std::max(farthest, square);
    }
    if (!(farthest <= std::pow(FullPoseDynamics::absurd * body.extent, 2))) return {};
  }
  return ShownMotion{std::sqrt(squares / std::max(1.0, count)) / height, std::sqrt(farthest) / height};
}

}  // namespace

double rehearsed_exaggeration(const CharacterSource& source, const TaughtBody& body, const Embedding& skin, int steps,
                              Progress& progress) {
  if (!source.recipe.flesh.limit || skin.size() == 0) return 1;
  const double height = height_of(source);
  const std::vector<MotionRun> runs = liveliest_runs(source, body.extent, steps);
  if (runs.empty()) return 1;
  progress.stage("rehearsing the liveliest clips");
  const auto show = [&](double gain) -> std::optional<ShownMotion> {
    TaughtBody driven = body;
    driven.exaggeration = gain;
    std::vector<std::optional<ShownMotion>> each(runs.size());
    parallel_for(std::ssize(runs), 1, [&](std::int64_t k) {
      if (!progress.cancelled()) each[to_size(k)] = rehearse(driven, skin, runs[to_size(k)], height);
    });
    ShownMotion all;
    for (const std::optional<ShownMotion>& own : each) {
      if (!own) return {};
      all.rms = std::max(all.rms, own->rms);
      all.peak = std::max(all.peak, own->peak);
    }
    return all;
  };
  return seek_gain(1, most_tries, numbers_of(source.recipe.flesh.feel).shown, show);
}

}  // namespace supple
