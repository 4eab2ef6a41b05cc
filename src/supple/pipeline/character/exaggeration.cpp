// SPDX-License-Identifier: Apache-2.0
#include "supple/pipeline/character/exaggeration.h"

#include "supple/base/parallel.h"
#include "supple/base/shared_progress.h"
#include "supple/offline/fitting/liveliest_clips.h"
#include "supple/offline/stage_archives.h"
#include "supple/pipeline/character/feel.h"
#include "supple/pipeline/character/fingerprint.h"
#include "supple/pipeline/character/measure_motion.h"
#include "supple/rig/motion/clip_motion.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace supple {
namespace {

constexpr std::size_t most_clips = 3;
constexpr double least_gain = 0.2, most_gain = 1000, most_seconds = 4;  // [s]

/// How far the skin moves in a clip, or in its first seconds; nothing where it can't be simulated.
std::optional<ShownMotion> show(const SoftCharacter& soft, const Clip& clip, double gain, Progress& progress) {
  constexpr double frames = 1.0 / 30;
  FramedClip framed{&clip, nullptr, {}};
  SimulateSettings settings;
  settings.rough = true;
  settings.exaggeration = gain;
  settings.damping_ratio = wanted_damping(soft.source().recipe);
  settings.loop = closes(soft.rig(), clip);
  settings.to = settings.loop ? clip.duration : std::min(clip.duration, first_key(clip) + most_seconds);
  Result<std::unique_ptr<ClipRun>> run = soft.simulate(clip, settings, progress);
  if (!run.ok()) return {};
  framed.run = std::move(*run);
  for (double time = framed.run->start(); time <= *settings.to + 1e-9; time += frames) framed.times.push_back(time);
  const MotionMeasure measure = measure_motion(soft.character(), framed);
  const double height = height_of(soft.source());
  return ShownMotion{measure.rms / height, measure.peak / height};
}

/// The liveliest clips, as far as they tell how far flesh goes.
class ShownClips {
 public:
  ShownClips(const SoftCharacter& soft, std::vector<Index> clips, Progress& progress)
      : soft_(soft), clips_(std::move(clips)), progress_(progress) {}

  /// The largest of the clips; nothing where one can't be simulated, which whoever bakes it is told then.
  std::optional<ShownMotion> operator()(double gain) {
    if (progress_.cancelled()) return {};
    std::vector<std::optional<ShownMotion>> each(clips_.size());
    SharedProgress shared(progress_, clips_.size());
    parallel_for(std::ssize(clips_), 1, [&](std::int64_t k) {
      SharedProgress::Part part(shared, to_size(k));
      each[to_size(k)] = show(soft_, soft_.character().clips[to_size(clips_[to_size(k)])], gain, part);
    });
    ShownMotion shown;
    for (const std::optional<ShownMotion>& own : each) {
      if (!own) return {};
      shown.rms = std::max(shown.rms, own->rms);
      shown.peak = std::max(shown.peak, own->peak);
    }
    leave_out_gentle(each, shown);
    return shown;
  }

 private:
  /// A clip that moves flesh a third as far as others at one gain will not be the largest at another.
  void leave_out_gentle(std::span<const std::optional<ShownMotion>> each, const ShownMotion& largest) {
    constexpr double gentle = 1.0 / 3;
    std::vector<Index> lively;
    for (std::size_t k = 0; k < clips_.size(); ++k)
      if (each[k]->rms > gentle * largest.rms || each[k]->peak > gentle * largest.peak) lively.push_back(clips_[k]);
    if (!lively.empty()) clips_ = std::move(lively);
  }

  const SoftCharacter& soft_;
  std::vector<Index> clips_;
  Progress& progress_;
};

/// The largest displacement of what was simulated of a clip [m].
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

Result<TonedRun> simulate_measured(const SoftCharacter& soft, const Clip& clip, const SimulateSettings& settings,
                                   Progress& progress) {
  Result<std::unique_ptr<ClipRun>> run = soft.simulate(clip, settings, progress);
  SUPPLE_RETURN_IF_ERROR(run);
  TonedRun result{.run = std::move(*run)};
  result.peak = farthest(soft, *result.run, clip, settings);
  return result;
}

/// Simulates with less and less drive until the peak is at most `most` [m].
Result<TonedRun> tone_down(const SoftCharacter& soft, const Clip& clip, SimulateSettings settings, double most,
                           Progress& progress) {
  constexpr double inside = 0.93;
  constexpr int most_tries = 10;
  double tone = 1;
  for (int tries = 1;; ++tries) {
    Result<TonedRun> result = simulate_measured(soft, clip, settings, progress);
    SUPPLE_RETURN_IF_ERROR(result);
    result->tone = tone;
    if (tries == most_tries || !(result->peak > most)) return result;
    const double less = inside * most / result->peak;
    settings.gain *= less;
    tone *= less;
  }
}

bool is_whole(const Clip& clip, const SimulateSettings& settings) {
  return settings.loop || (settings.from <= first_key(clip) && settings.to.value_or(clip.duration) >= clip.duration);
}

bool is_exaggerated(const SoftCharacter& soft) {
  const RecipeFlesh& flesh = soft.source().recipe.flesh;
  return soft.is_driven() && flesh.limit && !(flesh.share > 0);
}

double seek_exaggeration(const SoftCharacter& soft, Progress& progress) {
  constexpr int most_tries = 6;
  const Recipe& recipe = soft.source().recipe;
  ShownClips show(
      soft,
      liveliest_clips(soft.character(), soft.rig(), wanted_frequency(recipe), height_of(soft.source()), most_clips),
      progress);
  return seek_gain(soft.exaggeration(), most_tries, numbers_of(recipe.flesh.feel).shown, std::ref(show));
}

/// What the exaggeration is found from: the model, the rig, the clips, and how the flesh shall feel, but not the amount
/// that comes on top. None where the model can't be told by its bytes.
std::optional<ContentHash> exaggeration_content(const SoftCharacter& soft) {
  Asset asset = soft.asset();
  if (auto* own = std::get_if<CharacterAsset>(&asset)) own->gain = 1;
  if (auto* own = std::get_if<FullModel>(&asset)) own->gain = 1;
  const Result<std::string> model = encode_asset(asset);
  if (!model.ok()) return {};
  const CharacterSource& source = soft.source();
  ContentHash content;
  content.add(std::string_view(*model));
  if (!add_content(content, *source.rig.rig())) return {};
  add_content(content, source.character);
  return content.add(source.recipe.flesh.feel)
      .add(wanted_frequency(source.recipe))
      .add(wanted_damping(source.recipe))
      .add(height_of(source));
}

Result<double> read_gain(const std::string& bytes) {
  double gain = 0;
  if (bytes.size() != sizeof gain) return input_error("the cache holds something else");
  std::memcpy(&gain, bytes.data(), sizeof gain);
  if (!(gain >= least_gain && gain <= most_gain)) return input_error("the cache holds something else");
  return gain;
}

}  // namespace

Result<TonedRun> simulate_in_range(const SoftCharacter& soft, const Clip& clip, SimulateSettings settings,
                                   Progress& progress) {
  const RecipeFlesh& flesh = soft.source().recipe.flesh;
  if (!is_exaggerated(soft) || !settings.limit) return simulate_measured(soft, clip, settings, progress);
  SimulateSettings whole = settings;
  whole.from = 0;
  whole.to.reset();
  const double most = numbers_of(flesh.feel).shown.most_peak * std::max(1.0, flesh.amount) * height_of(soft.source());
  Result<TonedRun> result = tone_down(soft, clip, whole, most, progress);
  if (!result.ok() || is_whole(clip, settings)) return result;
  settings.gain *= result->tone;
  Result<std::unique_ptr<ClipRun>> part = soft.simulate(clip, settings, progress);
  SUPPLE_RETURN_IF_ERROR(part);
  result->run = std::move(*part);
  return result;
}

double seek_gain(double first, int most_tries, const ShownRange& range,
                 const std::function<std::optional<ShownMotion>(double)>& show) {
  constexpr double least_power = 0.2;  // that motion follows the gain with, where violent motion is limited
  constexpr double most_step = 30;
  double gain = std::clamp(first, least_gain, most_gain), power = 1, last_gain = gain;
  ShownMotion last;
  for (int tries = 0; tries < most_tries; ++tries) {
    const std::optional<ShownMotion> shown = show(gain);
    if (!shown) {
      gain = last_gain;
      break;
    }
    // As much follows the gain as that of the two which has to change.
    const bool by_peak = shown->peak > range.most_peak || range.least_peak * shown->rms > range.least_rms * shown->peak;
    const double now = by_peak ? shown->peak : shown->rms, before = by_peak ? last.peak : last.rms;
    if (now > 0 && before > 0)
      power = std::clamp(std::log(now / before) / std::log(gain / last_gain), least_power, 1.0);
    last_gain = gain, last = *shown;
    const double step = std::clamp(std::pow(towards_range(*shown, range), 1 / power), 1 / most_step, most_step);
    const double next = std::clamp(gain * step, least_gain, most_gain);
    if (std::abs(next / gain - 1) < 0.02) break;
    gain = next;
  }
  return std::round(100 * gain) / 100;
}

double towards_range(const ShownMotion& shown, const ShownRange& range) {
  constexpr double inside = 1.1;  // what was aimed for isn't always hit
  if (!(shown.peak > 0)) return 1;
  if (shown.peak > range.most_peak) return range.most_peak / inside / shown.peak;
  if (shown.rms >= range.least_rms && shown.peak >= range.least_peak) return 1;
  const double wanted = inside * std::max(range.least_rms / shown.rms, range.least_peak / shown.peak);
  return std::max(1.0, std::min(wanted, range.most_peak / inside / shown.peak));
}

double find_exaggeration(const SoftCharacter& soft, Progress& progress, StageStore& store) {
  if (!is_exaggerated(soft) || soft.character().clips.empty()) return 1;
  std::optional<ContentHash> content;
  if (&store != &StageStore::none()) content = exaggeration_content(soft);
  if (!content) return seek_exaggeration(soft, progress);
  const auto seek = [&]() -> Result<double> {
    const double gain = seek_exaggeration(soft, progress);
    if (progress.cancelled()) return failure("stopped");
    return gain;
  };
  const auto bytes = [](double gain) { return std::string(reinterpret_cast<const char*>(&gain), sizeof gain); };
  const Result<double> gain = find_or_make(store, "exaggeration", *content, seek, bytes, read_gain);
  return gain.ok() ? *gain : 1;
}

}  // namespace supple
