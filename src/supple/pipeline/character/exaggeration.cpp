// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/exaggeration.h"

#include "supple/offline/fitting/liveliest_clips.h"
#include "supple/pipeline/character/feel.h"
#include "supple/pipeline/character/measure_motion.h"
#include "supple/rig/motion/clip_motion.h"

#include <algorithm>
#include <cmath>

namespace supple {
namespace {

constexpr std::size_t most_clips = 3;
constexpr double least_gain = 0.2, most_gain = 10, most_seconds = 4;  // [s]

/// The largest of the clips; nothing where one can't be simulated, which whoever bakes it is told then.
std::optional<ShownMotion> show(const SoftCharacter& soft, const std::vector<Index>& clips, double gain,
                                Progress& progress) {
  constexpr double frames = 1.0 / 30;
  const double height = height_of(soft.source());
  ShownMotion shown;
  for (const Index c : clips) {
    FramedClip framed{&soft.character().clips[to_size(c)], nullptr, {}};
    SimulateSettings settings;
    settings.gain = gain;
    settings.damping_ratio = wanted_damping(soft.source().recipe);
    settings.loop = closes(soft.rig(), *framed.clip);
    settings.to =
        settings.loop ? framed.clip->duration : std::min(framed.clip->duration, first_key(*framed.clip) + most_seconds);
    Result<std::unique_ptr<ClipRun>> run = soft.simulate(*framed.clip, settings, progress);
    if (!run.ok()) return {};
    framed.run = std::move(*run);
    for (double time = framed.run->start(); time <= *settings.to + 1e-9; time += frames) framed.times.push_back(time);
    const MotionMeasure measure = measure_motion(soft.character(), framed);
    shown.rms = std::max(shown.rms, measure.rms / height);
    shown.peak = std::max(shown.peak, measure.peak / height);
  }
  return shown;
}

/// The largest displacement in a clip [m].
double farthest(const SoftCharacter& soft, ClipRun& run, const Clip& clip, const SimulateSettings& settings) {
  constexpr double rate = 60, most_moments = 600;
  const double from = run.start(), to = std::min(clip.duration, settings.to.value_or(clip.duration));
  const int moments = static_cast<int>(std::clamp(rate * (to - from), 1.0, most_moments));
  std::vector<Vec3> shown(to_size(soft.vertex_count()));
  double largest = 0;
  for (int k = 0; k <= moments; ++k) {
    run.in_character(from + (to - from) * k / moments, shown);
    for (const Vec3& u : shown) largest = std::max(largest, u.squaredNorm());
  }
  return std::sqrt(largest);
}

}  // namespace

Result<TonedRun> simulate_in_range(const SoftCharacter& soft, const Clip& clip, SimulateSettings settings,
                                   Progress& progress) {
  constexpr double inside = 0.93;
  constexpr int most_tries = 6;
  const RecipeFlesh& flesh = soft.source().recipe.flesh;
  const double most = numbers_of(flesh.feel).shown.most_peak * std::max(1.0, flesh.amount) * height_of(soft.source());
  const bool bounded = soft.is_driven() && flesh.limit && settings.limit && !(flesh.share > 0);
  TonedRun result;
  for (int tries = 1;; ++tries) {
    Result<std::unique_ptr<ClipRun>> run = soft.simulate(clip, settings, progress);
    SUPPLE_RETURN_IF_ERROR(run);
    result.run = std::move(*run);
    if (!bounded || tries == most_tries) return result;
    const double peak = farthest(soft, *result.run, clip, settings);
    if (!(peak > most)) return result;
    const double tone = inside * most / peak;
    settings.gain *= tone;
    result.tone *= tone;
  }
}

double towards_range(const ShownMotion& shown, const ShownRange& range) {
  constexpr double inside = 1.1;  // what was aimed for isn't always hit
  if (!(shown.peak > 0)) return 1;
  if (shown.peak > range.most_peak) return range.most_peak / inside / shown.peak;
  if (shown.rms >= range.least_rms && shown.peak >= range.least_peak) return 1;
  const double wanted = inside * std::max(range.least_rms / shown.rms, range.least_peak / shown.peak);
  return std::max(1.0, std::min(wanted, range.most_peak / inside / shown.peak));
}

double find_exaggeration(const SoftCharacter& soft, Progress& progress) {
  constexpr int most_tries = 4;
  const Recipe& recipe = soft.source().recipe;
  if (!soft.is_driven() || !recipe.flesh.limit || recipe.flesh.share > 0 || soft.character().clips.empty()) return 1;
  const std::vector<Index> clips =
      liveliest_clips(soft.character(), soft.rig(), wanted_frequency(recipe), height_of(soft.source()), most_clips);
  double gain = 1;
  for (int tries = 0; tries < most_tries && !progress.cancelled(); ++tries) {
    const std::optional<ShownMotion> shown = show(soft, clips, gain, progress);
    if (!shown) break;
    const double next =
        std::clamp(gain * towards_range(*shown, numbers_of(recipe.flesh.feel).shown), least_gain, most_gain);
    if (std::abs(next / gain - 1) < 0.02) break;
    gain = next;
  }
  return std::round(100 * gain) / 100;
}

}  // namespace supple
